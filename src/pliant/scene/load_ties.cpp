// Springs, attachments, joints, and the probes that look at them.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pliant/base/nearest.hpp"
#include "pliant/scene/keys.hpp"
#include "pliant/scene/load_support.hpp"

namespace pliant {

namespace {

/// Whether [[kind]] has a part of this name.
void require_part(const Value& name, const std::string& kind, const Value& root) {
  Complaints told_before;
  const std::vector<std::string> names = names_of(root.find(kind), kind, told_before);
  if (std::find(names.begin(), names.end(), name.text()) != names.end()) return;
  const std::string near = nearest(name.text(), names);
  fail(name.origin, fmt::format("there is no {} '{}'; {}", kind, name.text(),
                                near.empty() ? fmt::format("add [[{}]] with this name", kind)
                                             : fmt::format("did you mean '{}'?", near)));
}

bool is_of_tie(ProbeQuantity quantity) { return quantity == ProbeQuantity::force || quantity == ProbeQuantity::length; }

std::vector<ProbeQuantity> to_quantities(const Value& table, bool of_tie) {
  const std::vector<std::string>& known =
      scene_keys().find("probe")->section->find("quantities")->choices;  // in the order of ProbeQuantity
  const Value* given = table.find("quantities");
  if (!given) return {of_tie ? ProbeQuantity::force : ProbeQuantity::displacement};
  if (given->list().empty())
    fail(given->origin,
         "'quantities' in [[probe]] is empty; name what to record, for example: quantities = [\"displacement\"]");
  std::vector<ProbeQuantity> quantities;
  for (const Value& quantity : given->list()) {
    quantities.push_back(
        static_cast<ProbeQuantity>(std::find(known.begin(), known.end(), quantity.text()) - known.begin()));
    if (is_of_tie(quantities.back()) == of_tie) continue;
    fail(quantity.origin,
         of_tie
             ? fmt::format("'{}' is recorded of bodies; springs, attachments and joints have \"force\" and \"length\"",
                           quantity.text())
             : fmt::format("'{}' is recorded of springs, attachments and joints; name one, for example: spring = "
                           "\"rope\"; of bodies there is \"reaction\" or \"contact_force\"",
                           quantity.text()));
  }
  return quantities;
}

}  // namespace

SceneJoint to_joint(const Value& table, const std::string& name, std::size_t body,
                    const std::vector<std::string>& bodies) {
  static const std::vector<std::string> kKinds = {"fixed", "hinge", "ball", "slider"};
  JointOptions joint;
  joint.name = name;
  joint.body = body;
  joint.kind =
      static_cast<RigidJoint>(std::find(kKinds.begin(), kKinds.end(), table.at("kind").text()) - kKinds.begin());
  if (const Value* to = table.find("to_body")) joint.to_body = body_named(*to, bodies);
  joint.place = to_vector(table.at("at"));
  joint.axis = to_direction(table.at("axis"), "axis");
  if (const Value* given = table.find("stiffness")) joint.stiffness = given->number();
  if (const Value* given = table.find("motor_stiffness")) joint.motor_stiffness = given->number();
  const double unit = joint.kind == RigidJoint::hinge ? kDegree : 1;
  if (const Value* limits = table.find("limits"))
    joint.limits = {unit * limits->list()[0].number(), unit * limits->list()[1].number()};
  if (const Value* motor = table.find("motor")) {
    double previous = -std::numeric_limits<double>::infinity();
    const std::string key = joint.kind == RigidJoint::hinge ? "angle" : "distance";
    for (const Value& frame : motor->list()) {
      const double time = later_time(frame, previous);
      const Value* value = frame.find(key);
      if (!value) fail(frame.origin, fmt::format("the motor of a {} is given by '{}'", table.at("kind").text(), key));
      joint.motor.keys.push_back({time, unit * value->number()});
    }
  }
  return {joint, table.origin};
}

SceneSpring to_spring(const Value& table, const std::string& name, std::size_t body,
                      const std::vector<std::string>& bodies) {
  SpringOptions spring;
  spring.name = name;
  spring.body = body;
  spring.place = to_vector(table.at("at"));
  if (const Value* to_body = table.find("to_body")) spring.to_body = body_named(*to_body, bodies);
  spring.to = to_vector(table.at("to"));
  spring.stiffness = table.at("stiffness").number();
  if (const Value* length = table.find("rest_length")) spring.rest_length = length->number();
  spring.damping = table.at("damping").number();
  return {spring, table.origin};
}

SceneAttachment to_attachment(const Value& table, const std::string& name, std::size_t body, Selection where,
                              const std::vector<std::string>& bodies, const std::vector<std::string>& links) {
  SceneAttachment attachment{.name = name, .body = body, .where = std::move(where)};
  attachment.origin = table.origin;
  if (const Value* link = table.find("link")) attachment.link = link_index(*link, links);
  if (const Value* to = table.find("to_body")) attachment.to_body = body_named(*to, bodies);
  const auto refuse_with_link = [&](const std::string& key, const Value& given) {
    if (attachment.link)
      fail(given.origin, fmt::format("'{}' in [[attachment]] goes with 'to_body': what is fastened to a link moves "
                                     "with it; leave it out",
                                     key));
  };
  for (const auto& [key, freedom] : {std::pair("along", TieFreedom::line), std::pair("across", TieFreedom::plane)})
    if (const Value* given = table.find(key)) {
      refuse_with_link(key, *given);
      attachment.freedom = freedom;
      attachment.direction = to_direction(*given, key);
    }
  if (!attachment.to_body && !attachment.link && attachment.freedom == TieFreedom::none)
    fail(table.origin,
         "[[attachment]] needs the key 'to_body' or 'link', or a way to slide in the world: 'along' or 'across'; for "
         "example: to_body = \"bone\"");
  for (const auto& [key, number] :
       {std::pair("stiffness", &attachment.stiffness), std::pair("damping", &attachment.damping)})
    if (const Value* given = table.find(key)) {
      refuse_with_link(key, *given);
      *number = given->number();
    }
  return attachment;
}

SceneProbe to_probe(const Value& table, const std::string& name, const Value& root, const SceneObjects& objects,
                    const std::vector<std::string>& bodies) {
  SceneProbe probe;
  probe.name = name;
  probe.origin = table.origin;
  for (const auto& [key, kind] :
       {std::pair("spring", TieGroup::Kind::spring), std::pair("attachment", TieGroup::Kind::attachment),
        std::pair("joint", TieGroup::Kind::joint)})
    if (const Value* part = table.find(key)) {
      require_part(*part, key, root);
      for (const char* other : {"body", "where"})
        if (const Value* given = table.find(other); given && given->given != Given::as_default)
          fail(given->origin, fmt::format("'{}' in [[probe]] does not go with '{}'; remove one of them", other, key));
      probe.tie_kind = kind;
      probe.tie = part->text();
    }
  if (!probe.tie_kind) {
    probe.body = body_index(table, bodies, "probe");
    probe.where = to_selection(table.at("where"), objects);
  }
  probe.quantities = to_quantities(table, probe.tie_kind.has_value());
  return probe;
}

}  // namespace pliant
