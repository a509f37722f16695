// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"

namespace assay::compiler::cuda {
namespace {

// Calls f with each dimension that a kernel mentions.
template <typename F>
void each_dim(const View& view, F&& f) {
  for (const auto& dim : view.shape) f(dim);
  for (const auto& dim : view.strides) f(dim);
  f(view.offset);
}
template <typename F>
void each_dim(const Region& region, F&& f) {
  for (const auto& dim : region.shape) f(dim);
  for (const auto& value : region.values) each_dim(value.access.view, f);
  for (const auto& store : region.stores) each_dim(store.to.view, f);
}
template <typename F>
void each_dim(const Matmul& work, F&& f) {
  for (const auto* access : {&work.a, &work.b, &work.out}) each_dim(access->view, f);
  if (work.epilogue) each_dim(*work.epilogue, f);
}
template <typename F>
void each_dim(const GroupedMatmul& work, F&& f) {
  for (const auto* access : {&work.a, &work.weights, &work.expert, &work.out})
    each_dim(access->view, f);
}
template <typename F>
void each_dim(const Attention& work, F&& f) {
  for (const auto* access : {&work.q, &work.k, &work.v, &work.out}) each_dim(access->view, f);
  f(work.offset);
  if (work.window) f(*work.window);
  if (work.mask) each_dim(work.mask->view, f);
}
template <typename F>
void each_dim(const ScatterInto& work, F&& f) {
  for (const auto* access : {&work.data, &work.index, &work.values, &work.out})
    each_dim(access->view, f);
}

}  // namespace

std::string storage_type(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kI32:
      return "int";
    case DType::kI64:
      return "i64";
    case DType::kBool:
      return "b8";
    default:
      throw InternalError("a graph's dtype");
  }
}
std::string wide_type(DType dtype) {
  if (dtype == DType::kBool) return "bool";
  return dtype == DType::kF16 || dtype == DType::kBF16 ? "float" : storage_type(dtype);
}
std::string sum_type(DType dtype) { return dtype == DType::kI32 ? "i64" : wide_type(dtype); }

SymbolNames::SymbolNames(const Kernel& kernel, const std::vector<std::string>& others) {
  std::set<std::string> all(others.begin(), others.end());
  const auto note = [&](const Dim& dim) { dim.add_symbols(all); };
  std::visit([&](const auto& work) { each_dim(work, note); }, kernel.work);
  symbols_.assign(all.begin(), all.end());
}

// Dimensions print as polynomials: names become ours, numbers 64 bits wide, functions those of the
// text that all sources begin with.
std::string SymbolNames::code(const Dim& dim) const {
  const auto& text = dim.to_string();
  std::string out;
  bool is_plain = true;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto until = [&](auto belongs) {
      std::size_t end = i;
      while (end < text.size() && belongs(static_cast<unsigned char>(text[end]))) ++end;
      return end;
    };
    if (std::isalpha(c) != 0 || c == '_') {
      const auto end = until([](unsigned char x) { return std::isalnum(x) != 0 || x == '_'; });
      const auto word = text.substr(i, end - i);
      const bool is_function = end < text.size() && text[end] == '(';
      const auto at = std::ranges::lower_bound(symbols_, word);
      check(is_function || (at != symbols_.end() && *at == word), "a symbol that is noted");
      out += is_function ? word + "_of" : fmt::format("y{}", at - symbols_.begin());
      i = end;
    } else if (std::isdigit(c) != 0) {
      const auto end = until([](unsigned char x) { return std::isdigit(x) != 0; });
      out += text.substr(i, end - i) + "ll";
      i = end;
    } else {
      is_plain = is_plain && c != ' ' && c != '-';
      out += text[i++];
    }
  }
  return is_plain ? out : "(" + out + ")";
}

std::string SymbolNames::declarations() const {
  std::string out;
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    out += fmt::format("  const i64 y{0} = symbols[{0}];\n", i);
  return out;
}

namespace {

std::string arguments_of(const Kernel& kernel, const std::string& more) {
  auto out = "const i64* symbols, char* scratch, u32 constant" + more;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const auto& formal = kernel.operands[i];
    // What is only read here is no constant: the kernel in front may still write it when this one
    // begins. So `__restrict__`, which would make such loads of it, stands only where it is
    // written.
    out += fmt::format(",\n    {}{}*{} o{}", formal.is_written ? "" : "const ",
                       storage_type(formal.dtype), formal.is_written ? " __restrict__" : "", i);
  }
  return out;
}

std::string beginning(const SymbolNames& names) {
  return ") {\n  (void)symbols; (void)scratch; (void)constant;\n" + names.declarations();
}

}  // namespace

std::string entry_head(const Kernel& kernel, const SymbolNames& names, const std::string& name,
                       int most_threads, int least_blocks, const std::string& more) {
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) {}(\n    {}",
                     most_threads, least_blocks > 0 ? fmt::format(", {}", least_blocks) : "", name,
                     arguments_of(kernel, more)) +
         beginning(names);
}

std::string part_head(const Kernel& kernel, const SymbolNames& names, const std::string& name) {
  return fmt::format(
             "DEVICE void {}(const Place& blockIdx, const Place& gridDim, const Place& "
             "blockDim,\n    {}",
             name, arguments_of(kernel, {})) +
         beginning(names);
}

std::string place(const SymbolNames& names, const View& view,
                  const std::vector<std::string>& indices) {
  check(view.strides.size() == indices.size(), "an index for each axis");
  std::string out = names.code(view.offset);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (view.strides[i].is(0) || indices[i] == "0") continue;
    const bool is_one = view.strides[i].is(1);
    out += is_one ? fmt::format(" + {}", indices[i])
                  : fmt::format(" + {} * {}", indices[i], names.code(view.strides[i]));
  }
  return out;
}

std::string unflattened(const SymbolNames& names, const std::vector<Dim>& shape,
                        const std::string& flat, const std::string& name) {
  if (shape.empty()) return {};
  if (shape.size() == 1) return fmt::format("const i64 {}0 = {};\n", name, flat);
  // 64-bit divisions by what is not constant take a hundred instructions; few numbers need them.
  std::string out = fmt::format("i64 {0}_left = {1};\n", name, flat);
  std::vector<std::string> lines;
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    const auto extent = names.code(shape[axis]);
    out += fmt::format(
        "const i64 {0}{1} = {0}_left < 0x7fffffff && {2} < 0x7fffffff ? "
        "(i64)((u32){0}_left % (u32){2}) : {0}_left % {2};\n"
        "{0}_left = {0}_left < 0x7fffffff && {2} < 0x7fffffff ? "
        "(i64)((u32){0}_left / (u32){2}) : {0}_left / {2};\n",
        name, axis, extent);
  }
  return out + fmt::format("const i64 {0}0 = {0}_left;\n", name);
}

}  // namespace assay::compiler::cuda
