#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pliant/solvers/catalogue.hpp"
#include "pliant/view/encode.hpp"

namespace pliant::view {

// What a client may ask for, docs/viewer-protocol.md, checked as far as it can be without the scene at hand.

struct Ray {
  Vec3 eye, direction;  ///< the direction is not zero
};
struct SurfacePoint {
  Index triangle = 0;
  std::array<double, 3> weights = {1, 0, 0};  ///< not negative, sum 1
};
/// A point of a surface that someone points at.
using Pointed = std::variant<Ray, SurfacePoint>;

/// What numbers of requests, and of saved states, must lie within.
namespace limits {

inline constexpr double kFarthest = 1e9;                               ///< m: what anyone can point at
inline constexpr double kGreatestRadius = 1e6;                         ///< m
inline constexpr double kLeastTimeStep = 1e-6, kGreatestTimeStep = 1;  ///< s
inline constexpr double kGreatestGravity = 1e4;                        ///< m/s^2
inline constexpr double kLeastStiffness = 1e-3, kGreatestStiffness = 1e3;
inline constexpr double kLeastStrength = 0.1, kGreatestStrength = 1e5;

}  // namespace limits

namespace ask {

struct Seen {
  std::uint32_t frame;
};
struct Ping {};
struct Scenes {};
struct Open {
  std::optional<std::string> scene;  ///< none: the one given when the program was started
  std::string solver;                ///< empty: the scene's
};
struct Play {};
struct Pause {};
struct Reset {};
struct Step {
  int count;
};
struct Speed {
  double value;
};
struct TimeStep {
  double seconds;
};
struct Gravity {
  Vec3 value;
};
struct Stiffness {
  int body;
  double scale;
};
struct Solver {
  int view;
  std::string name;
  std::optional<ParameterMap> parameters;
};
struct Compare {
  bool on;
  std::string name;  ///< empty: whatever view 1 had last, or a guess
  std::optional<ParameterMap> parameters;
};
struct ColourBy {
  Colour colour;
};
struct Strength {
  double value;
};
struct Grab {
  int hand, view;
  Pointed at;
  std::optional<Vec3> target;
};
struct Move {
  int hand;
  Vec3 target;
};
struct Release {
  int hand;
};
struct Pin {
  int view;
  Pointed at;
  std::optional<double> radius;
};
struct Unpin {
  int view;
  Pointed at;
  std::optional<double> radius;
};
struct UnpinAll {};
struct Cut {
  Vec3 point, normal;
  bool is_now;  ///< where things are, in place of where they rest
  int view;
  std::optional<int> body;
  std::optional<double> radius;
};
struct SaveState {};
struct LoadState {
  std::string bytes;
};
struct Seek {
  std::int64_t frame;
};
/// Not in the protocol: a client has come, or gone.
struct Arrive {};
struct Leave {};

}  // namespace ask

struct Request {
  std::variant<ask::Seen, ask::Ping, ask::Scenes, ask::Open, ask::Play, ask::Pause, ask::Reset, ask::Step, ask::Speed,
               ask::TimeStep, ask::Gravity, ask::Stiffness, ask::Solver, ask::Compare, ask::ColourBy, ask::Strength,
               ask::Grab, ask::Move, ask::Release, ask::Pin, ask::Unpin, ask::UnpinAll, ask::Cut, ask::SaveState,
               ask::LoadState, ask::Seek, ask::Arrive, ask::Leave>
      what;
  std::string type;  ///< as the client called it
  std::optional<std::uint32_t> stamp;
  std::size_t bytes = 0;  ///< of the message, which it keeps about as many of
};

/// A message that cannot be understood; `type` is what could be read of it.
class BadRequest : public std::runtime_error {
 public:
  BadRequest(std::string type, const std::string& message) : std::runtime_error(message), type_(std::move(type)) {}
  const std::string& type() const { return type_; }

 private:
  std::string type_;
};

/// Throw BadRequest with words for people.
Request parse_text(std::string_view text);
Request parse_binary(std::string bytes);

}  // namespace pliant::view
