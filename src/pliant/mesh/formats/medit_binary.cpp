#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/binary_scanner.hpp"
#include "pliant/mesh/formats/medit.hpp"
#include "pliant/mesh/formats/text_writer.hpp"

// The binary form: the number 1 (which tells the byte order), the version, then sections, each a code, the position of
// the next section and its content. Version 1 has coordinates of 4 bytes, the others of 8; from version 3 on positions
// have 8 bytes, in version 4 all integers.

namespace pliant {

namespace {

enum Code : std::int64_t {
  dimension_code = 3,
  vertices_code = 4,
  tetrahedra_code = 8,
  prisms_code = 9,
  hexahedra_code = 10,
  pyramids_code = 49,
  end_code = 54
};

class BinaryMeditReader {
 public:
  BinaryMeditReader(std::string_view bytes, const std::string& file) : in_(bytes, file, order_of(bytes)) {
    data_.source = file;
  }

  MeshData read() {
    in_.integer(Scalar::int32, "the number 1", 1, 1);
    const std::int64_t version = in_.integer(Scalar::int32, "the format version", 1, 4);
    real_ = version == 1 ? Scalar::float32 : Scalar::float64;
    position_ = version >= 3 ? Scalar::int64 : Scalar::int32;
    integer_ = version == 4 ? Scalar::int64 : Scalar::int32;
    while (in_.remaining() > 0) {
      const std::int64_t code = in_.integer(Scalar::int32, "the code of a section");
      if (code == end_code) break;
      const std::int64_t next = in_.integer(position_, "the position of the next section", 0);
      section(code);
      if (next == 0) break;
      if (static_cast<std::uint64_t>(next) < in_.position()) {
        in_.fail(fmt::format("the next section should begin at byte {}, inside this one.", next));
      }
      in_.seek(static_cast<std::uint64_t>(next), "the next section");
    }
    if (!have_vertices_) throw InputError(in_.file() + ": the file has no Vertices section; it may be truncated.");
    if (!have_tets_)
      throw InputError(in_.file() + ": the file has no Tetrahedra section; save the mesh with its volume elements.");
    return std::move(data_);
  }

 private:
  static ByteOrder order_of(std::string_view bytes) {
    return bytes.starts_with(std::string_view("\0\0\0\1", 4)) ? ByteOrder::big : ByteOrder::little;
  }

  void section(std::int64_t code) {
    switch (code) {
      case dimension_code:
        if (in_.integer(Scalar::int32, "the dimension") != 3)
          in_.fail("the dimension must be 3; a planar mesh has no volume to simulate.");
        break;
      case vertices_code:
        vertices();
        break;
      case tetrahedra_code:
        tetrahedra();
        break;
      case prisms_code:
      case hexahedra_code:
      case pyramids_code:
        if (in_.integer(integer_, "the number of elements", 0) > 0)
          in_.fail("the file holds prisms, hexahedra or pyramids; only tetrahedra can be simulated: convert them.");
        break;
      default:
        break;  // points, edges, surfaces, solutions: passed over
    }
  }

  Index count(const char* what, std::size_t bytes) {
    return in_.checked_count(static_cast<std::uint64_t>(in_.integer(integer_, what, 0)), bytes, what);
  }

  void once(bool& seen, const char* section) {
    if (seen) in_.fail(fmt::format("a second {} section; a file must have one.", section));
    seen = true;
  }

  void vertices() {
    once(have_vertices_, "Vertices");
    data_.vertices.resize(
        static_cast<std::size_t>(count("the number of vertices", 3 * size_of(real_) + size_of(integer_))));
    for (Vec3& x : data_.vertices) {
      for (int a = 0; a < 3; ++a) x[a] = in_.real(real_, "a vertex coordinate");
      in_.integer(integer_, "the reference of a vertex");
    }
  }

  void tetrahedra() {
    if (!have_vertices_) in_.fail("Tetrahedra come before Vertices; the vertices must come first.");
    once(have_tets_, "Tetrahedra");
    const auto size = static_cast<std::size_t>(count("the number of tetrahedra", 5 * size_of(integer_)));
    data_.tets.resize(size);
    data_.regions.resize(size);
    const auto last = static_cast<std::int64_t>(data_.vertices.size());
    for (std::size_t t = 0; t < size; ++t) {
      for (Index& v : data_.tets[t])
        v = static_cast<Index>(in_.integer(integer_, "the vertex number of a tetrahedron", 1, last) - 1);
      data_.regions[t] =
          static_cast<Index>(in_.integer(integer_, "the reference of a tetrahedron", std::numeric_limits<Index>::min(),
                                         std::numeric_limits<Index>::max()));
    }
  }

  BinaryScanner in_;
  MeshData data_;
  Scalar real_ = Scalar::float64;
  Scalar position_ = Scalar::int32;
  Scalar integer_ = Scalar::int32;
  bool have_vertices_ = false;
  bool have_tets_ = false;
};

}  // namespace

MeshData read_medit_binary(std::string_view bytes, const std::string& file) {
  return BinaryMeditReader(bytes, file).read();
}

std::string write_medit_binary(const MeshData& data) {
  // Version 3: positions of 8 bytes, so that no file is too long.
  std::string out;
  const auto integer = [&](std::size_t value) { append_bytes(out, static_cast<std::int32_t>(value)); };
  const auto section = [&](Code code, std::size_t bytes) {
    integer(static_cast<std::size_t>(code));
    append_bytes(out, static_cast<std::int64_t>(out.size() + sizeof(std::int64_t) + bytes));
  };
  integer(1);
  integer(3);
  section(dimension_code, 4);
  integer(3);
  section(vertices_code, 4 + 28 * data.vertices.size());
  integer(data.vertices.size());
  for (const Vec3& x : data.vertices) {
    for (int a = 0; a < 3; ++a) append_bytes(out, x[a]);
    integer(0);
  }
  section(tetrahedra_code, 4 + 20 * data.tets.size());
  integer(data.tets.size());
  for (std::size_t t = 0; t < data.tets.size(); ++t) {
    for (Index v : data.tets[t]) append_bytes(out, v + 1);
    append_bytes(out, data.regions.empty() ? Index{0} : data.regions[t]);
  }
  integer(end_code);
  append_bytes(out, std::int64_t{0});
  return out;
}

}  // namespace pliant
