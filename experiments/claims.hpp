#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pliant::experiments {

using Json = nlohmann::ordered_json;

/// A checkable statement of a paper, written down before it is measured: experiments/claims/PAPER.json, which is
/// compiled into the program. Code decides claims by id alone, so that their text, published values and tests cannot
/// drift from what is measured.
struct Claim {
  std::string id;          ///< PAPER/FIGURE/SLUG
  std::string paper;       ///< the first part of the id
  std::string statement;   ///< what the paper says
  Json published;          ///< its figures; null where it prints none
  std::string test;        ///< what must be measured for the claim to hold
  std::string full;        ///< size of the run that counts
  std::string quick;       ///< size of the run that shows that the experiment works; "none" where there is none
  std::string experiment;  ///< which one decides it
};

/// Every claim, by paper in the order of the files.
const std::vector<Claim>& claims();
/// Throws std::invalid_argument for an id that is not in the register.
const Claim& claim(const std::string& id);
std::vector<const Claim*> claims_of(const std::string& experiment);

/// An experiment that claims wait for.
struct Planned {
  std::string name;
  std::string summary;
};
const std::vector<Planned>& planned_experiments();

}  // namespace pliant::experiments
