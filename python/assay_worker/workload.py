# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What a Python provider implements."""


class Workload:
    """One provider at one point: two slots of inputs, and what a call computes from one of them.

    A call does all of its work before it returns; work on a device may go on until end_batch() has
    returned. It may keep nothing of an earlier call's answer: the call that is judged gets inputs it has never seen.
    """

    judged_again = False  # whether a second call on the judged inputs is judged too

    def prepare_for(self, settings):
        """How it will be measured; told once, before all else."""

    def begin_batch(self):
        """Told before the calls that are timed together."""

    def end_batch(self):
        """Waits until all work of the batch's calls is done.

        Returns what the calls took by the device's own clock, and what sweeping its cache between
        them took, which is part of no call; None where there is no such clock.
        """
        return None

    def load(self, slot, input_set):
        """Puts input set `input_set` into slot 0 or 1. Untimed."""
        raise NotImplementedError

    def call(self, slot):
        """Computes the outputs from the inputs of that slot. This is what is timed."""
        raise NotImplementedError

    def poison_outputs(self):
        """Forgets or overwrites every output before the judged call."""
        raise NotImplementedError

    def outputs(self):
        """The outputs of the last call, as a dict of name → ndarray."""
        raise NotImplementedError

    def stages(self):
        """The stages of the last call in their order, as pairs of name and seconds."""
        return []

    def metrics(self):
        return {}

    def versions(self):
        return {}


class ProviderFailure(Exception):
    """Why a provider cannot serve, in the terms of a row."""

    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code
