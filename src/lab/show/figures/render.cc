// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/render.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/gnuplot.h"
#include "base/names.h"
#include "lab/show/figures/table.h"

namespace assay::lab {
namespace {

constexpr auto kImageFormatNames = make_names<ImageFormat>(
    {{ImageFormat::kPng, "png"}, {ImageFormat::kPdf, "pdf"}, {ImageFormat::kSvg, "svg"}});

const char* extension(ImageFormat format) { return kImageFormatNames[format].data(); }

// A PDF says when it was made, to the second: the one thing that would differ from drawing to
// drawing. The digits are replaced by those of the newest row's time (or zeros), none added.
std::string dated(std::string pdf, const std::string& newest) {
  constexpr std::string_view kDate = "/CreationDate (D:";
  std::string digits;
  for (const char c : newest) {
    if (c >= '0' && c <= '9') digits += c;
  }
  digits.resize(14, '0');  // YYYYMMDDhhmmss
  const auto at = pdf.find(kDate);
  if (at == std::string::npos || at + kDate.size() + digits.size() > pdf.size()) return pdf;
  return pdf.replace(at + kDate.size(), digits.size(), digits);
}

}  // namespace

ImageFormat image_format(const std::string& name) {
  if (const auto format = kImageFormatNames.find(name)) return *format;
  fail("unknown image format ({}): '{}'", kImageFormatNames.list(), name);
}

std::vector<std::string> render(const Figure& figure, const std::vector<ImageFormat>& formats,
                                const std::string& folder) {
  std::vector<std::string> written;
  const auto stem = folder + "/" + figure.name;
  const auto write = [&](const char* suffix, const std::string& bytes) {
    written.push_back(fmt::format("{}.{}", stem, suffix));
    write_file_atomically(written.back(), bytes);
  };
  const auto numbers = pretty_json(figure_json(figure)) + "\n";
  if (figure.form == FigureForm::kTable) {
    write("md", table_markdown(figure));
    write("json", numbers);
    return written;
  }
  const TemporaryDirectory drawn;
  const auto image = [&](ImageFormat format) {
    return fmt::format("{}/figure.{}", drawn.path(), extension(format));
  };
  std::string program;  // gnuplot takes a while to start: once for all formats
  for (const auto format : formats) {
    program += gnuplot_script(figure, format, image(format)) + "unset output\nreset session\n";
  }
  run_gnuplot(program, figure.name);
  for (const auto format : formats) {
    auto bytes = read_file(image(format));
    if (format == ImageFormat::kPdf) bytes = dated(std::move(bytes), figure.newest);
    write(extension(format), bytes);
  }
  write("json", numbers);
  return written;
}

}  // namespace assay::lab
