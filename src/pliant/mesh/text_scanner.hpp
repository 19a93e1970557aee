#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "pliant/math/types.hpp"

namespace pliant {

/// Reads a whole file into memory. Throws InputError with the path and the reason.
std::string read_text(const std::filesystem::path& path);

/// Walks through the words of a text file, keeps count of the lines, and turns whatever is wrong into an InputError
/// "file:line: ...". `text` must outlive it. A '#' at the start of a word begins a comment when `comments` says so.
class TextScanner {
 public:
  enum class Comments { none, hash };

  TextScanner(std::string_view text, std::string file, Comments comments);

  /// Throws InputError "file:line: message", where line is the one of the last word read.
  [[noreturn]] void fail(const std::string& message) const;

  const std::string& file() const { return file_; }
  int line() const { return word_line_; }
  std::size_t position() const { return position_; }

  /// The next word, empty at the end of the file.
  std::string_view word();
  /// The next word without consuming it.
  std::string_view peek();
  /// Like word(), but the end of the file is an error: "expected <what>".
  std::string_view word(const char* what);
  /// The next number; `what` names it in messages. NaN and infinities are refused.
  double real(const char* what);
  std::int64_t integer(const char* what, std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t highest = std::numeric_limits<std::int64_t>::max());
  /// A count of records of at least `words` words each. Refused when the rest of the file is too short to hold them, so
  /// that a corrupt count cannot ask for more memory than a small multiple of the file's size.
  Index count(const char* what, int words);
  /// A text between double quotes.
  std::string quoted(const char* what);
  /// Drops what is left of the line.
  void skip_line();
  /// Whether more words follow on the line of the last word.
  bool more_on_line();

 private:
  void skip_space();
  template <class Number>
  Number parse(const char* what, const char* kind);

  std::string_view text_;
  std::string file_;
  Comments comments_;
  std::size_t position_ = 0;
  int line_ = 1;
  int word_line_ = 1;
};

}  // namespace pliant
