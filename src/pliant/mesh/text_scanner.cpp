#include "pliant/mesh/text_scanner.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <system_error>

#include "pliant/math/error.hpp"

namespace pliant {

namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// A word as shown in a message: short, and printable whatever the file holds.
std::string shown(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string text;
  for (char c : word.substr(0, longest)) text += c >= ' ' && c <= '~' ? c : '?';
  if (word.size() > longest) text += "...";
  return text;
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw InputError(fmt::format("{}: no such file.", path.string()));
  if (!std::filesystem::is_regular_file(status))
    throw InputError(fmt::format("{}: not a regular file.", path.string()));
  std::ifstream stream(path, std::ios::binary);
  const auto size = std::filesystem::file_size(path, error);
  if (!stream || error) {
    const std::string reason = error ? error.message() : std::generic_category().message(errno);
    throw InputError(fmt::format("{}: cannot be read: {}.", path.string(), reason));
  }
  std::string text(size, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(stream.gcount()) != size) {
    throw InputError(fmt::format("{}: only {} of {} bytes could be read.", path.string(), stream.gcount(), size));
  }
  return text;
}

TextScanner::TextScanner(std::string_view text, std::string file, Comments comments)
    : text_(text), file_(std::move(file)), comments_(comments) {}

void TextScanner::fail(const std::string& message) const {
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
  while (end < text_.size() && !is_space(text_[end])) ++end;
  return text_.substr(position_, end - position_);
}

std::string_view TextScanner::word() {
  const std::string_view result = peek();
  word_line_ = line_;
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
  const std::size_t open = position_;
  const std::size_t close = open < text_.size() && text_[open] == '"' ? text_.find_first_of("\"\n", open + 1) : open;
  if (close >= text_.size() || text_[close] != '"' || close == open)
    fail(fmt::format("expected {} in double quotes.", what));
  position_ = close + 1;
  return std::string(text_.substr(open + 1, close - open - 1));
}

void TextScanner::skip_line() {
  const std::size_t end = text_.find('\n', position_);
  position_ = end == std::string_view::npos ? text_.size() : end;
}

bool TextScanner::more_on_line() {
  skip_space();
  return position_ < text_.size() && line_ == word_line_;
}

}  // namespace pliant
