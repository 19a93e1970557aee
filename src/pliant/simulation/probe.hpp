#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pliant/simulation/simulation.hpp"

namespace pliant {

/// What the probes of a scene look at in its model, and what they see there: one number for each column. A cut makes
/// another model, and needs another set. Of a part of a larger model, which its scene then selects from, all processes
/// make and sample it together, and see what there is to see in the whole.
class ProbeSet {
 public:
  /// Throws InputError for selections that hold nothing of what a probe records.
  ProbeSet(const Scene& scene, std::shared_ptr<const Model> model);

  bool empty() const { return probes_.empty(); }
  /// The names of the columns with their units: "tip.displacement_x (m)". The same for every model of a scene.
  const std::vector<std::string>& columns() const { return columns_; }
  /// Their values at the state of the simulation, whose model is this one. Reactions and contact forces are those of
  /// the step that led there, NaN before the first.
  std::vector<double> sample(Simulation& simulation) const;
  const std::shared_ptr<const Model>& model() const { return model_; }

 private:
  struct Probe {
    std::string name;
    std::size_t body = 0;         ///< of the model
    std::vector<Index> nodes;     ///< global; of a part of a larger model, those that count there
    double count = 0;             ///< of these nodes in all parts
    std::vector<Index> elements;  ///< of the body
    FaceSet cavity;
    std::vector<ProbeQuantity> quantities;
    Range ties = {0, 0};  ///< in place of nodes
  };
  /// Sums over the elements of a probe.
  struct Elements {
    Mat3 stress = Mat3::Zero();  ///< the integral of Cauchy's, J
    double volume = 0;           ///< m^3
    double energy = 0;           ///< J
  };
  void sample_ties(const Probe& probe, const State& state, std::vector<double>& values) const;
  Elements sum_elements(const Probe& probe, const State& state) const;
  Vec3 sum_nodes(const Probe& probe, const VecX& v) const;

  std::shared_ptr<const Model> model_;
  std::vector<Probe> probes_;
  std::vector<std::string> columns_;
};

}  // namespace pliant
