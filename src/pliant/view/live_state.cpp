// Saved states: a magic word, a JSON header, a snapshot of each view (simulation/snapshot.hpp), and a checksum over all
// of it. The header has everything that was changed since the scene was opened, so that a state is restored by opening
// the scene and doing the same again; the fingerprints in the snapshots tell whether that has led to the same scene.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/bytes.hpp"
#include "pliant/view/live_scene.hpp"

namespace pliant::view {

namespace {

constexpr std::string_view kMagic = "PLIANT-VIEW-2\n";  // the digit is the format's version

struct Saved {
  Json header;
  std::vector<Snapshot> views;
};

/// Throws InputError when anything is missing or changed.
Saved decode(std::string_view bytes) {
  try {
    ByteReader in(unseal(kMagic, bytes, "saved state"));
    Saved saved{Json::parse(in.get_text(), nullptr, false), {}};
    if (!saved.header.is_object()) throw InputError("has no header");
    while (!in.empty()) saved.views.push_back(snapshot_from_bytes(in.get_text()));
    return saved;
  } catch (const InputError& error) {
    throw InputError(fmt::format("the saved state {}", error.what()));
  }
}

/// A number of the header that must lie where those of requests do.
double number_from(const Json& json, double least, double most) {
  const auto value = json.get<double>();
  if (!(value >= least && value <= most))
    throw InputError(fmt::format("the saved state has a number that is out of range: {} is not between {} and {}",
                                 value, least, most));
  return value;
}

Vec3 vector_from(const Json& json, double greatest) {
  return {number_from(json.at(0), -greatest, greatest), number_from(json.at(1), -greatest, greatest),
          number_from(json.at(2), -greatest, greatest)};
}

ParameterMap parameters_from(const Json& json) {
  ParameterMap map;
  for (const auto& [key, value] : json.items()) {
    if (value.is_boolean())
      map[key] = value.get<bool>();
    else if (value.is_number_integer())
      map[key] = value.get<std::int64_t>();
    else if (value.is_number())
      map[key] = value.get<double>();
    else
      map[key] = value.get<std::string>();
  }
  return map;
}

}  // namespace

std::string LiveScene::save() const {
  Json cuts = Json::array(), held = Json::array(), views = Json::array();
  for (const MadeCut& made : cuts_) {
    if (made.of_scene >= 0) {
      cuts.push_back({{"of_scene", made.of_scene}});
      continue;
    }
    const auto& plane = std::get<CutPlane>(made.cut.surface);
    Json entry = {{"body", made.cut.body}, {"point", to_json(plane.point)}, {"normal", to_json(plane.normal)}};
    if (std::isfinite(plane.radius)) entry["radius"] = plane.radius;
    cuts.push_back(std::move(entry));
  }
  for (const Hold& pin : pins()) {
    Json positions = Json::array();
    for (const Vec3& p : pin.positions) positions.push_back(to_json(p));
    held.push_back({{"body", pin.body}, {"vertices", pin.vertices}, {"positions", std::move(positions)}});
  }
  const Json settings = this->settings();
  for (std::size_t v = 0; v < views_.size(); ++v)
    views.push_back({{"solver", views_[v].solver().name}, {"parameters", settings["views"][v]["parameters"]}});
  const Json header = {{"path", path_},           {"name", opened_.name},
                       {"time_step", scene().dt}, {"gravity", to_json(scene().gravity)},
                       {"stiffness", stiffness_}, {"strength", strength_},
                       {"cuts", std::move(cuts)}, {"scheduled", next_scheduled_},
                       {"pins", std::move(held)}, {"views", std::move(views)}};
  ByteWriter out;
  out.put_text(header.dump());
  for (const View& view : views_) out.put_text(to_bytes(view.simulation.snapshot()));
  return seal(kMagic, out.bytes());
}

std::string LiveScene::path_of_saved(std::string_view bytes) {
  const Saved saved = decode(bytes);
  const auto path = saved.header.find("path");
  return path != saved.header.end() && path->is_string() ? path->get<std::string>() : "";
}

void LiveScene::restore(std::string_view bytes) {
  const Saved saved = decode(bytes);
  const Json& header = saved.header;
  try {
    if (header.at("name").get<std::string>() != opened_.name)
      throw InputError(fmt::format("the saved state belongs to the scene '{}', not to '{}'",
                                   header.at("name").get<std::string>(), opened_.name));
    const Json& views = header.at("views");
    if (views.empty() || views.size() > 2 || views.size() != saved.views.size())
      throw InputError("the saved state has no views");
    // A scene may have a longer or shorter step than a hand may ask for; a state has that one, or what was asked for.
    const double least = std::min(opened_.dt, limits::kLeastTimeStep);
    set_time_step(number_from(header.at("time_step"), least, std::max(opened_.dt, limits::kGreatestTimeStep)));
    set_gravity(
        vector_from(header.at("gravity"), std::max(opened_.gravity.cwiseAbs().maxCoeff(), limits::kGreatestGravity)));
    const Json& stiffness = header.at("stiffness");
    for (std::size_t b = 0; b < stiffness.size(); ++b)
      if (const double scale = number_from(stiffness[b], limits::kLeastStiffness, limits::kGreatestStiffness);
          scale != 1)
        set_stiffness(static_cast<int>(b), scale);
    strength_ = number_from(header.at("strength"), limits::kLeastStrength, limits::kGreatestStrength);
    for (const Json& entry : header.at("cuts")) {
      if (entry.contains("of_scene")) {
        const auto k = entry.at("of_scene").get<std::size_t>();
        if (k >= scheduled_.size()) throw InputError("the scene has fewer cuts than the saved state");
        make_cut(scheduled_[k], static_cast<int>(k));
        continue;
      }
      SceneCut cut;
      cut.name = fmt::format("by hand {}", cuts_.size() + 1);
      cut.body = entry.at("body").get<std::size_t>();
      if (cut.body >= opened_.bodies.size()) throw InputError("the scene has fewer bodies than the saved state");
      CutPlane plane{vector_from(entry.at("point"), limits::kFarthest), vector_from(entry.at("normal"), 1.01)};
      if (!(std::abs(plane.normal.norm() - 1) < 1e-6))
        throw InputError("the saved state has a cut without a direction");
      if (entry.contains("radius")) plane.radius = number_from(entry["radius"], 1e-9, limits::kGreatestRadius);
      cut.surface = plane;
      make_cut(cut, -1);
    }
    next_scheduled_ = std::min(header.at("scheduled").get<std::size_t>(), scheduled_.size());
    // After cuts, conjac names its nodes by number, as the saved parameters do.
    set_solver(0, views[0].at("solver").get<std::string>(), parameters_from(views[0].at("parameters")));
    set_compare(views.size() > 1, views.size() > 1 ? views[1].at("solver").get<std::string>() : "",
                views.size() > 1 ? std::optional(parameters_from(views[1].at("parameters"))) : std::nullopt);
    std::vector<Hold> pins;
    for (const Json& entry : header.at("pins")) {
      Hold pin{entry.at("body").get<std::size_t>(), entry.at("vertices").get<std::vector<Index>>(), {}};
      if (pin.body >= opened_.bodies.size()) throw InputError("the scene has fewer bodies than the saved state");
      for (const Json& p : entry.at("positions")) pin.positions.push_back(vector_from(p, limits::kFarthest));
      pins.push_back(std::move(pin));
    }
    if (!pins.empty()) change(scene(), std::move(pins));
    for (std::size_t v = 0; v < views_.size(); ++v) views_[v].simulation.restore(saved.views[v]);
  } catch (const nlohmann::json::exception&) {
    throw InputError("the saved state is incomplete");
  }
}

}  // namespace pliant::view
