// Saved states: a magic word, a JSON header with its length, the positions and velocities of each view as the machine
// has them, and a checksum over all of it. The header has everything that was changed since the scene was opened, so
// that a state is restored by opening the scene and doing the same again.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "pliant/base/error.hpp"
#include "pliant/simulation/fingerprint.hpp"
#include "pliant/view/live_scene.hpp"

namespace pliant::view {

namespace {

constexpr std::string_view kMagic = "PLIANT-VIEW-1\n";

std::uint64_t checksum(std::string_view bytes) {
  Hash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.value();
}

struct Saved {
  Json header;
  std::string_view arrays;
};

/// Throws InputError when anything is missing or changed.
Saved decode(std::string_view bytes) {
  const InputError damaged("the saved state is damaged or cut short");
  if (bytes.substr(0, kMagic.size()) != kMagic)
    throw InputError("this is not a saved state of this version of the viewer");
  constexpr std::size_t kNumber = sizeof(std::uint64_t);
  if (bytes.size() < kMagic.size() + 2 * kNumber) throw damaged;
  std::uint64_t sum = 0, length = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - kNumber, kNumber);
  bytes.remove_suffix(kNumber);
  if (sum != checksum(bytes)) throw damaged;
  std::memcpy(&length, bytes.data() + kMagic.size(), kNumber);
  bytes.remove_prefix(kMagic.size() + kNumber);
  if (length > bytes.size()) throw damaged;
  Saved saved{Json::parse(bytes.substr(0, length), nullptr, false), bytes.substr(length)};
  if (!saved.header.is_object()) throw damaged;
  return saved;
}

Vec3 vector_from(const Json& json) {
  return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>()};
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
  Json cuts = Json::array(), pins = Json::array(), views = Json::array();
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
  for (const HandPin& pin : pins_) {
    Json positions = Json::array();
    for (const Vec3& p : pin.positions) positions.push_back(to_json(p));
    pins.push_back({{"body", pin.body}, {"vertices", pin.vertices}, {"positions", std::move(positions)}});
  }
  const Json settings = this->settings();
  for (std::size_t v = 0; v < views_.size(); ++v)
    views.push_back({{"solver", views_[v].solver.name},
                     {"parameters", settings["views"][v]["parameters"]},
                     {"time", views_[v].state.time},
                     {"step", views_[v].state.step},
                     {"activation", views_[v].state.activation}});
  const Json header = {{"path", path_},
                       {"name", opened_.name},
                       {"nodes", model_->nodes()},
                       {"time_step", scene_.dt},
                       {"gravity", to_json(scene_.gravity)},
                       {"stiffness", stiffness_},
                       {"strength", strength_},
                       {"cuts", std::move(cuts)},
                       {"pins", std::move(pins)},
                       {"views", std::move(views)}};
  const std::string text = header.dump();
  std::string bytes(kMagic);
  const auto put = [&](const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); };
  const std::uint64_t length = text.size();
  put(&length, sizeof length);
  bytes += text;
  for (const View& view : views_)
    for (const VecX* x : {&view.state.x, &view.state.v}) put(x->data(), at(x->size()) * sizeof(double));
  const std::uint64_t sum = checksum(bytes);
  put(&sum, sizeof sum);
  return bytes;
}

std::string LiveScene::path_of_saved(std::string_view bytes) {
  const Saved saved = decode(bytes);
  return saved.header.value("path", "");
}

void LiveScene::restore(std::string_view bytes) {
  const Saved saved = decode(bytes);
  const Json& header = saved.header;
  try {
    if (header.at("name").get<std::string>() != opened_.name)
      throw InputError(fmt::format("the saved state belongs to the scene '{}', not to '{}'",
                                   header.at("name").get<std::string>(), opened_.name));
    scene_.dt = header.at("time_step").get<double>();
    if (!(scene_.dt > 0)) throw InputError("the saved state has no time step");
    set_gravity(vector_from(header.at("gravity")));
    const Json& stiffness = header.at("stiffness");
    for (std::size_t b = 0; b < stiffness.size(); ++b)
      if (stiffness[b].get<double>() != 1) set_stiffness(static_cast<int>(b), stiffness[b].get<double>());
    strength_ = header.at("strength").get<double>();
    const Json& views = header.at("views");
    if (views.empty() || views.size() > 2) throw InputError("the saved state has no views");
    for (const Json& entry : header.at("cuts")) {
      if (entry.contains("of_scene")) {
        const auto k = entry.at("of_scene").get<std::size_t>();
        if (k >= opened_.cuts.size()) throw InputError("the scene has fewer cuts than the saved state");
        make_cut(opened_.cuts[k], static_cast<int>(k));
        due_ = k + 1;
        continue;
      }
      SceneCut cut;
      cut.name = fmt::format("by hand {}", cuts_.size() + 1);
      cut.body = entry.at("body").get<std::size_t>();
      if (cut.body >= scene_.bodies.size()) throw InputError("the scene has fewer bodies than the saved state");
      cut.surface = CutPlane{vector_from(entry.at("point")), vector_from(entry.at("normal")),
                             entry.value("radius", std::numeric_limits<double>::infinity())};
      make_cut(cut, -1);
    }
    // After cuts, conjac names its nodes by number, as the saved parameters do.
    set_solver(0, views[0].at("solver").get<std::string>(), parameters_from(views[0].at("parameters")));
    set_compare(views.size() > 1, views.size() > 1 ? views[1].at("solver").get<std::string>() : "",
                views.size() > 1 ? std::optional(parameters_from(views[1].at("parameters"))) : std::nullopt);
    std::vector<HandPin> pins;
    for (const Json& entry : header.at("pins")) {
      HandPin pin{entry.at("body").get<std::size_t>(), entry.at("vertices").get<std::vector<Index>>(), {}};
      if (pin.body >= scene_.bodies.size()) throw InputError("the scene has fewer bodies than the saved state");
      for (const Json& p : entry.at("positions")) pin.positions.push_back(vector_from(p));
      pins.push_back(std::move(pin));
    }
    if (!pins.empty()) {
      change(scene_, std::move(pins));
      for (std::size_t k = 0; k < pins_.size(); ++k)
        if (pins_[k].positions.size() != model_->scripts()[scene_.scripts.size() + k].nodes.size())
          throw InputError("the saved state has pins of another mesh");
    }
    const auto size = model_->rest().size();
    if (header.at("nodes").get<Index>() != model_->nodes() ||
        saved.arrays.size() != views.size() * 2 * at(size) * sizeof(double))
      throw InputError(fmt::format("the saved state has {} nodes, the scene has {}; the scene has changed since",
                                   header.at("nodes").get<Index>(), model_->nodes()));
    const char* from = saved.arrays.data();
    for (std::size_t v = 0; v < views_.size(); ++v) {
      State& state = views_[v].state;
      for (VecX* x : {&state.x, &state.v}) {
        std::memcpy(x->data(), from, at(size) * sizeof(double));
        from += at(size) * sizeof(double);
      }
      state.time = views[v].at("time").get<double>();
      state.step = views[v].at("step").get<std::int64_t>();
      const auto activation = views[v].at("activation").get<std::vector<double>>();
      if (activation.size() == state.activation.size()) state.activation = activation;
    }
  } catch (const nlohmann::json::exception&) {
    throw InputError("the saved state lacks something that belongs to it");
  }
}

}  // namespace pliant::view
