#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "pliant/view/film.hpp"
#include "pliant/view/live_scene.hpp"

namespace pliant::view {

using ClientId = std::int64_t;

/// What frames refer to: sent once, before the first of them.
struct Setting {
  std::uint32_t revision = 0;
  std::string scene;     ///< a text message
  std::string topology;  ///< binary messages
  std::string skin;      ///< empty where no body has one
  std::string obstacles;
};

/// An instant, ready to send.
struct Frame {
  std::uint32_t number = 0;
  std::string telemetry;           ///< a text message
  std::vector<std::string> views;  ///< binary messages
};

/// The latest of everything: what a client has not been sent yet is sent when it can take it, and what came in between
/// is never sent at all.
struct Latest {
  std::shared_ptr<const Setting> setting;
  std::shared_ptr<const std::string> play;  ///< a text message
  std::shared_ptr<const Frame> frame;       ///< of this setting
};

/// Who carries messages to clients. Called from the session's thread; must return at once and never throw.
class Carrier {
 public:
  virtual ~Carrier() = default;
  /// There is something new in latest().
  virtual void on_news() = 0;
  virtual void send_text(ClientId client, std::string message) = 0;
  virtual void send_binary(ClientId client, std::string message) = 0;
  virtual void send_text_to_all(std::string message) = 0;
  /// The client has been told all it needs to make sense of latest().
  virtual void welcome(ClientId client) = 0;
};

struct SessionOptions {
  std::filesystem::path given;   ///< a scene file, or the folder of a run
  SceneChanges changes;          ///< of that scene
  std::filesystem::path scenes;  ///< the picker's folder; empty: that of the scene, or none
  std::optional<std::filesystem::path> other = std::nullopt;  ///< another run, beside that given
};

/// A simulation or a film in a thread of its own, which does what clients ask for between two steps. It never waits for
/// a client: what there is to see is left in latest(), where the next one replaces it.
class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens what was given; a scene that is wrong is no reason to end, clients are told. Returns what is wrong, or
  /// nothing.
  std::string open_given();
  /// Begins to run, once a client has come.
  void start(Carrier& carrier);
  void stop();

  /// From any thread. False: too much is waiting already, in number or in bytes, and this was dropped.
  bool post(ClientId client, Request request);
  /// Bytes of the messages that wait.
  std::size_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }
  Latest latest() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    ClientId client;
    Request request;
    Clock::time_point since;
  };

  void run();
  void attend(const std::stop_token& token);
  Clock::time_point step(Clock::time_point due);
  void handle(ClientId client, const Request& request);
  void answer(ClientId client, const Request& request);
  void publish();
  void tell_released(const std::vector<LiveScene::Hand>& before);
  void fail(ClientId client, const std::string& type, const std::string& message);
  std::vector<std::string> scene_files() const;
  std::string scenes_message() const;
  std::unique_ptr<Show> opened(const std::optional<std::string>& scene, const std::string& solver) const;
  LiveScene& live();

  SessionOptions options_;
  Carrier* carrier_ = nullptr;
  std::thread thread_;

  mutable std::mutex mutex_;  ///< guards these
  std::condition_variable news_;
  std::deque<Waiting> waiting_;
  bool stopping_ = false;
  Latest latest_;
  /// Of messages that wait or are being answered.
  std::atomic<std::size_t> waiting_bytes_ = 0;
  StepControl control_;

  // The session thread's own.
  std::unique_ptr<Show> show_;
  std::string trouble_;  ///< why there is no show
  bool playing_ = true;
  int steps_to_take_ = 0;
  double speed_ = 1;
  Colour colour_ = Colour::none;
  std::uint32_t asked_stamp_ = 0, stamp_ = 0;  ///< of the last message, and of the last that frames show
  int clients_ = 0;
  bool begun_ = false;       ///< a client has come
  bool is_changed_ = false;  ///< there is something to publish
  const Show* published_show_ = nullptr;
  std::uint32_t published_revision_ = 0;
  std::uint32_t revision_ = 0, frame_ = 0;
  double step_ms_ = 0;
  std::deque<Clock::time_point> step_times_;

  std::jthread attendant_;  ///< the last to be made, the first to end
};

}  // namespace pliant::view
