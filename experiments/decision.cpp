#include "experiments/decision.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace pliant::experiments {

namespace {

/// JSON has no number for what is not finite.
Json number_or_word(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "not a number" : value > 0 ? "infinite" : "minus infinite";
}

/// The same for every number inside.
Json readable(Json value) {
  if (value.is_number_float()) return number_or_word(value.get<double>());
  if (value.is_structured())
    for (Json& entry : value) entry = readable(entry);
  return value;
}

std::string shown(double value) {
  if (std::isfinite(value)) return fmt::format("{:.4g}", value);
  return number_or_word(value).get<std::string>();
}

void add_once(std::vector<std::string>& list, const std::string& what) {
  if (std::find(list.begin(), list.end(), what) == list.end()) list.push_back(what);
}

/// The first few, and how many more.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 3;
  const std::string first =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(std::min(kNamed, names.size())), "; "));
  return names.size() > kNamed ? fmt::format("{} and {} more", first, names.size() - kNamed) : first;
}

}  // namespace

const char* to_string(Verdict verdict) {
  return verdict == Verdict::holds ? "holds" : verdict == Verdict::fails ? "fails" : "undecided";
}

Decision::Decision(const std::string& id) : id_(claim(id).id) {}

Decision& Decision::needs(bool happened, const std::string& what) {
  if (!happened) add_once(missing_, what);
  return *this;
}

Decision& Decision::awaits(bool is_there, const std::string& what) {
  if (!is_there) add_once(awaited_, what);
  return *this;
}

Decision& Decision::compare(const std::string& what, double value, const char* relation, double bound, bool met) {
  const bool finite = std::isfinite(value) && std::isfinite(bound);
  parts_.push_back({what, value, fmt::format("{} {}", relation, shown(bound)), finite, finite && met});
  return *this;
}

Decision& Decision::at_most(const std::string& what, double value, double bound) {
  return compare(what, value, "at most", bound, value <= bound);
}
Decision& Decision::below(const std::string& what, double value, double bound) {
  return compare(what, value, "below", bound, value < bound);
}
Decision& Decision::at_least(const std::string& what, double value, double bound) {
  return compare(what, value, "at least", bound, value >= bound);
}
Decision& Decision::above(const std::string& what, double value, double bound) {
  return compare(what, value, "above", bound, value > bound);
}
Decision& Decision::equal(const std::string& what, double value, double expected) {
  return compare(what, value, "exactly", expected, value == expected);
}

Decision& Decision::between(const std::string& what, double value, double low, double high) {
  const bool finite = std::isfinite(value) && std::isfinite(low) && std::isfinite(high);
  parts_.push_back({what, value, fmt::format("from {} to {}", shown(low), shown(high)), finite,
                    finite && low <= value && value <= high});
  return *this;
}

Decision& Decision::part(const std::string& what, double value, const std::string& asked, bool met) {
  const bool finite = std::isfinite(value);
  parts_.push_back({what, value, asked, finite, finite && met});
  return *this;
}

Decision& Decision::note(const std::string& what, Json value) {
  notes_[what] = readable(std::move(value));
  return *this;
}

Decision& Decision::because(const std::string& reason) {
  reason_ += (reason_.empty() ? "" : "; ") + reason;
  return *this;
}

Verdict Decision::verdict() const {
  if (!missing_.empty() || parts_.empty()) return Verdict::undecided;
  for (const Part& p : parts_)
    if (!p.finite) return Verdict::undecided;
  for (const Part& p : parts_)
    if (!p.met) return Verdict::fails;
  return awaited_.empty() ? Verdict::holds : Verdict::undecided;
}

std::string Decision::why() const {
  std::vector<std::string> reasons;
  for (const std::string& what : missing_) reasons.push_back(fmt::format("did not happen: {}", what));
  if (missing_.empty() && awaited_.empty() && parts_.empty()) reasons.push_back("nothing was compared");
  for (const Part& p : parts_) {
    if (!p.finite)
      reasons.push_back(
          fmt::format("{} is {}, so that it cannot be compared ({} was asked)", p.what, shown(p.value), p.asked));
    else if (!p.met)
      reasons.push_back(fmt::format("{} is {:.4g}, {} was asked", p.what, p.value, p.asked));
  }
  if (!reason_.empty()) reasons.push_back(reason_);
  if (!awaited_.empty())
    reasons.push_back(
        fmt::format("{}: {}", verdict() == Verdict::fails ? "not run, as this decides" : "not run", listed(awaited_)));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

Json Decision::json() const {
  Json measured = Json::object(), parts = Json::array();
  for (const Part& p : parts_) {
    measured[p.what] = number_or_word(p.value);
    parts.push_back({{"what", p.what}, {"value", number_or_word(p.value)}, {"asked", p.asked}, {"met", p.met}});
  }
  for (const auto& [what, value] : notes_.items()) measured[what] = value;
  return {{"id", id_}, {"verdict", to_string(verdict())}, {"measured", measured}, {"why", why()}, {"parts", parts}};
}

}  // namespace pliant::experiments
