#pragma once

#include <limits>
#include <string>
#include <vector>

#include "pliant/settings/value.hpp"

namespace pliant {

/// Everything a user can set is described once, by a `Setting`: the keys of a scene file (the table in scene/keys.cpp)
/// and the parameters of a solver (bound to the members of its options, bound_settings.hpp) alike. Checking what was
/// given, filling in defaults, the error messages, `pliant check`, `pliant solvers` and the reference in docs/ all read
/// these descriptions, so that none of them can drift from the others.

struct Section;

/// What a setting takes.
enum class Kind {
  boolean,
  integer,
  number,
  text,
  choice,       ///< one of Setting::choices
  choices,      ///< a list of them
  vector,       ///< three numbers
  factor,       ///< a number or three of them
  counts,       ///< three whole numbers
  pair,         ///< two numbers
  pair_counts,  ///< two whole numbers
  span,         ///< two increasing numbers
  indices,      ///< a list of whole numbers
  numbers,      ///< a list of numbers
  points,       ///< a list of three numbers each
  pairs,        ///< a list of two numbers each, the first increasing
  selection,    ///< text, a table of `section`, or a list of those
  table,
  tables,        ///< [[...]]
  named_tables,  ///< [a.NAME], any names
};

struct Limits {
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
  bool least_included = true;
  bool greatest_included = true;
};
inline constexpr Limits kPositive{.least = 0, .least_included = false};
inline constexpr Limits kNotNegative{.least = 0};
inline constexpr Limits kAtLeastOne{.least = 1};
/// The upper limit of counts that are kept as an int: far beyond use, without overflow.
inline constexpr double kLargestCount = 1e9;

struct Setting {
  std::string name;
  Kind kind = Kind::number;
  std::string summary;  ///< one sentence for people
  std::string unit = {};
  std::string fallback = {};  ///< in TOML's notation; empty: none
  std::string example = {};   ///< in TOML's notation: shown as the remedy
  Limits limits = {};
  std::vector<std::string> choices = {};
  std::vector<std::string> aliases = {};
  std::string hint = {};  ///< said when a value is outside the limits
  bool required = false;
  const Section* section = nullptr;  ///< of tables and selections
};

/// Groups of settings of which one group at most (or exactly one) is given.
struct Alternatives {
  std::vector<std::vector<std::string>> groups;
  bool required = false;
};

struct Section {
  std::string label;  ///< as in the file: "[[body]]"
  std::string place;  ///< for messages: "in [[body]]"
  std::string summary;
  std::vector<Setting> keys;
  std::vector<Alternatives> alternatives = {};
  bool open = false;  ///< takes other keys too (a solver's parameters)

  const Setting* find(std::string_view name) const;  ///< by name or alias
};

/// Checks a table against its section: renames aliases, rejects unknown keys (naming the nearest), wrong types, values
/// out of range, missing keys and clashing alternatives, and fills in the defaults. Throws InputError that begins with
/// the origin of the value at fault, where it has one.
void check_table(Value& table, const Section& section);

/// "a number above 0, in Pa".
std::string describe_type(const Setting& setting);

}  // namespace pliant
