#include "pliant/scene/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"

namespace pliant {

namespace {

using Flags = std::vector<std::uint8_t>;

const std::vector<std::string>& built_in_sets() {
  static const std::vector<std::string> names = {"all",   "boundary", "x-min", "x-max",
                                                 "y-min", "y-max",    "z-min", "z-max"};
  return names;
}

bool holds(const Comparison& c, const Vec3& p) {
  const double x = p[c.axis];
  switch (c.sign) {
    case Comparison::Sign::less:
      return x < c.value;
    case Comparison::Sign::less_equal:
      return x <= c.value;
    case Comparison::Sign::greater:
      return x > c.value;
    case Comparison::Sign::greater_equal:
      return x >= c.value;
  }
  return false;
}

/// Vertices within a millionth of the mesh's size of its lowest or highest coordinate.
Flags extreme_vertices(const VertexView& mesh, const std::string& name) {
  const InBox box = bounding_box(mesh.vertices);
  const int axis = name[0] - 'x';
  const double limit = name.substr(2) == "min" ? box.min[axis] : box.max[axis];
  const double tolerance = 1e-6 * (box.max - box.min).maxCoeff();
  Flags flags;
  for (const Vec3& p : mesh.vertices) flags.push_back(std::abs(p[axis] - limit) <= tolerance);
  return flags;
}

struct Evaluator {
  const VertexView& mesh;

  template <class Test>
  Flags where(Test&& test) const {
    Flags flags;
    flags.reserve(mesh.vertices.size());
    for (const Vec3& p : mesh.vertices) flags.push_back(test(p) ? 1 : 0);
    return flags;
  }
  Flags listed(std::span<const Index> vertices) const {
    Flags flags(mesh.vertices.size(), 0);
    for (Index v : vertices) flags[static_cast<std::size_t>(v)] = 1;
    return flags;
  }

  Flags operator()(const InBox& b) const {
    return where(
        [&](const Vec3& p) { return (p.array() >= b.min.array()).all() && (p.array() <= b.max.array()).all(); });
  }
  Flags operator()(const InSphere& s) const {
    return where([&](const Vec3& p) { return (p - s.centre).squaredNorm() <= s.radius * s.radius; });
  }
  Flags operator()(const BehindPlane& plane) const {
    return where([&](const Vec3& p) { return plane.normal.dot(p - plane.point) <= 0; });
  }
  Flags operator()(const Comparison& c) const {
    return where([&](const Vec3& p) { return holds(c, p); });
  }
  Flags operator()(const NamedSet& set) const {
    if (const auto found = mesh.sets.find(set.name); found != mesh.sets.end()) return listed(found->second);
    if (set.name == "all") return Flags(mesh.vertices.size(), 1);
    if (set.name == "boundary") {
      Flags flags(mesh.vertices.size(), 0);
      for (const Triangle& t : mesh.surface)
        for (Index v : t) flags[static_cast<std::size_t>(v)] = 1;
      return flags;
    }
    std::vector<std::string> names = built_in_sets();
    if (std::find(names.begin(), names.end(), set.name) != names.end()) return extreme_vertices(mesh, set.name);
    for (const auto& [name, vertices] : mesh.sets)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    const std::string near = nearest(set.name, names);
    throw InputError(fmt::format(
        "there is no vertex set '{}' in {}; {}choose one of {}, or a comparison such as \"x < 0.1\"", set.name,
        mesh.source, near.empty() ? "" : fmt::format("did you mean '{}'? ", near), fmt::join(names, ", ")));
  }
  Flags operator()(const VertexList& list) const {
    if (list.numbering == VertexNumbering::file && mesh.dropped > 0)
      throw InputError(
          fmt::format("vertex numbers are ambiguous: {} has {} vertices without an element, which were dropped, so "
                      "that the numbers "
                      "are not those of the file; select by position instead",
                      mesh.source, mesh.dropped));
    for (Index v : list.vertices)
      if (v < 0 || static_cast<std::size_t>(v) >= mesh.vertices.size())
        throw InputError(fmt::format("vertex {} does not exist; {} has the vertices 0 to {}", v, mesh.source,
                                     mesh.vertices.size() - 1));
    return listed(list.vertices);
  }
};

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// "x <= 0.5": an axis, a sign and a number; none where it is something else.
std::optional<Comparison> parse_comparison(const std::string& term) {
  using Sign = Comparison::Sign;
  if (term.size() < 3 || term[0] < 'x' || term[0] > 'z') return {};
  const std::string rest = trim(term.substr(1));
  if (rest.empty() || (rest[0] != '<' && rest[0] != '>')) return {};
  const bool or_equal = rest.size() > 1 && rest[1] == '=';
  std::string number = trim(rest.substr(or_equal ? 2 : 1));
  if (number.starts_with('+') && !number.starts_with("+-")) number.erase(0, 1);
  double value = 0;
  const char* end = number.data() + number.size();
  const auto [last, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc() || last != end || !std::isfinite(value)) return {};
  const Sign less = or_equal ? Sign::less_equal : Sign::less, greater = or_equal ? Sign::greater_equal : Sign::greater;
  return Comparison{term[0] - 'x', rest[0] == '<' ? less : greater, value};
}

/// The terms between words "and".
std::vector<std::string> terms_of(const std::string& text) {
  std::vector<std::string> terms = {""};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "and")
      terms.emplace_back();
    else
      terms.back() += (terms.back().empty() ? "" : " ") + word;
  }
  return terms;
}

}  // namespace

std::string format_vector(const Vec3& v) { return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", v.x(), v.y(), v.z()); }

std::vector<SelectionTest> parse_selection(const std::string& text) {
  std::vector<SelectionTest> tests;
  for (const std::string& term : terms_of(text)) {
    if (const auto comparison = parse_comparison(term)) {
      tests.emplace_back(*comparison);
    } else if (term.find_first_of("<>=") != std::string::npos || term.empty()) {
      throw InputError(
          fmt::format("\"{}\" is not a selection; write a comparison such as \"x < 0.1\" or \"x < 0.1 and y >= 0.5\", "
                      "or the name of a set",
                      text));
    } else {
      tests.emplace_back(NamedSet{term});
    }
  }
  return tests;
}

std::vector<Index> select(const Selection& selection, const VertexView& mesh) {
  Flags chosen(mesh.vertices.size(), 0);
  for (const auto& group : selection.any) {
    Flags all(mesh.vertices.size(), 1);
    for (const SelectionTest& test : group) {
      const Flags flags = std::visit(Evaluator{mesh}, test);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] &= flags[i];
    }
    for (std::size_t i = 0; i < all.size(); ++i) chosen[i] |= all[i];
  }
  std::vector<Index> vertices;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) vertices.push_back(static_cast<Index>(i));
  return vertices;
}

InBox bounding_box(std::span<const Vec3> vertices) {
  InBox box{Vec3::Constant(std::numeric_limits<double>::infinity()),
            Vec3::Constant(-std::numeric_limits<double>::infinity())};
  for (const Vec3& p : vertices) {
    box.min = box.min.cwiseMin(p);
    box.max = box.max.cwiseMax(p);
  }
  return box;
}

}  // namespace pliant
