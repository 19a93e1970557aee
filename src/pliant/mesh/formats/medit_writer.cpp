#include "pliant/mesh/formats/medit.hpp"
#include "pliant/mesh/formats/text_writer.hpp"

namespace pliant {

std::string write_medit(const MeshData& data) {
  std::string out = "MeshVersionFormatted 2\nDimension 3\n";
  append(out, "Vertices\n{}\n", data.vertices.size());
  for (const Vec3& x : data.vertices) append(out, "{} {} {} 0\n", x[0], x[1], x[2]);
  append(out, "Tetrahedra\n{}\n", data.tets.size());
  for (std::size_t t = 0; t < data.tets.size(); ++t) {
    const Tet& tet = data.tets[t];
    append(out, "{} {} {} {} {}\n", tet[0] + 1, tet[1] + 1, tet[2] + 1, tet[3] + 1,
           data.regions.empty() ? 0 : data.regions[t]);
  }
  out += "End\n";
  return out;
}

}  // namespace pliant
