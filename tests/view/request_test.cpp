#include "pliant/view/request.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace pliant::view {
namespace {

std::string message_of(const std::string& text) {
  try {
    parse_text(text);
  } catch (const BadRequest& error) {
    return error.what();
  }
  return "";
}

TEST(Request, IsReadWithItsFieldsAndStamp) {
  const Request move = parse_text(R"({"type": "move", "hand": 2, "target": [1, 2.5, -3], "stamp": 41})");
  EXPECT_EQ(move.stamp, 41U);
  EXPECT_EQ(std::get<ask::Move>(move.what).hand, 2);
  EXPECT_EQ(std::get<ask::Move>(move.what).target, Vec3(1, 2.5, -3));
  const Request grab = parse_text(R"({"type": "grab", "hand": 0, "ray": {"eye": [0, 5, 0], "direction": [0, -2, 0]}})");
  EXPECT_EQ(std::get<Ray>(std::get<ask::Grab>(grab.what).at).direction, Vec3(0, -1, 0));
  const Request solver = parse_text(
      R"({"type": "solver", "view": 1, "name": "newton", "parameters": {"tolerance": 0.5, "max_iterations": 7, "history": true, "linear": "pcg"}})");
  const ParameterMap& parameters = *std::get<ask::Solver>(solver.what).parameters;
  EXPECT_EQ(parameters.at("tolerance"), ParameterValue(0.5));
  EXPECT_EQ(parameters.at("max_iterations"), ParameterValue(std::int64_t{7}));
  EXPECT_EQ(parameters.at("history"), ParameterValue(true));
  EXPECT_EQ(parameters.at("linear"), ParameterValue(std::string("pcg")));
}

TEST(Request, ThatIsWrongIsRefusedInWords) {
  EXPECT_EQ(message_of("no json"), "the message is not a JSON object");
  EXPECT_EQ(message_of("[1, 2]"), "the message is not a JSON object");
  EXPECT_EQ(message_of("{}"), "the message has no 'type'");
  EXPECT_EQ(message_of(R"({"type": "gravty", "value": [0, 0, 0]})"),
            "there is no message 'gravty'; did you mean 'gravity'?");
  EXPECT_EQ(message_of(R"({"type": "time_step"})"), "time_step: 'seconds' is missing");
  EXPECT_EQ(message_of(R"({"type": "time_step", "seconds": 5})"),
            "time_step: 'seconds' is 5 but must lie in [1e-06, 1] s");
  EXPECT_EQ(message_of(R"({"type": "gravity", "value": [0, 1]})"), "gravity: 'value' must be a list of three numbers");
  EXPECT_EQ(message_of(R"({"type": "move", "hand": 1.5, "target": [0, 0, 0]})"), "move: 'hand' must be a whole number");
  EXPECT_EQ(message_of(R"({"type": "grab", "hand": 0, "ray": {"eye": [0, 0, 0], "direction": [0, 0, 0]}})"),
            "grab: 'direction' must not be zero");
  EXPECT_EQ(message_of(R"({"type": "grab", "hand": 0, "triangle": 3, "weights": [0.9, 0.9, -0.8]})"),
            "grab: 'weights' must not be negative, and must add up to 1");
  EXPECT_EQ(message_of(R"({"type": "colour", "by": "mood"})"), "colour: nothing can be coloured by 'mood'");
  EXPECT_NE(message_of(R"({"type": "gravity", "value": [1e999, 0, 0]})"), "");
}

TEST(Request, OfRandomTextEndsInAnErrorAndNothingElse) {
  const std::vector<std::string> good = {
      R"({"type": "move", "hand": 2, "target": [1, 2.5, -3], "stamp": 41})",
      R"({"type": "solver", "view": 1, "name": "newton", "parameters": {"tolerance": 0.5}})",
      R"({"type": "cut", "point": [0, 0, 0], "normal": [1, 0, 0], "space": "now", "radius": 1})",
      R"({"type": "grab", "hand": 0, "view": 0, "triangle": 3, "weights": [0.2, 0.3, 0.5]})"};
  std::mt19937 random(1);
  for (int k = 0; k < 20'000; ++k) {
    std::string text = good[random() % good.size()];
    const std::size_t changes = random() % 6;
    for (std::size_t c = 0; c < changes; ++c) text[random() % text.size()] = static_cast<char>(random() % 256);
    if (random() % 3 == 0) text.resize(random() % text.size());
    try {
      parse_text(text);
    } catch (const BadRequest&) {
    }
  }
  EXPECT_THROW(parse_text(std::string(60'000, '[')), BadRequest);
  EXPECT_THROW(parse_binary(""), BadRequest);
  EXPECT_THROW(parse_binary("\x01\x02\x03\x04\x05"), BadRequest);
}

TEST(Frame, KeepsPositionsToAPartIn65535OfTheBoxAndColoursToOneIn255) {
  Drawing drawing;
  drawing.time = 2.5;
  drawing.step = 7;
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-3, 5);
  for (int i = 0; i < 100; ++i) {
    drawing.positions.emplace_back(uniform(random), uniform(random), uniform(random));
    drawing.values.push_back(uniform(random));
  }
  drawing.positions[5].x() = std::numeric_limits<double>::quiet_NaN();
  drawing.low = -3;
  drawing.high = 5;
  const std::string bytes = encode_frame({0, 1, Colour::speed, 12, 3, 4}, drawing);
  ASSERT_EQ(bytes.size(), 64U + 700);
  const auto read = [&]<class T>(std::size_t at, T) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  EXPECT_EQ(read(4, std::uint32_t{}), 12U);
  EXPECT_EQ(read(8, std::uint32_t{}), 3U);
  EXPECT_EQ(read(12, std::uint32_t{}), 100U);
  EXPECT_EQ(read(16, double{}), 2.5);
  EXPECT_EQ(read(56, std::uint32_t{}), 7U);
  EXPECT_EQ(read(60, std::uint32_t{}), 4U);
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double size = read(36 + 4 * axis, float{});
      const double corner = read(24 + 4 * axis, float{});
      const double p = corner + size * read(64 + 6 * i + 2 * axis, std::uint16_t{}) / 65535.0;
      if (i != 5) {
        EXPECT_NEAR(p, drawing.positions[i][static_cast<Eigen::Index>(axis)], 0.51 * size / 65535 + 1e-6);
      }
    }
    EXPECT_NEAR(-3 + 8 * read(64 + 600 + i, std::uint8_t{}) / 255.0, drawing.values[i], 0.51 * 8 / 255);
  }
}

}  // namespace
}  // namespace pliant::view
