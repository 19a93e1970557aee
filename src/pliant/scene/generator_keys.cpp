#include "pliant/scene/generator_keys.hpp"

#include <fmt/format.h>

#include "pliant/base/error.hpp"

// Limits that join several keys, or counts too large to number, are left to the generators, which name the key too.

namespace pliant {

namespace {

constexpr double most_cells = 100000;  // in one direction; how many in all, the generators check

Setting length_key(const std::string& name, const std::string& summary, const std::string& fallback) {
  return {.name = name, .summary = summary, .unit = "m", .fallback = fallback, .limits = kPositive};
}
Setting count_key(const std::string& name, const std::string& summary, const std::string& fallback, double least) {
  return {.name = name, .kind = Kind::integer, .summary = summary, .fallback = fallback, .limits = {least, most_cells}};
}
Setting origin_key(const std::string& summary) {
  return {.name = "origin", .kind = Kind::vector, .summary = summary, .unit = "m", .fallback = "[0.0, 0.0, 0.0]"};
}
Setting centre_key() {
  return {.name = "centre",
          .kind = Kind::vector,
          .summary = "Its centre.",
          .unit = "m",
          .fallback = "[0.0, 0.0, 0.0]",
          .aliases = {"center"}};
}
Setting axis_key(const std::string& name, const std::string& summary) {
  return {.name = name, .kind = Kind::choice, .summary = summary, .fallback = "\"z\"", .choices = {"x", "y", "z"}};
}

Section section_of(const std::string& name, const std::string& summary, std::vector<Setting> keys) {
  return {"body." + name, "in '" + name + "' of [[body]]", summary, std::move(keys)};
}

Setting plane_size_key() {
  return {.name = "size",
          .kind = Kind::pair,
          .summary = "Lengths along the two axes of its plane, in the order x, y, z.",
          .unit = "m",
          .fallback = "[1.0, 1.0]",
          .limits = kPositive};
}
Setting plane_cells_key() {
  return {.name = "cells",
          .kind = Kind::pair_counts,
          .summary = "Number of cells along these two axes.",
          .fallback = "[20, 20]",
          .limits = {1, most_cells}};
}

const Section& box_section() {
  static const Section section = section_of(
      "box",
      "A box of regular cells, each cut into tetrahedra. It has the named sets `x-min`, `x-max`, ... and `boundary`.",
      {{.name = "size",
        .kind = Kind::vector,
        .summary = "Edge lengths.",
        .unit = "m",
        .example = "[4, 1, 1]",
        .limits = kPositive,
        .required = true},
       {.name = "cells",
        .kind = Kind::counts,
        .summary = "Number of cells along x, y and z.",
        .example = "[16, 4, 4]",
        .limits = {1, most_cells},
        .required = true},
       origin_key("The lowest corner."),
       {.name = "split",
        .kind = Kind::choice,
        .summary =
            "Tetrahedra per cell: `five` alternates mirrored patterns, `six` repeats one, `twelve` have a vertex "
            "at the cell's centre in common.",
        .fallback = "\"five\"",
        .choices = {"five", "six", "twelve"}}});
  return section;
}

const Section& cylinder_section() {
  static const Section section =
      section_of("cylinder",
                 "A solid cylinder. Besides the sets every generated mesh has (`x-min` ... `z-max`, `boundary`): "
                 "`start`, `end`, `side`.",
                 {length_key("radius", "Its radius.", "0.5"), length_key("length", "Length along its axis.", "2.0"),
                  axis_key("axis", "Its direction."), origin_key("Centre of its start face."),
                  count_key("cells", "Number of cells across the diameter.", "8", 4),
                  count_key("along", "Number of cells along the axis; 0: as long as wide.", "0", 0)});
  return section;
}

const Section& tube_section() {
  static const Section section = section_of(
      "tube", "A hollow cylinder, with the sets `start`, `end`, `inner` and `outer`.",
      {length_key("inner_radius", "Radius of the hole.", "0.3"), length_key("outer_radius", "Outer radius.", "0.5"),
       length_key("length", "Length along its axis.", "2.0"), axis_key("axis", "Its direction."),
       origin_key("Centre of its start face."), count_key("layers", "Number of cells through the wall.", "2", 1),
       count_key("around", "Number of cells around, even, at least 6; 0: as wide as thick.", "0", 0),
       count_key("along", "Number of cells along the axis; 0: as long as thick.", "0", 0)});
  return section;
}

const Section& sphere_section() {
  static const Section section = [] {
    Setting inner = length_key("inner_radius", "Radius of its cavity; 0: it is solid.", "0.0");
    inner.limits = kNotNegative;
    return section_of("sphere", "A ball. A hollow one has the sets `inner` and `outer`.",
                      {length_key("radius", "Its radius.", "0.5"), centre_key(),
                       count_key("cells", "Number of cells across the diameter.", "8", 4), inner,
                       count_key("layers", "Number of cells through the wall of a hollow ball.", "1", 1)});
  }();
  return section;
}

const Section& torus_section() {
  static const Section section =
      section_of("torus", "A solid ring.",
                 {length_key("radius", "Radius of the circle in the middle of the ring.", "0.5"),
                  length_key("ring_radius", "Half the thickness of the ring.", "0.15"),
                  axis_key("axis", "The ring lies around it."), centre_key(),
                  count_key("cells", "Number of cells across the ring.", "6", 4),
                  count_key("around", "Number of cells around, even, at least 6; 0: as long as wide.", "0", 0)});
  return section;
}

const Section& sheet_section() {
  static const Section section =
      section_of("sheet", "A thin slab, with the sets `bottom`, `top`, `edge` and `corners`.",
                 {plane_size_key(), length_key("thickness", "Thickness along its normal.", "0.01"),
                  axis_key("normal", "Direction of its thickness."), origin_key("The lowest corner."),
                  plane_cells_key(), count_key("layers", "Number of cells through the thickness.", "1", 1)});
  return section;
}

const Section& lattice_section() {
  static const Section section = section_of(
      "lattice", "Square struts along the edges of a grid of cuboids, with the set `joints` (where struts cross).",
      {{.name = "size",
        .kind = Kind::vector,
        .summary = "Size of the whole lattice.",
        .unit = "m",
        .fallback = "[1.0, 1.0, 1.0]",
        .limits = kPositive},
       {.name = "cells",
        .kind = Kind::counts,
        .summary =
            "Number of openings along x, y and z. With 0 along one of them it is a net, as thick as its size there.",
        .fallback = "[3, 3, 3]",
        .limits = {0, most_cells}},
       length_key("strut", "Width of the struts.", "0.1"),
       count_key("across", "Number of cells across a strut.", "2", 1),
       origin_key("The lowest corner.")});
  return section;
}

Vec3 vector_at(const Value& table, const char* key) {
  const Value::List& list = table.at(key).list();
  return {list[0].number(), list[1].number(), list[2].number()};
}
Index count_at(const Value& table, const char* key) { return static_cast<Index>(table.at(key).number()); }
Axis axis_at(const Value& table, const char* key) { return static_cast<Axis>(table.at(key).text().front() - 'x'); }

template <std::size_t N>
std::array<Index, N> counts_at(const Value& table, const char* key) {
  std::array<Index, N> counts{};
  for (std::size_t i = 0; i < N; ++i) counts[i] = static_cast<Index>(table.at(key).list()[i].number());
  return counts;
}

BoxOptions to_box(const Value& table) {
  double count = 1;
  for (const Value& cells : table.at("cells").list()) {
    count *= cells.number() + 1;
    if (count > 1e8)
      throw InputError(fmt::format("{}: 'cells' = {} makes more than a hundred million vertices; use fewer",
                                   table.at("cells").origin, to_toml(table.at("cells"))));
  }
  return {.origin = vector_at(table, "origin"),
          .size = vector_at(table, "size"),
          .cells = counts_at<3>(table, "cells"),
          .split = table.at("split").text() == "five"  ? BoxSplit::five
                   : table.at("split").text() == "six" ? BoxSplit::six
                                                       : BoxSplit::twelve};
}

}  // namespace

const std::vector<Setting>& generator_keys() {
  const auto key = [](const char* name, const char* summary, const char* example, const Section& section) {
    return Setting{.name = name, .kind = Kind::table, .summary = summary, .example = example, .section = &section};
  };
  static const std::vector<Setting> keys = {
      key("box", "Generate a box.", "{size = [4, 1, 1], cells = [16, 4, 4]}", box_section()),
      key("cylinder", "Generate a cylinder.", "{radius = 0.1, length = 1, axis = \"x\", cells = 8}",
          cylinder_section()),
      key("tube", "Generate a hollow cylinder.", "{inner_radius = 0.08, outer_radius = 0.1, length = 1}",
          tube_section()),
      key("sphere", "Generate a ball, solid or hollow.", "{radius = 0.5, cells = 10}", sphere_section()),
      key("torus", "Generate a ring.", "{radius = 0.5, ring_radius = 0.15}", torus_section()),
      key("sheet", "Generate a thin slab.", "{size = [1, 1], thickness = 0.02, cells = [40, 40]}", sheet_section()),
      key("lattice", "Generate struts along the edges of a grid.", "{size = [1, 1, 1], cells = [3, 3, 3], strut = 0.1}",
          lattice_section()),
  };
  return keys;
}

MeshGenerator to_generator(std::string_view kind, const Value& table) {
  const auto number = [&](const char* key) { return table.at(key).number(); };
  if (kind == "box") return to_box(table);
  if (kind == "cylinder")
    return CylinderOptions{.origin = vector_at(table, "origin"),
                           .radius = number("radius"),
                           .length = number("length"),
                           .axis = axis_at(table, "axis"),
                           .cells = count_at(table, "cells"),
                           .along = count_at(table, "along")};
  if (kind == "tube")
    return TubeOptions{.origin = vector_at(table, "origin"),
                       .inner_radius = number("inner_radius"),
                       .outer_radius = number("outer_radius"),
                       .length = number("length"),
                       .axis = axis_at(table, "axis"),
                       .layers = count_at(table, "layers"),
                       .around = count_at(table, "around"),
                       .along = count_at(table, "along")};
  if (kind == "sphere")
    return SphereOptions{.centre = vector_at(table, "centre"),
                         .radius = number("radius"),
                         .cells = count_at(table, "cells"),
                         .inner_radius = number("inner_radius"),
                         .layers = count_at(table, "layers")};
  if (kind == "torus")
    return TorusOptions{.centre = vector_at(table, "centre"),
                        .radius = number("radius"),
                        .ring_radius = number("ring_radius"),
                        .axis = axis_at(table, "axis"),
                        .cells = count_at(table, "cells"),
                        .around = count_at(table, "around")};
  if (kind == "sheet") {
    const Value::List& size = table.at("size").list();
    return SheetOptions{.origin = vector_at(table, "origin"),
                        .size = {size[0].number(), size[1].number()},
                        .thickness = number("thickness"),
                        .normal = axis_at(table, "normal"),
                        .cells = counts_at<2>(table, "cells"),
                        .layers = count_at(table, "layers")};
  }
  return LatticeOptions{.origin = vector_at(table, "origin"),
                        .size = vector_at(table, "size"),
                        .cells = counts_at<3>(table, "cells"),
                        .strut = number("strut"),
                        .across = count_at(table, "across")};
}

}  // namespace pliant
