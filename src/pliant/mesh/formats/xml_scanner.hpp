#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pliant {

/// Walks through the tags of an XML file, as far as VTK's files need it: elements, attributes and text; comments and
/// instructions are passed over; document types (and with them entities of one's own) are refused. Whatever is wrong is
/// an InputError "file:line: ...". `text` must outlive it.
class XmlScanner {
 public:
  enum class Kind { open, close, end };  ///< a start tag, an end tag, the end of the file
  struct Tag {
    Kind kind = Kind::end;
    std::string name;
    std::map<std::string, std::string, std::less<>> attributes;
    bool empty = false;  ///< <name/>: no end tag follows
  };

  XmlScanner(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  /// The next tag; text before it is passed over.
  Tag next();
  /// The text up to the next tag.
  std::string_view content();

  /// Throws InputError "file:line: message", where line is that of the last tag.
  [[noreturn]] void fail(const std::string& message) const;
  std::size_t position() const { return position_; }
  /// The line of a position, from 1. Cheap when positions increase from call to call.
  std::int64_t line_of(std::size_t position) const;

 private:
  void skip_space();
  std::string name();
  void attribute(Tag& tag);
  void pass(std::string_view end, const char* what);

  std::string_view text_;
  std::string file_;
  std::size_t position_ = 0;
  std::size_t tag_ = 0;              ///< where the last tag began
  mutable std::size_t counted_ = 0;  ///< lines are counted up to here
  mutable std::int64_t line_ = 1;
};

}  // namespace pliant
