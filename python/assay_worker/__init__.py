# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The worker for Python providers: the same spec, phases and files as the native one.

The runner starts `python -m assay_worker SPEC`; docs/worker_protocol.md describes what passes
between the two.
"""
