#pragma once

#include <string>
#include <string_view>

#include "pliant/mesh/formats/binary_scanner.hpp"

namespace pliant {

/// How the bytes of a VTU file's arrays are stored.
struct VtuEncoding {
  ByteOrder order = ByteOrder::little;
  Scalar header = Scalar::uint32;  ///< type of the sizes before the bytes
  bool compressed = false;         ///< by zlib, in blocks
};

/// The bytes of one array, which begin at the start of `stored`: raw or in base64, after a header with their number or,
/// compressed, with the number and sizes of the blocks. `what` names the array in messages ("file:12: array x"); at
/// most `most` bytes are made.
std::string decode_vtu_data(std::string_view stored, bool base64, const VtuEncoding& encoding, const std::string& what,
                            std::size_t most);

}  // namespace pliant
