#include "pliant/scene/tie_keys.hpp"

#include "pliant/scene/common_keys.hpp"

namespace pliant {

namespace {

Setting to_body_key(const std::string& summary, const std::string& example) {
  return {.name = "to_body", .kind = Kind::text, .summary = summary, .example = example};
}
Setting place_key(const std::string& name, const std::string& summary, const std::string& example) {
  return {.name = name, .kind = Kind::vector, .summary = summary, .unit = "m", .example = example, .required = true};
}
Setting stiffness_key(const std::string& summary, const std::string& example) {
  return {.name = "stiffness", .summary = summary, .unit = "N/m", .example = example, .limits = kPositive};
}

}  // namespace

const Section& attachment_section() {
  static const Section section{"[[attachment]]",
                               "in [[attachment]]",
                               "Fastens vertices of a body to another body, or to a link. Meshes need not match: "
                               "each vertex is tied to the place of the other body that is nearest at rest, and stays "
                               "at its distance from it. In [contact], bodies that are attached to each other do not "
                               "touch each other, unless a pair says so.",
                               {name_key("attachment"),
                                body_key(),
                                where_key("The vertices that are fastened.", true),
                                to_body_key("Name of the body that they are tied to.", "\"bone\""),
                                {.name = "link",
                                 .kind = Kind::text,
                                 .summary = "Name of the link that they move with.",
                                 .example = "\"forearm\""},
                                {.name = "along",
                                 .kind = Kind::vector,
                                 .summary = "Lets each slide along a line through where it is at rest, which moves "
                                            "with `to_body`; without `to_body`, a line of the world.",
                                 .example = "[1, 0, 0]"},
                                {.name = "across",
                                 .kind = Kind::vector,
                                 .summary = "Lets each slide over the plane through where it is at rest that has this "
                                            "normal: of a rigid `to_body`, or of the world.",
                                 .example = "[0, 1, 0]"},
                                stiffness_key("Of each tie to a body; by default a hundred times that of an element of "
                                              "the softer one.",
                                              "1e5"),
                                {.name = "damping",
                                 .summary = "Of each tie to a body, of what slides along its way; by default none.",
                                 .unit = "N s/m",
                                 .example = "10",
                                 .limits = kNotNegative}},
                               {{{{"to_body"}, {"link"}}, false}, {{{"along"}, {"across"}}, false}}};
  return section;
}

const Section& spring_section() {
  Setting stiffness = stiffness_key("Its force per length.", "200");
  stiffness.required = true;
  static const Section section{
      "[[spring]]",
      "in [[spring]]",
      "A spring from a place of a body to a place of another, of the same, or of the world. Its energy is "
      "k/2 (length - rest_length)^2; a rest length of zero ties its ends together.",
      {name_key("spring"),
       body_key(),
       place_key("at", "Where it holds the body, as this is at rest: the nearest part of the body moves it.",
                 "[0.5, 0, 0]"),
       to_body_key("Name of the body of its other end; by default that stays where it is.", "\"frame\""),
       place_key("to", "Its other end: a place of the world, or of `to_body` at rest.", "[0.5, 1, 0]"),
       stiffness,
       {.name = "rest_length",
        .summary = "How long it is without a force; by default as long as where bodies are at rest.",
        .unit = "m",
        .example = "0.8",
        .limits = kNotNegative},
       {.name = "damping",
        .summary = "Its resistance to the speed at which its length changes.",
        .unit = "N s/m",
        .fallback = "0.0",
        .limits = kNotNegative}}};
  return section;
}

const Section& joint_section() {
  static const Section motor{"joint.motor",
                             "in 'motor' of [[joint]]",
                             "Where a hinge or slider is to be at given times, from where it is at rest; linear in "
                             "between, constant before the first and after the last.",
                             {{.name = "time",
                               .summary = "When; increasing from one to the next.",
                               .unit = "s",
                               .example = "0.5",
                               .required = true},
                              {.name = "angle", .summary = "Of a hinge.", .unit = "degrees", .example = "90"},
                              {.name = "distance", .summary = "Of a slider.", .unit = "m", .example = "0.1"}},
                             {{{{"angle"}, {"distance"}}, true}}};
  Setting motor_stiffness = stiffness_key(
      "How hard the motor pulls per distance it is away, at half of the body's size from a hinge's axis; by default as "
      "the joint holds.",
      "1e4");
  motor_stiffness.name = "motor_stiffness";
  static const Section section{
      "[[joint]]",
      "in [[joint]]",
      "Joins a rigid body to another body, or to the world. In [contact], bodies that are joined do not touch each "
      "other, unless a pair says so.",
      {{.name = "name", .kind = Kind::text, .summary = "Name of the joint; must be unique.", .example = "\"elbow\""},
       {.name = "kind",
        .kind = Kind::choice,
        .summary = "What it leaves free: `fixed` nothing, `hinge` a turn about its axis, `ball` all turns, `slider` a "
                   "way along its axis.",
        .fallback = "\"ball\"",
        .choices = {"fixed", "hinge", "ball", "slider"}},
       body_key("The rigid body that it holds; needed when there are several bodies.", "\"forearm\""),
       to_body_key("The body that it is joined to, rigid or soft; by default the world.", "\"upper-arm\""),
       place_key("at", "Where it is, as bodies are at rest.", "[0, 1, 0]"),
       {.name = "axis",
        .kind = Kind::vector,
        .summary = "Direction of a hinge or slider, as bodies are at rest.",
        .fallback = "[0.0, 0.0, 1.0]"},
       stiffness_key("Of each of the ties that it is made of; by default as stiff as the bodies.", "1e6"),
       {.name = "limits",
        .kind = Kind::span,
        .summary = "How far a hinge turns (degrees) or a slider goes (m), from where it is at rest: least and most.",
        .example = "[-30, 90]"},
       {.name = "motor",
        .kind = Kind::tables,
        .summary = "Where it is taken over time.",
        .example = "[{time = 0, angle = 0}, {time = 1, angle = 90}]",
        .section = &motor},
       motor_stiffness}};
  return section;
}

}  // namespace pliant
