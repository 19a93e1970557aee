#pragma once

#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include "pliant/base/variant.hpp"
#include "pliant/settings/setting.hpp"

namespace pliant {

/// What a setting of the simple kinds (boolean, integer, number, text, choice) can be.
using SettingValue = Variant<bool, std::int64_t, double, std::string>;
/// Name and value, as a user gave them or as a check completed them.
using SettingMap = std::map<std::string, SettingValue>;

/// A value that check_table has seen, of the setting's own type: whole numbers become numbers where these are asked
/// for.
SettingValue to_setting_value(const Value& value, const Setting& setting);
SettingValue default_value(const Setting& setting);
/// Checks values against a section as check_table does, and fills in the defaults.
SettingMap complete_settings(const SettingMap& given, const Section& section);
SettingMap complete_settings(Value table, const Section& section);

/// What users write for the values of an enumeration.
template <class E>
using ChoiceNames = std::vector<std::pair<std::string, E>>;

/// Settings together with the members of an option struct that they fill. A setting is described once, here; its type
/// and its default are those of the member, so that they are written once too, in the struct:
///
///   BoundSettings<Options> settings;
///   settings.add({.name = "iterations", .summary = "...", .limits = {1, 1e6}}, &Options::iterations)
///       .add({.name = "tolerance", .summary = "..."}, &Options::criterion, &CriterionOptions::tolerance);
///
/// Several solvers may share settings and differ in the options that they begin with (`defaults`).
template <class Options>
class BoundSettings {
 public:
  /// `path` leads to the member: pointers to members, the outermost first.
  template <class... Path>
  BoundSettings& add(Setting setting, Path... path) {
    using T = std::remove_cvref_t<decltype(member(std::declval<Options&>(), path...))>;
    static_assert(std::is_same_v<T, bool> || std::is_same_v<T, int> || std::is_same_v<T, std::int64_t> ||
                      std::is_same_v<T, double> || std::is_same_v<T, std::string>,
                  "enumerations need names: add_choice");
    using Stored = std::conditional_t<std::is_same_v<T, int>, std::int64_t, T>;
    setting.kind = std::is_same_v<T, bool>     ? Kind::boolean
                   : std::is_same_v<T, double> ? Kind::number
                   : std::is_integral_v<T>     ? Kind::integer
                                               : Kind::text;
    return add_converted(
        std::move(setting),
        [path...](const Options& options) { return SettingValue(Stored(member(options, path...))); },
        [path...](Options& options, const SettingValue& value) {
          member(options, path...) = static_cast<T>(std::get<Stored>(value));
        });
  }
  template <class E, class... Path>
  BoundSettings& add_choice(Setting setting, const ChoiceNames<E>& names, Path... path) {
    setting.kind = Kind::choice;
    for (const auto& [name, value] : names) setting.choices.push_back(name);
    return add_converted(
        std::move(setting),
        [names, path...](const Options& options) {
          for (const auto& [name, value] : names)
            if (value == member(options, path...)) return SettingValue(name);
          return SettingValue(names.front().first);
        },
        [names, path...](Options& options, const SettingValue& text) {
          for (const auto& [name, value] : names)
            if (name == std::get<std::string>(text)) member(options, path...) = value;
        });
  }
  /// For what users write otherwise than the options have it.
  BoundSettings& add_converted(Setting setting, std::function<SettingValue(const Options&)> read,
                               std::function<void(Options&, const SettingValue&)> write) {
    all_.push_back({std::move(setting), std::move(read), std::move(write)});
    return *this;
  }
  BoundSettings& add(const BoundSettings& more) {
    all_.insert(all_.end(), more.all_.begin(), more.all_.end());
    return *this;
  }
  /// The settings of a struct inside.
  template <class Inner>
  BoundSettings& add_inside(const BoundSettings<Inner>& more, Inner Options::*inner) {
    for (const auto& bound : more.all_)
      add_converted(
          bound.setting, [inner, read = bound.read](const Options& options) { return read(options.*inner); },
          [inner, write = bound.write](Options& options, const SettingValue& value) { write(options.*inner, value); });
    return *this;
  }

  /// With the defaults that these options are.
  std::vector<Setting> describe(const Options& defaults) const {
    std::vector<Setting> settings;
    for (const Bound& bound : all_) {
      Setting setting = bound.setting;
      setting.fallback = std::visit([](const auto& v) { return to_toml({v, {}}); }, bound.read(defaults));
      settings.push_back(std::move(setting));
    }
    return settings;
  }
  /// The options with what `values`, complete and checked, say in place of their own.
  Options apply(const SettingMap& values, Options options) const {
    for (const Bound& bound : all_) bound.write(options, values.at(bound.setting.name));
    return options;
  }

 private:
  template <class>
  friend class BoundSettings;

  struct Bound {
    Setting setting;
    std::function<SettingValue(const Options&)> read;
    std::function<void(Options&, const SettingValue&)> write;
  };

  template <class Struct>
  static Struct& member(Struct& whole) {
    return whole;
  }
  template <class Struct, class First, class... Rest>
  static auto& member(Struct& whole, First first, Rest... rest) {
    return member(whole.*first, rest...);
  }

  std::vector<Bound> all_;
};

}  // namespace pliant
