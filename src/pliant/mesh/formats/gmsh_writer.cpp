#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/gmsh.hpp"
#include "pliant/mesh/formats/text_writer.hpp"

// Nodes and elements are numbered from 1: first a point element for each member of each set, then the tetrahedra. A
// physical group of volumes is a region; of points, a set. Version 4.1 wants an entity for each: one point per set, one
// volume per label, with blocks of elements that follow the order of the mesh.

namespace pliant {

namespace {

/// Appends numbers as words or as bytes.
class Output {
 public:
  explicit Output(Encoding encoding) : binary_(encoding == Encoding::binary) {}

  bool binary() const { return binary_; }
  void integer(Index value) { binary_ ? append_bytes<std::int32_t>(text, value) : append(text, "{} ", value); }
  void size(std::size_t value) { binary_ ? append_bytes<std::uint64_t>(text, value) : append(text, "{} ", value); }
  void real(double value) { binary_ ? append_bytes<double>(text, value) : append(text, "{} ", value); }
  void end_line() {
    if (binary_) return;
    if (text.ends_with(' ')) text.pop_back();
    text += '\n';
  }
  /// The end of a section, whose numbers may have been binary.
  void end(const char* section) {
    if (binary_) text += '\n';
    append(text, "$End{}\n", section);
  }

  std::string text;

 private:
  bool binary_;
};

struct Group {
  int dimension;
  Index tag;
  std::string name;
};

class GmshWriter {
 public:
  GmshWriter(const MeshData& data, GmshVersion version, Encoding encoding)
      : data_(data), version_(version), out_(encoding) {
    collect();
  }

  std::string write() {
    format();
    names();
    if (version_ == GmshVersion::v4_1) entities();
    nodes();
    version_ == GmshVersion::v4_1 ? elements_4() : elements_2();
    for (const auto& [name, field] : data_.element_fields) element_data(name, field);
    return std::move(out_.text);
  }

 private:
  Index label(std::size_t t) const { return data_.regions.empty() ? 1 : data_.regions[t]; }

  /// A name without what would end it.
  static std::string quotable(const std::string& name) {
    std::string result = name;
    for (char& c : result) {
      if (c == '"') c = '\'';
      if (c == '\n' || c == '\r') c = ' ';
    }
    return result;
  }

  void collect() {
    for (const auto& [tag, name] : data_.region_names) {
      if (tag < 1) continue;  // not a tag Gmsh knows
      groups_.push_back({3, tag, quotable(name)});
    }
    Index tag = 0;
    for (const auto& [name, members] : data_.sets) {
      if (is_region(name, members)) continue;
      groups_.push_back({0, ++tag, quotable(name)});
      sets_.push_back(&members);
      points_ += members.size();
    }
    for (std::size_t t = 0; t < data_.tets.size(); ++t) labels_.insert(label(t));
  }

  /// Whether a set is what reading the region of the same name back will give anyway.
  bool is_region(const std::string& name, const std::vector<Index>& members) const {
    std::set<Index> vertices;
    bool named = false;
    for (const auto& [tag, region] : data_.region_names) {
      if (region != name || tag < 1) continue;
      named = true;
      for (std::size_t t = 0; t < data_.tets.size(); ++t) {
        if (label(t) == tag) vertices.insert(data_.tets[t].begin(), data_.tets[t].end());
      }
    }
    return named && std::set<Index>(members.begin(), members.end()) == vertices;
  }

  void format() {
    append(out_.text, "$MeshFormat\n{} {} 8\n", version_ == GmshVersion::v4_1 ? "4.1" : "2.2", out_.binary() ? 1 : 0);
    if (out_.binary()) out_.integer(1), out_.text += '\n';
    out_.text += "$EndMeshFormat\n";
  }

  void names() {
    if (groups_.empty()) return;
    append(out_.text, "$PhysicalNames\n{}\n", groups_.size());
    for (const Group& group : groups_) append(out_.text, "{} {} \"{}\"\n", group.dimension, group.tag, group.name);
    out_.text += "$EndPhysicalNames\n";
  }

  void entities() {
    Vec3 lower = Vec3::Zero();
    Vec3 upper = Vec3::Zero();
    if (!data_.vertices.empty()) lower = upper = data_.vertices.front();
    for (const Vec3& x : data_.vertices) lower = lower.cwiseMin(x), upper = upper.cwiseMax(x);
    out_.text += "$Entities\n";
    out_.size(sets_.size());
    for (int k = 0; k < 2; ++k) out_.size(0);
    out_.size(labels_.size());
    out_.end_line();
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      out_.integer(static_cast<Index>(s) + 1);
      for (int a = 0; a < 3; ++a) {
        out_.real(sets_[s]->empty() ? 0 : data_.vertices[static_cast<std::size_t>(sets_[s]->front())][a]);
      }
      out_.size(1);
      out_.integer(static_cast<Index>(s) + 1);
      out_.end_line();
    }
    for (Index tag : labels_) {
      out_.integer(tag);
      for (int a = 0; a < 3; ++a) out_.real(lower[a]);
      for (int a = 0; a < 3; ++a) out_.real(upper[a]);
      const bool group = tag > 0 && !data_.regions.empty();
      out_.size(group ? 1 : 0);
      if (group) out_.integer(tag);
      out_.size(0);
      out_.end_line();
    }
    out_.end("Entities");
  }

  void nodes() {
    const std::size_t count = data_.vertices.size();
    out_.text += "$Nodes\n";
    if (version_ == GmshVersion::v2_2) {
      append(out_.text, "{}\n", count);
      for (std::size_t v = 0; v < count; ++v) {
        out_.integer(static_cast<Index>(v) + 1);
        coordinates(v);
      }
    } else {
      for (std::size_t value : {std::size_t{1}, count, std::size_t{1}, count}) out_.size(value);
      out_.end_line();
      out_.integer(3);
      out_.integer(labels_.empty() ? 1 : *labels_.begin());
      out_.integer(0);
      out_.size(count);
      out_.end_line();
      for (std::size_t v = 0; v < count; ++v) out_.size(v + 1), out_.end_line();
      for (std::size_t v = 0; v < count; ++v) coordinates(v);
    }
    out_.end("Nodes");
  }

  void coordinates(std::size_t v) {
    for (int a = 0; a < 3; ++a) out_.real(data_.vertices[v][a]);
    out_.end_line();
  }

  void elements_2() {
    constexpr Index point = 15;
    constexpr Index tetrahedron = 4;
    append(out_.text, "$Elements\n{}\n", points_ + data_.tets.size());
    Index number = 0;
    const auto head = [&](Index type, std::size_t count, Index group, Index entity) {
      // Binary: type, count and number of tags once for a block, of which `count` tells the length (0: not the first).
      if (out_.binary()) {
        if (count > 0) out_.integer(type), out_.integer(static_cast<Index>(count)), out_.integer(2);
        out_.integer(++number);
      } else {
        out_.integer(++number), out_.integer(type), out_.integer(2);
      }
      out_.integer(group), out_.integer(entity);
    };
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      for (std::size_t i = 0; i < sets_[s]->size(); ++i) {
        head(point, i == 0 ? sets_[s]->size() : 0, static_cast<Index>(s) + 1, static_cast<Index>(s) + 1);
        out_.integer((*sets_[s])[i] + 1);
        out_.end_line();
      }
    }
    for (std::size_t t = 0; t < data_.tets.size(); ++t) {
      const bool group = label(t) > 0 && !data_.regions.empty();
      head(tetrahedron, t == 0 ? data_.tets.size() : 0, group ? label(t) : 0, label(t));
      for (Index v : data_.tets[t]) out_.integer(v + 1);
      out_.end_line();
    }
    out_.end("Elements");
  }

  void elements_4() {
    std::vector<std::size_t> begins;  // of the runs of tets with the same label
    for (std::size_t t = 0; t < data_.tets.size(); ++t) {
      if (t == 0 || label(t) != label(t - 1)) begins.push_back(t);
    }
    const auto sets = static_cast<std::size_t>(
        std::count_if(sets_.begin(), sets_.end(), [](const auto* members) { return !members->empty(); }));
    const std::size_t count = points_ + data_.tets.size();
    out_.text += "$Elements\n";
    for (std::size_t value : {sets + begins.size(), count, std::size_t{1}, count}) out_.size(value);
    out_.end_line();
    std::size_t number = 0;
    const auto head = [&](Index dimension, Index entity, Index type, std::size_t length) {
      out_.integer(dimension), out_.integer(entity), out_.integer(type), out_.size(length);
      out_.end_line();
    };
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      if (sets_[s]->empty()) continue;
      head(0, static_cast<Index>(s) + 1, 15, sets_[s]->size());
      for (Index v : *sets_[s]) {
        out_.size(++number), out_.size(static_cast<std::size_t>(v) + 1);
        out_.end_line();
      }
    }
    for (std::size_t r = 0; r < begins.size(); ++r) {
      const std::size_t end = r + 1 < begins.size() ? begins[r + 1] : data_.tets.size();
      head(3, label(begins[r]), 4, end - begins[r]);
      for (std::size_t t = begins[r]; t < end; ++t) {
        out_.size(++number);
        for (Index v : data_.tets[t]) out_.size(static_cast<std::size_t>(v) + 1);
        out_.end_line();
      }
    }
    out_.end("Elements");
  }

  void element_data(const std::string& name, const ElementField& field) {
    append(out_.text, "$ElementData\n1\n\"{}\"\n1\n0\n3\n0\n{}\n{}\n", quotable(name), field.components,
           data_.tets.size());
    const auto width = static_cast<std::size_t>(field.components);
    for (std::size_t t = 0; t < data_.tets.size(); ++t) {
      out_.integer(static_cast<Index>(points_ + t) + 1);
      for (std::size_t k = 0; k < width; ++k) out_.real(field.values[t * width + k]);
      out_.end_line();
    }
    out_.end("ElementData");
  }

  const MeshData& data_;
  GmshVersion version_;
  Output out_;
  std::vector<Group> groups_;
  std::vector<const std::vector<Index>*> sets_;  ///< the vertices of the groups of points, numbered from 1
  std::size_t points_ = 0;                       ///< point elements
  std::set<Index> labels_;
};

}  // namespace

std::string write_gmsh(const MeshData& data, GmshVersion version, Encoding encoding) {
  return GmshWriter(data, version, encoding).write();
}

}  // namespace pliant
