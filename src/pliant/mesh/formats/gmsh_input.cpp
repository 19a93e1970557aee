#include "pliant/mesh/formats/gmsh_input.hpp"

#include <fmt/format.h>

namespace pliant {

void GmshInput::set_binary(std::int64_t size_bytes) {
  if (size_bytes != 4 && size_bytes != 8) {
    text_.fail(fmt::format("the data size of a binary file is {}; it must be 4 or 8.", size_bytes));
  }
  size_type_ = size_bytes == 8 ? Scalar::uint64 : Scalar::uint32;
  binary_file_ = true;
  begin_binary();
  const auto one = bytes_->value<std::uint32_t>("the number 1");
  if (one == 0x01000000U) {
    order_ = ByteOrder::big;
  } else if (one != 1) {
    bytes_->fail(fmt::format("the binary file should have the number 1 here, but has {}.", one));
  }
  end_binary();
}

void GmshInput::begin_binary() {
  if (!binary_file_) return;
  text_.end_line();
  bytes_.emplace(text_.text(), text_.file(), order_, text_.position());
}

void GmshInput::end_binary() {
  if (!bytes_) return;
  text_.resume(bytes_->position());
  bytes_.reset();
}

void GmshInput::fail(const std::string& message) const {
  if (bytes_) bytes_->fail(message);
  text_.fail(message);
}

std::int64_t GmshInput::integer(const char* what, std::int64_t lowest, std::int64_t highest) {
  return bytes_ ? bytes_->integer(Scalar::int32, what, lowest, highest) : text_.integer(what, lowest, highest);
}

std::int64_t GmshInput::size(const char* what) {
  return bytes_ ? bytes_->integer(size_type_, what) : text_.integer(what, 0);
}

double GmshInput::real(const char* what) { return bytes_ ? bytes_->real(Scalar::float64, what) : text_.real(what); }

Index GmshInput::count(const char* what, int words, std::size_t bytes) {
  if (!bytes_) return text_.count(what, words);
  return bytes_->checked_count(static_cast<std::uint64_t>(bytes_->integer(size_type_, what)), bytes, what);
}

}  // namespace pliant
