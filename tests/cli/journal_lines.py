# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Rows made or changed by a test, as lines that a journal accepts."""

import json


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def line_of(row):
    """The canonical row, and its check as the last field."""
    row = {key: value for key, value in row.items() if key != "check"}
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f'{text[:-1]},"check":"{crc32c(text.encode()):08x}"}}\n'
