#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/gmsh.hpp"
#include "pliant/mesh/formats/gmsh_input.hpp"
#include "pliant/mesh/formats/gmsh_tags.hpp"

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
  GmshReader(std::string_view content, const std::string& file) : in_(content, file) {
    data_.source = file;
    most_members_ = 64 * content.size();
  }

  MeshData read() {
    TextScanner& text = in_.text();
    while (!text.peek().empty()) {
      const std::string section(text.word());
      if (section.size() < 2 || section[0] != '$') {
        text.fail(fmt::format("expected a section such as $Nodes, found '{}'.", shown(section)));
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
      } else if (section == "$ElementData" && have_elements_) {
        element_data();
      } else {
        pass_over(section);
        continue;
      }
      end(section);
    }
    if (!have_nodes_) throw InputError(text.file() + ": the file has no $Nodes section; it may be truncated.");
    if (!have_elements_) throw InputError(text.file() + ": the file has no $Elements section; it may be truncated.");
    name_sets();
    add_notes();
    return std::move(data_);
  }

 private:
  void end(const std::string& section) {
    const std::string expected = "$End" + section.substr(1);
    const std::string_view found = in_.text().word(expected.c_str());
    if (found != expected) {
      in_.fail(
          fmt::format("expected {}, found '{}'; the section holds more than its count says.", expected, shown(found)));
    }
  }

  void pass_over(const std::string& section) {
    TextScanner& text = in_.text();
    const std::string end = "$End" + section.substr(1);
    const auto missing = [&] {
      text.fail(fmt::format("section {} has no {}; the file may be truncated.", shown(section), shown(end)));
    };
    if (in_.binary_file()) {
      const std::size_t at = text.text().find(end, text.position());
      if (at == std::string_view::npos) missing();
      text.resume(at + end.size());
      return;
    }
    TextScanner ahead = text;  // so that the message names the line where the section begins
    for (std::string_view word = ahead.word(); word != end; word = ahead.word()) {
      if (word.empty()) missing();
    }
    text = ahead;
  }

  void format() {
    TextScanner& text = in_.text();
    if (version_ != 0) text.fail("a second $MeshFormat section; a file must have one.");
    const double version = text.real("the format version");
    if (version >= 2 && version < 3) {
      version_ = 2;
    } else if (version == 4.1) {
      version_ = 4;
    } else {
      text.fail(
          fmt::format("Gmsh format {} is not supported; save as version 4.1 or 2.2 (gmsh -format msh41).", version));
    }
    const bool binary = text.integer("the file type", 0, 1) == 1;
    const std::int64_t size = text.integer("the data size");
    if (binary) in_.set_binary(size);
  }

  void physical_names() {
    TextScanner& text = in_.text();
    const Index count = text.count("the number of physical names", 3);
    for (Index i = 0; i < count; ++i) {
      const int dimension = static_cast<int>(text.integer("the dimension of a physical group", 0, 3));
      const std::int64_t tag = text.integer("the tag of a physical group", 0, largest_tag);
      names_[{dimension, tag}] = text.quoted("the name of a physical group");
    }
  }

  void entities() {
    if (have_elements_) in_.fail("$Entities come after $Elements; they must come before.");
    in_.begin_binary();
    std::array<Index, 4> counts{};
    for (Index& count : counts) count = in_.count("a number of entities", 5, 28);
    for (int dimension = 0; dimension < 4; ++dimension) {
      for (Index i = 0; i < counts[static_cast<std::size_t>(dimension)]; ++i) {
        const std::int64_t tag = in_.integer("the tag of an entity");
        for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) in_.real("a coordinate of an entity");
        std::vector<std::int64_t>& groups = entity_groups_[{dimension, tag}];
        const Index group_count = in_.count("the number of physical groups of an entity", 1, 4);
        for (Index g = 0; g < group_count; ++g) groups.push_back(group_tag());
        if (dimension == 0) continue;
        const Index bounding = in_.count("the number of bounding entities", 1, 4);
        for (Index b = 0; b < bounding; ++b) in_.integer("the tag of a bounding entity");
      }
    }
    in_.end_binary();
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
    in_.end_binary();
  }

  void nodes_2(std::vector<std::int64_t>& tags) {
    const auto count = static_cast<std::size_t>(in_.text().count("the number of nodes", in_.binary_file() ? 1 : 4));
    in_.begin_binary();
    // Reserved as the file holds them, not as it says: a binary one may lie.
    for (std::size_t i = 0; i < count; ++i) {
      tags.push_back(in_.integer("the tag of a node", 0));
      coordinates(data_.vertices.emplace_back());
    }
  }

  void nodes_4(std::vector<std::int64_t>& tags) {
    in_.begin_binary();
    const Index blocks = in_.count("the number of node blocks", 4, 20);
    const auto count = static_cast<std::size_t>(in_.count("the number of nodes", 4, 32));
    in_.size("the lowest node tag");
    in_.size("the highest node tag");
    tags.reserve(count);
    data_.vertices.reserve(count);
    for (Index b = 0; b < blocks; ++b) {
      const auto dimension = in_.integer("the dimension of an entity", 0, 3);
      in_.integer("the tag of an entity");
      const bool parametric = in_.integer("the flag of parametric coordinates", 0, 1) == 1;
      const auto in_block = static_cast<std::size_t>(in_.count("the number of nodes of a block", 4, 28));
      if (tags.size() + in_block > count)
        in_.fail(fmt::format("the blocks hold more than the {} nodes announced.", count));
      for (std::size_t i = 0; i < in_block; ++i) tags.push_back(in_.size("the tag of a node"));
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
    in_.end_binary();
  }

  void elements_2() {
    const Index count = in_.text().count("the number of elements", in_.binary_file() ? 1 : 4);
    in_.begin_binary();
    for (Index e = 0; e < count;) {
      // A text file says type and number of tags for each element, a binary one for blocks of them.
      std::int64_t number = in_.binary_file() ? 0 : in_.integer("the number of an element");
      const GmshElementType type = element_type();
      const std::int64_t block = in_.binary_file() ? in_.integer("the number of elements of a block", 0, count - e) : 1;
      const std::int64_t tag_count = in_.integer("the number of tags of an element", 0, 1000000);
      if (block == 0) in_.fail("a block without elements.");
      for (std::int64_t i = 0; i < block; ++i, ++e) {
        if (in_.binary_file()) number = in_.integer("the number of an element");
        groups_.clear();
        std::int64_t entity = 0;
        for (std::int64_t k = 0; k < tag_count; ++k) {
          // First the physical group (0: none), then the entity, then partitions.
          if (k == 0) {
            if (const std::int64_t group = group_tag(); group != 0) groups_.push_back(group);
          } else {
            const std::int64_t tag = in_.integer("a tag of an element", -largest_tag, largest_tag);
            if (k == 1) entity = tag;
          }
        }
        element(type, number, entity);
      }
    }
  }

  void elements_4() {
    in_.begin_binary();
    const Index blocks = in_.count("the number of element blocks", 4, 20);
    const Index count = in_.count("the number of elements", 2, 8);
    in_.size("the lowest element tag");
    in_.size("the highest element tag");
    std::int64_t read = 0;
    for (Index b = 0; b < blocks; ++b) {
      const int dimension = static_cast<int>(in_.integer("the dimension of an entity", 0, 3));
      const std::int64_t entity = in_.integer("the tag of an entity", -largest_tag, largest_tag);
      const GmshElementType type = element_type();
      if (type.dimension != dimension) {
        in_.fail(fmt::format("elements of dimension {} in a block of dimension {}.", type.dimension, dimension));
      }
      groups_.clear();
      if (const auto listed = entity_groups_.find({dimension, entity}); listed != entity_groups_.end()) {
        groups_ = listed->second;
      }
      const Index in_block = in_.count("the number of elements of a block", type.nodes + 1,
                                       4 * (static_cast<std::size_t>(type.nodes) + 1));
      read += in_block;
      if (read > count) in_.fail(fmt::format("the blocks hold more than the {} elements announced.", count));
      for (Index e = 0; e < in_block; ++e) {
        const std::int64_t number = in_.size("the tag of an element");
        element(type, number, entity);
      }
    }
    if (read != count) in_.fail(fmt::format("{} elements announced, but the blocks hold {}.", count, read));
  }

  GmshElementType element_type() {
    const std::int64_t number = in_.integer("the type of an element");
    const auto type = gmsh_type(number);
    if (!type) {
      in_.fail(fmt::format("Gmsh element type {} is not known here; save with Mesh.ElementOrder = 1.", number));
    }
    if (type->dimension == 3 && !is_gmsh_tetrahedron(number)) {
      in_.fail(
          fmt::format("a {} (Gmsh element type {}); only tetrahedra can be simulated: mesh the body with tetrahedra.",
                      type->name, number));
    }
    return *type;
  }

  /// Reads the nodes of an element of the groups groups_.
  void element(const GmshElementType& type, std::int64_t number, std::int64_t entity) {
    nodes_.clear();
    for (int k = 0; k < type.nodes; ++k) {
      const std::int64_t tag =
          version_ == 4 ? in_.size("the node of an element") : in_.integer("the node of an element");
      const Index v = numbers_.find(tag);
      if (v < 0) in_.fail(fmt::format("an element names node {}, but $Nodes has no such tag.", tag));
      nodes_.push_back(v);
    }
    for (std::int64_t group : groups_) {
      const Key key{type.dimension, group};
      if (!names_.contains(key)) continue;
      members_ += nodes_.size();
      if (members_ > most_members_)
        in_.fail("the elements are in far more physical groups than a mesh of this size has.");
      std::vector<Index>& members = group_vertices_[key];
      members.insert(members.end(), nodes_.begin(), nodes_.end());
    }
    if (type.dimension < 3) return;
    data_.tets.push_back({nodes_[0], nodes_[1], nodes_[2], nodes_[3]});
    data_.regions.push_back(static_cast<Index>(groups_.empty() ? entity : groups_.front()));
    tet_tags_.push_back(number);
    if (groups_.empty()) ++ungrouped_;
    if (type.nodes > 4) ++higher_order_;
  }

  void element_data() {
    TextScanner& text = in_.text();
    std::string name;
    const Index strings = text.count("the number of string tags", 1);
    for (Index i = 0; i < strings; ++i) {
      std::string tag = text.quoted("a string tag");
      if (i == 0) name = std::move(tag);
    }
    const Index reals = text.count("the number of real tags", 1);
    for (Index i = 0; i < reals; ++i) text.real("a real tag");
    const Index integers = text.count("the number of integer tags", 1);
    std::array<std::int64_t, 3> tags = {0, 1, 0};  // time step, components, rows
    for (Index i = 0; i < integers; ++i) {
      const std::int64_t tag = text.integer("an integer tag");
      if (i < 3) tags[static_cast<std::size_t>(i)] = tag;
    }
    if (integers < 3) in_.fail("$ElementData needs three integer tags: time step, components, number of elements.");
    const auto [step, components, rows] = tags;
    if (components < 1 || components > 100) in_.fail(fmt::format("{} components; give 1 to 100.", components));
    if (rows < 0) in_.fail(fmt::format("{} rows of element data.", rows));

    GmshNumbers tets;
    if (const auto twice = tets.build(tet_tags_)) in_.fail(fmt::format("two elements have the tag {}.", *twice));
    ElementField field;
    field.components = static_cast<int>(components);
    const auto width = static_cast<std::size_t>(components);
    // Made when there is a row that shows that the file is not just a large number.
    std::vector<std::uint8_t> given(data_.tets.size(), 0);
    in_.begin_binary();
    for (std::int64_t row = 0; row < rows; ++row) {
      const Index t = tets.find(in_.integer("the tag of an element"));
      if (row == 0) field.values.assign(data_.tets.size() * width, 0);
      for (std::size_t k = 0; k < width; ++k) {
        const double value = in_.real("a value of an element");
        if (t >= 0) field.values[static_cast<std::size_t>(t) * width + k] = value;
      }
      if (t >= 0) given[static_cast<std::size_t>(t)] = 1;
    }
    in_.end_binary();
    const auto missing = std::count(given.begin(), given.end(), 0);
    if (missing > 0) {
      data_.notes.push_back(
          fmt::format("the element data \"{}\" were left out: {} tetrahedra have none", name, missing));
      return;
    }
    data_.element_fields[name] = std::move(field);  // of several time steps the last one
  }

  void name_sets() {
    for (auto& [key, members] : group_vertices_) {
      std::vector<Index>& set = data_.sets[names_.at(key)];
      set.insert(set.end(), members.begin(), members.end());
      members.clear();
    }
    for (const auto& [key, name] : names_) {
      if (key.first == 3) data_.region_names[static_cast<Index>(key.second)] = name;
    }
    for (auto& [name, set] : data_.sets) {
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
    }
  }

  void add_notes() {
    if (higher_order_ > 0) {
      data_.notes.push_back(fmt::format(
          "{} tetrahedra of higher order were read by their corners, curved ones straightened", higher_order_));
    }
    if (ungrouped_ > 0 && ungrouped_ < static_cast<std::int64_t>(data_.tets.size())) {
      data_.notes.push_back(fmt::format(
          "{} tetrahedra are in no physical group: their region is the number of their entity", ungrouped_));
    }
  }

  static constexpr std::int64_t largest_tag = std::numeric_limits<Index>::max();  // tags become regions

  GmshInput in_;
  MeshData data_;
  int version_ = 0;  ///< 2 or 4; 0 before $MeshFormat
  bool have_nodes_ = false;
  bool have_elements_ = false;
  GmshNumbers numbers_;
  std::map<Key, std::string> names_;                        ///< of physical groups
  std::map<Key, std::vector<std::int64_t>> entity_groups_;  ///< physical groups of each entity (4.1)
  std::map<Key, std::vector<Index>> group_vertices_;        ///< vertices of the elements of each named physical group
  std::size_t members_ = 0;                                 ///< of all of them
  std::size_t most_members_ = 0;
  std::vector<std::int64_t> tet_tags_;
  std::vector<std::int64_t> groups_;  ///< of the element being read
  std::vector<Index> nodes_;          ///< of the element being read
  std::int64_t higher_order_ = 0;
  std::int64_t ungrouped_ = 0;
};

}  // namespace

MeshData read_gmsh(std::string_view content, const std::string& file) { return GmshReader(content, file).read(); }

}  // namespace pliant
