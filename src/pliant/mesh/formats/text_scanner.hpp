#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "pliant/math/types.hpp"

namespace pliant {

/// A word of a file as shown in a message: short, and printable whatever the file holds.
std::string shown(std::string_view word);

/// Walks through the words of a text file, keeps count of the lines, and turns whatever is wrong into an InputError
/// "file:line: ...". `text` must outlive it. A '#' at the start of a word begins a comment when `comments` says so.
///
/// Files that mix text and binary parts are read with a BinaryScanner in between: `resume` goes on after the binary
/// part; from then on lines have no meaning, and messages name the byte.
class TextScanner {
 public:
  enum class Comments { none, hash };

  TextScanner(std::string_view text, std::string file, Comments comments, std::int64_t first_line = 1);

  /// Throws InputError "file:line: message", where line is the one of the last word read; "file: byte N: message" after
  /// a binary part.
  [[noreturn]] void fail(const std::string& message) const;

  const std::string& file() const { return file_; }
  std::int64_t line() const { return word_line_; }
  std::size_t position() const { return position_; }
  std::string_view text() const { return text_; }

  /// The next word, empty at the end of the file. One of more than 4096 characters is an error: no text file has them.
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
  /// What is left of the line, without its end.
  std::string_view rest_of_line();
  /// Drops what is left of the line.
  void skip_line();
  /// Drops what is left of the line and its end: the next byte may be binary.
  void end_line();
  /// Goes on at a position after a binary part.
  void resume(std::size_t position);
  /// Whether more words follow on the line of the last word; nothing is consumed.
  bool more_on_line() const;
  /// Whether the next line begins with this word, which is in lower case; nothing is consumed.
  bool next_line_begins(std::string_view word) const;

 private:
  void skip_space();
  template <class Number>
  Number parse(const char* what, const char* kind);

  std::string_view text_;
  std::string file_;
  Comments comments_;
  std::size_t position_ = 0;
  std::size_t word_position_ = 0;
  std::int64_t line_ = 1;
  std::int64_t word_line_ = 1;
  bool binary_ = false;  ///< a binary part was passed
};

}  // namespace pliant
