// Nothing makes the viewer deaf, and nothing that is sent to it takes more memory than it has set aside.
#include <gtest/gtest.h>

#include <thread>

#include "client.hpp"
#include "pliant/base/bytes.hpp"
#include "pliant/base/error.hpp"
#include "pliant/view/server.hpp"
#include "pliant/view/session.hpp"
#include "scenes.hpp"

namespace pliant::view {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Hears nothing.
struct Silent final : Carrier {
  void on_news() override {}
  void send_text(ClientId, std::string) override {}
  void send_binary(ClientId, std::string) override {}
  void send_text_to_all(std::string) override {}
  void welcome(ClientId) override {}
};

/// A beam whose steps do not end by themselves.
std::string endless_beam() {
  std::string text = testing::kBeam;
  text.replace(text.find("name = \"quasi-newton\""), 22, "name = \"fp-pxpbd\"\niterations = 1000000000\n");
  text.replace(text.find("gravity = [0, 0, 0]"), 19, "gravity = [0, -9.81, 0]");
  return text;
}

struct Endless {
  explicit Endless(const std::string& name)
      : folder(testing::folder_with(name, "beam.toml", endless_beam())), session({folder / "beam.toml", {}, {}}) {
    EXPECT_EQ(session.open_given(), "");
    session.start(silent);
    session.post(1, {ask::Arrive{}, "arrive", {}});
    std::this_thread::sleep_for(300ms);  // by now it steps
  }
  bool waits_for(const std::function<bool()>& condition) const {
    for (int k = 0; k < 10'000; ++k) {
      if (condition()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  std::filesystem::path folder;
  Silent silent;
  Session session;
};

TEST(Limits, AStepWithoutAnEndIsLeftForAPauseAndForTheEnd) {
  Endless endless("limits_endless");
  endless.session.post(1, parse_text(R"({"type": "pause"})"));
  EXPECT_TRUE(endless.waits_for([&] { return !Json::parse(*endless.session.latest().play)["playing"].get<bool>(); }));
  endless.session.post(1, parse_text(R"({"type": "solver", "name": "quasi-newton"})"));
  endless.session.post(1, parse_text(R"({"type": "step", "count": 2})"));
  EXPECT_TRUE(endless.waits_for([&] {
    const auto frame = endless.session.latest().frame;
    return frame && Json::parse(frame->telemetry)["step"] == 2;
  }));
}

TEST(Limits, AnEndlessStepDoesNotKeepASessionFromEnding) {
  Endless endless("limits_end");
  const Clock::time_point begin = Clock::now();
  endless.session.stop();
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST(Limits, SavedStatesThatWaitAreBoundedInBytes) {
  Endless endless("limits_bytes");
  std::string state(20 << 20, '\0');
  state[0] = static_cast<char>(MessageKind::state);
  int taken = 0;
  for (int k = 0; k < 10; ++k) taken += endless.session.post(1, parse_binary(state));
  EXPECT_LE(taken, 4);
  EXPECT_GE(taken, 3);
  EXPECT_LE(endless.session.waiting_bytes(), std::size_t{80} << 20U);
  // A small message has no room either, until they are gone; then it has.
  EXPECT_TRUE(endless.waits_for([&] { return endless.session.waiting_bytes() == 0; }));
  EXPECT_TRUE(endless.session.post(1, parse_text(R"({"type": "ping"})")));
}

/// A saved state with a part of its header exchanged, and a checksum that fits.
std::string forged(const std::string& state, const std::string& from, const std::string& to) {
  constexpr std::string_view magic = "PLIANT-VIEW-2\n";
  ByteReader in(unseal(magic, state, "saved state"));
  std::string header(in.get_text());
  const auto found = header.find(from);
  if (found == std::string::npos) throw std::runtime_error(header);
  header.replace(found, from.size(), to);
  ByteWriter out;
  out.put_text(header);
  while (!in.empty()) out.put_text(in.get_text());
  return seal(magic, out.bytes());
}

TEST(Limits, ForgedStatesKeepToTheLimitsOfMessages) {
  const Scene scene = parse_scene(testing::kBeam, "beam");
  LiveScene live(scene, "beam.toml");
  live.cut({{1, 0.5, 0.5}, {1, 0, 0}, false, 0, std::nullopt, 0.4});
  const std::string state = live.save();
  const std::vector<std::pair<std::string, std::string>> forgeries = {
      {"\"time_step\":0.015625", "\"time_step\":1e308"},
      {"\"time_step\":0.015625", "\"time_step\":1e-300"},
      {"\"time_step\":0.015625", "\"time_step\":\"x\""},
      {"\"gravity\":[0.0,", "\"gravity\":[1e300,"},
      {"\"stiffness\":[1.0]", "\"stiffness\":[1e300]"},
      {"\"stiffness\":[1.0]", "\"stiffness\":[1.0,2.0,3.0]"},
      {"\"strength\":100.0", "\"strength\":-1"},
      {"\"radius\":0.4", "\"radius\":-1"},
      {"\"normal\":[1.0,", "\"normal\":[1e308,"},
      {"\"views\":[{", "\"views\":[7,{"},
      {"\"parameters\":{", "\"parameters\":{\"x\":[[]],"},
      {"\"body\":0", "\"body\":-1"},
      {"\"cuts\":[", "\"cuts\":[[],"}};
  LiveScene whole(scene, "beam.toml");
  EXPECT_NO_THROW(whole.restore(state));
  for (const auto& [from, to] : forgeries) {
    LiveScene fresh(scene, "beam.toml");
    try {
      fresh.restore(forged(state, from, to));
      ADD_FAILURE() << to << " was taken";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos) << error.what();
    }
  }
}

TEST(Limits, ConnectionsThatDripDoNotKeepAPageFromLoading) {
  const auto folder = testing::folder_with("limits_drip", "beam.toml", testing::kBeam);
  Session session({folder / "beam.toml", {}, {}});
  session.open_given();
  Server server({"127.0.0.1", 0, {}}, session);
  session.start(server);
  std::jthread thread([&] { server.run(); });
  boost::asio::io_context io;
  const boost::asio::ip::tcp::endpoint endpoint(boost::asio::ip::make_address("127.0.0.1"), server.port());
  std::vector<boost::asio::ip::tcp::socket> dripping;
  for (int k = 0; k < 70; ++k) {
    dripping.emplace_back(io);
    dripping.back().connect(endpoint);
    boost::asio::write(dripping.back(), boost::asio::buffer(std::string("GET / HT")));
  }
  std::this_thread::sleep_for(100ms);
  const Clock::time_point begin = Clock::now();
  boost::asio::ip::tcp::socket page(io);
  page.connect(endpoint);
  boost::asio::write(page, boost::asio::buffer("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                                               "\r\nConnection: close\r\n\r\n"));
  std::string answer;
  boost::system::error_code ended;
  boost::asio::read(page, boost::asio::dynamic_buffer(answer), ended);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer.substr(0, 100);
  EXPECT_LT(Clock::now() - begin, 5s);
  server.stop();
}

}  // namespace
}  // namespace pliant::view
