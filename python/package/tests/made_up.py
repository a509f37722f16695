# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays that say they lie in a device's memory, at addresses where nothing is."""

import ctypes

_KINDS = {"i": 0, "u": 1, "f": 2, "bf": 4, "c": 5, "b": 6}
CUDA, ROCM = 2, 10


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class MadeUp:
    """An array of DLPack; `dtype` is "f64", "c128", "i32" …"""

    def __init__(self, *shape, dtype="f64", device=0, kind=CUDA, address=0x7000):
        letters = dtype.rstrip("0123456789")
        bits = 8 if letters == "b" else int(dtype[len(letters):])
        extents = (ctypes.c_int64 * len(shape))(*shape)
        self._held = _Managed(_Tensor(address, kind, device, len(shape), _KINDS[letters], bits, 1, extents, None, 0))
        self._extents, self._device, self.shape, self.ndim = extents, (kind, device), shape, len(shape)

    def __dlpack__(self, **_):
        return _new_capsule(ctypes.addressof(self._held), b"dltensor", None)

    def __dlpack_device__(self):
        return self._device
