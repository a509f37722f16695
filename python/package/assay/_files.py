# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What the package itself writes into files, and how that fails."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from ._errors import DiskError, UserError

_OF_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


@contextmanager
def writing(what: str) -> Iterator[None]:
    """What the system refuses inside is a DiskError where the disk takes no more, else a UserError."""
    try:
        yield
    except OSError as error:
        kind = DiskError if error.errno in _OF_DISK else UserError
        raise kind(f"cannot write {what}: {error.strerror or error}") from None
