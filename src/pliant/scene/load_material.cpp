#include <fmt/format.h>

#include "pliant/materials/valanis_landel.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/scene/load_support.hpp"

namespace pliant {

namespace {

std::filesystem::path relative_to(const std::filesystem::path& folder, const std::string& file) {
  const std::filesystem::path path(file);
  return path.is_absolute() ? path : folder / path;
}

Curve to_curve(const Value& curves, const std::string& name) {
  if (const Value* points = curves.find(name)) {
    std::vector<Curve::Point> list;
    for (const Value& point : points->list()) list.push_back({point.list()[0].number(), point.list()[1].number()});
    return at_origin(points->origin, [&] { return Curve::spline(std::move(list)); });
  }
  if (const Value* polynomial = curves.find(name + "_polynomial")) {
    std::vector<double> coefficients;
    for (const Value& c : polynomial->list()) coefficients.push_back(c.number());
    return Curve::polynomial(std::move(coefficients));
  }
  return {};
}

/// The law with its constants, and the stiffness of the body.
void read_law(const Value& table, SceneBody& body) {
  const Value& material = table.at("material");
  body.material = material.text();
  std::map<std::string, double> constants;
  if (const Value* share = table.find("c01_share")) constants["c01_share"] = share->number();
  if (const Value* c10 = table.find("c10")) {
    const double first = c10->number(), second = table.at("c01").number(), mu = 2 * (first + second);
    if (!(mu > 0)) fail(c10->origin, "'c10' and 'c01' must not both be zero");
    if (body.material != "mooney-rivlin")
      fail(c10->origin, fmt::format("'c10' and 'c01' are constants of mooney-rivlin, not of {}; add: material = "
                                    "\"mooney-rivlin\"",
                                    body.material));
    constants["c01_share"] = second / (first + second);
    body.lame = {mu, table.at("bulk").number() - 2 * mu / 3};
  } else if (table.find("young") || table.find("mu")) {
    body.lame = to_lame(table);
  }
  const Value* curves = table.find("curves");
  if (curves && body.material != "valanis-landel")
    fail(curves->origin,
         fmt::format("'curves' belong to the material valanis-landel, not to {}; add: material = \"valanis-landel\"",
                     body.material));
  if (body.material != "valanis-landel") {
    body.law = at_origin(material.origin, [&] { return find_law(body.material, constants); });
    return;
  }
  if (!curves)
    fail(material.origin,
         "the material valanis-landel needs 'curves'; for example: curves = {a = [[0.5, -2e5], [1, 0], [1.5, 1.5e5]]}");
  body.lame = {1, 0};
  body.law = at_origin(curves->origin, [&] {
    ValanisLandelCurves all;
    all.a = to_curve(*curves, "a");
    all.b = to_curve(*curves, "b");
    all.c = to_curve(*curves, "c");
    return valanis_landel_law(std::move(all));
  });
}

SceneFibres to_fibres(const Value& table, const std::filesystem::path& folder) {
  SceneFibres fibres;
  fibres.origin = table.origin;
  fibres.law = at_origin(table.at("law").origin, [&] { return find_fibre_law(table.at("law").text()); });
  const FibreLawInfo& info = fibres.law->info();
  fibres.parameters = {table.at("stiffness").number(), info.shape_fallback, table.at("active_stress").number()};
  if (const Value* shape = table.find("shape")) {
    if (info.shape.empty()) fail(shape->origin, fmt::format("the fibre law {} has no 'shape'; remove it", info.name));
    fibres.parameters.shape = shape->number();
  }
  if (info.contracts && fibres.parameters.active_stress > 0)
    fail(table.at("active_stress").origin,
         fmt::format("the fibre law {} contracts by its own 'stiffness'; remove 'active_stress'", info.name));
  if (const Value* direction = table.find("direction")) {
    fibres.field = FibreField{.direction = to_direction(*direction, "direction")};
  } else if (const Value* field = table.find("field")) {
    const std::string& name = field->text();
    fibres.field.emplace();
    if (name == "vertical") fibres.field->direction = Vec3::UnitY();
    if (name == "diagonal") fibres.field->direction = Vec3(1, 1, 0).normalized();
    if (name == "helical")
      *fibres.field = {FibreField::Kind::helical, to_direction(table.at("axis"), "axis"), to_vector(table.at("centre")),
                       table.at("pitch").number() * kDegree};
  } else if (const Value* element_field = table.find("element_field")) {
    fibres.element_field = element_field->text();
  } else {
    fibres.file = relative_to(folder, table.at("file").text());
  }
  if (const Value* muscle = table.find("muscle")) fibres.muscle = muscle->text();
  return fibres;
}

/// Its law is that of ShellEnergy.
void read_shell(const Value& table, const Value& shell, SceneBody& body) {
  for (const char* key : {"springs", "c10", "curves", "young_field", "poisson_field", "fibres", "regions", "visual"})
    if (const Value* given = table.find(key))
      fail(given->origin, fmt::format("'{}' does not go with 'shell'; remove one of them", key));
  for (const char* key : {"material", "order"})
    if (const Value& given = table.at(key); given.given != Given::as_default)
      fail(given.origin,
           fmt::format("'{}' is for solids; a shell has a law of its own (docs/shells.md); remove it", key));
  if (!table.find("young") && !table.find("mu"))
    fail(table.origin, "a shell needs 'young' and 'poisson' or 'mu' and 'lambda'; for example: young = 1e6");
  const Lame lame = to_lame(table);
  const double sum = lame.lambda + lame.mu;
  body.shell =
      ShellMaterial{lame.mu * (3 * lame.lambda + 2 * lame.mu) / sum, lame.lambda / (2 * sum),
                    shell.at("thickness").number(), shell.at("bending").number(), shell.at("strain_limit").number()};
}

}  // namespace

Vec3 to_vector(const Value& value) {
  return {value.list()[0].number(), value.list()[1].number(), value.list()[2].number()};
}

Vec3 to_direction(const Value& value, const std::string& key) {
  const Vec3 v = to_vector(value);
  if (!(v.norm() > 0))
    fail(value.origin, fmt::format("'{}' must not be zero: it is a direction; for example: {} = [1, 0, 0]", key, key));
  return v.normalized();
}

Lame to_lame(const Value& table) {
  if (const Value* young = table.find("young"))
    return at_origin(young->origin, [&] { return lame_from_young(young->number(), table.at("poisson").number()); });
  const Lame lame{table.at("mu").number(), table.at("lambda").number()};
  if (!(3 * lame.lambda + 2 * lame.mu > 0))
    fail(table.at("lambda").origin,
         fmt::format("'lambda' must be above -2/3 mu = {}, or the material would expand under pressure",
                     -2 * lame.mu / 3));
  return lame;
}

void read_material(const Value& table, const std::filesystem::path& folder, SceneBody& body) {
  if (const Value* damping = table.find("damping"))
    body.damping = {damping->at("mass").number(), damping->at("stiffness").number()};
  const Value* shell = table.find("shell");
  if (shell) return read_shell(table, *shell, body);
  if (body.mesh.surface || (!body.mesh.file.empty() && is_surface_file(body.mesh.file)))
    fail(
        table.at("mesh").origin,
        fmt::format("'{}' is a surface; make it a shell with shell = {{thickness = 0.001}}, or a solid by `pliant mesh "
                    "tetrahedralise`",
                    table.at("mesh").text()));
  if (const Value* springs = table.find("springs"))
    body.springs = SpringStiffness{springs->at("structural").number(), springs->at("shear").number(),
                                   springs->at("bending").number()};
  else if (table.find("cloth"))
    body.springs.emplace();
  if (body.springs) {
    for (const char* key : {"young", "mu", "c10", "curves", "young_field", "fibres", "regions"})
      if (const Value* given = table.find(key))
        fail(given->origin,
             fmt::format("'{}' is for solids, but this body is made of springs; remove one of them", key));
    return;
  }

  read_law(table, body);
  const Value *young = table.find("young_field"), *poisson = table.find("poisson_field");
  if (young) body.young_field = young->text();
  if (poisson) body.poisson_field = poisson->text();
  if (young || poisson) {
    const Value* both = young && poisson ? young : nullptr;
    if (!both && !table.find("young"))
      fail((young ? young : poisson)->origin,
           fmt::format("'{}' needs 'young' and 'poisson' too: what is not from the mesh file must be given",
                       young ? "young_field" : "poisson_field"));
  } else if (body.lame.mu == 0) {
    fail(table.origin, "[[body]] needs 'young' and 'poisson' or 'mu' and 'lambda'; for example: young = 4e5");
  }
  if (const Value* list = table.find("fibres"))
    for (const Value& fibres : list->list()) body.fibres.push_back(to_fibres(fibres, folder));
}

SceneMuscle to_muscle(const Value& table, const std::string& name) {
  SceneMuscle result{{name, {}}, table.origin};
  if (const Value* activation = table.find("activation"))
    for (const Value& key : activation->list()) {
      const double value = key.list()[1].number();
      if (!(value >= 0 && value <= 1))
        fail(key.origin, fmt::format("'activation' in [[muscle]] lies between 0 and 1, but is {}", value));
      result.muscle.activation.keys.push_back({key.list()[0].number(), value});
    }
  return result;
}

}  // namespace pliant
