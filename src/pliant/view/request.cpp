#include "pliant/view/request.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"

namespace pliant::view {

namespace {

using Parsed = nlohmann::json;

constexpr int kMostHands = 10;
using limits::kFarthest;

/// The fields of one message, each asked for by name and with its limits.
class Fields {
 public:
  explicit Fields(const Parsed& json) : json_(json) {}

  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }

  double number(const char* key, double least, double greatest, const char* unit = "") const {
    const Parsed& value = need(key);
    if (!value.is_number()) fail(key, "must be a number");
    return in_range(key, value.get<double>(), least, greatest, unit);
  }
  std::optional<double> optional_number(const char* key, double least, double greatest, const char* unit) const {
    if (!has(key)) return std::nullopt;
    return number(key, least, greatest, unit);
  }
  std::int64_t integer(const char* key, std::int64_t least, std::int64_t greatest) const {
    const Parsed& value = need(key);
    const bool whole = value.is_number_integer() ||
                       (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()));
    if (!whole) fail(key, "must be a whole number");
    return static_cast<std::int64_t>(
        in_range(key, value.get<double>(), static_cast<double>(least), static_cast<double>(greatest), ""));
  }
  int integer_or(const char* key, int fallback, int least, int greatest) const {
    return has(key) ? static_cast<int>(integer(key, least, greatest)) : fallback;
  }
  bool boolean(const char* key) const {
    const Parsed& value = need(key);
    if (!value.is_boolean()) fail(key, "must be true or false");
    return value.get<bool>();
  }
  std::string text(const char* key) const {
    const Parsed& value = need(key);
    if (!value.is_string()) fail(key, "must be text");
    return value.get<std::string>();
  }
  std::string text_or(const char* key, const char* fallback) const { return has(key) ? text(key) : fallback; }
  Vec3 vector(const char* key, double greatest) const { return vector(need(key), key, greatest); }
  Vec3 direction(const char* key) const { return direction(need(key), key); }

  Pointed pointed() const {
    if (has("ray")) {
      const Parsed& ray = json_.at("ray");
      if (!ray.is_object() || !ray.contains("eye") || !ray.contains("direction"))
        fail("ray", "must have 'eye' and 'direction'");
      return Ray{vector(ray.at("eye"), "eye", kFarthest), direction(ray.at("direction"), "direction")};
    }
    SurfacePoint point;
    point.triangle = static_cast<Index>(integer("triangle", 0, std::numeric_limits<Index>::max()));
    const Vec3 weights = vector("weights", 2);
    if (weights.minCoeff() < -1e-3 || std::abs(weights.sum() - 1) > 1e-3)
      fail("weights", "must not be negative, and must add up to 1");
    const Vec3 kept = weights.cwiseMax(0) / weights.cwiseMax(0).sum();
    point.weights = {kept[0], kept[1], kept[2]};
    return point;
  }

  std::optional<ParameterMap> parameters() const {
    if (!has("parameters")) return std::nullopt;
    const Parsed& object = json_.at("parameters");
    if (!object.is_object()) fail("parameters", "must be an object");
    ParameterMap map;
    for (const auto& [key, value] : object.items()) {
      if (value.is_boolean())
        map[key] = value.get<bool>();
      else if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1} << 62U)
        map[key] = value.get<double>();
      else if (value.is_number_integer())
        map[key] = value.get<std::int64_t>();
      else if (value.is_number())
        map[key] = value.get<double>();
      else if (value.is_string())
        map[key] = value.get<std::string>();
      else
        fail("parameters", "must be numbers, texts, true or false");
    }
    return map;
  }

 private:
  [[noreturn]] static void fail(const char* key, const std::string& what) {
    throw InputError(fmt::format("'{}' {}", key, what));
  }
  const Parsed& need(const char* key) const {
    if (!has(key)) fail(key, "is missing");
    return json_.at(key);
  }
  static double in_range(const char* key, double value, double least, double greatest, const char* unit) {
    if (!(value >= least && value <= greatest))
      fail(key, fmt::format("is {:.6g} but must lie in [{:.6g}, {:.6g}]{}{}", value, least, greatest, *unit ? " " : "",
                            unit));
    return value;
  }
  static Vec3 vector(const Parsed& value, const char* key, double greatest) {
    Vec3 v;
    if (!value.is_array() || value.size() != 3) fail(key, "must be a list of three numbers");
    for (std::size_t i = 0; i < 3; ++i) {
      if (!value[i].is_number()) fail(key, "must be a list of three numbers");
      v[static_cast<Eigen::Index>(i)] = in_range(key, value[i].get<double>(), -greatest, greatest, "");
    }
    return v;
  }
  static Vec3 direction(const Parsed& value, const char* key) {
    const Vec3 v = vector(value, key, kFarthest);
    if (!(v.norm() > 1e-12)) fail(key, "must not be zero");
    return v.normalized();
  }

  const Parsed& json_;
};

using What = decltype(Request::what);
using Parser = std::function<What(const Fields&)>;

constexpr double kMostRadius = limits::kGreatestRadius;

int view_of(const Fields& f) { return f.integer_or("view", 0, 0, 1); }
int hand_of(const Fields& f) { return static_cast<int>(f.integer("hand", 0, kMostHands - 1)); }

const std::map<std::string, Parser, std::less<>>& parsers() {
  static const std::map<std::string, Parser, std::less<>> table = {
      {"seen",
       [](const Fields& f) { return ask::Seen{static_cast<std::uint32_t>(f.integer("frame", 0, 0xFFFFFFFF))}; }},
      {"ping", [](const Fields&) { return ask::Ping{}; }},
      {"scenes", [](const Fields&) { return ask::Scenes{}; }},
      {"open",
       [](const Fields& f) {
         return ask::Open{f.has("scene") ? std::optional(f.text("scene")) : std::nullopt, f.text_or("solver", "")};
       }},
      {"play", [](const Fields&) { return ask::Play{}; }},
      {"pause", [](const Fields&) { return ask::Pause{}; }},
      {"reset", [](const Fields&) { return ask::Reset{}; }},
      {"step", [](const Fields& f) { return ask::Step{f.integer_or("count", 1, 1, 1000)}; }},
      {"speed",
       [](const Fields& f) {
         const double value = f.number("value", 0, 100);
         return ask::Speed{value == 0 ? 0 : f.number("value", 0.001, 100)};
       }},
      {"time_step",
       [](const Fields& f) {
         return ask::TimeStep{f.number("seconds", limits::kLeastTimeStep, limits::kGreatestTimeStep, "s")};
       }},
      {"gravity", [](const Fields& f) { return ask::Gravity{f.vector("value", limits::kGreatestGravity)}; }},
      {"stiffness",
       [](const Fields& f) {
         return ask::Stiffness{static_cast<int>(f.integer("body", 0, 1'000'000)),
                               f.number("scale", limits::kLeastStiffness, limits::kGreatestStiffness)};
       }},
      {"solver",
       [](const Fields& f) {
         return ask::Solver{view_of(f), f.text("name"), f.parameters()};
       }},
      {"compare",
       [](const Fields& f) {
         return ask::Compare{f.boolean("on"), f.text_or("name", ""), f.parameters()};
       }},
      {"colour",
       [](const Fields& f) {
         if (!f.has("by")) return ask::ColourBy{Colour::none};
         const std::string name = f.text("by");
         const std::optional<Colour> colour = colour_by_name(name);
         if (!colour) throw InputError(fmt::format("nothing can be coloured by '{}'", name));
         return ask::ColourBy{*colour};
       }},
      {"strength",
       [](const Fields& f) {
         return ask::Strength{f.number("value", limits::kLeastStrength, limits::kGreatestStrength)};
       }},
      {"grab",
       [](const Fields& f) {
         return ask::Grab{hand_of(f), view_of(f), f.pointed(),
                          f.has("target") ? std::optional(f.vector("target", kFarthest)) : std::nullopt};
       }},
      {"move",
       [](const Fields& f) {
         return ask::Move{hand_of(f), f.vector("target", kFarthest)};
       }},
      {"release", [](const Fields& f) { return ask::Release{hand_of(f)}; }},
      {"pin",
       [](const Fields& f) {
         return ask::Pin{view_of(f), f.pointed(), f.optional_number("radius", 0, kMostRadius, "m")};
       }},
      {"unpin",
       [](const Fields& f) {
         return ask::Unpin{view_of(f), f.pointed(), f.optional_number("radius", 0, kMostRadius, "m")};
       }},
      {"unpin_all", [](const Fields&) { return ask::UnpinAll{}; }},
      {"cut",
       [](const Fields& f) {
         const std::string space = f.text_or("space", "rest");
         if (space != "rest" && space != "now") throw InputError("'space' must be \"rest\" or \"now\"");
         return ask::Cut{f.vector("point", kFarthest),
                         f.direction("normal"),
                         space == "now",
                         view_of(f),
                         f.has("body") ? std::optional(f.integer_or("body", 0, 0, 1'000'000)) : std::nullopt,
                         f.optional_number("radius", 1e-9, kMostRadius, "m")};
       }},
      {"save_state", [](const Fields&) { return ask::SaveState{}; }},
      {"seek", [](const Fields& f) { return ask::Seek{f.integer("frame", 0, 1'000'000'000)}; }},
  };
  return table;
}

}  // namespace

Request parse_text(std::string_view text) {
  // Deeply nested text would overflow the parser's recursion nowhere (it has a stack of its own), but nothing here is
  // deeper than this.
  constexpr int kDeepest = 8;
  const Parsed json = Parsed::parse(
      text, [](int depth, Parsed::parse_event_t, Parsed&) { return depth <= kDeepest; }, false);
  if (json.is_discarded() || !json.is_object()) throw BadRequest("", "the message is not a JSON object");
  const auto type = json.find("type");
  if (type == json.end() || !type->is_string()) throw BadRequest("", "the message has no 'type'");
  Request request;
  request.bytes = text.size();
  request.type = type->get<std::string>();
  const auto parser = parsers().find(request.type);
  if (parser == parsers().end()) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : parsers()) names.push_back(name);
    const std::string close = nearest(request.type.substr(0, 64), names);
    throw BadRequest(request.type.substr(0, 64),
                     fmt::format("there is no message '{}'{}", request.type.substr(0, 64),
                                 close.empty() ? "" : fmt::format("; did you mean '{}'?", close)));
  }
  try {
    const Fields fields(json);
    if (fields.has("stamp")) request.stamp = static_cast<std::uint32_t>(fields.integer("stamp", 0, 0xFFFFFFFF));
    request.what = parser->second(fields);
  } catch (const InputError& error) {
    throw BadRequest(request.type, fmt::format("{}: {}", request.type, error.what()));
  } catch (const Parsed::exception&) {
    throw BadRequest(request.type, fmt::format("{}: a field has a value of the wrong kind", request.type));
  }
  return request;
}

Request parse_binary(std::string bytes) {
  if (bytes.size() < 4 || static_cast<MessageKind>(bytes[0]) != MessageKind::state)
    throw BadRequest("load", "this is not a saved state");
  Request request;
  request.type = "load";
  request.bytes = bytes.size();
  request.what = ask::LoadState{std::move(bytes)};
  return request;
}

}  // namespace pliant::view
