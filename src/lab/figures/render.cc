// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/figures/render.h"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "base/gnuplot.h"

namespace assay::lab {
namespace {

const char* extension(ImageFormat format) {
  switch (format) {
    case ImageFormat::kPng:
      return "png";
    case ImageFormat::kPdf:
      return "pdf";
    case ImageFormat::kSvg:
      return "svg";
  }
  throw InternalError("an image has one of three formats");
}

// Seconds since the epoch of an ISO 8601 time in UTC; 0 for anything else.
std::int64_t unix_seconds(const std::string& time) {
  std::tm t{};
  const int read = std::sscanf(time.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &t.tm_year, &t.tm_mon,
                               &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec);
  if (read != 6) return 0;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  return timegm(&t);
}

}  // namespace

ImageFormat image_format(const std::string& name) {
  if (name == "png") return ImageFormat::kPng;
  if (name == "pdf") return ImageFormat::kPdf;
  if (name == "svg") return ImageFormat::kSvg;
  fail("unknown image format (png, pdf, svg): '{}'", name);
}

std::vector<std::string> render(const Figure& figure, const std::vector<ImageFormat>& formats,
                                const std::string& folder) {
  std::vector<std::string> written;
  const auto stem = folder + "/" + figure.name;
  const TemporaryDirectory drawn;
  for (const auto format : formats) {
    const auto image = fmt::format("{}/figure.{}", drawn.path(), extension(format));
    run_gnuplot(gnuplot_script(figure, format, image), figure.name, unix_seconds(figure.newest));
    written.push_back(fmt::format("{}.{}", stem, extension(format)));
    write_file_atomically(written.back(), read_file(image));
  }
  written.push_back(stem + ".json");
  write_file_atomically(written.back(), pretty_json(figure_json(figure)) + "\n");
  return written;
}

}  // namespace assay::lab
