#pragma once

#include <optional>

#include "pliant/mesh/formats/binary_scanner.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"

namespace pliant {

/// The numbers of a Gmsh file, whether it is text or binary: section names and a few counts are text in both; what lies
/// between `begin_binary` and `end_binary` is binary in a binary file, and the same calls read it.
class GmshInput {
 public:
  GmshInput(std::string_view content, const std::string& file) : text_(content, file, TextScanner::Comments::none) {}

  TextScanner& text() { return text_; }
  bool binary_file() const { return binary_file_; }

  /// Says that the file is binary, after the line with its version; finds out the byte order from the number 1 that
  /// follows. `size_bytes` is the length of counts and tags of version 4 (sizeof(size_t) where it was written).
  void set_binary(std::int64_t size_bytes);

  /// No more text from the next line on. Nothing in a text file.
  void begin_binary();
  void end_binary();

  [[noreturn]] void fail(const std::string& message) const;

  std::int64_t integer(const char* what, std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t highest = std::numeric_limits<std::int64_t>::max());
  /// What is a size_t in version 4: counts, tags of nodes and elements.
  std::int64_t size(const char* what);
  double real(const char* what);
  /// A count (a size_t) of records of at least `words` words of text or `bytes` bytes each, which must fit the file.
  Index count(const char* what, int words, std::size_t bytes);

 private:
  TextScanner text_;
  bool binary_file_ = false;
  ByteOrder order_ = ByteOrder::little;
  Scalar size_type_ = Scalar::uint64;
  std::optional<BinaryScanner> bytes_;  ///< inside a binary part
};

}  // namespace pliant
