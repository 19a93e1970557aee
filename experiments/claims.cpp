#include "experiments/claims.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "experiments/full_cost.hpp"

namespace pliant::experiments {

/// The files of experiments/claims, one after another; null ends them. Written by cmake/EmbedTexts.cmake.
extern const char* const kEmbeddedClaims[];

namespace {

struct Register {
  std::vector<Claim> claims;
  std::vector<Planned> planned;
  std::map<std::string, FullCost> hours;
  std::map<std::string, std::size_t> number;
};

const Register& claim_register() {
  static const Register loaded = [] {
    Register all;
    for (const char* const* file = kEmbeddedClaims; *file != nullptr; ++file) {
      const Json data = Json::parse(*file);
      for (const auto& [name, summary] : data.at("planned").items()) all.planned.push_back({name, summary});
      if (data.contains("hours"))
        for (const auto& [name, cost] : data.at("hours").items()) all.hours[name] = {cost.at("hours"), cost.at("from")};
      for (const auto& [id, entry] : data.at("claims").items()) {
        if (!all.number.emplace(id, all.claims.size()).second)
          throw std::logic_error(fmt::format("claim '{}' is registered twice", id));
        all.claims.push_back({id, data.at("paper"), entry.at("statement"), entry.at("published"), entry.at("test"),
                              entry.at("full"), entry.at("quick"), entry.at("experiment")});
      }
    }
    return all;
  }();
  return loaded;
}

}  // namespace

const std::vector<Claim>& claims() { return claim_register().claims; }

const Claim& claim(const std::string& id) {
  const auto found = claim_register().number.find(id);
  if (found == claim_register().number.end())
    throw std::invalid_argument(fmt::format("there is no claim '{}' in experiments/claims", id));
  return claims()[found->second];
}

std::vector<const Claim*> claims_of(const std::string& experiment) {
  std::vector<const Claim*> own;
  for (const Claim& c : claims())
    if (c.experiment == experiment) own.push_back(&c);
  return own;
}

const FullCost* full_cost(const std::string& experiment) {
  const auto found = claim_register().hours.find(experiment);
  return found == claim_register().hours.end() ? nullptr : &found->second;
}

const std::vector<Planned>& planned_experiments() { return claim_register().planned; }

}  // namespace pliant::experiments
