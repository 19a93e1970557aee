#include "pliant/settings/bound_settings.hpp"

namespace pliant {

SettingValue to_setting_value(const Value& value, const Setting& setting) {
  switch (setting.kind) {
    case Kind::boolean:
      return std::get<bool>(value.data);
    case Kind::integer:
      return std::get<std::int64_t>(value.data);
    case Kind::number:
      return value.number();
    default:
      return value.text();
  }
}

SettingValue default_value(const Setting& setting) {
  return to_setting_value(parse_toml_value(setting.fallback, "default of '" + setting.name + "'"), setting);
}

SettingMap complete_settings(Value table, const Section& section) {
  check_table(table, section);
  SettingMap values;
  for (const Value::Entry& entry : table.table())
    if (const Setting* setting = section.find(entry.key)) values[entry.key] = to_setting_value(entry.value, *setting);
  return values;
}

SettingMap complete_settings(const SettingMap& given, const Section& section) {
  Value table{Value::Table{}, {}};
  for (const auto& [name, value] : given)
    table.table().push_back({name, {}, std::visit([](const auto& v) { return Value{v, {}}; }, value)});
  return complete_settings(std::move(table), section);
}

}  // namespace pliant
