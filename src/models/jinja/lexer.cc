// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/jinja/characters.h"
#include "models/tokenizer/utf8.h"

namespace assay::models::jinja {
namespace {

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// All line ends alike; one at the very end is not part of the template.
std::string with_plain_lines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view source, Work& work) : source_(with_plain_lines(source)), work_(work) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_data_and_tag();
    add(Token::kEnd, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  bool looking_at(std::string_view text) const { return rest().starts_with(text); }
  void add(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), work_.line});
  }
  void advance(std::size_t count) {
    work_.line += static_cast<int>(std::ranges::count(rest().substr(0, count), '\n'));
    at_ += count;
    starts_line_ = count > 0 ? source_[at_ - 1] == '\n' : starts_line_;
  }
  void add_data(std::string_view data) {
    if (!data.empty()) add(Token::kData, std::string(data));
  }

  // Text up to a tag, what the tag leaves of it, and the tag.
  void read_data_and_tag() {
    std::size_t begin = at_;
    for (;; ++begin) {
      begin = source_.find('{', begin);
      if (begin == std::string::npos) {
        add_data(rest());
        return advance(rest().size());
      }
      const char next = begin + 1 < source_.size() ? source_[begin + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') break;
    }
    auto data = std::string_view(source_).substr(at_, begin - at_);
    const char kind = source_[begin + 1];
    const char sign = begin + 2 < source_.size() ? source_[begin + 2] : '\0';
    if (sign == '-') {
      data = without_space_behind(data);
    } else if (sign != '+' && kind != '{') {
      const auto line = data.rfind('\n') + 1;  // 0 where there is none
      if ((line > 0 || starts_line_) && without_space_before(data.substr(line)).empty()) {
        data = data.substr(0, line);
      }
    }
    add_data(data);
    advance(begin - at_ + 2);
    if (sign == '-' || sign == '+') advance(1);
    if (kind == '#') return skip_comment();
    add(kind == '{' ? Token::kPrintBegin : Token::kBlockBegin, "");
    read_tag(kind == '{' ? '}' : '%');
  }

  // At the end of a tag: its sign, its bracket, and the white space that goes with them.
  bool skip_end(char first) {
    const char end[] = {first, '}', '\0'};
    const char with_minus[] = {'-', first, '}', '\0'};
    const char with_plus[] = {'+', first, '}', '\0'};
    if (looking_at(with_minus)) {
      advance(3);
      advance(rest().size() - without_space_before(rest()).size());
    } else if (first != '}' && looking_at(with_plus)) {
      advance(3);
    } else if (looking_at(end)) {
      advance(2);
      if (first != '}' && looking_at("\n")) advance(1);
    } else {
      return false;
    }
    return true;
  }

  void skip_comment() {
    while (at_ < source_.size()) {
      if (skip_end('#')) return;
      advance(1);
    }
    work_.refuse("a comment without an end");
  }

  void read_tag(char first) {
    std::string open;  // brackets that are to be closed before the tag can end
    for (;;) {
      advance(rest().size() - without_space_before(rest()).size());
      if (at_ >= source_.size()) work_.refuse("a tag without an end");
      if (open.empty() && skip_end(first)) break;
      const char c = source_[at_];
      if (is_name_start(c)) {
        std::size_t size = 1;
        while (size < rest().size() && (is_name_start(rest()[size]) || is_digit(rest()[size]))) {
          ++size;
        }
        add(Token::kName, std::string(rest().substr(0, size)));
        advance(size);
      } else if (is_digit(c)) {
        read_number();
      } else if (c == '"' || c == '\'') {
        read_text(c);
      } else {
        read_operator(open);
      }
    }
    add(first == '}' ? Token::kPrintEnd : Token::kBlockEnd, "");
  }

  void read_number() {
    const auto digits_from = [this](std::size_t from) {
      while (from < rest().size() && is_digit(rest()[from])) ++from;
      return from;
    };
    auto size = digits_from(0);
    auto kind = Token::kInteger;
    if (size + 1 < rest().size() && rest()[size] == '.' && is_digit(rest()[size + 1])) {
      kind = Token::kFloat;
      size = digits_from(size + 1);
    }
    const char behind = size < rest().size() ? rest()[size] : '\0';
    if (is_name_start(behind)) work_.refuse("numbers are written with digits alone");
    if (kind == Token::kInteger && size > 1 && source_[at_] == '0' &&
        rest().substr(0, size).find_first_not_of('0') != std::string_view::npos) {
      work_.refuse("an integer does not begin with 0");
    }
    add(kind, std::string(rest().substr(0, size)));
    advance(size);
  }

  void read_text(char quote) {
    std::size_t size = 1;
    while (size < rest().size() && rest()[size] != quote) size += rest()[size] == '\\' ? 2 : 1;
    if (size >= rest().size()) work_.refuse("a text without an end");
    add(Token::kText, unescaped(rest().substr(1, size - 1)));
    advance(size + 1);
  }

  std::string unescaped(std::string_view text) const {
    static constexpr std::string_view kLetters = "\\'\"abfnrtv";
    static constexpr std::string_view kMeant = "\\'\"\a\b\f\n\r\t\v";
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) {
        result += text[i];
        continue;
      }
      const char letter = text[++i];
      const auto known = kLetters.find(letter);
      if (known != std::string_view::npos) {
        result += kMeant[known];
      } else if (letter == '\n') {
        continue;  // a line that goes on
      } else if (letter == 'x' || letter == 'u' || letter == 'U') {
        const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
        append_utf8(result, character_of(text.substr(i + 1), digits));
        i += digits;
      } else if (letter == 'N' || is_digit(letter)) {
        work_.refuse(fmt::format("the escape '\\{}' is not supported", letter));
      } else {
        (result += '\\') += letter;
      }
    }
    return result;
  }

  char32_t character_of(std::string_view text, std::size_t digits) const {
    char32_t c = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char d = i < text.size() ? text[i] : '\0';
      const int value = is_digit(d)            ? d - '0'
                        : d >= 'a' && d <= 'f' ? d - 'a' + 10
                        : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                               : -1;
      if (value < 0) work_.refuse("an escape that is no number of a character");
      c = c * 16 + static_cast<char32_t>(value);
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
      work_.refuse("an escape that is no number of a character");
    }
    return c;
  }

  void read_operator(std::string& open) {
    static constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", "<=", ">="};
    std::string text(1, source_[at_]);
    for (const auto two : kOperators) {
      if (looking_at(two)) text = two;
    }
    if (std::string_view("+-*/%~()[]{}<>=.:|,!;").find(text[0]) == std::string_view::npos ||
        text == "!" || text == ";") {
      work_.refuse(fmt::format("unexpected '{}'", rest().substr(0, utf8_length(source_[at_]))));
    }
    const char c = text[0];
    if (c == '(' || c == '[' || c == '{') open += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) work_.refuse(fmt::format("unexpected '{}'", text));
      open.pop_back();
    }
    advance(text.size());
    add(Token::kOperator, std::move(text));
  }

  const std::string source_;
  Work& work_;
  std::size_t at_ = 0;
  bool starts_line_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source, Work& work) {
  check_utf8(source, "a chat template");
  return Lexer(source, work).run();
}

}  // namespace assay::models::jinja
