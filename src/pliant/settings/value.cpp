#include "pliant/settings/value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

Value convert(const toml::node& node, const std::string& file, const std::string& fixed_origin) {
  const auto origin_of = [&](const toml::source_region& source) {
    return fixed_origin.empty() ? fmt::format("{}:{}", file, source.begin.line) : fixed_origin;
  };
  Value value;
  value.origin = origin_of(node.source());
  switch (node.type()) {
    case toml::node_type::boolean:
      value.data = node.as_boolean()->get();
      break;
    case toml::node_type::integer:
      value.data = node.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      value.data = node.as_floating_point()->get();
      break;
    case toml::node_type::string:
      value.data = node.as_string()->get();
      break;
    case toml::node_type::array: {
      Value::List list;
      for (const toml::node& item : *node.as_array()) list.push_back(convert(item, file, fixed_origin));
      value.data = std::move(list);
      break;
    }
    case toml::node_type::table: {
      Value::Table table;
      std::vector<std::pair<toml::source_position, Value::Entry>> entries;
      for (const auto& [key, item] : *node.as_table())
        entries.push_back(
            {key.source().begin, {std::string(key.str()), origin_of(key.source()), convert(item, file, fixed_origin)}});
      std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (auto& [position, entry] : entries) table.push_back(std::move(entry));
      value.data = std::move(table);
      break;
    }
    default:
      throw InputError(
          fmt::format("{}: dates and times have no meaning in a scene; times are numbers in seconds", value.origin));
  }
  return value;
}

/// What a person may type after --set without quotes: a word such as a solver's name, a path, or a selection like x <
/// 0.1.
bool is_bare_word(std::string_view text) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("-_./<>= +").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !text.empty() &&
         (std::isalpha(static_cast<unsigned char>(text.front())) || text.front() == '/' || text.front() == '.') &&
         std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

double Value::number() const {
  if (const auto* integer = std::get_if<std::int64_t>(&data)) return static_cast<double>(*integer);
  return std::get<double>(data);
}

const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : table())
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Value* Value::find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

const Value& Value::at(std::string_view key) const {
  const Value* value = find(key);
  if (!value) throw std::logic_error(fmt::format("the key table has no default for '{}'", key));
  return *value;
}

void Value::erase(std::string_view key) {
  std::erase_if(table(), [&](const Entry& entry) { return entry.key == key; });
}

Value parse_toml(std::string_view text, const std::string& name) {
  try {
    const toml::table table = toml::parse(text, name);
    Value value = convert(table, name, {});
    value.origin = name;
    return value;
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}: not valid TOML: {}", name, error.source().begin.line, error.description()));
  }
}

Value read_toml(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError(fmt::format("{}: is a folder; name a scene file (.toml)", path.string()));
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw InputError(fmt::format("{}: cannot open this scene file; check the path and its permissions", path.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return parse_toml(text.str(), path.string());
}

Value parse_toml_value(std::string_view text, const std::string& origin) {
  try {
    const toml::table table = toml::parse(fmt::format("value = {}\n", text));
    if (table.size() == 1) return convert(*table.get("value"), {}, origin);
  } catch (const toml::parse_error&) {
    if (is_bare_word(text)) return {std::string(text), origin};
  }
  throw InputError(
      fmt::format("{}: '{}' is not a TOML value; write a number, true or false, \"text\", [a, b, c] or {{key = value}}",
                  origin, text));
}

std::string to_toml(const Value& value) {
  struct Writer {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
    std::string operator()(double d) const { return fmt::format("{}", d); }
    std::string operator()(const std::string& s) const {
      std::string escaped;
      for (char c : s) {
        if (c == '"' || c == '\\') escaped += '\\';
        escaped += c == '\n' ? ' ' : c;
      }
      return '"' + escaped + '"';
    }
    std::string operator()(const Value::List& list) const {
      std::string text;
      for (const Value& item : list) text += (text.empty() ? "" : ", ") + to_toml(item);
      return "[" + text + "]";
    }
    std::string operator()(const Value::Table& table) const {
      std::string text;
      for (const Value::Entry& entry : table)
        text += (text.empty() ? "" : ", ") + entry.key + " = " + to_toml(entry.value);
      return "{" + text + "}";
    }
  };
  return std::visit(Writer{}, value.data);
}

std::string_view type_name(const Value& value) {
  static constexpr std::string_view names[] = {"true or false", "a whole number", "a number",
                                               "text",          "a list",         "a table"};
  return names[value.data.index()];
}

}  // namespace pliant
