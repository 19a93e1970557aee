#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pliant/base/step_control.hpp"
#include "pliant/view/encode.hpp"

namespace pliant::view {

using Json = nlohmann::ordered_json;

/// What a session shows: a simulation that runs, or the film of one that has.
class Show {
 public:
  virtual ~Show() = default;

  /// The fields of a `scene` message.
  virtual Json describe() const = 0;
  virtual const Surface& surface() const = 0;
  virtual const Skin& skin() const = 0;
  /// Changes whenever surface, skin, obstacles or description do.
  virtual std::uint32_t revision() const = 0;
  virtual std::vector<TriangleMesh> obstacles() const = 0;

  virtual int views() const = 0;
  virtual Drawing draw(int view, Colour colour) = 0;
  /// The fields of a `telemetry` message that are the show's to know.
  virtual Json telemetry() = 0;
  /// The fields of a `play` message that are.
  virtual Json settings() const = 0;

  /// Goes one step on, unless the control ends it before. False: it stands still and will do so again.
  virtual bool advance(StepControl* control = nullptr) = 0;
  /// What the next step takes in real time, s.
  virtual double step_seconds() const = 0;
  /// Called when someone asks it to play: a view that stood still tries again, a film at its end begins again.
  virtual void play_again() = 0;
  virtual void reset() = 0;
};

/// Null for what JSON has no number for.
inline Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
inline Json to_json(const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); }

/// The colours that a body has no values of: what is rigid does not stretch, and of springs and shells only stretch is
/// measured.
inline Json uncoloured(bool is_rigid, bool is_solid) {
  Json names = Json::array();
  if (is_rigid || !is_solid) names.push_back("stress");
  if (is_rigid) names.push_back("stretch");
  return names;
}

/// The range of colours follows what it shows: at once upwards, slowly down, so that it does not flicker.
class ColourRange {
 public:
  /// Sets the drawing's range for its values.
  void follow(Colour colour, Drawing& drawing);

 private:
  Colour colour_ = Colour::none;
  double high_ = 0;
};

}  // namespace pliant::view
