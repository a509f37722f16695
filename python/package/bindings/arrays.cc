// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/arrays.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/error.h"
#include "bindings/errors.h"
#include "bindings/frameworks.h"
#include "bindings/looked_up.h"

namespace assay::python {
namespace {

namespace nb = nanobind;

std::optional<DType> integer_dtype(bool is_signed, Py_ssize_t size) {
  switch (size) {
    case 1:
      return is_signed ? DType::kI8 : DType::kU8;
    case 2:
      return is_signed ? DType::kI16 : DType::kU16;
    case 4:
      return is_signed ? DType::kI32 : DType::kU32;
    case 8:
      return is_signed ? DType::kI64 : DType::kU64;
    default:
      return std::nullopt;
  }
}

// Of a format of the module `struct`, as PEP 3118 extends it, in this machine's byte order.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t size) {
  if (format == nullptr) return DType::kU8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  const bool is_complex = *format == 'Z';
  if (is_complex) ++format;
  if (*format == '\0' || format[1] != '\0') return std::nullopt;
  switch (*format) {
    case 'e':
      return is_complex ? std::nullopt : std::optional(DType::kF16);
    case 'f':
      return is_complex ? DType::kC64 : DType::kF32;
    case 'd':
      return is_complex ? DType::kC128 : DType::kF64;
    case '?':
      return DType::kBool;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return integer_dtype(true, size);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return integer_dtype(false, size);
    default:
      return std::nullopt;
  }
}

std::optional<DType> dtype_of_dlpack(nb::dlpack::dtype dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  switch (static_cast<nb::dlpack::dtype_code>(dtype.code)) {
    case nb::dlpack::dtype_code::Int:
      return integer_dtype(true, dtype.bits / 8);
    case nb::dlpack::dtype_code::UInt:
      return integer_dtype(false, dtype.bits / 8);
    case nb::dlpack::dtype_code::Bool:
      return DType::kBool;
    case nb::dlpack::dtype_code::Bfloat:
      return DType::kBF16;
    case nb::dlpack::dtype_code::Float:
      return dtype.bits == 16   ? std::optional(DType::kF16)
             : dtype.bits == 32 ? std::optional(DType::kF32)
             : dtype.bits == 64 ? std::optional(DType::kF64)
                                : std::nullopt;
    case nb::dlpack::dtype_code::Complex:
      return dtype.bits == 64    ? std::optional(DType::kC64)
             : dtype.bits == 128 ? std::optional(DType::kC128)
                                 : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Numbers, and lists of them.
bool is_plain(nb::handle object) {
  return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) || PyFloat_Check(object.ptr()) ||
         PyLong_Check(object.ptr()) || PyComplex_Check(object.ptr());
}

void check_alignment(const void* data, DType dtype, std::size_t boundary, ArgumentName name) {
  if (reinterpret_cast<std::uintptr_t>(data) % boundary != 0) {
    fail("{}: its elements are not aligned for their dtype, {}", name.to_string(), name_of(dtype));
  }
}

// NumPy has bf16 from the package ml_dtypes, as jax's arrays have it there, and no buffers of it.
bool is_numpys_bfloat16(nb::handle array) {
  if (array.type().ptr() != numpy().array) return false;
  return nb::str(array.attr("dtype")).equal(nb::str("bfloat16"));
}

TensorView view_of_buffer(const Py_buffer& buffer, std::optional<DType> dtype, ArgumentName name) {
  if (!dtype) {
    fail("{}: no dtype of a tensor: its elements have the format '{}'", name.to_string(),
         buffer.format);
  }
  const auto rank = static_cast<std::size_t>(buffer.ndim);
  Axes extents(rank), strides(rank);
  // ctypes gives no strides, though they were asked for: its arrays are row-major.
  Py_ssize_t dense = buffer.itemsize;
  for (std::size_t axis = rank; axis-- > 0;) {
    extents[axis] = buffer.shape[axis];
    const Py_ssize_t stride = buffer.strides != nullptr ? buffer.strides[axis] : dense;
    dense *= buffer.shape[axis];
    if (stride % buffer.itemsize != 0) {
      fail("{}: axis {} has a stride that is no multiple of an element's {} bytes: {}",
           name.to_string(), axis, buffer.itemsize, stride);
    }
    strides[axis] = stride / buffer.itemsize;
  }
  check_alignment(buffer.buf, *dtype, alignment_of(*dtype), name);
  return {*dtype, buffer.buf, Shape(std::move(extents)), std::move(strides)};
}

// Of forward-mode differentiation, at the level that is the latest.
bool has_tangent(const Torch& torch, nb::handle tensor) {
  const auto level = nb::getattr(torch.forward_ad, torch.current_level);
  if (PyLong_AsLong(level.ptr()) < 0) return false;
  const auto unpacked = call_of(torch.unpack_dual, nullptr, tensor.ptr());
  return !nb::getattr(unpacked, torch.tangent).is_none();
}

// Whether torch.func stands between the tensor and its elements.
bool is_transformed(nb::handle tensor) {
  const auto functions = nb::module_::import_("torch._C").attr("_functorch");
  return nb::cast<bool>(functions.attr("is_functorch_wrapped_tensor")(tensor));
}

}  // namespace

nb::dlpack::dtype dlpack_dtype(DType dtype) {
  return visit_dtype(dtype, []<typename T>(std::type_identity<T>) -> nb::dlpack::dtype {
    using Code = nb::dlpack::dtype_code;
    constexpr Code kCode = std::is_same_v<T, bool>                                  ? Code::Bool
                           : std::is_same_v<T, BFloat16>                            ? Code::Bfloat
                           : std::is_same_v<T, Half> || std::is_floating_point_v<T> ? Code::Float
                           : !std::is_integral_v<T>                                 ? Code::Complex
                           : std::is_signed_v<T>                                    ? Code::Int
                                                                                    : Code::UInt;
    return {static_cast<std::uint8_t>(kCode), 8 * sizeof(T), 1};
  });
}

nb::object as_real(nb::handle given) {
  if (!is_plain(given)) return nb::borrow(given);
  try {
    const nb::object array = nb::module_::import_("numpy").attr("asarray")(given);
    const char kind = nb::str(array.attr("dtype").attr("kind")).c_str()[0];
    if (kind == 'i' || kind == 'u') return array.attr("astype")("float64");
  } catch (const nb::python_error&) {  // who borrows it says what it is
  }
  return nb::borrow(given);
}

std::string ArgumentName::to_string() const {
  return number < 0 ? std::string(text) : fmt::format("{} {}", text, number);
}

void BorrowedArray::Release::operator()(Py_buffer* buffer) const {
  PyBuffer_Release(buffer);
  delete buffer;
}

BorrowedArray::BorrowedArray(nb::handle array, ArgumentName name, Use use, Where where)
    : where_(where), view_(borrow(array, name, use)) {}

template <typename Array>
TensorView BorrowedArray::view_of(const Array& array, ArgumentName name) {
  const auto dtype = dtype_of_dlpack(array.dtype());
  if (!dtype) {
    fail("{}: no dtype of a tensor: DLPack's code {} with {} bits", name.to_string(),
         array.dtype().code, array.dtype().bits);
  }
  if (array.data() == nullptr && array.size() != 0) {
    fail(
        "{}: has no elements to look at: its framework only stands in for them (torch's "
        "FakeTensor, "
        "functionalize)",
        name.to_string());
  }
  std::size_t boundary = alignment_of(*dtype);
  if (array.device_type() != nb::device::cpu::value) {
    const auto text = fmt::format(
        "{}: is in the memory of a device, and this call computes on the processor: DLPack's "
        "device {}",
        name.to_string(), array.device_type());
    const bool is_cuda = array.device_type() == nb::device::cuda::value;
    if (is_cuda && where_ == Where::kHost) throw OnDevice(text);
    if (!is_cuda || where_ == Where::kHostAlone) throw UserError(text);
    device_ = array.device_id();
    boundary = size_of(*dtype);  // pairs are read as one there
  }
  const std::span extents(array.shape_ptr(), array.ndim());
  const std::span strides(array.stride_ptr(), array.ndim());
  check_alignment(array.data(), *dtype, boundary, name);
  return {*dtype, array.data(), Shape(Axes(extents)), Axes(strides)};
}

TensorView BorrowedArray::borrow(nb::handle array, ArgumentName name, Use use) {
  if (!PyObject_CheckBuffer(array.ptr())) {
    if (use == Use::kRead && is_plain(array)) {
      try {
        made_ = nb::module_::import_("numpy").attr("asarray")(array);
      } catch (const nb::python_error& e) {
        fail("{}: no array can be made of it: {}", name.to_string(), nb::str(e.value()).c_str());
      }
      return borrow(made_, name, use);
    }
    return borrow_dlpack(array, name, use);
  }
  auto buffer = std::make_unique<Py_buffer>();
  const int flags = use == Use::kWrite ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
  std::optional<DType> dtype;
  if (PyObject_GetBuffer(array.ptr(), buffer.get(), flags) == 0) {
    dtype = dtype_of_format(buffer->format, buffer->itemsize);
  } else {
    const nb::python_error error;  // takes it
    // jax has buffers, but none of bf16; cupy has a type with buffers, and none on a device.
    if (!nb::isinstance(array, numpy().array) && nb::hasattr(array, "__dlpack__")) {
      return borrow_dlpack(array, name, use);
    }
    if (!is_numpys_bfloat16(array)) {
      fail("{}: {}", name.to_string(), nb::str(error.value()).c_str());
    }
    made_ = array.attr("view")("uint16");
    if (PyObject_GetBuffer(made_.ptr(), buffer.get(), flags) != 0) {
      const nb::python_error unwritable;
      fail("{}: {}", name.to_string(), nb::str(unwritable.value()).c_str());
    }
    dtype = DType::kBF16;
  }
  buffer_.reset(buffer.release());
  return view_of_buffer(*buffer_, dtype, name);
}

// Without its __dlpack__, which takes ten times as long.
TensorView BorrowedArray::borrow_torch(const Torch& torch, nb::handle tensor, ArgumentName name,
                                       Use use) {
  const auto is_true = [](nb::handle object) { return object.ptr() == Py_True; };
  // Under no_grad() nobody wants one.
  if (is_true(nb::getattr(tensor, torch.requires_grad)) &&
      is_true(call_of(torch.is_grad_enabled, nullptr))) {
    fail("{}: wants a gradient, which this call does not have: pass it by .detach()",
         name.to_string());
  }
  if (has_tangent(torch, tensor)) {
    fail(
        "{}: carries a tangent (forward-mode differentiation: torch.func.jvp, forward_ad), and "
        "this "
        "call has none: pass it by .detach()",
        name.to_string());
  }
  for (const auto& [method, text] :
       {std::pair(torch.is_conj, "is_conj"), {torch.is_neg, "is_neg"}}) {
    if (!is_true(call_of(method, nullptr, tensor.ptr()))) continue;
    fail("{}: its elements are other numbers in memory (torch's {}()): pass a clone()",
         name.to_string(), text);
  }
  nb::object capsule;
  try {
    capsule = call_of(torch.to_dlpack, nullptr, tensor.ptr());
  } catch (const nb::python_error& e) {
    if (is_transformed(tensor)) {
      fail("{}: has no elements to look at: torch.func transforms it (vmap, grad, jvp)",
           name.to_string());
    }
    fail("{}: DLPack gives no view of its elements: {}", name.to_string(),
         nb::str(e.value()).c_str());
  }
  if (use == Use::kWrite) {
    written_ = nb::borrow(tensor);
    check(nb::try_cast(capsule, writable_), "a capsule of torch is an array");
    return view_of(writable_, name);
  }
  check(nb::try_cast(capsule, readable_), "a capsule of torch is an array");
  return view_of(readable_, name);
}

TensorView BorrowedArray::borrow_dlpack(nb::handle array, ArgumentName name, Use use) {
  if (torch() != nullptr && nb::isinstance(array, torch()->tensor)) {
    return borrow_torch(*torch(), array, name, use);
  }
  if (!nb::hasattr(array, "__dlpack__")) {
    fail("{}: is no array, by buffer or DLPack, but a {}", name.to_string(),
         nb::type_name(array.type()).c_str());
  }
  if (use == Use::kWrite) {
    // DLPack would let us, and every array that shares the elements would change.
    if (framework_of(array) == Framework::kJax) {
      fail("{}: an array of jax is never written to", name.to_string());
    }
    if (nb::try_cast(array, writable_)) return view_of(writable_, name);
    fail("{}: DLPack gives no way to write it", name.to_string());
  }
  if (nb::try_cast(array, readable_)) return view_of(readable_, name);
  if (framework_of(array) == Framework::kJax) {
    fail("{}: has no elements to look at: jax traces it (jit, vmap, grad), or has deleted it",
         name.to_string());
  }
  try {  // nanobind says nothing of what it met
    array.attr("__dlpack__")();
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_Exception)) throw;
    fail("{}: DLPack gives no view of its elements: {}", name.to_string(),
         nb::str(e.value()).c_str());
  }
  fail("{}: DLPack gives no view of its elements", name.to_string());
}

MutableTensorView BorrowedArray::mutable_view() const {
  if (written_.is_valid()) call_of(torch()->increment_version, nullptr, written_.ptr());
  return {view_.dtype(), const_cast<void*>(view_.raw_data()), view_.shape(), view_.strides()};
}

}  // namespace assay::python
