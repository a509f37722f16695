// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json_stream.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace assay {
namespace {

constexpr int kMaxDepth = 200;  // far beyond any file of ours, far below a stack overflow in dump()

// The characters of all pieces, for the library.
class PieceIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  PieceIterator() = default;  // the end
  explicit PieceIterator(const TextPieces& text) : text_(&text) { load(); }

  reference operator*() const { return *at_; }
  PieceIterator& operator++() {
    if (++at_ == end_) load();
    return *this;
  }
  bool operator==(const PieceIterator& other) const { return at_ == other.at_; }

 private:
  void load() {
    const auto piece = (*text_)(read_);
    read_ += piece.size();
    at_ = piece.empty() ? nullptr : piece.data();
    end_ = at_ + piece.size();
  }

  const TextPieces* text_ = nullptr;
  std::size_t read_ = 0;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

// An array or object that is not complete yet.
struct OpenValue {
  Json* value;
  std::string key;           // of an object: the member that is being read
  std::size_t elements = 0;  // of an array: how many are complete
};

// Asked about each complete element of an array, the innermost of the open values: whether it stays
// there.
using Keeps = std::function<bool(const std::vector<OpenValue>& open, const Json& element)>;

// Builds the value, less the elements that nobody keeps, and refuses an object that has a key
// twice.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view what, const Keeps& keeps) : what_(what), keeps_(keeps) {}

  Json take() { return std::move(root_); }

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(Json::number_integer_t value) override { return scalar(value); }
  bool number_unsigned(Json::number_unsigned_t value) override { return scalar(value); }
  bool number_float(Json::number_float_t value, const std::string&) override {
    return scalar(value);
  }
  bool string(std::string& value) override { return scalar(std::move(value)); }
  bool binary(Json::binary_t& value) override { return scalar(std::move(value)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    auto& object = open_.back();
    const auto [member, fresh] = object.value->get_ref<Json::object_t&>().try_emplace(name);
    if (!fresh) fail("{}: repeated key {}", what_, canonical_json(Json(name)));
    member_ = &member->second;
    object.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    fail_to_parse(error, what_);
  }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back().value;
    if (parent.is_object()) return *member_ = std::move(value);
    return parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
  }
  bool open(Json empty) {
    open_.push_back({&place(std::move(empty)), {}});
    return true;
  }
  bool scalar(Json value) {
    place(std::move(value));
    return complete();
  }
  bool close() {
    open_.pop_back();
    return complete();
  }
  bool complete() {
    if (open_.empty() || !open_.back().value->is_array()) return true;
    auto& elements = open_.back().value->get_ref<Json::array_t&>();
    if (keeps_ && !keeps_(open_, elements.back())) elements.pop_back();
    ++open_.back().elements;
    return true;
  }

  std::string_view what_;
  const Keeps& keeps_;
  Json root_;
  std::vector<OpenValue> open_;  // outermost first; each lies within the one before
  Json* member_ = nullptr;       // the value of the innermost object's key
};

Json build(const TextPieces& text, std::string_view what, const Keeps& keeps) {
  check_depth(text, what);
  Builder builder(what, keeps);
  nlohmann::json_sax<Json>* const events = &builder;
  Json::sax_parse(PieceIterator(text), PieceIterator(), events);
  return builder.take();
}

// Whether the innermost open value is an array that the path leads to.
bool leads_to(std::span<const std::string_view> path, const std::vector<OpenValue>& open) {
  if (open.size() != 2 * path.size()) return false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!open[2 * i].value->is_object() || open[2 * i].key != path[i]) return false;
    if (!open[2 * i + 1].value->is_array()) return false;
  }
  return true;
}

}  // namespace

Json read_json(const TextPieces& text, std::string_view what) { return build(text, what, {}); }

Json sketch_json(const TextPieces& text, std::string_view what) {
  return build(text, what, [](const auto& open, const Json&) { return open.back().elements == 0; });
}

Json for_each_element(const TextPieces& text, std::string_view what,
                      std::span<const std::string_view> path,
                      const std::function<void(std::size_t index, const Json& element)>& use) {
  check(!path.empty(), "a path to an array");
  return build(text, what, [&](const auto& open, const Json& element) {
    if (!leads_to(path, open)) return true;
    use(open[1].elements, element);
    return false;
  });
}

void check_depth(const TextPieces& text, std::string_view what) {
  int depth = 0;
  bool in_string = false;
  std::size_t read = 0, skip = 0;  // skip: 1 where the piece before ended in a backslash
  for (auto piece = text(0); !piece.empty(); piece = text(read)) {
    read += piece.size();
    std::size_t i = skip;
    for (; i < piece.size(); ++i) {
      const char c = piece[i];
      if (in_string) {
        if (c == '\\') ++i;
        if (c == '"') in_string = false;
      } else if (c == '"') {
        in_string = true;
      } else if (c == '[' || c == '{') {
        if (++depth > kMaxDepth) fail("{}: nested deeper than {} levels", what, kMaxDepth);
      } else if (c == ']' || c == '}') {
        --depth;
      }
    }
    skip = i - piece.size();
  }
}

void fail_to_parse(const Json::exception& error, std::string_view what) {
  // "[json.exception.parse_error.101] parse error at line 1, …": keep what a person can use.
  std::string message = error.what();
  if (const auto end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
  fail("{}: not valid JSON: {}", what, message);
}

}  // namespace assay
