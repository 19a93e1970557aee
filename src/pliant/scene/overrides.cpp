#include "pliant/scene/overrides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/scene/keys.hpp"

namespace pliant {

namespace {

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts(1);
  for (char c : path) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// The table of a list that a step of the path means: by number, or by its name key.
Value& pick(Value& list, const std::string& step, const std::string& origin, const std::string& key) {
  if (list.is_table()) list = Value{Value::List{list}, list.origin};  // [body] for a single [[body]]
  if (!list.is_list() || list.list().empty())
    throw InputError(fmt::format("{}: the scene has no [[{}]] to change", origin, key));
  Value::List& items = list.list();
  if (!step.empty() && std::all_of(step.begin(), step.end(), [](unsigned char c) { return std::isdigit(c); })) {
    const std::size_t index = step.size() < 10 ? std::stoul(step) : items.size();
    if (index >= items.size())
      throw InputError(fmt::format("{}: there is no [[{}]] number {}; they are numbered 0 to {}", origin, key, step,
                                   items.size() - 1));
    return items[index];
  }
  std::vector<std::string> names;
  for (Value& item : items) {
    const Value* name = item.is_table() ? item.find("name") : nullptr;
    if (!name || !name->is_text()) continue;
    if (name->text() == step) return item;
    names.push_back(name->text());
  }
  const std::string near = nearest(step, names);
  throw InputError(fmt::format("{}: no [[{}]] has the name '{}'; {}", origin, key, step,
                               near.empty() ? fmt::format("use its number, 0 to {}", items.size() - 1)
                                            : fmt::format("did you mean '{}'?", near)));
}

/// Whether a list of tables, or the one in place of it, has one of this name.
bool has_name(const Value& list, const std::string& name) {
  const auto matches = [&](const Value& item) {
    const Value* found = item.is_table() ? item.find("name") : nullptr;
    return found && found->is_text() && found->text() == name;
  };
  return list.is_list() ? std::any_of(list.list().begin(), list.list().end(), matches) : matches(list);
}

/// Removes what excludes the key now set, and the key's other names.
void remove_rivals(Value& table, const Section& section, const Setting& key) {
  table.erase(key.name);
  for (const std::string& alias : key.aliases) table.erase(alias);
  for (const Alternatives& alternatives : section.alternatives) {
    const auto in = [&](const std::vector<std::string>& group) {
      return std::find(group.begin(), group.end(), key.name) != group.end();
    };
    if (std::none_of(alternatives.groups.begin(), alternatives.groups.end(), in)) continue;
    for (const auto& group : alternatives.groups) {
      if (in(group)) continue;
      for (const std::string& rival : group) {
        table.erase(rival);
        for (const std::string& alias : section.find(rival)->aliases) table.erase(alias);
      }
    }
  }
}

void apply(Value& scene, const std::string& change) {
  const std::size_t equals = change.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(fmt::format("--set {}: write key=value, for example --set body.0.young=1e6", change));
  const std::string path = change.substr(0, equals);
  const std::string origin = "--set " + path;
  Value value = parse_toml_value(std::string_view(change).substr(equals + 1), origin);
  value.given = Given::as_change;

  const std::vector<std::string> steps = split_path(path);
  Value* table = &scene;
  const Section* section = &scene_keys();
  std::string last = steps.back();
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const Setting* key = section ? section->find(steps[i]) : nullptr;
    if (key) {
      section = key->section;
    } else if (section) {
      last = steps[i];  // left for the check of the whole, which names the nearest key
      break;
    }
    Value* next = table->find(steps[i]);
    if (!next) {
      table->table().push_back({steps[i], origin, Value{Value::Table{}, origin}});
      next = &table->table().back().value;
    }
    if (key && key->kind == Kind::tables) {
      const bool only = next->is_table() || (next->is_list() && next->list().size() == 1);
      const bool is_name = i + 2 < steps.size() && has_name(*next, steps[i + 1]) && section->find(steps[i + 2]);
      if (only && section->find(steps[i + 1]) && !is_name) {
        next = &pick(*next, "0", origin, steps[i]);  // body.young where there is one body
      } else {
        if (i + 2 >= steps.size()) {
          std::vector<std::string> names;
          for (const Setting& known : section->keys) names.push_back(known.name);
          const std::string near = section->find(steps[i + 1]) ? steps[i + 1] : nearest(steps[i + 1], names);
          throw InputError(near.empty() ? fmt::format("{}: say which one and which key, for example --set {}.0.KEY=...",
                                                      origin, steps[i])
                                        : fmt::format("{}: did you mean '{}.0.{}'?", origin, steps[i], near));
        }
        next = &pick(*next, steps[i + 1], origin, steps[i]);
        ++i;
      }
    } else if (key && key->kind == Kind::named_tables) {
      if (i + 2 >= steps.size() || !next->is_table())
        throw InputError(fmt::format("{}: write {}.NAME.KEY=...", origin, steps[i]));
      const std::string& name = steps[++i];
      if (!next->find(name)) next->table().push_back({name, origin, Value{Value::Table{}, origin}});
      next = next->find(name);
    }
    if (!next->is_table())
      throw InputError(fmt::format("{}: '{}' is {}, not a table", origin, steps[i], type_name(*next)));
    table = next;
  }
  const Setting* key = section ? section->find(last) : nullptr;
  if (key) remove_rivals(*table, *section, *key);
  table->erase(last);
  table->table().push_back({last, origin, std::move(value)});
}

}  // namespace

void apply_overrides(Value& scene, const std::vector<std::string>& overrides) {
  for (const std::string& change : overrides) apply(scene, change);
}

}  // namespace pliant
