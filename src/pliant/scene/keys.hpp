#pragma once

#include <limits>
#include <string>
#include <vector>

#include "pliant/scene/value.hpp"

namespace pliant {

/// The scene file is described once, by the table in keys.cpp: what keys there are, what they take, their units,
/// defaults, limits and a sentence on each. Checking a file, filling in defaults, the error messages, `pliant check`
/// and docs/scene.md all read that table, so that none of them can drift from the others.

struct Section;

/// What a key takes.
enum class Kind {
  boolean,
  integer,
  number,
  text,
  choice,       ///< one of Key::choices
  choices,      ///< a list of them
  vector,       ///< three numbers
  factor,       ///< a number or three of them
  counts,       ///< three whole numbers
  pair,         ///< two numbers
  pair_counts,  ///< two whole numbers
  span,         ///< two increasing numbers
  indices,      ///< a list of whole numbers
  numbers,      ///< a list of numbers
  pairs,        ///< a list of two numbers each, the first increasing
  selection,    ///< text, a table, or a list of those: see selection.hpp
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

struct Key {
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
  const Section* section = nullptr;  ///< of tables
};

/// Groups of keys of which one group at most (or exactly one) is given.
struct Alternatives {
  std::vector<std::vector<std::string>> groups;
  bool required = false;
};

struct Section {
  std::string label;  ///< as in the file: "[[body]]"
  std::string place;  ///< for messages: "in [[body]]"
  std::string summary;
  std::vector<Key> keys;
  std::vector<Alternatives> alternatives = {};
  bool open = false;  ///< takes other keys too (a solver's parameters)

  const Key* find(std::string_view name) const;  ///< by name or alias
};

/// The top level; other sections hang from its keys.
const Section& scene_keys();
/// The tables a selection may be.
const Section& selection_keys();

/// Checks a table against its section: renames aliases, rejects unknown keys (naming the nearest), wrong types, values
/// out of range, missing keys and clashing alternatives, and fills in the defaults. Throws InputError with the value's
/// origin.
void check_table(Value& table, const Section& section);

/// "a number above 0, in Pa".
std::string describe_type(const Key& key);

}  // namespace pliant
