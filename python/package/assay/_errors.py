# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as exceptions. Their messages are those of the command line."""


class UserError(ValueError):
    """Something that was given makes no sense; the message is one line and names the value.

    >>> import assay, numpy
    >>> assay.einsum("ij,jk->ik", numpy.ones((2, 3)), numpy.ones((4, 5)))
    Traceback (most recent call last):
        ...
    assay.UserError: einsum: label 'j' has extent 3 on axis 1 of operand 0, but 4 on axis 0 of operand 1
    """


class OnDevice(UserError):
    """An array lies in the memory of a GPU, and what was called computes on the processor. Some calls go on there then
    (_device.py)."""


class EnvironmentError(UserError):
    """This machine or this installation does not have what was asked for: a device, a library, a program."""


class DiskError(UserError):
    """The disk refuses what is written to it: full, over its quota, read-only, broken."""


class InternalError(RuntimeError):
    """A bug of ours; the message says what was assumed, and where."""


for _error in (UserError, EnvironmentError, DiskError, InternalError):
    _error.__module__ = "assay"
