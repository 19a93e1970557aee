#include "pliant/scene/material_keys.hpp"

namespace pliant {

namespace {

Setting curve_key(const std::string& name, const std::string& argument) {
  return {.name = name,
          .kind = Kind::pairs,
          .summary = "Points [" + argument + ", stress in Pa] of the derivative of " + name + ".",
          .example = "[[0.5, -2e5], [1, 0], [1.5, 1.5e5]]"};
}

Setting polynomial_key(const std::string& curve) {
  return {.name = curve + "_polynomial",
          .kind = Kind::numbers,
          .summary = "The curve " + curve + " itself, by coefficients of powers of (s - 1) from the zeroth.",
          .unit = "Pa",
          .example = "[0, 0, 1e5]"};
}

const Section& curves_section() {
  static const Section section{
      "body.curves",
      "in 'curves' of [[body]]",
      "A Valanis-Landel material sum a(s_i) + sum b(s_i s_j) + c(J). Each curve is given by points of its derivative, "
      "through which a natural cubic spline goes that continues straight beyond them, or as a polynomial. At rest "
      "there "
      "must be no stress: a'(1) + 2 b'(1) + c'(1) = 0.",
      {curve_key("a", "stretch"), curve_key("b", "product of two stretches"), curve_key("c", "volume ratio"),
       polynomial_key("a"), polynomial_key("b"), polynomial_key("c")},
      {{{{"a"}, {"a_polynomial"}}, false}, {{{"b"}, {"b_polynomial"}}, false}, {{{"c"}, {"c_polynomial"}}, false}}};
  return section;
}

const Section& fibres_section() {
  static const Section section{
      "[[body.fibres]]",
      "in [[body.fibres]]",
      "Fibres that run through a body, in addition to its material; a body may have several sets of them.",
      {{.name = "law",
        .kind = Kind::text,
        .summary = "What they are made of; `pliant materials` lists the fibre laws.",
        .fallback = "\"reinforcement\""},
       {.name = "stiffness",
        .summary = "Stiffness as the law defines it: mostly the fibres' modulus; for `muscle`, its greatest stress.",
        .unit = "Pa",
        .example = "1e5",
        .limits = kNotNegative,
        .required = true},
       {.name = "shape",
        .summary = "The law's second constant, if it has one: see `pliant materials`.",
        .example = "4.0",
        .limits = kPositive},
       {.name = "active_stress",
        .summary = "Tension at full activation, for laws other than `muscle`.",
        .unit = "Pa",
        .fallback = "0.0",
        .limits = kNotNegative},
       {.name = "direction", .kind = Kind::vector, .summary = "The same everywhere.", .example = "[1, 0, 0]"},
       {.name = "field",
        .kind = Kind::choice,
        .summary = "A rule: along x, along y, between them, or winding about an axis.",
        .choices = {"horizontal", "vertical", "diagonal", "helical"}},
       {.name = "element_field",
        .kind = Kind::text,
        .summary = "From the mesh file: the name of an element field with three components.",
        .example = "\"fibre\""},
       {.name = "file",
        .kind = Kind::text,
        .summary = "From a text file with three numbers a line, one line per element.",
        .example = "\"fibres.txt\""},
       {.name = "axis", .kind = Kind::vector, .summary = "Axis of a helical field.", .fallback = "[1.0, 0.0, 0.0]"},
       {.name = "centre",
        .kind = Kind::vector,
        .summary = "A point on that axis.",
        .unit = "m",
        .fallback = "[0.0, 0.0, 0.0]",
        .aliases = {"center"}},
       {.name = "pitch",
        .summary = "Angle between helical fibres and the circle about the axis.",
        .unit = "degrees",
        .fallback = "30.0",
        .limits = {-90, 90}},
       {.name = "muscle",
        .kind = Kind::text,
        .summary = "The [[muscle]] that activates them.",
        .example = "\"biceps\""}},
      {{{{"direction"}, {"field"}, {"element_field"}, {"file"}}, true}}};
  return section;
}

const Section& cloth_section() {
  static const Section section{"body.cloth",
                               "in 'cloth' of [[body]]",
                               "A rectangular sheet of springs in the xz-plane; it has the sets `x-min`, `x-max`, "
                               "`z-min`, `z-max`, `corners` and "
                               "`boundary`.",
                               {{.name = "size",
                                 .kind = Kind::pair,
                                 .summary = "Edge lengths along x and z.",
                                 .unit = "m",
                                 .example = "[1, 1]",
                                 .limits = kPositive,
                                 .required = true},
                                {.name = "cells",
                                 .kind = Kind::pair,
                                 .summary = "Number of cells along x and z.",
                                 .example = "[40, 40]",
                                 .limits = kAtLeastOne,
                                 .required = true},
                                {.name = "origin",
                                 .kind = Kind::vector,
                                 .summary = "The lowest corner.",
                                 .unit = "m",
                                 .fallback = "[0.0, 0.0, 0.0]"}}};
  return section;
}

const Section& springs_section() {
  static const Section section{"body.springs",
                               "in 'springs' of [[body]]",
                               "Makes the body a network of springs: those of its cloth, or every edge of its mesh.",
                               {{.name = "structural",
                                 .summary = "Stiffness of springs along edges.",
                                 .unit = "N/m",
                                 .fallback = "1000.0",
                                 .limits = kNotNegative},
                                {.name = "shear",
                                 .summary = "Stiffness of springs across the cells of cloth.",
                                 .unit = "N/m",
                                 .fallback = "500.0",
                                 .limits = kNotNegative},
                                {.name = "bending",
                                 .summary = "Stiffness of springs between vertices of cloth that are two cells apart.",
                                 .unit = "N/m",
                                 .fallback = "10.0",
                                 .limits = kNotNegative}}};
  return section;
}

const Section& shell_section() {
  static const Section section{"body.shell",
                               "in 'shell' of [[body]]",
                               "Makes the body a thin shell: of the triangles of its surface file or cloth, or of the "
                               "surface of any other mesh. Its shape at rest is that of the mesh. It takes `young` and "
                               "`poisson`; see [shells](shells.md).",
                               {{.name = "thickness",
                                 .summary = "How thick it is.",
                                 .unit = "m",
                                 .example = "0.001",
                                 .limits = kPositive,
                                 .required = true},
                                {.name = "bending",
                                 .summary = "What its resistance to bending is multiplied by: cloth of threads that "
                                            "slide bends more easily than its thickness says.",
                                 .fallback = "1.0",
                                 .limits = kNotNegative},
                                {.name = "strain_limit",
                                 .summary = "How far it stretches in any direction before it becomes much stiffer, as "
                                            "woven threads do once they are straight: 0.1 is a tenth of its length. "
                                            "0 sets no limit.",
                                 .fallback = "0.0",
                                 .limits = kNotNegative}}};
  return section;
}

const Section& damping_section() {
  static const Section section{"body.damping",
                               "in 'damping' of [[body]]",
                               "Rayleigh damping: a resistance (mass M + stiffness K) v to the velocity v, with the "
                               "stiffness K of the start of each step.",
                               {{.name = "mass",
                                 .summary = "Slows all motion, like a thick fluid.",
                                 .unit = "1/s",
                                 .fallback = "0.0",
                                 .limits = kNotNegative},
                                {.name = "stiffness",
                                 .summary = "Slows deformation only, fast vibrations most.",
                                 .unit = "s",
                                 .fallback = "0.0",
                                 .limits = kNotNegative}}};
  return section;
}

}  // namespace

std::vector<Setting> stiffness_keys() {
  return {
      {.name = "young",
       .summary = "Young's modulus: 1e5 is soft rubber, 1e7 hard rubber, 2e11 steel.",
       .unit = "Pa",
       .example = "4e5",
       .limits = kPositive,
       .aliases = {"E"}},
      {.name = "poisson",
       .summary = "Poisson's ratio: 0 does not bulge, towards 0.5 keeps its volume.",
       .example = "0.4",
       .limits = {-1, 0.5, false, false},
       .aliases = {"nu"},
       .hint =
           "0.5 would be incompressible, which displacement elements cannot represent; use for example 0.45 or 0.49"},
      {.name = "mu",
       .summary = "Shear modulus, in place of young and poisson.",
       .unit = "Pa",
       .example = "1.5e5",
       .limits = kPositive},
      {.name = "lambda", .summary = "First Lame parameter, together with mu.", .unit = "Pa", .example = "5e5"},
  };
}

Alternatives stiffness_alternatives() { return {{{"young", "poisson"}, {"mu", "lambda"}}, true}; }

std::vector<Setting> material_keys() {
  return {
      {.name = "c10",
       .summary = "First constant of `mooney-rivlin`, in place of young and poisson; mu = 2 (c10 + c01).",
       .unit = "Pa",
       .example = "1e5",
       .limits = kNotNegative},
      {.name = "c01",
       .summary = "Second constant of `mooney-rivlin`.",
       .unit = "Pa",
       .example = "2e4",
       .limits = kNotNegative},
      {.name = "bulk",
       .summary = "Bulk modulus, with c10 and c01.",
       .unit = "Pa",
       .example = "1e6",
       .limits = kPositive},
      {.name = "c01_share",
       .summary = "c01 / (c10 + c01) of `mooney-rivlin`, with young and poisson; by default 0.2.",
       .example = "0.2",
       .limits = {0, 1}},
      {.name = "curves",
       .kind = Kind::table,
       .summary = "The curves of `valanis-landel`, in place of young and poisson.",
       .example = "{a = [[0.5, -2e5], [1, 0], [1.5, 1.5e5]]}",
       .section = &curves_section()},
      {.name = "young_field",
       .kind = Kind::text,
       .summary = "Young's modulus of each element, from an element field of the mesh file; `young` is then not used.",
       .unit = "Pa",
       .example = "\"E\""},
      {.name = "poisson_field",
       .kind = Kind::text,
       .summary = "Poisson's ratio of each element, likewise.",
       .example = "\"nu\""},
      {.name = "fibres",
       .kind = Kind::tables,
       .summary = "Fibres in addition to the material.",
       .aliases = {"fibers"},
       .section = &fibres_section()},
      {.name = "damping",
       .kind = Kind::table,
       .summary = "Resistance to velocity.",
       .example = "{mass = 0.1, stiffness = 0.002}",
       .section = &damping_section()},
      {.name = "springs",
       .kind = Kind::table,
       .summary = "Makes it a network of springs, in place of a solid.",
       .example = "{structural = 1000}",
       .section = &springs_section()},
      {.name = "shell",
       .kind = Kind::table,
       .summary = "Makes it a thin shell of triangles, in place of a solid.",
       .example = "{thickness = 0.001}",
       .section = &shell_section()},
  };
}

const Section& rod_section(const Section& rotate) {
  static const Section section{
      "[[rod]]",
      "in [[rod]]",
      "A thin rod, wire or rope along a line of points, which stretches and bends; pins, scripts, loads, attachments, "
      "springs and probes name it as any body. It has the sets `start` and `end` and, to clamp it by, `first-segment` "
      "and `last-segment`. See [rods](rods.md).",
      {{.name = "name",
        .kind = Kind::text,
        .summary = "Name of the rod in messages and results; must be unique among all bodies.",
        .example = "\"wire\""},
       {.name = "points",
        .kind = Kind::points,
        .summary = "Where its middle line goes, at rest and at the start: straight from each point to the next.",
        .unit = "m",
        .example = "[[0, 0, 0], [1, 0, 0]]",
        .required = true},
       {.name = "segments",
        .kind = Kind::integer,
        .summary = "How many straight pieces it is divided into, about: a whole number from each point to the next, at "
                   "least one.",
        .fallback = "40",
        .limits = {1, 1e6}},
       {.name = "closed",
        .kind = Kind::boolean,
        .summary = "Joins the last point to the first: a ring.",
        .fallback = "false"},
       {.name = "radius",
        .summary = "Of its round cross section.",
        .unit = "m",
        .example = "0.002",
        .limits = kPositive,
        .required = true},
       {.name = "young",
        .summary = "Young's modulus: 1e7 hard rubber, 3e9 nylon, 2e11 steel.",
        .unit = "Pa",
        .example = "3e9",
        .limits = kPositive,
        .aliases = {"E"},
        .required = true},
       {.name = "density",
        .summary = "Mass over volume.",
        .unit = "kg/m^3",
        .fallback = "1000.0",
        .limits = kPositive,
        .aliases = {"rho"}},
       {.name = "bending",
        .summary =
            "What its resistance to bending is multiplied by: a rope of strands that slide bends far more easily "
            "than a solid bar. 0 is a chain.",
        .fallback = "1.0",
        .limits = kNotNegative},
       {.name = "rest_curvature",
        .summary =
            "How it is bent where nothing pulls, all along: 0 is straight, 1/R a ring of radius R. By default as "
            "its points have it.",
        .unit = "1/m",
        .example = "0",
        .limits = kNotNegative},
       {.name = "rotate",
        .kind = Kind::table,
        .summary = "Turns its points.",
        .example = "{axis = [0, 0, 1], angle = 45}",
        .section = &rotate},
       {.name = "translate",
        .kind = Kind::vector,
        .summary = "Then moves them.",
        .unit = "m",
        .fallback = "[0.0, 0.0, 0.0]"},
       {.name = "damping",
        .kind = Kind::table,
        .summary = "Resistance to velocity.",
        .example = "{mass = 0.1, stiffness = 0.002}",
        .section = &damping_section()},
       {.name = "velocity",
        .kind = Kind::vector,
        .summary = "Velocity at the start.",
        .unit = "m/s",
        .fallback = "[0.0, 0.0, 0.0]"},
       {.name = "angular_velocity",
        .kind = Kind::vector,
        .summary = "Rotation about the centre of mass at the start.",
        .unit = "rad/s",
        .fallback = "[0.0, 0.0, 0.0]"}}};
  return section;
}

Setting cloth_key() {
  return {.name = "cloth",
          .kind = Kind::table,
          .summary = "Generate a sheet: of springs, with `density` in kg/m^2, or with `shell` of triangles.",
          .example = "{size = [1, 1], cells = [40, 40]}",
          .section = &cloth_section()};
}

const Section& muscle_section() {
  static const Section section{
      "[[muscle]]",
      "in [[muscle]]",
      "Activates the fibres that name it.",
      {{.name = "name",
        .kind = Kind::text,
        .summary = "Name by which fibres refer to it; must be unique.",
        .example = "\"biceps\"",
        .required = true},
       {.name = "activation",
        .kind = Kind::pairs,
        .summary = "Points [time in s, activation from 0 to 1], linear in between; without it a program sets it.",
        .example = "[[0, 0], [0.5, 1]]"}}};
  return section;
}

}  // namespace pliant
