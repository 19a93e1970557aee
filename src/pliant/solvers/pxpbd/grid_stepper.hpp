#pragma once

#include <optional>

#include "pliant/sim/incremental_potential.hpp"
#include "pliant/sim/stepper.hpp"
#include "pliant/solvers/pxpbd/contact_forces.hpp"
#include "pliant/solvers/pxpbd/correction.hpp"
#include "pliant/solvers/pxpbd/local_update.hpp"
#include "pliant/solvers/pxpbd/spring_forces.hpp"

namespace pliant {

struct GridPxpbdOptions {
  std::string name = "grid-b-pxpbd";
  pbd::LocalOptions local{pbd::Method::blended};
  double spacing = 0;  ///< of the grid, m; 0: the longest edge of a tetrahedron, on average
  double cfl = 0.4;    ///< cells that a vertex may cross in a substep
  int iterations = 20;
  int most_substeps = 1000;  ///< of a step
  pbd::CorrectionOptions correction{.kind = pbd::CorrectionKind::contact};
  bool history = false;
};

/// Position-based dynamics on a background grid (pxpbd, section 5.5): the unknowns of a substep are the nodes of a grid
/// that is laid under the bodies anew, the meshes' vertices are carried along by trilinear interpolation. All bodies
/// move in one continuous velocity field and so cannot pass through each other or themselves. What it solves is over
/// the grid's unknowns: its own residuals are figures of the report beside the common ones.
///
/// With [contact] surfaces push at the vertices, and through them at the grid nodes of their cells. A step may be ended
/// over the vertices: Correction.
class GridPxpbdStepper final : public Stepper {
 public:
  GridPxpbdStepper(std::shared_ptr<const Model> model, const GridPxpbdOptions& options);
  std::string_view name() const override { return options_.name; }
  /// The colours of the last substep, which the next begins with, and what the correction remembers.
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;
  double spacing() const { return grid_.spacing(); }
  /// The number of colours in the last substep.
  Index colours() const { return elements_.colours(); }

 protected:
  void advance(Solution& solution, StepReport& report) override;
  std::string remedy() const override;

 private:
  /// A node in an obstacle or less than half a cell from it, which may not come nearer: (x - x^0) . n >= depth.
  struct Contact {
    Index node;
    std::size_t collider;
    Vec3 normal;
    Vec3 surface;     ///< by which the obstacle moves there in the substep, m
    double push = 0;  ///< by which the node was pushed out so far, m
  };

  void take_substeps(State& moved, StepReport& report);
  double substep_length(const State& state, double remaining) const;
  bool substep(State& state, double h, IterationRecord& record, StepReport& report);
  void prepare_nodes(const State& state, double h);
  void prepare_boundary(const State& state, double h);
  void prepare_contacts(double time, double h);
  void prepare_elements();
  void sweep();
  void gather(const pbd::ElementBatch& batch, Batch9& F);
  void scatter(const pbd::ElementBatch& batch, const Batch9& Q);
  void push_out();
  pbd::Unknowns unknowns() { return {nodes_.data(), axes_.data()}; }
  void contact_round();
  void finish_contact(StepReport& report);
  void measure(IterationRecord& record);
  void end_substep(State& state, double h);

  GridPxpbdOptions options_;
  pbd::Elements elements_;
  std::unique_ptr<pbd::LocalUpdate> local_;
  pbd::BackgroundGrid grid_;
  pbd::VelocityGradients gradients_;
  double h_ = 0;
  BoundaryState boundary_;
  std::vector<double> activation_;
  VecX damped_;                  ///< velocities of the vertices, slowed down by damping
  std::vector<Mat3> C_;          ///< per vertex, 1/s
  std::vector<double> mass_;     ///< per grid node, kg
  std::vector<Vec3> velocity_;   ///< per grid node
  std::vector<double> nodes_;    ///< x, y, z, 1/m per grid node
  std::vector<double> axes_;     ///< 0 where a grid node is held along an axis
  std::vector<Vec3> predicted_;  ///< x~ per grid node
  std::vector<Contact> contacts_;
  pbd::SpringForces springs_;
  std::optional<pbd::ContactForces> contact_;        ///< between surfaces, where the model has that
  std::unique_ptr<IncrementalPotential> potential_;  ///< of a substep, for contact
  std::optional<pbd::Correction> correction_;
  Iterate swept_;                                ///< where the substeps ended
  std::vector<double> vertices_;                 ///< x, y, z, unused per vertex: interpolated
  std::vector<Index> colours_;                   ///< of each element, kept as the next guess
  std::vector<Index> stencil_start_, stencils_;  ///< grid nodes of each element
  std::vector<Vec3> stencil_gradients_;          ///< of F by each of them

  // Scratch, kept between substeps.
  struct Held {
    double weight = 0, displacement = 0;
  };
  struct Measured {
    std::vector<double> stress, multiplier;  ///< forces on the vertices
    std::vector<double> secondary, energy;   ///< of each batch
    std::vector<Vec3> truth, primal;         ///< residuals of the grid nodes
  };
  std::vector<Held> held_;  ///< of each axis of each grid node
  std::vector<Vec3> force_;
  std::vector<Index> slots_;
  std::vector<Vec3> slot_gradients_;
  Measured measured_;
};

}  // namespace pliant
