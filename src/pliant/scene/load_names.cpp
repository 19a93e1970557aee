#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "pliant/base/nearest.hpp"
#include "pliant/scene/load_support.hpp"

namespace pliant {

namespace {

std::vector<SelectionTest> to_tests(const Value& value, const SceneObjects& objects) {
  if (value.is_text() && objects.vertices.contains(value.text()))
    return {VertexList{objects.vertices.at(value.text()), VertexNumbering::mesh}};
  if (value.is_text()) return at_origin(value.origin, [&] { return parse_selection(value.text()); });
  if (const Value* box = value.find("box")) {
    const InBox b{to_vector(box->at("min")), to_vector(box->at("max"))};
    if ((b.min.array() > b.max.array()).any())
      fail(box->origin, "'min' of a selection's box must not exceed 'max' in any direction; exchange them");
    return {b};
  }
  if (const Value* s = value.find("sphere")) return {InSphere{to_vector(s->at("centre")), s->at("radius").number()}};
  if (const Value* p = value.find("plane"))
    return {BehindPlane{to_vector(p->at("point")), to_direction(p->at("normal"), "normal")}};
  if (const Value* set = value.find("set")) return {NamedSet{set->text()}};
  VertexList list;
  for (const Value& v : value.at("vertices").list()) {
    if (v.number() > std::numeric_limits<Index>::max())
      fail(v.origin, fmt::format("vertex {} does not exist", to_toml(v)));
    list.vertices.push_back(static_cast<Index>(v.number()));
  }
  return {list};
}

}  // namespace

Selection to_selection(const Value& value, const SceneObjects& objects) {
  Selection selection;
  selection.text = to_toml(value);
  if (!value.is_list())
    selection.any.push_back(to_tests(value, objects));
  else
    for (const Value& item : value.list()) selection.any.push_back(to_tests(item, objects));
  return selection;
}

std::vector<std::string> names_of(const Value* list, const std::string& kind, Complaints& wrong) {
  std::vector<std::string> names;
  if (!list || !list->is_list()) return names;
  std::set<std::string> seen;
  for (const Value& item : list->list()) {
    const Value* given = item.is_table() ? item.find("name") : nullptr;
    if (given && !given->is_text()) given = nullptr;  // told by check_table
    std::string name = given                      ? given->text()
                       : list->list().size() == 1 ? kind
                                                  : fmt::format("{}-{}", kind, names.size() + 1);
    wrong.gather([&] {
      if (given && name.empty())
        fail(given->origin,
             fmt::format("'name' in [[{}]] must not be empty; leave the key out to have a name chosen", kind));
      if (!seen.insert(name).second)
        fail(given ? given->origin : item.origin,
             fmt::format("the name '{}' is taken by another [[{}]]; give each its own", name, kind));
    });
    names.push_back(std::move(name));
  }
  return names;
}

std::size_t body_named(const Value& name, const std::vector<std::string>& bodies) {
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (bodies[i] == name.text()) return i;
  const std::string near = nearest(name.text(), bodies);
  fail(name.origin, fmt::format("there is no body '{}'; {}", name.text(),
                                near.empty() ? fmt::format("choose one of {}", fmt::join(bodies, ", "))
                                             : fmt::format("did you mean '{}'?", near)));
}

std::size_t body_index(const Value& table, const std::vector<std::string>& bodies, const std::string& kind) {
  if (const Value* given = table.find("body")) return body_named(*given, bodies);
  if (bodies.size() == 1) return 0;
  if (bodies.empty()) fail(table.origin, fmt::format("[[{}]] acts on a body, but there is none; add [[body]]", kind));
  fail(table.origin, fmt::format("[[{}]] needs the key 'body', since there are several; for example: body = \"{}\"",
                                 kind, bodies.front()));
}

std::size_t link_index(const Value& value, const std::vector<std::string>& links) {
  const auto found = std::find(links.begin(), links.end(), value.text());
  if (found != links.end()) return static_cast<std::size_t>(found - links.begin());
  const std::string near = nearest(value.text(), links);
  fail(value.origin, fmt::format("there is no link '{}' before this; {}", value.text(),
                                 near.empty() ? "add [[link]]" : fmt::format("did you mean '{}'?", near)));
}

double later_time(const Value& frame, double& previous) {
  const double time = frame.at("time").number();
  if (!(time > previous))
    fail(frame.at("time").origin,
         fmt::format("'time' must increase from one keyframe to the next, but {} follows {}", time, previous));
  return previous = time;
}

}  // namespace pliant
