#include "pliant/settings/value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>

#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"

namespace pliant {

namespace {

// Far beyond what a scene needs, and far below what costs time, memory or stack to read.
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;  ///< of a file; lists of vertices may be long
constexpr std::size_t kMostText = 20'000;                   ///< characters of a text
constexpr std::size_t kMostKey = 200;                       ///< characters of a key
constexpr int kMostDots = 16;                               ///< in a dotted key
constexpr int kMostBrackets = 32;                           ///< open at the same time

/// Refuses what is nested so deeply that the parser, which calls itself, would run out of stack: brackets within
/// brackets, and keys of many parts, which it does not bound itself. Everything else is left to the parser.
void check_nesting(std::string_view text, const std::string& name) {
  std::int64_t line = 1;
  int brackets = 0, dots = 0;
  const auto refuse = [&](std::string_view what, int most) {
    throw InputError(fmt::format("{}:{}: {} more than {} deep; no scene needs that", name, line, what, most));
  };
  const auto refuse_length = [&] {
    throw InputError(fmt::format("{}:{}: a text or word of more than {} characters", name, line, kMostText));
  };
  const auto skip_text = [&](std::size_t begin) {  // returns where the text that begins with a quote ends
    const char quote = text[begin];
    const std::string_view three = text.substr(begin, 3);
    const bool is_long = three.size() == 3 && three[1] == quote && three[2] == quote;
    for (std::size_t i = begin + (is_long ? 3 : 1); i < text.size(); ++i) {
      if (text[i] == '\n') {
        if (!is_long) return i - 1;  // not closed: the parser says so
        ++line;
      }
      if (i - begin > 6 * kMostText) refuse_length();  // a character may be written in six, \u0041
      if (text[i] == '\\' && quote == '"')
        ++i;
      else if (text[i] == quote && !is_long)
        return i;
      else if (text[i] == quote && text.substr(i, 3) == three)
        return i + 2;
    }
    return text.size();
  };
  std::size_t word = 0;  // where a run of characters without any of these began
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::string_view(" \t\n\"'#.[]{}=,").find(text[i]) != std::string_view::npos) word = i;
    if (i - word > kMostText) refuse_length();
    switch (text[i]) {
      case '"':
      case '\'':
        i = word = skip_text(i);
        break;
      case '#':
        i = word = std::min(text.find('\n', i), text.size()) - 1;
        break;
      case '.':
        if (++dots > kMostDots) refuse("a key nested", kMostDots);
        break;
      case '[':
      case '{':
        if (++brackets > kMostBrackets) refuse("brackets nested", kMostBrackets);
        dots = 0;
        break;
      case ']':
      case '}':
        brackets = std::max(0, brackets - 1);
        dots = 0;
        break;
      case '\n':
        ++line;
        dots = 0;
        break;
      case '=':
      case ',':
        dots = 0;
        break;
      default:
        break;
    }
  }
}

void check_length(std::string_view text, std::size_t most, const std::string& origin, std::string_view what) {
  if (text.size() > most)
    throw InputError(fmt::format("{}: {} of {} characters; at most {} are read", origin, what, text.size(), most));
}

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
      check_length(node.as_string()->get(), kMostText, value.origin, "a text");
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
      for (const auto& [key, item] : *node.as_table()) {
        check_length(key.str(), kMostKey, origin_of(key.source()), "a key");
        entries.push_back(
            {key.source().begin, {std::string(key.str()), origin_of(key.source()), convert(item, file, fixed_origin)}});
      }
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
  check_nesting(text, name);
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
  if (!std::filesystem::exists(path, error))
    throw InputError(fmt::format("{}: cannot open this scene file; check the path and its permissions", path.string()));
  if (std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > kMostBytes)
    throw InputError(fmt::format("{}: is larger than {} MB, which no scene is; meshes have files of their own",
                                 path.string(), kMostBytes >> 20U));
  const FileContent content(path);
  return parse_toml(content.bytes(), path.string());
}

Value parse_toml_value(std::string_view text, const std::string& origin) {
  check_nesting(text, origin);
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
