#include "pliant/base/bytes.hpp"

#include <fmt/format.h>

namespace pliant {

std::string seal(std::string_view magic, std::string_view content) {
  ByteWriter out;
  out.put_raw(magic);
  out.put_raw(content);
  out.put(checksum(out.bytes()));
  return out.take();
}

std::string_view unseal(std::string_view magic, std::string_view bytes, std::string_view what) {
  if (bytes.substr(0, magic.size()) != magic)
    throw InputError(fmt::format("is not a {} of this version of pliant", what));
  if (bytes.size() < magic.size() + sizeof(std::uint64_t)) throw InputError("is cut short");
  const std::string_view covered = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  if (ByteReader(bytes.substr(covered.size())).get<std::uint64_t>() != checksum(covered))
    throw InputError("is damaged or cut short (its checksum does not match)");
  return covered.substr(magic.size());
}

}  // namespace pliant
