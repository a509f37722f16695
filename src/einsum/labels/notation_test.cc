// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/labels/notation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string bound(const std::string& text, std::vector<Shape> shapes) {
  return bind_labels(parse_notation(text), shapes).expression();
}

struct Refusal {
  std::string text;
  std::vector<Shape> shapes;
  std::string message;
};

TEST(Notation, EveryRefusalNamesWhatIsWrong) {
  const Shape v({3}), m({3, 4});
  for (const auto& r : std::vector<Refusal>{
           {"i1", {m}, "operand 0: '1' is no label at character 1 of 'i1'"},
           {"i,j*", {v, v}, "operand 1: '*' is no label"},
           {"i..", {v}, "an ellipsis is three dots"},
           {"...i...", {v}, "a second ellipsis"},
           {"i-j", {v}, "an arrow is '->'"},
           {"i->i->i", {v}, "the expression should end"},
           {"i->i,j", {v}, "the expression should end"},
           {"{x}", {v}, "an integer label is written {n}"},
           {"{3", {v}, "an integer label is written {n}"},
           {"{9999999999}", {v}, "an integer label is at most"},
           {"i,j", {v}, "'i,j' names 2 operands, but 1 are given"},
           {"ij", {v}, "operand 0 has 2 labels in 'ij' but 1 axes (3)"},
           {"i", {m}, "operand 0 has 1 label in 'i' but 2 axes (3x4)"},
           {"...ijk", {m}, "operand 0 has 3 labels in '...ijk' but 2 axes (3x4)"},
           {"ij,jk",
            {m, Shape({5, 6})},
            "label 'j' has extent 4 on axis 1 of operand 0, but 5 on axis 0 of operand 1"},
           {"ii",
            {m},
            "label 'i' has extent 3 on axis 0 of operand 0, but 4 on axis 1 of operand 0"},
           {"ii->i",
            {Shape({1, 3})},
            "label 'i' has extent 1 on axis 0 of operand 0, but 3 on axis 1 of operand 0"},
           {"...,...",
            {v, Shape({4})},
            "label '...[-1]' has extent 3 on axis 0 of operand 0, but 4"},
           {"ij->ii", {m}, "label 'i' occurs twice in the result"},
           {"ij->ik", {m}, "label 'k' of the result is in no operand"},
           {"i...->i", {m}, "has no '...' for 1 axes without a label"},
           {"i,i", {v, Shape({0})}, "label 'i' has extent 3 on axis 0 of operand 0, but 0"},
       }) {
    EXPECT_THAT([&] { bind_labels(parse_notation(r.text), r.shapes); },
                ThrowsMessage<UserError>(HasSubstr(r.message)))
        << r.text;
  }
  EXPECT_THAT([&] { bind_labels(Notation{}, {}); },
              ThrowsMessage<UserError>(HasSubstr("no operands")));
}

TEST(Notation, ImplicitResultsAreSorted) {
  EXPECT_EQ(bound("ba", {Shape({2, 3})}), "ba->ab");
  EXPECT_EQ(bound("bA{3}", {Shape({2, 3, 4})}), "bA{3}->Ab{3}");
  EXPECT_EQ(bound("ij,jk", {Shape({2, 3}), Shape({3, 4})}), "ij,jk->ik");
  EXPECT_EQ(bound("ii", {Shape({2, 2})}), "ii->");
  EXPECT_EQ(bound("i...,j", {Shape({2, 5}), Shape({3})}), "i...[-1],j->...[-1]ij");
  EXPECT_EQ(bound(" i j , j k -> i k ", {Shape({2, 3}), Shape({3, 4})}), "ij,jk->ik");
  EXPECT_EQ(bound("", {Shape()}), "->");
}

TEST(Notation, BroadcastsAndEllipsesAlignAtTheRight) {
  const auto p = bind_labels(parse_notation("...i,...i->..."),
                             std::vector<Shape>{Shape({7, 1, 3}), Shape({5, 1})});
  EXPECT_EQ(p.output_shape(), Shape({7, 5}));
  EXPECT_EQ(bind_labels(parse_notation("i,i->i"), std::vector<Shape>{Shape({1}), Shape({0})})
                .output_shape(),
            Shape({0}));
}

TEST(Notation, InterleavedFormIsTheSame) {
  const std::vector<std::vector<std::int32_t>> labels = {{-1, 7}, {7, 2}};
  EXPECT_EQ(to_string(integer_notation(labels, std::vector<std::int32_t>{-1, 2})),
            "...{7},{7}{2}->...{2}");
  EXPECT_EQ(to_string(parse_notation("...{7},{7}{2}->...{2}")), "...{7},{7}{2}->...{2}");
  EXPECT_THAT([&] { integer_notation(std::vector<std::vector<std::int32_t>>{{-2}}, std::nullopt); },
              ThrowsMessage<UserError>(HasSubstr("operand 0")));
}

}  // namespace
}  // namespace assay::einsum
