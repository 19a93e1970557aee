#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pliant/base/variant.hpp"

namespace pliant {

/// How a value came to be what it is.
enum class Given {
  in_scene,    ///< written in the file, or by the code that stands for one
  as_change,   ///< on top of it, from the command line
  as_default,  ///< by nobody
};

/// A value of a scene file together with the place it came from, so that every message can name it. The parser's own
/// types stay inside value.cpp: they lose the order of keys and know no place for values given on the command line.
struct Value {
  struct Entry;
  using List = std::vector<Value>;
  using Table = std::vector<Entry>;  ///< in the order of the file

  Variant<bool, std::int64_t, double, std::string, List, Table> data;
  std::string origin;  ///< "beam.toml:12" or "--set body.0.young"; empty: none
  Given given = Given::in_scene;

  bool is_table() const { return std::holds_alternative<Table>(data); }
  bool is_list() const { return std::holds_alternative<List>(data); }
  bool is_text() const { return std::holds_alternative<std::string>(data); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(data); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(data); }
  double number() const;
  const std::string& text() const { return std::get<std::string>(data); }
  const List& list() const { return std::get<List>(data); }
  List& list() { return std::get<List>(data); }
  const Table& table() const { return std::get<Table>(data); }
  Table& table() { return std::get<Table>(data); }

  /// The entry of a table, or null.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  /// The entry of a table that is known to be there.
  const Value& at(std::string_view key) const;
  void erase(std::string_view key);
};

struct Value::Entry {
  std::string key;
  std::string origin;  ///< of the key
  Value value;
};

/// A scene file as a tree. Throws InputError with file and line when it cannot be read or is not TOML.
Value read_toml(const std::filesystem::path& path);
/// The same for text; `name` stands for the file in messages.
Value parse_toml(std::string_view text, const std::string& name);
/// One value in TOML's notation. A bare word stands for itself as text, so that a shell needs no second pair of quotes.
Value parse_toml_value(std::string_view text, const std::string& origin);

/// The value in TOML's notation, on one line.
std::string to_toml(const Value& value);
/// "a number", "text", ... for messages.
std::string_view type_name(const Value& value);

}  // namespace pliant
