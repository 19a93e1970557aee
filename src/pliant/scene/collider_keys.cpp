#include "pliant/scene/collider_keys.hpp"

namespace pliant {

namespace {

Setting centre_key(const std::string& fallback) {
  return {.name = "centre",
          .kind = Kind::vector,
          .summary = "Its centre.",
          .unit = "m",
          .fallback = fallback,
          .aliases = {"center"}};
}
Setting axis_key(const std::string& summary) {
  return {.name = "axis", .kind = Kind::vector, .summary = summary, .fallback = "[0.0, 1.0, 0.0]"};
}
Setting size_key(const std::string& name, const std::string& summary, const std::string& example) {
  return {.name = name, .summary = summary, .unit = "m", .example = example, .limits = kPositive, .required = true};
}

Setting shape_key(const std::string& name, const std::string& summary, const std::string& example,
                  const Section& section) {
  return {.name = name, .kind = Kind::table, .summary = summary, .example = example, .section = &section};
}

std::vector<Setting> shape_keys() {
  static const std::string origin = "[0.0, 0.0, 0.0]";
  static const Section plane{
      "collider.plane",
      "in 'plane' of [[collider]]",
      "The half space behind a plane.",
      {{.name = "point", .kind = Kind::vector, .summary = "A point on the plane.", .unit = "m", .fallback = origin},
       {.name = "normal",
        .kind = Kind::vector,
        .summary = "Points away from the solid.",
        .fallback = "[0.0, 1.0, 0.0]"}}};
  static const Section sphere{"collider.sphere",
                              "in 'sphere' of [[collider]]",
                              "A ball.",
                              {centre_key(origin), size_key("radius", "Its radius.", "0.5")}};
  static const Section box{"collider.box",
                           "in 'box' of [[collider]]",
                           "A box along the axes; `rotate` turns it.",
                           {centre_key(origin),
                            {.name = "size",
                             .kind = Kind::vector,
                             .summary = "Edge lengths.",
                             .unit = "m",
                             .example = "[1, 1, 1]",
                             .limits = kPositive,
                             .required = true}}};
  static const Section cylinder{"collider.cylinder",
                                "in 'cylinder' of [[collider]]",
                                "A cylinder with flat ends.",
                                {centre_key(origin), axis_key("Direction of its axis."),
                                 size_key("radius", "Its radius.", "0.5"), size_key("length", "Its length.", "2")}};
  static const Section capsule{"collider.capsule",
                               "in 'capsule' of [[collider]]",
                               "A cylinder with round ends.",
                               {{.name = "begin",
                                 .kind = Kind::vector,
                                 .summary = "Centre of one end.",
                                 .unit = "m",
                                 .example = "[0, 0, 0]",
                                 .required = true},
                                {.name = "end",
                                 .kind = Kind::vector,
                                 .summary = "Centre of the other.",
                                 .unit = "m",
                                 .example = "[0, 1, 0]",
                                 .required = true},
                                size_key("radius", "Its radius.", "0.2")}};
  static const Section torus{"collider.torus",
                             "in 'torus' of [[collider]]",
                             "A ring.",
                             {centre_key(origin), axis_key("Direction of its axis."),
                              size_key("ring", "Radius of the circle that the tube follows.", "1"),
                              size_key("tube", "Radius of the tube.", "0.25")}};
  static const Section bowl{
      "collider.bowl",
      "in 'bowl' of [[collider]]",
      "A hollow half sphere in a solid block.",
      {centre_key(origin), axis_key("Direction in which it opens."), size_key("radius", "Radius of the hollow.", "1")}};
  static const Section surface{
      "collider.surface",
      "in 'surface' of [[collider]]",
      "Triangles from a file, closed or open, that bodies touch from both sides. Needs `[contact]`.",
      {{.name = "file",
        .kind = Kind::text,
        .summary = "An OBJ, PLY or STL file; a relative path starts at the scene file's folder.",
        .example = "\"ramp.obj\"",
        .required = true},
       {.name = "scale", .summary = "Factor on its coordinates.", .fallback = "1.0", .limits = kPositive},
       {.name = "translate",
        .kind = Kind::vector,
        .summary = "Where it is put after scaling.",
        .unit = "m",
        .fallback = origin}}};
  return {shape_key("plane", "A floor or wall.", "{point = [0, 0, 0], normal = [0, 1, 0]}", plane),
          shape_key("sphere", "A ball.", "{centre = [0, 0, 0], radius = 0.5}", sphere),
          shape_key("box", "A box.", "{centre = [0, 0, 0], size = [1, 1, 1]}", box),
          shape_key("cylinder", "A cylinder.", "{centre = [0, 0, 0], axis = [0, 0, 1], radius = 0.5, length = 2}",
                    cylinder),
          shape_key("capsule", "A rod with round ends.", "{begin = [0, 0, 0], end = [0, 1, 0], radius = 0.2}", capsule),
          shape_key("torus", "A ring.", "{centre = [0, 0, 0], axis = [0, 1, 0], ring = 1, tube = 0.25}", torus),
          shape_key("bowl", "A bowl.", "{centre = [0, 1, 0], radius = 1}", bowl),
          shape_key("surface", "Triangles from a file, with `[contact]`.", "{file = \"ramp.obj\"}", surface)};
}

}  // namespace

const Section& contact_section() {
  static const Section pair{
      "[[contact.pair]]",
      "in [[contact.pair]]",
      "An exception for two bodies, a body and a collider, or a body and itself.",
      {{.name = "first", .kind = Kind::text, .summary = "A name.", .example = "\"block\"", .required = true},
       {.name = "second",
        .kind = Kind::text,
        .summary = "Name of the other one; may be the same.",
        .example = "\"floor\"",
        .required = true},
       {.name = "friction",
        .summary = "Coulomb's coefficient of the two; by default the common one.",
        .example = "0.4",
        .limits = kNotNegative},
       {.name = "touches",
        .kind = Kind::boolean,
        .summary = "Whether they touch at all; if not, they pass through each other.",
        .fallback = "true"}}};
  static const Section section{
      "[contact]",
      "in [contact]",
      "Contact that never passes through, between bodies, of bodies with themselves and with colliders, "
      "under every solver. Surfaces must be apart where they start.",
      {{.name = "dhat",
        .summary = "Distance below which surfaces repel each other. 0 chooses a thousandth of the smallest body's "
                   "diagonal, but no more than a quarter of the mean edge of a surface; `pliant check` tells.",
        .unit = "m",
        .fallback = "0.0",
        .limits = kNotNegative},
       {.name = "kappa",
        .summary =
            "Stiffness of the repulsion: the pressure at half of dhat is 4.3 times this. 0 chooses a tenth of the "
            "softest body's Young's modulus, but no more than stops its mass over a tenth of its size in 0.01 s.",
        .unit = "Pa",
        .fallback = "0.0",
        .limits = kNotNegative},
       {.name = "adaptive",
        .kind = Kind::boolean,
        .summary = "Doubles kappa within a step while gaps below dhat/100 go on shrinking.",
        .fallback = "false"},
       {.name = "friction",
        .summary = "Coulomb's coefficient wherever no other is given.",
        .fallback = "0.0",
        .limits = kNotNegative},
       {.name = "eps_v",
        .summary = "Sliding speed below which surfaces count as sticking.",
        .unit = "m/s",
        .fallback = "1e-3",
        .limits = kPositive},
       {.name = "friction_iterations",
        .kind = Kind::integer,
        .summary = "How often in a step normal forces and directions of friction are renewed.",
        .fallback = "1",
        .limits = kAtLeastOne},
       {.name = "self", .kind = Kind::boolean, .summary = "Whether bodies touch themselves.", .fallback = "true"},
       {.name = "pair", .kind = Kind::tables, .summary = "Exceptions.", .section = &pair}}};
  return section;
}

const Section& collider_section(const Section& rotate, const Section& keyframes) {
  static const Section section = [&] {
    Section s{
        "[[collider]]",
        "in [[collider]]",
        "A rigid obstacle, which may move. Surfaces of bodies that enter it are pushed out. With `[contact]` they "
        "cannot enter it: a plane is kept as it is, other shapes become triangles, 64 around.",
        {},
        {{{{"plane"}, {"sphere"}, {"box"}, {"cylinder"}, {"capsule"}, {"torus"}, {"bowl"}, {"surface"}}, true},
         {{{"translate"}, {"velocity"}, {"keyframes"}}, false}}};
    s.keys = {{.name = "name",
               .kind = Kind::text,
               .summary = "Name of the collider in messages; must be unique.",
               .example = "\"floor\""}};
    for (Setting& key : shape_keys()) s.keys.push_back(std::move(key));
    const std::vector<Setting> rest = {
        {.name = "stiffness",
         .summary = "With simulation.colliders = \"penalty\": how hard it pushes, per mass; a vertex sinks in by its "
                    "acceleration over this number.",
         .unit = "1/s^2",
         .fallback = "1e5",
         .limits = kPositive},
        {.name = "friction",
         .summary = "Coulomb's coefficient. With `[contact]`, 0 stands for the coefficient given there.",
         .fallback = "0.0",
         .limits = kNotNegative},
        {.name = "translate",
         .kind = Kind::vector,
         .summary = "Displacement reached at the end of `times`.",
         .unit = "m",
         .example = "[0.5, 0, 0]"},
        {.name = "velocity",
         .kind = Kind::vector,
         .summary = "Velocity during `times`, in place of translate.",
         .unit = "m/s",
         .example = "[0.1, 0, 0]"},
        {.name = "rotate",
         .kind = Kind::table,
         .summary = "Rotation about a fixed axis, done before the translation.",
         .example = "{axis = [1, 0, 0], angle = 180}",
         .section = &rotate},
        {.name = "keyframes",
         .kind = Kind::tables,
         .summary = "Motion given at certain times, in place of the above.",
         .example = "[{time = 0, translate = [0, 0, 0]}, {time = 1, translate = [1, 0, 0]}]",
         .section = &keyframes},
        {.name = "times",
         .kind = Kind::span,
         .summary = "When the motion begins and ends; by default the whole run.",
         .unit = "s",
         .example = "[0, 2]",
         .limits = kNotNegative}};
    s.keys.insert(s.keys.end(), rest.begin(), rest.end());
    return s;
  }();
  return section;
}

const Section& link_section() {
  static const Section section = [] {
    Section s{"[[link]]",
              "in [[link]]",
              "A rigid body of a chain, with the joint that holds it. Its shape gives mass and inertia. `conjac` moves "
              "links in "
              "coordinates of their joints; for all other solvers they are a `[[rigid]]` and a `[[joint]]` each.",
              {},
              {{{{"sphere"}, {"box"}, {"cylinder"}, {"capsule"}}, true}}};
    s.keys = {
        {.name = "name", .kind = Kind::text, .summary = "Name of the link; must be unique.", .example = "\"forearm\""},
        {.name = "parent",
         .kind = Kind::text,
         .summary = "The link it is joined to, given before it; by default the world.",
         .example = "\"upper-arm\""},
        {.name = "joint",
         .kind = Kind::choice,
         .summary = "How it can move against its parent; free only against the world.",
         .fallback = "\"free\"",
         .choices = {"fixed", "hinge", "ball", "free"}},
        {.name = "pivot",
         .kind = Kind::vector,
         .summary = "Where a hinge or a ball joint is, at rest.",
         .unit = "m",
         .example = "[0, 0, 0]"},
        {.name = "axis", .kind = Kind::vector, .summary = "Axis of a hinge, at rest.", .fallback = "[0.0, 0.0, 1.0]"},
        {.name = "density",
         .summary = "Mass over volume.",
         .unit = "kg/m^3",
         .fallback = "1000.0",
         .limits = kPositive,
         .aliases = {"rho"}}};
    for (Setting& key : shape_keys())
      if (key.name == "sphere" || key.name == "box" || key.name == "cylinder" || key.name == "capsule")
        s.keys.push_back(std::move(key));
    return s;
  }();
  return section;
}

const Section& rigid_section(const Section& rotate) {
  static const Section section = [&] {
    Section s{
        "[[rigid]]",
        "in [[rigid]]",
        "A rigid body: it touches soft and rigid ones in [contact], and joints, springs and attachments name it as "
        "any body. Its mass and inertia are those of its shape, filled with its density.",
        {},
        {{{{"sphere"}, {"box"}, {"cylinder"}, {"capsule"}, {"mesh"}}, true}}};
    s.keys = {{.name = "name",
               .kind = Kind::text,
               .summary = "Name of the body in messages and results; must be unique among all bodies.",
               .example = "\"finger\""}};
    for (Setting& key : shape_keys())
      if (key.name == "sphere" || key.name == "box" || key.name == "cylinder" || key.name == "capsule")
        s.keys.push_back(std::move(key));
    const std::vector<Setting> rest = {
        {.name = "mesh",
         .kind = Kind::text,
         .summary = "A file with its surface, which must be closed (OBJ, PLY, STL), or with tetrahedra.",
         .example = "\"finger.obj\""},
        {.name = "scale",
         .kind = Kind::factor,
         .summary = "Scales the mesh, first of the three transformations.",
         .fallback = "1.0",
         .limits = kPositive},
        {.name = "rotate",
         .kind = Kind::table,
         .summary = "Then rotates it, or the shape.",
         .example = "{axis = [0, 0, 1], angle = 45}",
         .section = &rotate},
        {.name = "translate",
         .kind = Kind::vector,
         .summary = "Then moves it.",
         .unit = "m",
         .fallback = "[0.0, 0.0, 0.0]"},
        {.name = "density",
         .summary = "Mass over volume.",
         .unit = "kg/m^3",
         .fallback = "1000.0",
         .limits = kPositive,
         .aliases = {"rho"}},
        {.name = "young",
         .summary = "What keeps it in shape: all of it gives way as one, by as little as if it were made of this.",
         .unit = "Pa",
         .fallback = "1e8",
         .limits = kPositive,
         .aliases = {"E"}},
        {.name = "friction",
         .summary = "Coulomb's coefficient against all others; by default that of [contact].",
         .example = "0.8",
         .limits = kNotNegative},
        {.name = "velocity",
         .kind = Kind::vector,
         .summary = "Velocity at the start.",
         .unit = "m/s",
         .fallback = "[0.0, 0.0, 0.0]"},
        {.name = "angular_velocity",
         .kind = Kind::vector,
         .summary = "Rotation about the centre of mass at the start.",
         .unit = "rad/s",
         .fallback = "[0.0, 0.0, 0.0]"}};
    s.keys.insert(s.keys.end(), rest.begin(), rest.end());
    return s;
  }();
  return section;
}

}  // namespace pliant
