#include "pliant/view/session.hpp"

#include <gtest/gtest.h>

#include "scenes.hpp"

namespace pliant::view {
namespace {

using testing::kBeam;
using namespace std::chrono_literals;

/// Keeps what a session says.
class Listener final : public Carrier {
 public:
  void on_news() override { changed_.notify_all(); }
  void send_text(ClientId, std::string message) override { add(std::move(message)); }
  void send_binary(ClientId, std::string message) override {
    const std::lock_guard lock(mutex_);
    binary_ = std::move(message);
    changed_.notify_all();
  }
  void send_text_to_all(std::string message) override { add(std::move(message)); }
  void welcome(ClientId) override {}

  /// Waits until the condition holds, for ten seconds.
  bool wait(const std::function<bool()>& condition) {
    for (int k = 0; k < 10'000; ++k) {
      if (condition()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }
  /// The first message of a type, taken out.
  Json take(const std::string& type) {
    Json found;
    wait([&] {
      const std::lock_guard lock(mutex_);
      for (auto it = messages_.begin(); it != messages_.end(); ++it)
        if ((*it)["type"] == type) {
          found = *it;
          messages_.erase(it);
          return true;
        }
      return false;
    });
    return found;
  }
  std::string binary() {
    const std::lock_guard lock(mutex_);
    return binary_;
  }

 private:
  void add(std::string message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(Json::parse(message));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Json> messages_;
  std::string binary_;
};

struct Running {
  explicit Running(const std::string& name, const std::string& scene = kBeam)
      : folder(testing::folder_with(name, "beam.toml", scene)), session({folder / "beam.toml", {}, {}}) {
    trouble = session.open_given();
    session.start(listener);
    session.post(1, {ask::Arrive{}, "arrive", {}});
    listener.take("hello");
  }
  ~Running() { session.stop(); }
  void ask(const std::string& text) { session.post(1, parse_text(text)); }
  Json play() const { return Json::parse(*session.latest().play); }
  Json telemetry() const { return session.latest().frame ? Json::parse(session.latest().frame->telemetry) : Json(); }
  double time() const { return telemetry().is_null() ? -1 : telemetry()["time"].get<double>(); }
  void pause() {
    ask(R"({"type": "pause"})");
    ASSERT_TRUE(listener.wait([&] { return !play()["playing"].get<bool>(); }));
  }

  std::filesystem::path folder;
  Listener listener;
  Session session;
  std::string trouble;
};

TEST(Session, RunsInRealTimeAndPauseStopsTime) {
  Running running("session_pause");
  ASSERT_TRUE(running.listener.wait([&] { return running.time() > 0.2; }));
  running.pause();
  const double time = running.time();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(running.time(), time);
  running.ask(R"({"type": "step", "count": 3})");
  ASSERT_TRUE(running.listener.wait([&] { return running.time() > time + 2.5 * 0.015625; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_NEAR(running.time(), time + 3 * 0.015625, 1e-9);
  EXPECT_FALSE(running.play()["playing"].get<bool>());
  // Slow motion: a tenth of real time.
  running.ask(R"({"type": "speed", "value": 0.1})");
  running.ask(R"({"type": "play"})");
  const double begin = running.time();
  std::this_thread::sleep_for(1s);
  EXPECT_GT(running.time() - begin, 0.02);  // other work on the machine may slow it down
  EXPECT_LT(running.time() - begin, 0.15);
}

TEST(Session, DoesNotRunBeforeSomeoneLooks) {
  const auto folder = testing::folder_with("session_waits", "beam.toml", kBeam);
  Session session({folder / "beam.toml", {}, {}});
  session.open_given();
  Listener listener;
  session.start(listener);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(Json::parse(session.latest().frame->telemetry)["step"], 0);
  session.stop();
}

TEST(Session, TellsWhatABrokenSceneLacksAndOpensAnother) {
  Running running("session_broken", "version = 1\n[simulation]\ndtt = 1\n");
  EXPECT_NE(running.trouble.find("dtt"), std::string::npos) << running.trouble;
  EXPECT_EQ(running.play()["trouble"], running.trouble);
  EXPECT_EQ(Json::parse(running.session.latest().setting->scene)["source"], "none");
  running.ask(R"({"type": "gravity", "value": [0, 0, 0]})");
  EXPECT_EQ(running.listener.take("error")["message"], "there is no scene; open one");
  std::ofstream(running.folder / "good.toml") << kBeam;
  running.ask(R"({"type": "open", "scene": "good.toml"})");
  ASSERT_TRUE(running.listener.wait([&] { return running.play()["trouble"].is_null(); }));
  EXPECT_TRUE(running.listener.wait([&] { return running.time() > 0; }));
  // And one that is wrong leaves this one running.
  running.ask(R"({"type": "open", "scene": "beam.toml"})");
  EXPECT_NE(running.listener.take("error")["message"].get<std::string>().find("dtt"), std::string::npos);
  EXPECT_EQ(Json::parse(running.session.latest().setting->scene)["path"], "good.toml");
}

TEST(Session, ListsAndRefusesScenesThatAreNone) {
  Running running("session_hostile");
  running.listener.take("scenes");  // those of the greeting
  std::string deep = "a";
  for (int k = 0; k < 20'000; ++k) deep += ".a";
  std::ofstream(running.folder / "deep.toml") << deep << " = 1\n";
  running.ask(R"({"type": "scenes"})");
  EXPECT_NE(running.listener.take("scenes").dump().find("(cannot be read)"), std::string::npos);
  running.ask(R"({"type": "open", "scene": "deep.toml"})");
  EXPECT_NE(running.listener.take("error")["message"].get<std::string>().find("nested more than 16 deep"),
            std::string::npos);
}

TEST(Session, OpensNothingOutsideTheScenesFolder) {
  Running running("session_traversal");
  std::ofstream(running.folder.parent_path() / "pliant_view_secret.toml") << kBeam;
  for (const std::string path : {"../pliant_view_secret.toml", "/etc/passwd", "beam.toml/../beam.toml", "", "."}) {
    running.ask(Json{{"type", "open"}, {"scene", path}}.dump());
    EXPECT_NE(running.listener.take("error")["message"].get<std::string>().find("there is no scene"),
              std::string::npos);
  }
}

TEST(Session, SwitchesThroughAllSolversWhileItRuns) {
  Running running("session_solvers");
  running.ask(R"({"type": "speed", "value": 0})");
  for (const SolverEntry& solver : solver_catalogue()) {
    running.ask(Json{{"type", "solver"}, {"view", 0}, {"name", solver.name}}.dump());
    ASSERT_TRUE(running.listener.wait([&] { return running.play()["views"][0]["solver"] == solver.name; }))
        << solver.name;
    const double time = running.time();
    ASSERT_TRUE(running.listener.wait([&] { return running.time() > time + 0.04; })) << solver.name;
    EXPECT_TRUE(running.play()["views"][0]["trouble"].is_null()) << running.play()["views"][0]["trouble"];
  }
}

TEST(Session, SavesLoadsGrabsAndLetsGoWhenAClientLeaves) {
  Running running("session_save");
  running.ask(
      R"({"type": "grab", "hand": 3, "ray": {"eye": [1.8, 5, 0.5], "direction": [0, -1, 0]}, "target": [2, 1.5, 0.5]})");
  const Json grabbed = running.listener.take("grabbed");
  EXPECT_EQ(grabbed["body"], "beam");
  ASSERT_TRUE(running.listener.wait([&] { return running.time() > 0.3; }));
  running.pause();
  const double time = running.time();
  const std::string frame = running.session.latest().frame->views[0].substr(24);
  running.ask(R"({"type": "save_state"})");
  ASSERT_TRUE(running.listener.wait([&] { return !running.listener.binary().empty(); }));
  running.ask(R"({"type": "reset"})");
  EXPECT_EQ(running.listener.take("released")["hand"], 3);
  ASSERT_TRUE(running.listener.wait([&] { return running.time() == 0; }));
  running.session.post(1, parse_binary(running.listener.binary()));
  ASSERT_TRUE(running.listener.wait([&] { return running.time() == time; }));
  EXPECT_EQ(running.session.latest().frame->views[0].substr(64), frame.substr(40));
  running.ask(R"({"type": "grab", "hand": 1, "ray": {"eye": [1.8, 5, 0.5], "direction": [0, 1, 0]}})");
  EXPECT_EQ(running.listener.take("missed")["hand"], 1);
  running.ask(R"({"type": "grab", "hand": 2, "triangle": 0, "weights": [1, 0, 0]})");
  running.listener.take("grabbed");
  running.session.post(1, {ask::Leave{}, "leave", {}});
  EXPECT_EQ(running.listener.take("released")["hand"], 2);
}

}  // namespace
}  // namespace pliant::view
