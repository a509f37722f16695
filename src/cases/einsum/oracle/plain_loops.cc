// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/oracle/plain_loops.h"

#include <algorithm>

#include "base/error.h"

namespace assay::cases::einsum {
namespace {

bool has(std::string_view labels, char l) { return labels.find(l) != std::string_view::npos; }

std::int64_t stride_of(const PlainTensor& x, char label) {
  std::int64_t stride = 1;
  for (std::size_t axis = x.labels.size(); axis-- > 0;) {
    if (x.labels[axis] == label) return stride;
    stride *= x.extents[axis];
  }
  return 0;
}

std::int64_t extent_of(const PlainTensor& x, const PlainTensor& y, char label) {
  for (const auto* t : {&x, &y}) {
    if (const auto at = t->labels.find(label); at != std::string::npos) return t->extents[at];
  }
  throw InternalError("a kept label is one of an operand's");
}

// For every combination of a group's indices, where it lies in a tensor.
std::vector<std::int64_t> offsets(const std::string& group, const PlainTensor& in,
                                  const PlainTensor& x, const PlainTensor& y) {
  std::vector<std::int64_t> found = {0};
  for (const char l : group) {
    const std::int64_t stride = stride_of(in, l), extent = extent_of(x, y, l);
    std::vector<std::int64_t> next;
    for (const auto before : found) {
      for (std::int64_t i = 0; i < extent; ++i) next.push_back(before + i * stride);
    }
    found = std::move(next);
  }
  return found;
}

template <typename Sum>
void contract(const PlainTensor& x, const PlainTensor& y, PlainTensor& z) {
  std::string rows, columns, batch, summed;
  for (const char l : z.labels) {
    (has(x.labels, l) ? (has(y.labels, l) ? batch : rows) : columns) += l;
  }
  for (const char l : x.labels + y.labels) {
    if (!has(z.labels, l) && !has(summed, l)) summed += l;
  }
  const auto in = [&](const std::string& group, const PlainTensor& t) {
    return offsets(group, t, x, y);
  };
  const auto bx = in(batch, x), by = in(batch, y), bz = in(batch, z);
  const auto rx = in(rows, x), rz = in(rows, z), cy = in(columns, y), cz = in(columns, z);
  const auto sx = in(summed, x), sy = in(summed, y);
  std::vector<Sum> row(cy.size());
  std::vector<double> right(sy.size() * cy.size());  // of one batch index, as the loops read it
  for (std::size_t b = 0; b < bz.size(); ++b) {
    for (std::size_t k = 0; k < sy.size(); ++k) {
      for (std::size_t j = 0; j < cy.size(); ++j) {
        right[k * cy.size() + j] = y.values[static_cast<std::size_t>(by[b] + sy[k] + cy[j])];
      }
    }
    for (std::size_t i = 0; i < rz.size(); ++i) {
      std::ranges::fill(row, Sum(0));
      for (std::size_t k = 0; k < sx.size(); ++k) {
        const Sum factor = x.values[static_cast<std::size_t>(bx[b] + rx[i] + sx[k])];
        const double* const from = right.data() + k * cy.size();
        for (std::size_t j = 0; j < cy.size(); ++j) row[j] += factor * from[j];
      }
      for (std::size_t j = 0; j < cy.size(); ++j) {
        z.values[static_cast<std::size_t>(bz[b] + rz[i] + cz[j])] = static_cast<double>(row[j]);
      }
    }
  }
}

// Keeps these indices along an axis.
void choose(PlainTensor& x, std::size_t axis, const std::vector<std::int64_t>& indices) {
  std::int64_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < x.extents.size(); ++i) {
    if (i != axis) (i < axis ? outer : inner) *= x.extents[i];
  }
  std::vector<double> kept;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const auto index : indices) {
      const auto from = x.values.begin() + (o * x.extents[axis] + index) * inner;
      kept.insert(kept.end(), from, from + inner);
    }
  }
  x.values = std::move(kept);
  x.extents[axis] = static_cast<std::int64_t>(indices.size());
}

}  // namespace

PlainTensor plain_tensor(std::string_view labels, const Tensor& tensor, const PlainPart& part) {
  const Tensor wide = Tensor::converted(tensor.view(), DType::kF64);
  const auto all = wide.as<double>();
  const auto& extents = tensor.shape().extents();
  PlainTensor plain;
  plain.labels = labels;
  plain.extents.assign(extents.begin(), extents.end());
  plain.values.assign(all.begin(), all.end());
  for (std::size_t axis = 0; axis < labels.size(); ++axis) {
    if (const auto it = part.find(labels[axis]); it != part.end()) choose(plain, axis, it->second);
  }
  return plain;
}

PlainTensor plain_contract(const PlainTensor& x, const PlainTensor& y, const std::string& kept,
                           bool precise) {
  PlainTensor z;
  z.labels = kept;
  std::int64_t count = 1;
  for (const char l : kept) {
    z.extents.push_back(extent_of(x, y, l));
    count *= z.extents.back();
  }
  z.values.resize(static_cast<std::size_t>(count));
  if (precise) {
    contract<long double>(x, y, z);
  } else {
    contract<double>(x, y, z);
  }
  return z;
}

std::vector<std::string> kept_labels(const std::vector<std::string>& terms,
                                     const std::string& output, const PlainPath& path) {
  auto nodes = terms;
  std::vector<bool> used(terms.size() + path.size(), false);
  std::vector<std::string> kept;
  for (std::size_t s = 0; s < path.size(); ++s) {
    const auto a = static_cast<std::size_t>(path[s].first),
               b = static_cast<std::size_t>(path[s].second);
    check(a < nodes.size() && b < nodes.size() && !used[a] && !used[b], "a path uses nodes once");
    used[a] = used[b] = true;
    std::string labels;
    for (const char l : nodes[a] + nodes[b]) {
      bool needed = has(output, l);
      for (std::size_t n = 0; n < nodes.size(); ++n) needed |= !used[n] && has(nodes[n], l);
      if (needed && !has(labels, l)) labels += l;
    }
    nodes.push_back(s + 1 == path.size() ? output : labels);
    kept.push_back(nodes.back());
  }
  return kept;
}

}  // namespace assay::cases::einsum
