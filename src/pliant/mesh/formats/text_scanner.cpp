#include "pliant/mesh/formats/text_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

constexpr std::size_t longest_word = 4096;

}  // namespace

std::string shown(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string text;
  for (char c : word.substr(0, longest)) text += c >= ' ' && c <= '~' ? c : '?';
  if (word.size() > longest) text += "...";
  return text;
}

TextScanner::TextScanner(std::string_view text, std::string file, Comments comments, std::int64_t first_line)
    : text_(text), file_(std::move(file)), comments_(comments), line_(first_line), word_line_(first_line) {}

void TextScanner::fail(const std::string& message) const {
  if (binary_) throw InputError(fmt::format("{}: byte {}: {}", file_, word_position_, message));
  throw InputError(fmt::format("{}:{}: {}", file_, word_line_, message));
}

void TextScanner::skip_space() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
    } else if (c == '#' && comments_ == Comments::hash) {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
      continue;
    } else if (!is_space(c)) {
      break;
    }
    ++position_;
  }
}

std::string_view TextScanner::peek() {
  skip_space();
  std::size_t end = position_;
  const std::size_t most = std::min(text_.size(), position_ + longest_word + 1);
  while (end < most && !is_space(text_[end])) ++end;
  if (end - position_ > longest_word) {
    word_line_ = line_;
    word_position_ = position_;
    fail(fmt::format("a word of more than {} characters ('{}'); this is not text of the expected kind.", longest_word,
                     shown(text_.substr(position_, longest_word))));
  }
  return text_.substr(position_, end - position_);
}

std::string_view TextScanner::word() {
  const std::string_view result = peek();
  word_line_ = line_;
  word_position_ = position_;
  position_ += result.size();
  return result;
}

std::string_view TextScanner::word(const char* what) {
  const std::string_view result = word();
  if (result.empty()) fail(fmt::format("the file ends where {} should follow; it may be truncated.", what));
  return result;
}

template <class Number>
Number TextScanner::parse(const char* what, const char* kind) {
  const std::string_view text = word(what);
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') ++begin;  // from_chars takes no plus sign
  Number value{};
  const auto [stopped, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range) fail(fmt::format("{} is out of range: '{}'.", what, shown(text)));
  if (error != std::errc{} || stopped != end) {
    fail(fmt::format("expected {} ({}), found '{}'.", what, kind, shown(text)));
  }
  return value;
}

double TextScanner::real(const char* what) {
  const auto value = parse<double>(what, "a number");
  if (!std::isfinite(value)) fail(fmt::format("{} is {}; every number must be finite.", what, value));
  return value;
}

std::int64_t TextScanner::integer(const char* what, std::int64_t lowest, std::int64_t highest) {
  const auto value = parse<std::int64_t>(what, "an integer");
  if (value < lowest || value > highest) {
    fail(fmt::format("{} is {}, outside {} to {}.", what, value, lowest, highest));
  }
  return value;
}

Index TextScanner::count(const char* what, int words) {
  const std::int64_t value = integer(what, 0);
  // A word takes a character and a separator; the last one may end the file without.
  const auto room = static_cast<std::int64_t>((text_.size() - position_ + 1) / (2 * static_cast<std::size_t>(words)));
  if (value > room || value > std::numeric_limits<Index>::max()) {
    fail(
        fmt::format("{} is {}, but the rest of the file can hold {} at most; it may be truncated.", what, value, room));
  }
  return static_cast<Index>(value);
}

std::string TextScanner::quoted(const char* what) {
  skip_space();
  word_line_ = line_;
  word_position_ = position_;
  const std::size_t open = position_;
  const std::size_t close = open < text_.size() && text_[open] == '"' ? text_.find_first_of("\"\n", open + 1) : open;
  if (close >= text_.size() || text_[close] != '"' || close == open)
    fail(fmt::format("expected {} in double quotes.", what));
  position_ = close + 1;
  return std::string(text_.substr(open + 1, close - open - 1));
}

std::string_view TextScanner::rest_of_line() {
  word_line_ = line_;
  word_position_ = position_;
  const std::size_t begin = position_;
  skip_line();
  std::string_view rest = text_.substr(begin, position_ - begin);
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

void TextScanner::end_line() {
  skip_line();
  if (position_ == text_.size()) return;
  ++position_;
  ++line_;
}

void TextScanner::resume(std::size_t position) {
  position_ = position;
  binary_ = true;
}

void TextScanner::skip_line() {
  const std::size_t end = text_.find('\n', position_);
  position_ = end == std::string_view::npos ? text_.size() : end;
}

bool TextScanner::next_line_begins(std::string_view word) const {
  const std::size_t end = text_.find('\n', position_);
  if (end == std::string_view::npos) return false;
  const std::string_view line = text_.substr(end + 1, word.size());
  return std::equal(line.begin(), line.end(), word.begin(), word.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

bool TextScanner::more_on_line() const {
  for (std::size_t at = position_; at < text_.size() && text_[at] != '\n'; ++at) {
    if (!is_space(text_[at])) return text_[at] != '#' || comments_ == Comments::none;
  }
  return false;
}

}  // namespace pliant
