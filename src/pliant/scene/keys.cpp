#include "pliant/scene/keys.hpp"

#include "pliant/scene/collider_keys.hpp"
#include "pliant/scene/common_keys.hpp"
#include "pliant/scene/generator_keys.hpp"
#include "pliant/scene/material_keys.hpp"
#include "pliant/scene/tie_keys.hpp"

namespace pliant {

namespace {

/// What pictures and exports can show; the last two where bodies touch.
std::vector<std::string> colours() {
  return {"stretch",      "von_mises", "von-mises",        "speed",        "velocity",
          "displacement", "body",      "contact_pressure", "contact_force"};
}

const Section& body_rotate_section() {
  static const Section section{
      "body.rotate",
      "in 'rotate' of [[body]]",
      "Turns the mesh, after it was scaled.",
      {{.name = "axis",
        .kind = Kind::vector,
        .summary = "Direction of the axis.",
        .example = "[0, 0, 1]",
        .required = true},
       {.name = "angle", .summary = "How far.", .unit = "degrees", .example = "45", .required = true},
       {.name = "centre",
        .kind = Kind::vector,
        .summary = "A point on the axis.",
        .unit = "m",
        .fallback = "[0.0, 0.0, 0.0]",
        .aliases = {"center"}}}};
  return section;
}

const Section& region_section() {
  static const Section section = [] {
    Section s{"[body.regions.NAME]",
              "in [body.regions]",
              "A part of a body with its own stiffness. NAME is a region of the mesh file (its name or number), or a "
              "named set "
              "(elements with all "
              "their vertices in it), or, with `where`, any name. Where regions overlap, the later one holds.",
              stiffness_keys(),
              {stiffness_alternatives()}};
    s.keys.insert(s.keys.begin(), where_key("Elements whose four vertices are all in this selection.", false));
    return s;
  }();
  return section;
}

/// A generator, a file, or a sheet of springs.
Alternatives mesh_alternatives() {
  Alternatives alternatives{{}, true};
  for (const Setting& key : generator_keys()) alternatives.groups.push_back({key.name});
  alternatives.groups.push_back({"mesh"});
  alternatives.groups.push_back({"cloth"});
  return alternatives;
}

const Section& body_section() {
  static const Section section = [] {
    Section s{
        "[[body]]",
        "in [[body]]",
        "A deformable body: where its mesh comes from and what it is made of.",
        {},
        {mesh_alternatives(), {{{"young", "poisson"}, {"mu", "lambda"}, {"c10", "c01", "bulk"}, {"curves"}}, false}}};
    s.keys = {name_key("body")};
    s.keys.insert(s.keys.end(), generator_keys().begin(), generator_keys().end());
    const std::vector<Setting> first = {
        {.name = "mesh",
         .kind = Kind::text,
         .summary = "Read a mesh file (MEDIT, Gmsh, TetGen, VTK or VTU; for shells OBJ, PLY or STL); a relative path "
                    "starts at the scene file's folder.",
         .example = "\"bunny.mesh\""},
        cloth_key(),
        {.name = "visual",
         .kind = Kind::text,
         .summary = "An OBJ, PLY or STL file with a finer surface, which moves with the body and is scaled, turned and "
                    "moved with its mesh: for frames and exports.",
         .example = "\"bunny-fine.obj\""},
        {.name = "scale",
         .kind = Kind::factor,
         .summary = "Scales the mesh, first of the three transformations; three numbers scale x, y and z.",
         .fallback = "1.0",
         .limits = kPositive},
        {.name = "rotate",
         .kind = Kind::table,
         .summary = "Then rotates it.",
         .example = "{axis = [0, 0, 1], angle = 45}",
         .section = &body_rotate_section()},
        {.name = "translate",
         .kind = Kind::vector,
         .summary = "Then moves it.",
         .unit = "m",
         .fallback = "[0.0, 0.0, 0.0]"},
        {.name = "order",
         .kind = Kind::integer,
         .summary = "Polynomial order of the elements: 1 is fast, 2 bends without locking, 3 is for reference results.",
         .fallback = "1",
         .limits = {1, 3}},
        {.name = "material",
         .kind = Kind::choice,
         .summary = "The law; `pliant materials` describes them.",
         .fallback = "\"neo-hookean\"",
         .choices = material_names(),
         .aliases = {"law"}},
    };
    s.keys.insert(s.keys.end(), first.begin(), first.end());
    for (Setting& key : stiffness_keys()) s.keys.push_back(std::move(key));
    for (Setting& key : material_keys()) s.keys.push_back(std::move(key));
    const std::vector<Setting> rest = {
        {.name = "density",
         .summary = "Mass per volume at rest; for cloth of springs, mass per area (kg/m^2).",
         .unit = "kg/m^3",
         .fallback = "1000.0",
         .limits = kPositive,
         .aliases = {"rho"}},
        {.name = "velocity",
         .kind = Kind::vector,
         .summary = "Velocity at the start.",
         .unit = "m/s",
         .fallback = "[0.0, 0.0, 0.0]"},
        {.name = "angular_velocity",
         .kind = Kind::vector,
         .summary = "Rotation about the centre of mass at the start.",
         .unit = "rad/s",
         .fallback = "[0.0, 0.0, 0.0]"},
        {.name = "regions",
         .kind = Kind::named_tables,
         .summary = "Parts with their own stiffness.",
         .section = &region_section()},
    };
    s.keys.insert(s.keys.end(), rest.begin(), rest.end());
    return s;
  }();
  return section;
}

const Section& pin_section() {
  static const Section section{"[[pin]]",
                               "in [[pin]]",
                               "Holds vertices where they are, for the whole run.",
                               {name_key("pin"),
                                body_key(),
                                where_key("The vertices to hold.", true),
                                {.name = "axes",
                                 .kind = Kind::text,
                                 .summary = "The directions held: any of the letters x, y, z.",
                                 .fallback = "\"xyz\"",
                                 .example = "\"xy\""}}};
  return section;
}

const Section& script_rotate_section() {
  static const Section section{
      "script.rotate",
      "in 'rotate' of [[script]]",
      "Rotation about an axis that stays where it is. Give at most one of angle, revolutions and angular_velocity; "
      "none with keyframes.",
      {{.name = "axis",
        .kind = Kind::vector,
        .summary = "Direction of the axis; the right-hand rule gives the sense.",
        .example = "[1, 0, 0]",
        .required = true},
       {.name = "centre",
        .kind = Kind::vector,
        .summary = "A point on the axis.",
        .unit = "m",
        .fallback = "[0.0, 0.0, 0.0]",
        .aliases = {"center"}},
       {.name = "angle", .summary = "Angle reached at the end of `times`.", .unit = "degrees", .example = "180"},
       {.name = "revolutions", .summary = "The same, in whole turns.", .example = "1.5"},
       {.name = "angular_velocity",
        .summary = "Speed of rotation during `times`.",
        .unit = "rad/s",
        .example = "3.14"}},
      {{{{"angle"}, {"revolutions"}, {"angular_velocity"}}, false}}};
  return section;
}

const Section& keyframe_section() {
  static const Section section{
      "script.keyframes",
      "in 'keyframes' of [[script]]",
      "Where the motion is at given times; linear in between, constant before the first and after the last.",
      {{.name = "time",
        .summary = "When; increasing from one to the next.",
        .unit = "s",
        .example = "0.5",
        .required = true},
       {.name = "translate",
        .kind = Kind::vector,
        .summary = "Displacement from the rest position.",
        .unit = "m",
        .example = "[0.2, 0, 0]"},
       {.name = "angle", .summary = "Angle about the axis of `rotate`.", .unit = "degrees", .example = "90"}}};
  return section;
}

const Section& script_section() {
  static const Section section{
      "[[script]]",
      "in [[script]]",
      "Moves vertices on a prescribed path, from their rest positions. Without any motion it holds them until "
      "`release`.",
      {name_key("script"),
       body_key(),
       where_key("The vertices to move.", true),
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
        .section = &script_rotate_section()},
       {.name = "keyframes",
        .kind = Kind::tables,
        .summary = "Motion given at certain times, in place of the above.",
        .example = "[{time = 0, translate = [0, 0, 0]}, {time = 1, translate = [1, 0, 0]}]",
        .section = &keyframe_section()},
       {.name = "times",
        .kind = Kind::span,
        .summary = "When the motion begins and ends; by default from `start` to `release` or the end of the run.",
        .unit = "s",
        .example = "[0, 2]",
        .limits = kNotNegative},
       {.name = "start",
        .summary = "When the script takes hold of the vertices; they are free before.",
        .unit = "s",
        .fallback = "0.0",
        .limits = kNotNegative},
       {.name = "release",
        .summary = "When it lets go of them; by default never.",
        .unit = "s",
        .example = "3.0",
        .limits = kPositive},
       {.name = "imposition",
        .kind = Kind::choice,
        .summary = "`penalty` pulls the vertices with stiff springs, `direct` puts them where they belong.",
        .fallback = "\"penalty\"",
        .choices = {"penalty", "direct"}},
       {.name = "sigma",
        .summary = "Stiffness of the penalty per mass.",
        .unit = "1/s^2",
        .fallback = "1e8",
        .limits = kPositive}},
      {{{{"translate"}, {"velocity"}, {"keyframes"}}, false}}};
  return section;
}

const Section& load_keyframe_section() {
  static const Section section{
      "load.keyframes",
      "in 'keyframes' of [[load]]",
      "What the load is multiplied by at given times; linear in between, constant before the first and after the last.",
      {{.name = "time",
        .summary = "When; increasing from one to the next.",
        .unit = "s",
        .example = "0.5",
        .required = true},
       {.name = "factor", .summary = "What the load is multiplied by.", .example = "1.0", .required = true}}};
  return section;
}

const Section& gas_section() {
  static const Section section{
      "load.gas",
      "in 'gas' of [[load]]",
      "Gas in a cavity, whose pressure follows from the volume: p = pressure (V0/V)^exponent, with V0 the volume at "
      "rest. `keyframes` change how much gas there is.",
      {{.name = "pressure",
        .summary = "Absolute pressure of the gas at the volume that the cavity has at rest.",
        .unit = "Pa",
        .example = "120e3",
        .limits = kPositive,
        .required = true},
       {.name = "outside",
        .summary = "Absolute pressure of the air around.",
        .unit = "Pa",
        .fallback = "101325.0",
        .limits = kNotNegative},
       {.name = "exponent",
        .summary = "1 for slow changes, in which the gas stays as warm as it was; 1.4 for air and quick ones.",
        .fallback = "1.0",
        .limits = {1, 10}}}};
  return section;
}

const Section& load_section() {
  static const Section section{
      "[[load]]",
      "in [[load]]",
      "What pulls or presses from outside, constant or over time. A surface is the faces whose corners are all "
      "selected.",
      {name_key("load"),
       body_key(),
       where_key("The vertices it pulls, or the corners of the faces or elements it acts on.", true),
       {.name = "force",
        .kind = Kind::vector,
        .summary = "A force in all, spread evenly over the vertices.",
        .unit = "N",
        .example = "[0, -100, 0]"},
       {.name = "traction",
        .kind = Kind::vector,
        .summary = "A force per area of the surface.",
        .unit = "Pa",
        .example = "[0, -1000, 0]"},
       {.name = "pressure",
        .summary = "A pressure on the surface, from outside the body or within its cavity; negative pulls.",
        .unit = "Pa",
        .example = "2000"},
       {.name = "body_force",
        .kind = Kind::vector,
        .summary = "A force per volume, of the elements whose four corners are all selected.",
        .unit = "N/m^3",
        .example = "[0, 500, 0]"},
       {.name = "gas",
        .kind = Kind::table,
        .summary = "Gas that fills a cavity, of which the whole wall must be selected.",
        .example = "{pressure = 120e3}",
        .section = &gas_section()},
       {.name = "follows",
        .kind = Kind::boolean,
        .summary =
            "Whether pressure and traction act on the surface as it deforms and turn with it; otherwise they stay "
            "what they are on the surface at rest. By default pressure does and traction does not.",
        .example = "true"},
       {.name = "keyframes",
        .kind = Kind::tables,
        .summary = "What the load is multiplied by over time.",
        .example = "[{time = 0, factor = 0}, {time = 1, factor = 1}]",
        .section = &load_keyframe_section()}},
      {{{{"force"}, {"traction"}, {"pressure"}, {"body_force"}, {"gas"}}, true}}};
  return section;
}

const Section& probe_section() {
  static const Section section = [] {
    Setting where = where_key("The vertices it looks at.", false);
    where.fallback = "\"all\"";
    where.example.clear();
    return Section{
        "[[probe]]",
        "in [[probe]]",
        "Records numbers of a part of a body after every step, in `probes.csv` of the run's folder. Positions, "
        "displacements and velocities are means over the selected nodes, forces are sums over them. Stress, volume and "
        "energy are of the elements whose corners are all selected. A probe of a spring, an attachment or a joint has "
        "`force`, by which it pulls its `body`, and `length`.",
        {name_key("probe"),
         body_key(),
         where,
         {.name = "spring",
          .kind = Kind::text,
          .summary = "The [[spring]] it looks at, in place of a body.",
          .example = "\"rope\""},
         {.name = "attachment",
          .kind = Kind::text,
          .summary = "The [[attachment]] it looks at; its force is the sum of its ties.",
          .example = "\"glue\""},
         {.name = "joint",
          .kind = Kind::text,
          .summary = "The [[joint]] it looks at; its force is the sum of its ties.",
          .example = "\"elbow\""},
         {.name = "quantities",
          .kind = Kind::choices,
          .summary =
              "What to record. `reaction` is the force by which pins and scripts hold the nodes, `contact_force` "
              "that of contact and friction on them, `stress` Cauchy's, as a mean over the volume, with that of "
              "von Mises, `cavity` the volume within a closed wall, `energy` the elastic energy and the kinetic "
              "energy of the nodes. By default `displacement`, of springs, attachments and joints `force`.",
          .example = "[\"displacement\", \"reaction\"]",
          .choices = {"position", "displacement", "velocity", "reaction", "contact_force", "stress", "volume", "cavity",
                      "energy", "force", "length"}}},
        {{{{"spring"}, {"attachment"}, {"joint"}}, false}}};
  }();
  return section;
}

const Section& gravity_keyframe_section() {
  static const Section section{
      "simulation.gravity_keyframes",
      "in 'gravity_keyframes' of [simulation]",
      "Gravity at given times; linear in between, constant before the first and after the last.",
      {{.name = "time",
        .summary = "When; increasing from one to the next.",
        .unit = "s",
        .example = "0.5",
        .required = true},
       {.name = "gravity",
        .kind = Kind::vector,
        .summary = "Acceleration of every body.",
        .unit = "m/s^2",
        .example = "[0, -9.81, 0]",
        .required = true}}};
  return section;
}

const Section& cut_section() {
  static const Section plane{"cut.plane",
                             "in 'plane' of [[cut]]",
                             "A plane, or a disc of it.",
                             {{.name = "point",
                               .kind = Kind::vector,
                               .summary = "A point on the plane, the centre of the disc.",
                               .unit = "m",
                               .example = "[0.5, 0, 0]",
                               .required = true},
                              {.name = "normal",
                               .kind = Kind::vector,
                               .summary = "Normal of the plane.",
                               .example = "[1, 0, 0]",
                               .required = true},
                              {.name = "radius",
                               .summary = "Where the cut ends; by default it passes through the whole body.",
                               .unit = "m",
                               .example = "0.1",
                               .limits = kPositive}}};
  static const Section section{
      "[[cut]]",
      "in [[cut]]",
      "Cuts a body open along the faces of its elements, where these come nearest to a surface. Every "
      "solver continues from the same state. The surface is given where the body is at rest.",
      {name_key("cut"),
       body_key(),
       {.name = "time",
        .summary = "When it is cut: before the first step that begins then or later.",
        .unit = "s",
        .fallback = "0.0",
        .limits = kNotNegative},
       {.name = "plane",
        .kind = Kind::table,
        .summary = "Cut by a plane.",
        .example = "{point = [0.5, 0, 0], normal = [1, 0, 0]}",
        .section = &plane},
       {.name = "surface",
        .kind = Kind::text,
        .summary = "Cut by the triangles of an OBJ, PLY or STL file, found from the folder of the scene file.",
        .example = "\"knife.obj\""}},
      {{{{"plane"}, {"surface"}}, true}}};
  return section;
}

const Section& simulation_section() {
  static const Section section{
      "[simulation]",
      "in [simulation]",
      "How time runs, and what acts on everything.",
      {{.name = "dt", .summary = "The time step.", .unit = "s", .example = "0.01", .limits = kPositive},
       {.name = "fps",
        .summary = "Steps per second, in place of dt.",
        .unit = "1/s",
        .example = "60",
        .limits = kPositive},
       {.name = "duration", .summary = "How long to simulate.", .unit = "s", .example = "3.0", .limits = kPositive},
       {.name = "frames",
        .kind = Kind::integer,
        .summary = "How many frames to simulate, in place of duration; a frame is `output.every` steps.",
        .example = "180",
        .limits = kAtLeastOne},
       {.name = "gravity",
        .kind = Kind::vector,
        .summary = "Acceleration of every body.",
        .unit = "m/s^2",
        .fallback = "[0.0, -9.81, 0.0]"},
       {.name = "gravity_keyframes",
        .kind = Kind::tables,
        .summary = "Gravity over time, in place of `gravity`: a vessel that is tilted, shaken or launched.",
        .example = "[{time = 0, gravity = [0, -9.81, 0]}, {time = 1, gravity = [9.81, 0, 0]}]",
        .section = &gravity_keyframe_section()},
       {.name = "mass",
        .kind = Kind::choice,
        .summary = "Mass matrix: `lumped` is diagonal, `consistent` is the Galerkin one.",
        .fallback = "\"lumped\"",
        .choices = {"lumped", "consistent"}},
       {.name = "colliders",
        .kind = Kind::choice,
        .summary = "How colliders keep bodies out in scenes without [contact]: `barrier` lets nothing through, and "
                   "friction sticks; `penalty` is softer, node by node, as in some of the papers.",
        .fallback = "\"barrier\"",
        .choices = {"barrier", "penalty"}},
       {.name = "integrator",
        .kind = Kind::choice,
        .summary = "`implicit-euler` damps what is fast; `implicit-midpoint` does not, and some solvers have it; "
                   "`quasistatic` drops inertia: every step is an equilibrium.",
        .fallback = "\"implicit-euler\"",
        .choices = {"implicit-euler", "implicit-midpoint", "quasistatic"}}},
      {{{{"dt"}, {"fps"}}, true}, {{{"duration"}, {"frames"}}, true}}};
  return section;
}

const Section& solver_section() {
  static const Section section{
      "[solver]",
      "in [solver]",
      "The time stepper. Besides these keys it takes the parameters of the solver named: `pliant solvers` lists them.",
      {{.name = "name",
        .kind = Kind::choice,
        .summary = "Which one. What each can do, such as contact, links or cloth, is in [solvers.md](solvers.md); "
                   "`pliant check SCENE` lists those that could run a scene.",
        .fallback = "\"pod-newton\"",
        .choices = solver_names()},
       {.name = "on_failure",
        .kind = Kind::choice,
        .summary = "What to do when a step does not converge: stop the run, or continue from the last iterate.",
        .fallback = "\"stop\"",
        .choices = {"stop", "continue"}}},
      {},
      true};
  return section;
}

const Section& output_section() {
  static const Section section{
      "[output]",
      "in [output]",
      "What a run leaves behind.",
      {{.name = "every",
        .kind = Kind::integer,
        .summary = "Number of steps from one frame to the next.",
        .fallback = "1",
        .limits = kAtLeastOne},
       {.name = "fields",
        .kind = Kind::choices,
        .summary = "What a frame holds besides the deformed mesh.",
        .fallback = "[\"displacement\", \"velocity\", \"von-mises\", \"stretch\", \"body\"]",
        .choices = {"displacement", "velocity", "von-mises", "stretch", "body"}},
       {.name = "pictures",
        .kind = Kind::boolean,
        .summary = "Draw `picture.png` (the last frame) and `film.png` (six moments, where there are three) when the "
                   "run ends; `pliant "
                   "picture` draws them later, from any finished run.",
        .fallback = "true"},
       {.name = "export",
        .kind = Kind::choices,
        .summary = "Formats of other programs to write when the run ends, as `pliant export` does.",
        .fallback = "[]",
        .example = "[\"glb\"]",
        .choices = {"glb", "usda", "pc2", "mdd", "ply", "obj"}},
       {.name = "visual",
        .kind = Kind::boolean,
        .summary = "Whether these files have the `visual` meshes of bodies in place of their own surfaces.",
        .fallback = "false"},
       {.name = "export_every",
        .kind = Kind::integer,
        .summary = "Number of frames from one to the next in these files; by default all, of glb at most 120.",
        .example = "2",
        .limits = kAtLeastOne},
       {.name = "export_colour",
        .kind = Kind::choice,
        .summary = "What colours these files; by default a colour per body.",
        .example = "\"stretch\"",
        .choices = colours()},
       {.name = "checkpoint_every",
        .kind = Kind::integer,
        .summary = "Number of steps from one checkpoint to the next, the first before the first step; 0: only when the "
                   "run ends.",
        .fallback = "50",
        .limits = kNotNegative},
       {.name = "history",
        .kind = Kind::boolean,
        .summary = "Record every iteration of every step in `steps.jsonl`.",
        .fallback = "false"}}};
  return section;
}

const Section& picture_section() {
  static const Section section{
      "[picture]",
      "in [picture]",
      "How pictures and films of a run look; `pliant picture` has options of the same names.",
      {{.name = "from",
        .kind = Kind::vector,
        .summary = "Where the camera is; by default where it sees every body and collider in every frame.",
        .unit = "m",
        .example = "[3.0, 1.5, 4.0]"},
       {.name = "at",
        .kind = Kind::vector,
        .summary = "What the camera looks at; by default the middle of what it sees.",
        .unit = "m",
        .example = "[0.0, 0.5, 0.0]"},
       {.name = "fov",
        .summary = "Field of view, over the height of the picture.",
        .unit = "degrees",
        .fallback = "25.0",
        .limits = {.least = 1, .greatest = 150}},
       {.name = "colour",
        .kind = Kind::choice,
        .summary = "What colours show: a field of the frames, or a colour per body.",
        .fallback = "\"stretch\"",
        .choices = colours(),
        .aliases = {"color"}},
       {.name = "range",
        .kind = Kind::span,
        .summary =
            "Values of the field at the ends of the colour map; by default what occurs, without the largest hundredth "
            "where these few would take a quarter of the colours.",
        .example = "[1.0, 1.5]"},
       {.name = "size",
        .kind = Kind::pair_counts,
        .summary = "Width and height in pixels; by default 1280 and 720, or half of that in what a short run draws.",
        .example = "[1920, 1080]",
        .limits = {.least = 16, .greatest = 16384}},
       {.name = "background",
        .kind = Kind::vector,
        .summary = "Red, green and blue from 0 to 1; by default a light sky.",
        .example = "[1.0, 1.0, 1.0]",
        .limits = {.least = 0, .greatest = 1}},
       {.name = "legend", .kind = Kind::boolean, .summary = "Show what the colours mean.", .fallback = "true"},
       {.name = "stamp", .kind = Kind::boolean, .summary = "Show the time.", .fallback = "true"},
       {.name = "wireframe", .kind = Kind::boolean, .summary = "Show the edges of the mesh.", .fallback = "true"},
       {.name = "shadows", .kind = Kind::boolean, .summary = "Draw shadows.", .fallback = "true"}}};
  return section;
}

}  // namespace

const Section& scene_keys() {
  static const Section section{
      "Top level",
      "at the top level",
      "Before the first `[section]`.",
      {{.name = "version",
        .kind = Kind::integer,
        .summary = "Version of this format.",
        .fallback = "1",
        .limits = kAtLeastOne},
       {.name = "name",
        .kind = Kind::text,
        .summary = "Short name, used for the result folder; by default the file's name.",
        .example = "\"twisted-beam\""},
       {.name = "title", .kind = Kind::text, .summary = "One sentence on what the scene shows.", .fallback = "\"\""},
       {.name = "simulation",
        .kind = Kind::table,
        .summary = "Time and gravity.",
        .example = "[simulation]",
        .required = true,
        .section = &simulation_section()},
       {.name = "body", .kind = Kind::tables, .summary = "The bodies that deform.", .section = &body_section()},
       {.name = "rod",
        .kind = Kind::tables,
        .summary = "Thin rods, wires and ropes.",
        .section = &rod_section(body_rotate_section())},
       {.name = "rigid",
        .kind = Kind::tables,
        .summary = "Rigid bodies; of all kinds there is at least one.",
        .section = &rigid_section(body_rotate_section())},
       {.name = "joint", .kind = Kind::tables, .summary = "Joints of rigid bodies.", .section = &joint_section()},
       {.name = "pin", .kind = Kind::tables, .summary = "Held vertices.", .section = &pin_section()},
       {.name = "script", .kind = Kind::tables, .summary = "Moved vertices.", .section = &script_section()},
       {.name = "load", .kind = Kind::tables, .summary = "Forces and pressures.", .section = &load_section()},
       {.name = "probe", .kind = Kind::tables, .summary = "Numbers to record.", .section = &probe_section()},
       {.name = "collider",
        .kind = Kind::tables,
        .summary = "Rigid obstacles.",
        .section = &collider_section(script_rotate_section(), keyframe_section())},
       {.name = "contact",
        .kind = Kind::table,
        .summary = "Contact of surfaces; without it bodies pass through each other.",
        .section = &contact_section()},
       {.name = "muscle", .kind = Kind::tables, .summary = "Activations of fibres.", .section = &muscle_section()},
       {.name = "link", .kind = Kind::tables, .summary = "Rigid links.", .section = &link_section()},
       {.name = "attachment",
        .kind = Kind::tables,
        .summary = "What is fastened to other bodies and to links.",
        .section = &attachment_section()},
       {.name = "spring",
        .kind = Kind::tables,
        .summary = "Springs between bodies, and to the world.",
        .section = &spring_section()},
       {.name = "cut", .kind = Kind::tables, .summary = "Cuts of bodies.", .section = &cut_section()},
       {.name = "solver",
        .kind = Kind::table,
        .summary = "The time stepper.",
        .fallback = "{}",
        .section = &solver_section()},
       {.name = "output",
        .kind = Kind::table,
        .summary = "What to write.",
        .fallback = "{}",
        .section = &output_section()},
       {.name = "picture",
        .kind = Kind::table,
        .summary = "How pictures look.",
        .fallback = "{}",
        .section = &picture_section()}}};
  return section;
}

const Section& selection_keys() {
  static const Section box{"box",
                           "in 'box' of a selection",
                           "An axis-aligned box, borders included.",
                           {{.name = "min",
                             .kind = Kind::vector,
                             .summary = "Lowest corner.",
                             .unit = "m",
                             .example = "[0, 0, 0]",
                             .required = true},
                            {.name = "max",
                             .kind = Kind::vector,
                             .summary = "Highest corner.",
                             .unit = "m",
                             .example = "[1, 1, 1]",
                             .required = true}}};
  static const Section sphere{"sphere",
                              "in 'sphere' of a selection",
                              "A ball, border included.",
                              {{.name = "centre",
                                .kind = Kind::vector,
                                .summary = "Its centre.",
                                .unit = "m",
                                .example = "[0, 0, 0]",
                                .aliases = {"center"},
                                .required = true},
                               {.name = "radius",
                                .summary = "Its radius.",
                                .unit = "m",
                                .example = "0.5",
                                .limits = kPositive,
                                .required = true}}};
  static const Section plane{"plane",
                             "in 'plane' of a selection",
                             "The half space behind a plane, border included.",
                             {{.name = "point",
                               .kind = Kind::vector,
                               .summary = "A point on the plane.",
                               .unit = "m",
                               .example = "[0, 0, 0]",
                               .required = true},
                              {.name = "normal",
                               .kind = Kind::vector,
                               .summary = "Points away from what is selected.",
                               .example = "[1, 0, 0]",
                               .required = true}}};
  static const Section section{
      "Selections",
      "in a selection",
      "",
      {{.name = "box",
        .kind = Kind::table,
        .summary = "Vertices in an axis-aligned box.",
        .example = "{min = [0, 0, 0], max = [0.1, 1, 1]}",
        .section = &box},
       {.name = "sphere",
        .kind = Kind::table,
        .summary = "Vertices in a ball.",
        .example = "{centre = [0, 0, 0], radius = 0.5}",
        .section = &sphere},
       {.name = "plane",
        .kind = Kind::table,
        .summary = "Vertices behind a plane.",
        .example = "{point = [0, 0, 0], normal = [1, 0, 0]}",
        .section = &plane},
       {.name = "set", .kind = Kind::text, .summary = "Vertices of a named set of the mesh.", .example = "\"x-min\""},
       {.name = "vertices",
        .kind = Kind::indices,
        .summary = "Vertices by number, from 0, in the order of the mesh.",
        .example = "[0, 7, 12]",
        .limits = kNotNegative}},
      {{{{"box"}, {"sphere"}, {"plane"}, {"set"}, {"vertices"}}, true}}};
  return section;
}

}  // namespace pliant
