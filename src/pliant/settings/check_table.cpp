#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/base/complaints.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/settings/setting.hpp"

namespace pliant {

namespace {

[[noreturn]] void fail(const std::string& origin, const std::string& message) {
  throw InputError(origin.empty() ? message : origin + ": " + message);
}

std::string quoted(const Setting& key, const Section& section) {
  return fmt::format("'{}' {}", key.name, section.place);
}

std::string remedy(const Setting& key) {
  const std::string& value = key.example.empty() ? key.fallback : key.example;
  if (value.empty()) return {};
  return value.front() == '[' && value.find('=') == std::string::npos && value.find(',') == std::string::npos
             ? fmt::format("; for example: {}", value)
             : fmt::format("; for example: {} = {}", key.name, value);
}

/// Choices beyond these are counted, where a person need not read them all.
constexpr std::size_t kMostListed = 16;

/// A value as it was given, as long as a person cares to read it.
std::string brief(const Value& value) { return InputError::shortened(to_toml(value), 120); }

[[noreturn]] void fail_type(const Value& value, const Setting& key, const Section& section) {
  fail(value.origin,
       fmt::format("{} must be {}, but is {}{}", quoted(key, section), describe_type(key), brief(value), remedy(key)));
}

void check_number(const Value& value, const Setting& key, const Section& section) {
  const double number = value.number();
  const Limits& limits = key.limits;
  if (!std::isfinite(number)) fail_type(value, key, section);
  const bool below = limits.least_included ? number < limits.least : number <= limits.least;
  const bool above = limits.greatest_included ? number > limits.greatest : number >= limits.greatest;
  if (below || above)
    fail(value.origin, fmt::format("{} must be {}, but is {}{}", quoted(key, section), describe_type(key), brief(value),
                                   key.hint.empty() ? remedy(key) : "; " + key.hint));
}

/// Whole numbers are kept in 32 bits.
void check_size(const Value& value, const Setting& key, const Section& section) {
  constexpr std::int64_t kLargest = 2'000'000'000;
  if (std::abs(value.number()) > static_cast<double>(kLargest))
    fail(value.origin, fmt::format("{} must not exceed {}, but is {}", quoted(key, section), kLargest, to_toml(value)));
}

void check_choice(const Value& value, const Setting& key, const Section& section) {
  if (!value.is_text()) fail_type(value, key, section);
  if (std::find(key.choices.begin(), key.choices.end(), value.text()) != key.choices.end()) return;
  const std::string near = nearest(value.text(), key.choices);
  const bool all = near.empty() || key.choices.size() <= kMostListed;
  fail(value.origin, fmt::format("{} must be {}, but is \"{}\"{}", quoted(key, section),
                                 all ? fmt::format("one of {}", fmt::join(key.choices, ", ")) : describe_type(key),
                                 InputError::shortened(value.text(), 120),
                                 near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

void check_list(const Value& value, const Setting& key, const Section& section, std::size_t size, bool whole) {
  if (!value.is_list() || (size != 0 && value.list().size() != size)) fail_type(value, key, section);
  for (const Value& item : value.list()) {
    if (whole ? !item.is_integer() : !item.is_number()) fail_type(value, key, section);
    check_number(item, key, section);
    if (whole) check_size(item, key, section);
  }
}

void check_pairs(const Value& value, const Setting& key, const Section& section) {
  if (!value.is_list() || value.list().empty()) fail_type(value, key, section);
  double last = -std::numeric_limits<double>::infinity();
  for (const Value& item : value.list()) {
    check_list(item, key, section, 2, false);
    if (!(item.list()[0].number() > last)) fail_type(value, key, section);
    last = item.list()[0].number();
  }
}

void check_selection(Value& value, const Setting& key, const Section& section) {
  if (value.is_list()) {
    if (value.list().empty()) fail_type(value, key, section);
    for (Value& item : value.list()) {
      if (item.is_list()) fail_type(value, key, section);
      check_selection(item, key, section);
    }
  } else if (value.is_table()) {
    check_table(value, *key.section);
  } else if (!value.is_text()) {
    fail_type(value, key, section);
  }
}

template <class Items, class Check>
void check_each(Items& items, Check&& check) {
  Complaints wrong;
  for (auto& item : items) wrong.gather([&] { check(item); });
  wrong.report();
}

void check_value(Value& value, const Setting& key, const Section& section) {
  switch (key.kind) {
    case Kind::boolean:
      if (!std::holds_alternative<bool>(value.data)) fail_type(value, key, section);
      break;
    case Kind::integer:
      if (!value.is_integer()) fail_type(value, key, section);
      check_number(value, key, section);
      check_size(value, key, section);
      break;
    case Kind::number:
      if (!value.is_number()) fail_type(value, key, section);
      check_number(value, key, section);
      break;
    case Kind::text:
      if (!value.is_text()) fail_type(value, key, section);
      break;
    case Kind::choice:
      check_choice(value, key, section);
      break;
    case Kind::choices:
      if (!value.is_list()) fail_type(value, key, section);
      for (const Value& item : value.list()) check_choice(item, key, section);
      break;
    case Kind::vector:
      check_list(value, key, section, 3, false);
      break;
    case Kind::factor:
      if (value.is_number())
        check_number(value, key, section);
      else
        check_list(value, key, section, 3, false);
      break;
    case Kind::counts:
      check_list(value, key, section, 3, true);
      break;
    case Kind::span:
      check_list(value, key, section, 2, false);
      if (!(value.list()[0].number() < value.list()[1].number())) fail_type(value, key, section);
      break;
    case Kind::indices:
      check_list(value, key, section, 0, true);
      break;
    case Kind::pair:
      check_list(value, key, section, 2, false);
      break;
    case Kind::pair_counts:
      check_list(value, key, section, 2, true);
      break;
    case Kind::numbers:
      check_list(value, key, section, 0, false);
      break;
    case Kind::points:
      if (!value.is_list() || value.list().empty()) fail_type(value, key, section);
      for (const Value& item : value.list()) check_list(item, key, section, 3, false);
      break;
    case Kind::pairs:
      check_pairs(value, key, section);
      break;
    case Kind::selection:
      check_selection(value, key, section);
      break;
    case Kind::table:
      if (!value.is_table()) fail_type(value, key, section);
      check_table(value, *key.section);
      break;
    case Kind::tables:
      if (value.is_table()) value = Value{Value::List{value}, value.origin};  // [body] for a single [[body]]
      if (!value.is_list()) fail_type(value, key, section);
      check_each(value.list(), [&](Value& item) {
        if (!item.is_table()) fail_type(value, key, section);
        check_table(item, *key.section);
      });
      break;
    case Kind::named_tables:
      if (!value.is_table()) fail_type(value, key, section);
      check_each(value.table(), [&](Value::Entry& entry) {
        if (!entry.value.is_table()) fail_type(value, key, section);
        check_table(entry.value, *key.section);
      });
      break;
  }
}

std::string join_group(const std::vector<std::string>& group) {
  return fmt::format("'{}'", fmt::join(group, "' and '"));
}

std::string join_groups(const Alternatives& alternatives) {
  std::string text;
  for (const auto& group : alternatives.groups) text += (text.empty() ? "" : " or ") + join_group(group);
  return text;
}

void check_alternatives(const Value& table, const Section& section, const Alternatives& alternatives) {
  const std::vector<std::string>* given = nullptr;
  std::string first;
  for (const auto& group : alternatives.groups) {
    std::string present, missing;
    for (const std::string& name : group) (table.find(name) ? present : missing) = name;
    if (present.empty()) continue;
    if (given)
      fail(table.find(present)->origin, fmt::format("'{}' and '{}' {} exclude each other; give {}", first, present,
                                                    section.place, join_groups(alternatives)));
    if (!missing.empty())
      fail(table.find(present)->origin,
           fmt::format("'{}' {} also needs '{}'{}", present, section.place, missing, remedy(*section.find(missing))));
    given = &group;
    first = present;
  }
  if (!given && alternatives.required) {
    const Setting& example = *section.find(alternatives.groups.front().front());
    fail(table.origin, fmt::format("{} needs {}{}", section.label, join_groups(alternatives), remedy(example)));
  }
}

void rename_aliases(Value& table, const Section& section) {
  for (Value::Entry& entry : table.table()) {
    const Setting* key = section.find(entry.key);
    if (!key || key->name == entry.key) continue;
    if (table.find(key->name))
      fail(entry.origin, fmt::format("'{}' {} is another name for '{}', which is given too; remove one", entry.key,
                                     section.place, key->name));
    entry.key = key->name;
  }
}

void check_entry(Value::Entry& entry, const Section& section) {
  const Setting* key = section.find(entry.key);
  if (!key) {
    if (section.open) return;
    std::vector<std::string> names;
    for (const Setting& known : section.keys) {
      names.push_back(known.name);
      names.insert(names.end(), known.aliases.begin(), known.aliases.end());
    }
    const std::string near = nearest(entry.key, names);
    fail(entry.origin, fmt::format("unknown key '{}' {}; {}", entry.key, section.place,
                                   near.empty() ? fmt::format("choose one of {}", fmt::join(names, ", "))
                                                : fmt::format("did you mean '{}'?", near)));
  }
  check_value(entry.value, *key, section);
}

}  // namespace

std::string describe_type(const Setting& key) {
  static const std::string nouns[] = {"true or false",
                                      "a whole number",
                                      "a number",
                                      "text in quotes",
                                      "one of ",
                                      "a list of ",
                                      "three numbers [x, y, z]",
                                      "a number or three [x, y, z]",
                                      "three whole numbers [nx, ny, nz]",
                                      "two numbers [a, b]",
                                      "two whole numbers [na, nb]",
                                      "two increasing numbers [begin, end]",
                                      "a list of whole numbers",
                                      "a list of numbers",
                                      "a list of points [x, y, z]",
                                      "a list of pairs of numbers, the first increasing",
                                      "a selection",
                                      "a table",
                                      "a list of tables",
                                      "a table of tables"};
  std::string text = nouns[static_cast<std::size_t>(key.kind)];
  if (key.choices.size() > kMostListed)
    text += fmt::format("{} names", key.choices.size());
  else if (!key.choices.empty())
    text += fmt::format("{}", fmt::join(key.choices, ", "));
  const Limits& limits = key.limits;
  const bool several = key.kind == Kind::vector || key.kind == Kind::factor || key.kind == Kind::counts ||
                       key.kind == Kind::span || key.kind == Kind::indices || key.kind == Kind::pair ||
                       key.kind == Kind::pair_counts;
  const std::string link = several ? ", each " : " ";
  if (std::isfinite(limits.least) && std::isfinite(limits.greatest) && limits.least_included)
    text += fmt::format("{}from {} to {}", link, limits.least, limits.greatest);
  else if (std::isfinite(limits.least) && std::isfinite(limits.greatest))
    text += fmt::format("{}above {} and below {}", link, limits.least, limits.greatest);
  else if (std::isfinite(limits.least))
    text += fmt::format("{}{} {}", link, limits.least_included ? "of at least" : "above", limits.least);
  else if (std::isfinite(limits.greatest))
    text += fmt::format("{}{} {}", link, limits.greatest_included ? "of at most" : "below", limits.greatest);
  return key.unit.empty() ? text : text + " (" + key.unit + ")";
}

const Setting* Section::find(std::string_view name) const {
  for (const Setting& key : keys)
    if (key.name == name || std::find(key.aliases.begin(), key.aliases.end(), name) != key.aliases.end()) return &key;
  return nullptr;
}

void check_table(Value& table, const Section& section) {
  Complaints wrong;
  wrong.gather([&] { rename_aliases(table, section); });
  for (Value::Entry& entry : table.table()) wrong.gather([&] { check_entry(entry, section); });
  for (const Alternatives& alternatives : section.alternatives)
    wrong.gather([&] { check_alternatives(table, section, alternatives); });
  for (const Setting& key : section.keys) {
    if (table.find(key.name)) continue;
    if (key.required)
      wrong.gather([&] {
        fail(table.origin, fmt::format("the key '{}' is missing {}{}", key.name, section.place, remedy(key)));
      });
    if (key.fallback.empty()) continue;
    const std::string origin = fmt::format("default of '{}' {}", key.name, section.place);
    Value fallback = parse_toml_value(key.fallback, origin);
    fallback.given = Given::as_default;
    if (key.kind == Kind::table) check_table(fallback, *key.section);
    table.table().push_back({key.name, origin, std::move(fallback)});
  }
  wrong.report();
}

}  // namespace pliant
