#include "pliant/view/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/io/build_info.hpp"
#include "pliant/io/catalogue_json.hpp"

namespace pliant::view {

namespace {

namespace fs = std::filesystem;
using std::chrono::duration;

/// Requests that may wait while a step takes long; more than any hand can send.
constexpr std::size_t kMostWaiting = 20'000;
/// Bytes of them: a saved state of the greatest size, and some.
constexpr std::size_t kMostWaitingBytes = std::size_t{80} << 20U;
/// For so long what is asked for waits for the step under way.
constexpr auto kPatience = std::chrono::seconds(1);
/// Frames are made at most so often: no screen shows more.
constexpr auto kBetweenFrames = std::chrono::milliseconds(7);

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;  // which Clang before 17 does not find by itself

/// Text that a client sent may have been cut in the middle of a character.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json with_type(const char* type, const Json& fields) {
  Json json = {{"type", type}};
  json.update(fields);
  return json;
}

std::string hello_message() {
  Json solvers = Json::array(), colours = Json::array();
  for (const SolverEntry& solver : solver_catalogue()) solvers.push_back(pliant::to_json(solver));
  for (int c = 1; c < kColours; ++c) {
    const ColourInfo colour = info(static_cast<Colour>(c));
    colours.push_back({{"name", colour.name}, {"unit", colour.unit}, {"summary", colour.summary}});
  }
  return dump({{"type", "hello"},
               {"protocol", 1},
               {"version", version()},
               {"commit", commit()},
               {"solvers", std::move(solvers)},
               {"colours", std::move(colours)}});
}

/// There is nothing on show, and the `play` message says why.
Json describe_nothing() {
  Json can = Json::object();
  for (const char* key : {"play", "grab", "pin", "cut", "solver", "compare", "material", "save"}) can[key] = false;
  const Json zero = Json::array({0, 0, 0});
  return {{"source", "none"},
          {"path", nullptr},
          {"name", ""},
          {"title", ""},
          {"time_step", 0},
          {"steps", 0},
          {"gravity", zero},
          {"box", Json::array({zero, zero})},
          {"notices", Json::array()},
          {"bodies", Json::array()},
          {"obstacles", Json::array()},
          {"has_contact", false},
          {"solvers", Json::array()},
          {"can", std::move(can)}};
}

/// Whether a request makes the step under way useless, or comes from someone who wants it to end: a step that takes
/// long is left then. What merely steers (a hand that moves) waits, or slow scenes would never get anywhere.
bool ends_steps(const Request& request) {
  return std::visit(
      []<class What>(const What&) {
        return std::is_same_v<What, ask::Open> || std::is_same_v<What, ask::Pause> ||
               std::is_same_v<What, ask::Reset> || std::is_same_v<What, ask::TimeStep> ||
               std::is_same_v<What, ask::Solver> || std::is_same_v<What, ask::Compare> ||
               std::is_same_v<What, ask::LoadState>;
      },
      request.what);
}

std::vector<LiveScene::Hand> hands_of(const Show* show) {
  std::vector<LiveScene::Hand> hands;
  if (const auto* live = dynamic_cast<const LiveScene*>(show))
    for (const auto& [hand, held] : live->hands()) hands.push_back(hand);
  return hands;
}

}  // namespace

Session::Session(SessionOptions options) : options_(std::move(options)) {
  if (options_.scenes.empty() && !Film::is_result(options_.given)) options_.scenes = options_.given.parent_path();
  if (options_.scenes.empty()) options_.scenes = Film::is_result(options_.given) ? "scenes" : ".";
}

Session::~Session() { stop(); }

std::string Session::open_given() {
  try {
    show_ = opened(std::nullopt, "");
    trouble_.clear();
  } catch (const std::exception& error) {
    trouble_ = error.what();
  }
  return trouble_;
}

void Session::start(Carrier& carrier) {
  carrier_ = &carrier;
  publish();
  thread_ = std::thread([this] { run(); });
  attendant_ = std::jthread([this](const std::stop_token& token) { attend(token); });
}

/// Ends the step under way where somebody has waited long enough for it.
void Session::attend(const std::stop_token& token) {
  while (!token.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    if (std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
          return now - waiting.since > kPatience && ends_steps(waiting.request);
        }))
      control_.request_stop();
  }
}

void Session::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    control_.request_stop();
  }
  news_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool Session::post(ClientId client, Request request) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_coming_or_going =
        std::holds_alternative<ask::Arrive>(request.what) || std::holds_alternative<ask::Leave>(request.what);
    const bool is_too_much =
        waiting_.size() >= kMostWaiting || waiting_bytes_.load() + request.bytes > kMostWaitingBytes;
    if (is_too_much && !is_coming_or_going) return false;
    waiting_bytes_ += request.bytes;
    waiting_.push_back({client, std::move(request), Clock::now()});
  }
  news_.notify_one();
  return true;
}

Latest Session::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void Session::run() {
  Clock::time_point due = Clock::now(), published{};
  while (true) {
    const bool runs = show_ && begun_ && (playing_ || steps_to_take_ > 0);
    std::deque<Waiting> batch;
    {
      std::unique_lock lock(mutex_);
      const auto is_wanted = [&] { return stopping_ || !waiting_.empty(); };
      if (!runs && !is_changed_)
        news_.wait(lock, is_wanted);
      else
        news_.wait_until(
            lock, is_changed_ ? std::min(runs ? due : published + kBetweenFrames, published + kBetweenFrames) : due,
            is_wanted);
      if (stopping_) return;
      batch.swap(waiting_);
      control_.clear();
    }
    for (; !batch.empty(); batch.pop_front()) {
      handle(batch.front().client, batch.front().request);
      waiting_bytes_ -= batch.front().request.bytes;
    }

    try {
      if (show_ && begun_ && (playing_ || steps_to_take_ > 0)) {
        if (!runs || steps_to_take_ > 0) due = Clock::now();
        if (Clock::now() >= due) due = step(due);
      }
      if (is_changed_ && Clock::now() - published >= kBetweenFrames) {
        publish();
        published = Clock::now();
      }
    } catch (const std::exception& error) {  // out of memory, most likely; whoever looks on is told
      playing_ = false;
      steps_to_take_ = 0;
      trouble_ = error.what();
    }
  }
}

/// Takes the step that was due and returns when the next one is.
Session::Clock::time_point Session::step(Clock::time_point due) {
  const Clock::time_point begin = Clock::now();
  const double pause = speed_ > 0 ? show_->step_seconds() / speed_ : 0;
  const std::uint32_t stamp = asked_stamp_;
  const bool moved = show_->advance(&control_);
  stamp_ = stamp;
  const Clock::time_point end = Clock::now();
  step_ms_ = 1e3 * duration<double>(end - begin).count();
  step_times_.push_back(end);
  while (step_times_.size() > 1 && end - step_times_.front() > std::chrono::seconds(1)) step_times_.pop_front();
  if (steps_to_take_ > 0) --steps_to_take_;
  if (!moved) {
    playing_ = false;
    steps_to_take_ = 0;
  }
  is_changed_ = true;
  // What is late is not caught up with: a simulation that is too slow runs slowly.
  return std::max(due + std::chrono::duration_cast<Clock::duration>(duration<double>(pause)), end);
}

void Session::fail(ClientId client, const std::string& type, const std::string& message) {
  carrier_->send_text(
      client, dump({{"type", "error"}, {"message", message}, {"of", type.empty() ? Json(nullptr) : Json(type)}}));
}

void Session::handle(ClientId client, const Request& request) {
  const std::vector<LiveScene::Hand> hands = hands_of(show_.get());
  try {
    answer(client, request);
    if (request.stamp) asked_stamp_ = *request.stamp;
  } catch (const std::bad_alloc&) {
    fail(client, request.type, "out of memory");
  } catch (const Json::exception&) {
    fail(client, request.type, "the message, or what it refers to, is not as it should be");
  } catch (const std::exception& error) {
    fail(client, request.type, error.what());
  }
  tell_released(hands);
}

void Session::tell_released(const std::vector<LiveScene::Hand>& before) {
  const std::vector<LiveScene::Hand> after = hands_of(show_.get());
  for (const LiveScene::Hand& hand : before)
    if (std::find(after.begin(), after.end(), hand) == after.end())
      carrier_->send_text_to_all(dump({{"type", "released"}, {"hand", hand.second}}));
}

LiveScene& Session::live() {
  auto* live = dynamic_cast<LiveScene*>(show_.get());
  if (!live)
    throw InputError(show_ ? "a finished run can only be played; open its scene to change anything"
                           : "there is no scene; open one");
  return *live;
}

void Session::answer(ClientId client, const Request& request) {
  is_changed_ = is_changed_ ||
                !(std::holds_alternative<ask::Ping>(request.what) ||
                  std::holds_alternative<ask::Scenes>(request.what) || std::holds_alternative<ask::Seen>(request.what));
  std::visit(Overloaded{
                 [&](const ask::Seen&) {},
                 [&](const ask::Ping&) {
                   carrier_->send_text(client, dump({{"type", "pong"}, {"stamp", request.stamp.value_or(0)}}));
                 },
                 [&](const ask::Scenes&) { carrier_->send_text(client, scenes_message()); },
                 [&](const ask::Open& ask) {
                   show_ = opened(ask.scene, ask.solver);
                   trouble_.clear();
                   published_show_ = nullptr;
                   playing_ = true;
                   steps_to_take_ = 0;
                 },
                 [&](const ask::Play&) {
                   if (!show_) throw InputError("there is no scene; open one");
                   show_->play_again();
                   playing_ = true;
                   steps_to_take_ = 0;
                 },
                 [&](const ask::Pause&) {
                   playing_ = false;
                   steps_to_take_ = 0;
                 },
                 [&](const ask::Reset&) {
                   if (!show_) throw InputError("there is no scene; open one");
                   show_->reset();
                 },
                 [&](const ask::Step& ask) {
                   if (!show_) throw InputError("there is no scene; open one");
                   show_->play_again();
                   playing_ = false;
                   steps_to_take_ = ask.count;
                 },
                 [&](const ask::Speed& ask) { speed_ = ask.value; },
                 [&](const ask::TimeStep& ask) { live().set_time_step(ask.seconds); },
                 [&](const ask::Gravity& ask) { live().set_gravity(ask.value); },
                 [&](const ask::Stiffness& ask) { live().set_stiffness(ask.body, ask.scale); },
                 [&](const ask::Solver& ask) { live().set_solver(ask.view, ask.name, ask.parameters); },
                 [&](const ask::Compare& ask) { live().set_compare(ask.on, ask.name, ask.parameters); },
                 [&](const ask::ColourBy& ask) { colour_ = ask.colour; },
                 [&](const ask::Strength& ask) { live().set_strength(ask.value); },
                 [&](const ask::Grab& ask) {
                   const LiveScene::Hand hand{client, ask.hand};
                   if (const LiveScene::Holding* held = live().grab(hand, ask))
                     carrier_->send_text(client,
                                         dump({{"type", "grabbed"},
                                               {"hand", ask.hand},
                                               {"view", held->view},
                                               {"body", held->body},
                                               {"point", view::to_json(held->grab.point(live().state(held->view).x))},
                                               {"triangle", held->at.triangle},
                                               {"weights", held->at.weights}}));
                   else
                     carrier_->send_text(client, dump({{"type", "missed"}, {"hand", ask.hand}}));
                 },
                 [&](const ask::Move& ask) {
                   live().move({client, ask.hand}, ask.target);
                 },
                 [&](const ask::Release& ask) {
                   live().release({client, ask.hand});
                 },
                 [&](const ask::Pin& ask) { live().pin(ask); },
                 [&](const ask::Unpin& ask) { live().unpin(ask); },
                 [&](const ask::UnpinAll&) { live().unpin_all(); },
                 [&](const ask::Cut& ask) { live().cut(ask); },
                 [&](const ask::SaveState&) {
                   std::string bytes(4, '\0');
                   bytes[0] = static_cast<char>(MessageKind::state);
                   carrier_->send_binary(client, bytes + live().save());
                 },
                 [&](const ask::LoadState& ask) {
                   const std::string_view bytes = std::string_view(ask.bytes).substr(4);
                   const std::string path = LiveScene::path_of_saved(bytes);
                   std::unique_ptr<Show> show = opened(path.empty() ? std::nullopt : std::optional(path), "");
                   auto* fresh = dynamic_cast<LiveScene*>(show.get());
                   if (!fresh) throw InputError("the saved state belongs to a scene that is not open here");
                   fresh->restore(bytes);
                   show_ = std::move(show);
                   trouble_.clear();
                   published_show_ = nullptr;
                   playing_ = false;
                   steps_to_take_ = 0;
                 },
                 [&](const ask::Seek& ask) {
                   auto* film = dynamic_cast<Film*>(show_.get());
                   if (!film) throw InputError("seeking works in finished runs only; a simulation only moves forward");
                   film->seek(ask.frame);
                 },
                 [&](const ask::Arrive&) {
                   ++clients_;
                   carrier_->send_text(client, hello_message());
                   carrier_->send_text(client, scenes_message());
                   publish();
                   carrier_->welcome(client);
                   begun_ = true;
                 },
                 [&](const ask::Leave&) {
                   --clients_;
                   if (auto* scene = dynamic_cast<LiveScene*>(show_.get()))
                     for (const LiveScene::Hand& hand : hands_of(scene))
                       if (hand.first == client) scene->release(hand);
                 },
             },
             request.what);
}

void Session::publish() {
  is_changed_ = false;
  // While it runs, what was asked for takes effect with the next step.
  if (!(playing_ || steps_to_take_ > 0) || !begun_) stamp_ = asked_stamp_;
  Latest next = latest();
  if (!next.setting || show_.get() != published_show_ || (show_ && show_->revision() != published_revision_)) {
    auto setting = std::make_shared<Setting>();
    setting->revision = ++revision_;
    setting->scene = dump(with_type("scene", show_ ? show_->describe() : describe_nothing()));
    setting->topology = encode_topology(show_ ? show_->surface() : Surface{}, revision_);
    if (show_ && !show_->skin().empty()) setting->skin = encode_skin(show_->skin(), revision_);
    setting->obstacles = encode_obstacles(show_ ? show_->obstacles() : std::vector<TriangleMesh>{});
    published_show_ = show_.get();
    published_revision_ = show_ ? show_->revision() : 0;
    next.setting = std::move(setting);
    next.frame.reset();
  }
  Json play = {{"type", "play"}, {"playing", playing_}, {"speed", speed_}};
  if (show_)
    play.update(show_->settings());
  else
    play.update(Json{{"time_step", 0},
                     {"gravity", Json::array({0, 0, 0})},
                     {"stiffness", Json::array()},
                     {"strength", 100},
                     {"compare", false},
                     {"pins", 0},
                     {"cuts", 0},
                     {"frame", 0},
                     {"views", Json::array()}});
  play["colour"] = colour_ == Colour::none ? Json(nullptr) : Json(info(colour_).name);
  play["trouble"] = trouble_.empty() ? Json(nullptr) : Json(trouble_);
  std::string text = dump(play);
  if (!next.play || *next.play != text) next.play = std::make_shared<const std::string>(std::move(text));

  if (show_ && (clients_ > 0 || !next.frame)) {
    auto frame = std::make_shared<Frame>();
    frame->number = ++frame_;
    Json telemetry = {{"type", "telemetry"}, {"frame", frame_}, {"stamp", stamp_}};
    const double pause = show_->step_seconds();
    telemetry["budget_ms"] = 1e3 * pause / (speed_ > 0 ? speed_ : 1);
    const double span = step_times_.size() > 1 ? duration<double>(step_times_.back() - step_times_.front()).count() : 0;
    telemetry["simulated_per_second"] = span > 0 ? static_cast<double>(step_times_.size() - 1) / span : 0;
    telemetry["step_ms"] = step_ms_;
    telemetry.update(show_->telemetry());
    frame->telemetry = dump(telemetry);
    const auto views = static_cast<std::uint8_t>(show_->views());
    for (std::uint8_t v = 0; v < views; ++v)
      frame->views.push_back(encode_frame({v, views, colour_, frame_, revision_, stamp_}, show_->draw(v, colour_)));
    next.frame = std::move(frame);
  }
  {
    const std::lock_guard lock(mutex_);
    latest_ = std::move(next);
  }
  if (carrier_) carrier_->on_news();
}

std::vector<std::string> Session::scene_files() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(options_.scenes, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(error) && it->path().extension() == ".toml")
      names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string Session::scenes_message() const {
  Json scenes = Json::array();
  for (const std::string& name : scene_files()) {
    std::string title;
    try {
      const Value tree = read_toml(options_.scenes / name);
      if (const Value* text = tree.find("title"); text && text->is_text()) title = text->text();
    } catch (const InputError&) {
      title = "(cannot be read)";
    }
    scenes.push_back({{"path", name}, {"title", title}});
  }
  return dump({{"type", "scenes"}, {"scenes", std::move(scenes)}});
}

/// A scene is opened by the name that the picker gave it, never by a path.
std::unique_ptr<Show> Session::opened(const std::optional<std::string>& scene, const std::string& solver) const {
  if (!scene) {
    if (Film::is_result(options_.given)) return std::make_unique<Film>(options_.given, options_.other);
    SceneChanges changes = options_.changes;
    if (!solver.empty()) changes.solver = solver;
    std::error_code error;
    const std::string name = options_.given.filename().string();
    const bool is_listed = changes.set.empty() && fs::equivalent(options_.given, options_.scenes / name, error);
    return std::make_unique<LiveScene>(load_scene(options_.given, changes), is_listed ? name : "");
  }
  const std::vector<std::string> names = scene_files();
  if (std::find(names.begin(), names.end(), *scene) == names.end())
    throw InputError(fmt::format("there is no scene '{}' in {}", scene->substr(0, 100), options_.scenes.string()));
  return std::make_unique<LiveScene>(load_scene(options_.scenes / *scene, {{}, solver}), *scene);
}

}  // namespace pliant::view
