#include "pliant/mesh/gmsh_reader.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "pliant/math/error.hpp"
#include "pliant/mesh/gmsh_tags.hpp"
#include "pliant/mesh/text_scanner.hpp"

// A Gmsh file is a sequence of sections $Name ... $EndName. Versions 2 and 4.1 differ in how nodes and elements find
// their geometrical entities and physical groups: in 2 each element carries its tags, in 4.1 nodes and elements come in
// blocks, one per entity, and $Entities lists the physical groups of each. Sections the reader does not know (and some
// programs add their own) are passed over.

namespace pliant {

namespace {

/// Dimension and tag: numbers of entities and of physical groups are unique within a dimension only.
using Key = std::pair<int, std::int64_t>;

class GmshReader {
 public:
  GmshReader(std::string_view text, const std::string& file) : in_(text, file, TextScanner::Comments::none) {
    data_.source = file;
  }

  MeshData read() {
    while (!in_.peek().empty()) {
      const std::string section(in_.word());
      if (section.size() < 2 || section[0] != '$') {
        in_.fail(fmt::format("expected a section such as $Nodes, found '{}'.", section.substr(0, 40)));
      }
      if (section == "$MeshFormat") {
        format();
      } else if (section == "$PhysicalNames") {
        physical_names();
      } else if (section == "$Entities" && version_ == 4) {
        entities();
      } else if (section == "$Nodes") {
        nodes();
      } else if (section == "$Elements") {
        elements();
      } else {
        pass_over(section);
        continue;
      }
      end(section);
    }
    if (!have_nodes_) throw InputError(in_.file() + ": the file has no $Nodes section; it may be truncated.");
    if (!have_elements_) throw InputError(in_.file() + ": the file has no $Elements section; it may be truncated.");
    name_sets();
    return std::move(data_);
  }

 private:
  void end(const std::string& section) {
    const std::string expected = "$End" + section.substr(1);
    const std::string_view found = in_.word(expected.c_str());
    if (found != expected) {
      in_.fail(fmt::format("expected {}, found '{}'; the section holds more than its count says.", expected,
                           found.substr(0, 40)));
    }
  }

  void pass_over(const std::string& section) {
    const int line = in_.line();
    const std::string end = "$End" + section.substr(1);
    for (std::string_view word = in_.word(); word != end; word = in_.word()) {
      if (word.empty())
        throw InputError(
            fmt::format("{}:{}: section {} has no {}; the file may be truncated.", in_.file(), line, section, end));
    }
  }

  void format() {
    const double version = in_.real("the format version");
    if (version >= 2 && version < 3) {
      version_ = 2;
    } else if (version == 4.1) {
      version_ = 4;
    } else {
      in_.fail(
          fmt::format("Gmsh format {} is not supported; save as version 4.1 or 2.2 (gmsh -format msh41).", version));
    }
    if (in_.integer("the file type", 0, 1) == 1) {
      in_.fail("this is a binary Gmsh file, only text is read; save it as text (Mesh.Binary = 0, no -bin).");
    }
    in_.integer("the data size");
  }

  void physical_names() {
    const Index count = in_.count("the number of physical names", 3);
    for (Index i = 0; i < count; ++i) {
      const int dimension = static_cast<int>(in_.integer("the dimension of a physical group", 0, 3));
      const std::int64_t tag = in_.integer("the tag of a physical group", 0, largest_tag);
      names_[{dimension, tag}] = in_.quoted("the name of a physical group");
    }
  }

  void entities() {
    if (have_elements_) in_.fail("$Entities come after $Elements; they must come before.");
    std::array<Index, 4> counts{};
    for (Index& count : counts) count = in_.count("a number of entities", 5);
    for (int dimension = 0; dimension < 4; ++dimension) {
      for (Index i = 0; i < counts[static_cast<std::size_t>(dimension)]; ++i) {
        const std::int64_t tag = in_.integer("the tag of an entity");
        for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) in_.real("a coordinate of an entity");
        std::vector<std::int64_t>& groups = entity_groups_[{dimension, tag}];
        const Index group_count = in_.count("the number of physical groups of an entity", 1);
        for (Index g = 0; g < group_count; ++g) groups.push_back(group_tag());
        if (dimension == 0) continue;
        const Index bounding = in_.count("the number of bounding entities", 1);
        for (Index b = 0; b < bounding; ++b) in_.integer("the tag of a bounding entity");
      }
    }
  }

  /// A negative tag says that the group has the entity in reverse.
  std::int64_t group_tag() { return std::abs(in_.integer("the tag of a physical group", -largest_tag, largest_tag)); }

  void need_format(const char* section) {
    if (version_ == 0)
      in_.fail(fmt::format("{} come before $MeshFormat; a Gmsh file begins with $MeshFormat.", section));
  }

  void nodes() {
    need_format("$Nodes");
    if (have_nodes_) in_.fail("a second $Nodes section; a file must have one.");
    have_nodes_ = true;
    std::vector<std::int64_t> tags;
    version_ == 2 ? nodes_2(tags) : nodes_4(tags);
    if (const auto twice = numbers_.build(tags)) in_.fail(fmt::format("two nodes have the tag {}.", *twice));
  }

  void nodes_2(std::vector<std::int64_t>& tags) {
    const auto count = static_cast<std::size_t>(in_.count("the number of nodes", 4));
    tags.resize(count);
    data_.vertices.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      tags[i] = in_.integer("the tag of a node", 0);
      coordinates(data_.vertices[i]);
    }
  }

  void nodes_4(std::vector<std::int64_t>& tags) {
    const Index blocks = in_.count("the number of node blocks", 4);
    const auto count = static_cast<std::size_t>(in_.count("the number of nodes", 4));
    in_.integer("the lowest node tag");
    in_.integer("the highest node tag");
    tags.reserve(count);
    data_.vertices.reserve(count);
    for (Index b = 0; b < blocks; ++b) {
      const auto dimension = in_.integer("the dimension of an entity", 0, 3);
      in_.integer("the tag of an entity");
      const bool parametric = in_.integer("the flag of parametric coordinates", 0, 1) == 1;
      const auto in_block = static_cast<std::size_t>(in_.count("the number of nodes of a block", 4));
      if (tags.size() + in_block > count)
        in_.fail(fmt::format("the blocks hold more than the {} nodes announced.", count));
      for (std::size_t i = 0; i < in_block; ++i) tags.push_back(in_.integer("the tag of a node", 0));
      for (std::size_t i = 0; i < in_block; ++i) {
        coordinates(data_.vertices.emplace_back());
        for (int k = 0; parametric && k < dimension; ++k) in_.real("a parametric coordinate");
      }
    }
    if (tags.size() != count) in_.fail(fmt::format("{} nodes announced, but the blocks hold {}.", count, tags.size()));
  }

  void coordinates(Vec3& x) {
    for (int a = 0; a < 3; ++a) x[a] = in_.real("a node coordinate");
  }

  void elements() {
    need_format("$Elements");
    if (!have_nodes_) in_.fail("$Elements come before $Nodes; the nodes must come first.");
    if (have_elements_) in_.fail("a second $Elements section; a file must have one.");
    have_elements_ = true;
    version_ == 2 ? elements_2() : elements_4();
  }

  void elements_2() {
    const Index count = in_.count("the number of elements", 4);
    std::vector<std::int64_t> groups;
    for (Index e = 0; e < count; ++e) {
      in_.integer("the number of an element");
      const GmshElementType type = element_type();
      const Index tag_count = in_.count("the number of tags of an element", 1);
      groups.clear();
      std::int64_t entity = 0;
      for (Index k = 0; k < tag_count; ++k) {
        // First the physical group (0: none), then the entity, then partitions.
        if (k == 0) {
          if (const std::int64_t group = group_tag(); group != 0) groups.push_back(group);
        } else {
          const std::int64_t tag = in_.integer("a tag of an element", -largest_tag, largest_tag);
          if (k == 1) entity = tag;
        }
      }
      element(type, groups, entity);
    }
  }

  void elements_4() {
    const Index blocks = in_.count("the number of element blocks", 4);
    const Index count = in_.count("the number of elements", 2);
    in_.integer("the lowest element tag");
    in_.integer("the highest element tag");
    const std::vector<std::int64_t> no_groups;
    std::int64_t read = 0;
    for (Index b = 0; b < blocks; ++b) {
      const int dimension = static_cast<int>(in_.integer("the dimension of an entity", 0, 3));
      const std::int64_t entity = in_.integer("the tag of an entity", -largest_tag, largest_tag);
      const auto listed = entity_groups_.find({dimension, entity});
      const GmshElementType type = element_type();
      if (type.dimension != dimension) {
        in_.fail(fmt::format("elements of dimension {} in a block of dimension {}.", type.dimension, dimension));
      }
      const Index in_block = in_.count("the number of elements of a block", type.nodes + 1);
      read += in_block;
      if (read > count) in_.fail(fmt::format("the blocks hold more than the {} elements announced.", count));
      for (Index e = 0; e < in_block; ++e) {
        in_.integer("the tag of an element");
        element(type, listed == entity_groups_.end() ? no_groups : listed->second, entity);
      }
    }
    if (read != count) in_.fail(fmt::format("{} elements announced, but the blocks hold {}.", count, read));
  }

  GmshElementType element_type() {
    const std::int64_t number = in_.integer("the type of an element");
    const auto type = first_order_gmsh_type(number);
    if (!type) {
      in_.fail(fmt::format(
          "a {} (Gmsh element type {}); only first-order meshes are read: save with Mesh.ElementOrder = 1 and "
          "choose the order of the elements in the scene.",
          gmsh_type_name(number), number));
    }
    if (type->dimension == 3 && number != tetrahedron) {
      in_.fail(
          fmt::format("a {} (Gmsh element type {}); only tetrahedra can be simulated: mesh the body with tetrahedra.",
                      gmsh_type_name(number), number));
    }
    return *type;
  }

  void element(const GmshElementType& type, const std::vector<std::int64_t>& groups, std::int64_t entity) {
    std::array<Index, 4> corners{};
    for (int k = 0; k < type.nodes; ++k) {
      const std::int64_t tag = in_.integer("the node of an element");
      const Index v = numbers_.find(tag);
      if (v < 0) in_.fail(fmt::format("an element names node {}, but $Nodes has no such tag.", tag));
      corners[static_cast<std::size_t>(k)] = v;
    }
    for (std::int64_t group : groups) {
      std::vector<Index>& members = group_vertices_[{type.dimension, group}];
      members.insert(members.end(), corners.begin(), corners.begin() + type.nodes);
    }
    if (type.dimension == 3) {
      data_.tets.push_back(corners);
      data_.regions.push_back(static_cast<Index>(groups.empty() ? entity : groups.front()));
    }
  }

  void name_sets() {
    for (const auto& [key, members] : group_vertices_) {
      const auto name = names_.find(key);
      if (name == names_.end()) continue;
      std::vector<Index>& set = data_.sets[name->second];
      set.insert(set.end(), members.begin(), members.end());
    }
    for (const auto& [key, name] : names_) {
      if (key.first == 3) data_.region_names[static_cast<Index>(key.second)] = name;
    }
    for (auto& [name, set] : data_.sets) {
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
    }
  }

  static constexpr std::int64_t tetrahedron = 4;
  static constexpr std::int64_t largest_tag = std::numeric_limits<Index>::max();  // tags become regions

  TextScanner in_;
  MeshData data_;
  int version_ = 0;  ///< 2 or 4; 0 before $MeshFormat
  bool have_nodes_ = false;
  bool have_elements_ = false;
  GmshNodeNumbers numbers_;
  std::map<Key, std::string> names_;                        ///< of physical groups
  std::map<Key, std::vector<std::int64_t>> entity_groups_;  ///< physical groups of each entity (4.1)
  std::map<Key, std::vector<Index>> group_vertices_;        ///< vertices of the elements of each physical group
};

}  // namespace

MeshData read_gmsh(std::string_view text, const std::string& file) { return GmshReader(text, file).read(); }

}  // namespace pliant
