#include <gtest/gtest.h>

#include "pliant/base/error.hpp"
#include "pliant/settings/bound_settings.hpp"

namespace pliant {
namespace {

enum class Colour { red, green };

struct Inner {
  double weight = 1.0 / 3;
  Colour colour = Colour::green;
};

struct Outer {
  int count = 7;
  bool on = true;
  std::string name = "none";
  Inner inner;
};

const ChoiceNames<Colour> kColours = {{"red", Colour::red}, {"green", Colour::green}};

BoundSettings<Outer> outer_settings() {
  BoundSettings<Outer> settings;
  settings.add({.name = "count", .summary = "how many", .limits = {1, 10}}, &Outer::count)
      .add({.name = "on", .summary = "whether"}, &Outer::on)
      .add({.name = "name", .summary = "which", .aliases = {"label"}}, &Outer::name)
      .add({.name = "weight", .summary = "how much", .unit = "kg", .limits = kPositive}, &Outer::inner, &Inner::weight)
      .add_choice({.name = "colour", .summary = "what colour"}, kColours, &Outer::inner, &Inner::colour);
  return settings;
}

Section section() { return {"[outer]", "of the outer", "", outer_settings().describe(Outer{})}; }

std::string message_of(const SettingMap& given) {
  try {
    complete_settings(given, section());
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(BoundSettings, TakeKindAndDefaultFromTheMember) {
  const Section s = section();
  EXPECT_EQ(s.find("count")->kind, Kind::integer);
  EXPECT_EQ(s.find("on")->kind, Kind::boolean);
  EXPECT_EQ(s.find("label")->kind, Kind::text);
  EXPECT_EQ(s.find("weight")->kind, Kind::number);
  EXPECT_EQ(s.find("colour")->kind, Kind::choice);
  EXPECT_EQ(s.find("colour")->choices, (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(s.find("count")->fallback, "7");
  EXPECT_EQ(s.find("name")->fallback, "\"none\"");
  EXPECT_EQ(default_value(*s.find("weight")), SettingValue(1.0 / 3)) << "to the last bit";
  EXPECT_EQ(default_value(*s.find("colour")), SettingValue(std::string("green")));
  Outer other;
  other.count = 3;
  EXPECT_EQ(outer_settings().describe(other)[0].fallback, "3");
}

TEST(BoundSettings, FillTheMembersFromWhatWasGiven) {
  const SettingMap values =
      complete_settings(SettingMap{{"weight", std::int64_t{2}}, {"colour", "red"}, {"label", "x"}}, section());
  EXPECT_EQ(values.at("weight"), SettingValue(2.0));
  const Outer filled = outer_settings().apply(values, Outer{});
  EXPECT_EQ(filled.count, 7);
  EXPECT_TRUE(filled.on);
  EXPECT_EQ(filled.name, "x");
  EXPECT_EQ(filled.inner.weight, 2.0);
  EXPECT_EQ(filled.inner.colour, Colour::red);
}

TEST(BoundSettings, OfAStructInsideAreThoseOfTheStruct) {
  BoundSettings<Inner> inner;
  inner.add({.name = "weight", .summary = "how much"}, &Inner::weight);
  const auto outer = BoundSettings<Outer>().add_inside(inner, &Outer::inner);
  EXPECT_EQ(outer.apply({{"weight", 5.0}}, Outer{}).inner.weight, 5.0);
  EXPECT_EQ(default_value(outer.describe(Outer{})[0]), SettingValue(1.0 / 3));
}

TEST(Settings, NameTheKeyItsKindAndARemedy) {
  EXPECT_EQ(message_of({{"cuont", std::int64_t{1}}}), "unknown key 'cuont' of the outer; did you mean 'count'?");
  EXPECT_EQ(message_of({{"count", std::int64_t{11}}}),
            "'count' of the outer must be a whole number from 1 to 10, but is 11; for example: count = 7");
  EXPECT_EQ(message_of({{"count", 1.5}}),
            "'count' of the outer must be a whole number from 1 to 10, but is 1.5; for example: count = 7");
  EXPECT_EQ(message_of({{"colour", "gren"}}),
            "'colour' of the outer must be one of red, green, but is \"gren\"; did you mean 'green'?");
  EXPECT_NE(message_of({{"weight", 0.0}}).find("must be a number above 0 (kg), but is 0"), std::string::npos);
  EXPECT_NE(message_of({{"weight", std::numeric_limits<double>::quiet_NaN()}}), "");
}

TEST(Settings, AnErrorBeginsWithTheOriginOfTheValueAtFault) {
  const Value table{Value::Table{{"on", "a.toml:3", Value{true, "a.toml:3"}},
                                 {"count", "a.toml:4", Value{std::string("many"), "a.toml:4"}}},
                    "a.toml:2"};
  try {
    complete_settings(table, section());
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("a.toml:4: 'count' of the outer must be"), 0u) << error.what();
  }
}

TEST(Settings, KnowWhichValuesNobodyGave) {
  Value table{Value::Table{{"on", {}, Value{false, {}}}}, {}};
  check_table(table, section());
  EXPECT_EQ(table.at("on").given, Given::in_scene);
  EXPECT_EQ(table.at("count").given, Given::as_default);
}

}  // namespace
}  // namespace pliant
