#pragma once

#include <chrono>
#include <map>
#include <memory>

#include "pliant/simulation/probe.hpp"
#include "pliant/simulation/simulation.hpp"
#include "pliant/simulation/visual_mesh.hpp"
#include "pliant/view/request.hpp"
#include "pliant/view/show.hpp"

namespace pliant::view {

/// A scene that runs under one or two solvers, and everything a hand may do to it. Each view is a Simulation; they
/// share the model, which a change replaces by another for all of them, carrying the states over. On an exception
/// (InputError, for people) nothing has changed.
class LiveScene final : public Show {
 public:
  /// `path` is what the scene picker calls it; empty: it cannot be opened again.
  LiveScene(Scene scene, std::string path);

  Json describe() const override;
  const Surface& surface() const override { return surface_; }
  const Skin& skin() const override { return skin_; }
  std::uint32_t revision() const override { return revision_; }
  std::vector<TriangleMesh> obstacles() const override;
  int views() const override { return static_cast<int>(views_.size()); }
  Drawing draw(int view, Colour colour) override;
  Json telemetry() override;
  Json settings() const override;
  bool advance(StepControl* control = nullptr) override;
  double step_seconds() const override { return scene().dt; }
  void play_again() override;
  void reset() override;

  void set_time_step(double seconds);
  void set_gravity(const Vec3& gravity);
  void set_stiffness(int body, double scale);
  void set_solver(int view, const std::string& name, const std::optional<ParameterMap>& parameters);
  void set_compare(bool on, const std::string& name, const std::optional<ParameterMap>& parameters);
  void set_strength(double strength);

  /// Which hand of which client.
  using Hand = std::pair<std::int64_t, int>;
  struct Holding {
    Grab grab;
    std::string body;
    SurfacePoint at;
    int view = 0;
  };
  /// Null when the ray meets nothing.
  const Holding* grab(Hand hand, const ask::Grab& ask);
  void move(Hand hand, const Vec3& target);
  void release(Hand hand);
  const std::map<Hand, Holding>& hands() const { return hands_; }

  void pin(const ask::Pin& ask);
  void unpin(const ask::Unpin& ask);
  void unpin_all();
  void cut(const ask::Cut& ask);

  /// The bytes of a saved state, behind the message's first four, and back. `restore` expects a scene as it was opened.
  std::string save() const;
  void restore(std::string_view bytes);
  /// The path of the scene that a saved state belongs to; throws InputError when it is damaged.
  static std::string path_of_saved(std::string_view bytes);

  const Model& model() const { return *views_[0].simulation.model(); }
  const State& state(int view) const { return views_[static_cast<std::size_t>(view)].state(); }
  const std::string& trouble(int view) const { return views_[static_cast<std::size_t>(view)].trouble; }
  const std::string& path() const { return path_; }

 private:
  struct View {
    explicit View(Simulation s) : simulation(std::move(s)) {}
    const State& state() const { return *simulation.state(); }
    const SceneSolver& solver() const { return simulation.scene().solver; }

    Simulation simulation;
    StepReport report;
    std::string trouble;  ///< why it stands still; empty: it does not
    ColourRange range;
    Json energy;
    std::chrono::steady_clock::time_point energy_time;
  };
  /// A cut that was made: one of the scene's, by number, or a plane.
  struct MadeCut {
    int of_scene = -1;
    SceneCut cut;
  };
  struct Place {
    SurfacePoint at;
    std::array<Index, 3> nodes;
    std::array<double, 3> weights = {};  ///< of the nodes
    std::size_t body = 0;
    Vec3 point;  ///< m, where it is now
  };

  /// As it is after cuts and changes; the solver is the first view's.
  const Scene& scene() const { return views_[0].simulation.scene(); }
  /// Those made by hand.
  const std::vector<Hold>& pins() const { return views_[0].simulation.holds(); }
  /// One simulation for each view, all of the same model.
  void adopt(std::vector<Simulation> simulations);
  void show_new_model();
  void find_skin();
  enum class Gathering { mean, most };
  std::vector<double> colours_of_elements(std::span<const double> of_elements, Gathering gathering) const;
  void gather(const VecX& x, bool are_positions, std::vector<Vec3>& vectors) const;
  /// The same bodies and nodes, with other properties.
  void change(Scene scene, std::vector<Hold> pins);
  std::vector<SolverFit> fits() const;
  SceneSolver chosen(const std::string& name, const std::optional<ParameterMap>& parameters) const;
  void make_cut(const SceneCut& cut, int of_scene);
  void make_due_cuts();
  void step(View& view, StepControl* control);
  std::optional<Place> find(int view, const Pointed& pointed) const;
  void hold_frame(const Body& body, Place& place) const;
  std::vector<Index> patch(const Place& place, const std::optional<double>& radius) const;
  void hold();
  void check_view(int view) const;

  std::string path_;
  Scene opened_;                     ///< as it was given, without its cuts
  std::vector<SceneCut> scheduled_;  ///< those
  std::size_t next_scheduled_ = 0;
  std::vector<MadeCut> cuts_;
  std::vector<double> stiffness_;
  double strength_ = 100;
  std::vector<View> views_;  ///< never empty
  SceneSolver second_;       ///< what view 1 had last; without parameters: nothing
  std::map<Hand, Holding> hands_;
  Surface surface_;
  std::vector<VisualMesh> visual_;
  std::vector<std::shared_ptr<const TetMesh>> dressed_;  ///< the meshes that these move with, by body
  Skin skin_;
  std::optional<ProbeSet> probes_;
  std::uint32_t revision_ = 0;
};

}  // namespace pliant::view
