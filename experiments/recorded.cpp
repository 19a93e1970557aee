#include "experiments/recorded.hpp"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "pliant/base/atomic_file.hpp"

namespace pliant::experiments {

/// The files of experiments/results, one after another; null ends them. Written by cmake/EmbedTexts.cmake.
extern const char* const kEmbeddedResults[];

namespace {

constexpr std::size_t kLongestList = 24;

/// Numbers to six digits, lists that are curves left out.
Json shortened(const Json& value) {
  if (value.is_number_float() && std::isfinite(value.get<double>()))
    return std::strtod(fmt::format("{:.6g}", value.get<double>()).c_str(), nullptr);
  if (!value.is_structured()) return value;
  Json out = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, entry] : value.items()) {
    if (entry.is_array() && entry.size() > kLongestList && key != "parts") continue;
    if (value.is_array())
      out.push_back(shortened(entry));
    else
      out[key] = shortened(entry);
  }
  return out;
}

bool is_stopped(const Json& result) { return !result.value("unfinished", "").empty(); }

/// What a run left undecided takes the verdict of another run that has decided it, with that one's commit, and with its
/// options and machine where they are others.
void keep_decided(Json& run, const Json& before) {
  const auto is_undecided = [](const Json& c) { return c.value("verdict", "") == "undecided"; };
  for (Json& now : run["claims"])
    for (const Json& then : before.at("claims")) {
      if (then.at("id") != now.at("id") || is_undecided(then) || !is_undecided(now)) continue;
      now = then;
      now["commit"] = then.value("commit", before.at("commit").get<std::string>());
      for (const char* key : {"options", "machine"})
        if (const Json own = then.value(key, before.at(key)); own != run.at(key)) now[key] = own;
    }
}

}  // namespace

const std::vector<Json>& recorded_results() {
  static const std::vector<Json> all = [] {
    std::vector<Json> parsed;
    for (const char* const* file = kEmbeddedResults; *file != nullptr; ++file) parsed.push_back(Json::parse(*file));
    return parsed;
  }();
  return all;
}

Json recorded_form(const Json& result) {
  Json out = Json::object();
  for (const char* key : {"experiment", "size", "options", "version", "commit", "machine", "unfinished"})
    out[key] = result.at(key);
  if (out["options"].contains("meshes"))
    out["options"]["meshes"] = std::filesystem::path(out["options"]["meshes"].get<std::string>()).filename().string();
  for (const char* key : {"seconds", "processor_seconds"})
    if (result.contains(key)) out[key] = shortened(result.at(key));
  out["claims"] = Json::array();
  for (const Json& claim : result.at("claims")) out["claims"].push_back(shortened(claim));
  out["checks"] = Json::array();
  for (const Json& check : result.at("checks")) out["checks"].push_back(shortened(check));
  return out;
}

int record(const Archive& archive, const std::filesystem::path& folder) {
  const Archive before(folder);
  int written = 0;
  for (const Experiment& experiment : catalogue())
    for (const bool quick : {false, true}) {
      const Json* result = archive.result(experiment.name, quick);
      if (result == nullptr || !archive.is_own(*result)) continue;
      const Json* there = before.result(experiment.name, quick);
      Json kept = recorded_form(*result);
      if (there != nullptr && is_stopped(*result)) {
        Json now = std::move(kept);
        kept = is_stopped(*there) ? now : *there;
        keep_decided(kept, is_stopped(*there) ? *there : now);
        if (kept == *there) continue;
      } else if (there != nullptr) {
        keep_decided(kept, *there);
      }
      const std::filesystem::path place = result_folder(folder, experiment.name, quick);
      std::filesystem::create_directories(place);
      write_atomically(place / "results.json", kept.dump(1) + "\n");
      ++written;
    }
  return written;
}

}  // namespace pliant::experiments
