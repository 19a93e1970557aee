#pragma once

#include <string>
#include <vector>

#include "experiments/claims.hpp"

namespace pliant::experiments {

enum class Verdict { holds, fails, undecided };
const char* to_string(Verdict verdict);

/// What a run makes of a claim. It is undecided to begin with and stays so unless numbers are put beside bounds:
/// nothing holds because nothing ran. Each part of a claim's test is one call:
///
///     Decision decision("pitfalls/fig-1/newton-mesh-independent");
///     for (const Run& run : runs) decision.needs(run.completed, run.label + " completes");
///     decision.at_most("spread", spread, 0.15);
///     context.decide(decision);
///
/// The claim holds when every part does, and fails when one does not; it is undecided when something the test needs did
/// not happen, when a number on either side of a comparison is not finite, or when there was no comparison at all.
/// Runs that are still to come keep a claim from holding, not from failing: one counterexample decides.
class Decision {
 public:
  /// Throws std::invalid_argument for an id that is not in the register.
  explicit Decision(const std::string& id);

  /// What the test presupposes: "newton completes", "the body touches the floor".
  Decision& needs(bool happened, const std::string& what);
  /// What the test compares and may not have been run yet: without it the claim cannot hold.
  Decision& awaits(bool is_there, const std::string& what);

  Decision& at_most(const std::string& what, double value, double bound);
  Decision& below(const std::string& what, double value, double bound);
  Decision& at_least(const std::string& what, double value, double bound);
  Decision& above(const std::string& what, double value, double bound);
  Decision& between(const std::string& what, double value, double low, double high);
  Decision& equal(const std::string& what, double value, double expected);
  /// A part that is not one number beside a bound; `value` is the number it comes from.
  Decision& part(const std::string& what, double value, const std::string& asked, bool met);

  /// A number reported beside the test.
  Decision& note(const std::string& what, Json value);
  /// Why it came out so, found by measurement: goes after what the parts say.
  Decision& because(const std::string& reason);
  /// Leaves it undecided, whatever else is known.
  Decision& leave_undecided(const std::string& reason) { return needs(false, reason); }

  const std::string& id() const { return id_; }
  Verdict verdict() const;
  /// Whether more runs could change the verdict.
  bool is_open() const { return verdict() == Verdict::undecided && !awaited_.empty(); }
  std::string why() const;
  /// {id, verdict, measured, why, parts}, as in results.json.
  Json json() const;

 private:
  struct Part {
    std::string what;
    double value;
    std::string asked;
    bool finite, met;
  };
  Decision& compare(const std::string& what, double value, const char* relation, double bound, bool met);

  std::string id_, reason_;
  std::vector<std::string> missing_, awaited_;
  std::vector<Part> parts_;
  Json notes_ = Json::object();
};

}  // namespace pliant::experiments
