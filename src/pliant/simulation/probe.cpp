#include "pliant/simulation/probe.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "pliant/base/error.hpp"
#include "pliant/sim/sharing.hpp"
#include "pliant/sim/surface_faces.hpp"

namespace pliant {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Name and unit of what a quantity has in each of its columns.
std::vector<std::string> columns_of(ProbeQuantity quantity) {
  const auto vector = [](const char* name, const char* unit) {
    std::vector<std::string> list;
    for (char axis : {'x', 'y', 'z'}) list.push_back(fmt::format("{}_{} ({})", name, axis, unit));
    return list;
  };
  switch (quantity) {
    case ProbeQuantity::position:
      return vector("position", "m");
    case ProbeQuantity::displacement:
      return vector("displacement", "m");
    case ProbeQuantity::velocity:
      return vector("velocity", "m/s");
    case ProbeQuantity::reaction:
      return vector("reaction", "N");
    case ProbeQuantity::contact_force:
      return vector("contact_force", "N");
    case ProbeQuantity::stress: {
      std::vector<std::string> list;
      for (const char* pair : {"xx", "yy", "zz", "xy", "yz", "zx"}) list.push_back(fmt::format("stress_{} (Pa)", pair));
      list.emplace_back("von_mises (Pa)");
      return list;
    }
    case ProbeQuantity::volume:
      return {"volume (m^3)"};
    case ProbeQuantity::cavity:
      return {"cavity (m^3)"};
    case ProbeQuantity::energy:
      return {"elastic_energy (J)", "kinetic_energy (J)"};
    case ProbeQuantity::force:
      return vector("force", "N");
    case ProbeQuantity::length:
      return {"length (m)"};
  }
  return {};
}

bool is_of_elements(ProbeQuantity quantity) {
  return quantity == ProbeQuantity::stress || quantity == ProbeQuantity::volume || quantity == ProbeQuantity::energy;
}

template <class Test>
bool has_any(const SceneProbe& probe, Test&& test) {
  return std::any_of(probe.quantities.begin(), probe.quantities.end(), test);
}

/// Elements, or springs, whose nodes are all selected.
std::vector<Index> elements_of(const Body& body, const std::vector<Index>& nodes) {
  const Stencils& stencils = body.energy().stencils();
  std::vector<Index> found;
  for (Index e = 0; e < stencils.count(); ++e)
    if (std::all_of(stencils[e], stencils[e] + stencils.size,
                    [&](Index i) { return std::binary_search(nodes.begin(), nodes.end(), i); }))
      found.push_back(e);
  return found;
}

/// A part of the scene that its reader has found to be there.
Range ties_of(const Model& model, TieGroup::Kind kind, const std::string& name) {
  const auto& groups = model.tie_groups();
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const TieGroup& group) { return group.kind == kind && group.name == name; });
  return found == groups.end() ? Range{0, 0} : found->ties;
}

/// The body of a scene in its model, or in a part of it, which may have none of it.
std::size_t number_of(const Scene& scene, const Model& model, std::size_t body) {
  if (!model.sharing()) return body;
  std::size_t number = 0;
  while (number < model.bodies().size() && model.bodies()[number].name != scene.bodies[body].name) ++number;
  return number;
}

}  // namespace

ProbeSet::ProbeSet(const Scene& scene, std::shared_ptr<const Model> model) : model_(std::move(model)) {
  for (const SceneProbe& from : scene.probes) {
    for (ProbeQuantity quantity : from.quantities)
      for (const std::string& column : columns_of(quantity)) columns_.push_back(from.name + "." + column);
    if (from.tie_kind) {
      const Range ties = ties_of(*model_, *from.tie_kind, from.tie);
      if (ties.size() == 0)
        throw InputError(
            fmt::format("{}probe '{}': what it looks at, '{}', is no tie of bodies; one to a [[link]] "
                        "moves with it and has no force of its own",
                        from.origin.empty() ? "" : from.origin + ": ", from.name, from.tie));
      probes_.push_back({from.name, 0, {}, 0, {}, {}, from.quantities, ties});
      continue;
    }
    Sharing* sharing = model_->sharing();
    const std::size_t number = number_of(scene, *model_, from.body);
    if (number == model_->bodies().size()) {  // all of it is elsewhere
      probes_.push_back({from.name, 0, {}, sharing->sum(0.0), {}, {}, from.quantities, {0, 0}});
      continue;
    }
    const Body& body = model_->bodies()[number];
    const auto fail = [&](const std::string& what) {
      throw InputError(fmt::format("{}probe '{}': {}", from.origin.empty() ? "" : from.origin + ": ", from.name, what));
    };
    std::vector<Index> vertices;
    try {
      vertices = select(from.where, body);
    } catch (const InputError& error) {
      fail(error.what());
    }
    if (vertices.empty() && !sharing)
      fail(fmt::format("'where' = {} selects no vertex of body '{}'", from.where.text, body.name));
    Probe probe{from.name, number, body.nodes_of(vertices), 0, {}, {}, from.quantities, {0, 0}};
    for (Index& i : probe.nodes) i += body.nodes.begin;
    std::sort(probe.nodes.begin(), probe.nodes.end());
    if (has_any(from, is_of_elements)) {
      probe.elements = elements_of(body, probe.nodes);
      if (probe.elements.empty() && !sharing)
        fail(
            fmt::format("no element of body '{}' has all its nodes in the selection, and stress, volume and energy are "
                        "those of elements; enlarge it",
                        body.name));
      if (!body.is_solid() &&
          has_any(from, [](ProbeQuantity q) { return q == ProbeQuantity::stress || q == ProbeQuantity::volume; }))
        fail(fmt::format("body '{}' is {}, which has no stress and no volume here", body.name,
                         body.shell ? "a shell"
                         : body.rod ? "a rod"
                                    : "a network of springs"));
    }
    if (has_any(from, [](ProbeQuantity q) { return q == ProbeQuantity::cavity; })) {
      if (body.rigid) fail(fmt::format("body '{}' is rigid, and has no cavity that could change", body.name));
      if (body.surface().empty()) fail(fmt::format("body '{}' has no surface, and so no cavity", body.name));
      probe.cavity = surface_faces(body, vertices);
      if (!probe.cavity.is_closed())
        fail("'cavity' needs a closed wall, and the selected faces have a rim; select all of it, such as \"inner\"");
    }
    if (sharing) std::erase_if(probe.nodes, [&](Index i) { return !sharing->owned()[at(i)]; });
    probe.count = total(sharing, static_cast<double>(probe.nodes.size()));
    probes_.push_back(std::move(probe));
  }
}

ProbeSet::Elements ProbeSet::sum_elements(const Probe& probe, const State& state) const {
  Elements sums;
  const bool asks = std::any_of(probe.quantities.begin(), probe.quantities.end(), is_of_elements);
  const Pose pose(state.x, state.activation, state.time);
  for (Index e : probe.elements) {
    const Body& body = model_->bodies()[probe.body];
    double energy = 0;
    body.energy().evaluate(pose, {e, e + 1}, &energy, nullptr);
    sums.energy += energy;
    if (!body.is_solid()) continue;
    Mat3 F, P;
    body.elastic->stresses(pose, {e, e + 1}, &F, &P);
    const double volume = body.elements->volumes()[at(e)];
    sums.stress += volume * P * F.transpose();  // of Cauchy's stress P F^T / J over the present volume J V
    sums.volume += volume * F.determinant();
  }
  if (Sharing* sharing = model_->sharing(); sharing && asks) {
    sharing->sum(std::span(sums.stress.data(), 9));
    sums.volume = sharing->sum(sums.volume);
    sums.energy = sharing->sum(sums.energy);
  }
  return sums;
}

Vec3 ProbeSet::sum_nodes(const Probe& probe, const VecX& v) const {
  Vec3 sum = Vec3::Zero();
  for (Index i : probe.nodes) sum += node(v, i);
  if (Sharing* sharing = model_->sharing()) sharing->sum(std::span(sum.data(), 3));
  return sum;
}

/// Forces are sums over the ties, with that of their damping at the present velocities; lengths are means.
void ProbeSet::sample_ties(const Probe& probe, const State& state, std::vector<double>& values) const {
  Vec3 force = Vec3::Zero();
  double length = 0;
  for (Index t = probe.ties.begin; t < probe.ties.end; ++t) {
    const Tie& tie = model_->ties()->ties()[at(t)];
    force += TieEnergy::force(tie, state.x, state.time);
    Vec3 rate = Vec3::Zero();
    for (std::size_t a = 0; a < tie.nodes.size(); ++a) rate += tie.weights[a] * node(state.v, tie.nodes[a]);
    if (tie.damping > 0) force -= tie.damping * TieDamping::directions(tie, state.x, state.time) * rate;
    length += tie.difference(state.x, state.time).norm() / static_cast<double>(probe.ties.size());
  }
  for (ProbeQuantity quantity : probe.quantities)
    if (quantity == ProbeQuantity::force)
      values.insert(values.end(), force.begin(), force.end());
    else
      values.push_back(length);
}

std::vector<double> ProbeSet::sample(Simulation& simulation) const {
  std::vector<double> values;
  const State& state = *simulation.state();
  const auto add = [&](const Vec3& v) { values.insert(values.end(), v.begin(), v.end()); };
  const bool reacts = std::any_of(probes_.begin(), probes_.end(), [](const Probe& probe) {
    return std::find(probe.quantities.begin(), probe.quantities.end(), ProbeQuantity::reaction) !=
           probe.quantities.end();
  });
  const std::optional<VecX> supports = reacts ? simulation.stepper().support_forces() : std::nullopt;
  for (const Probe& probe : probes_) {
    if (probe.ties.size() > 0) {
      sample_ties(probe, state, values);
      continue;
    }
    const double share = 1 / probe.count;
    const Elements elements = sum_elements(probe, state);
    for (ProbeQuantity quantity : probe.quantities) switch (quantity) {
        case ProbeQuantity::position:
          add(share * sum_nodes(probe, state.x));
          break;
        case ProbeQuantity::displacement:
          add(share * sum_nodes(probe, state.x - model_->rest()));
          break;
        case ProbeQuantity::velocity:
          add(share * sum_nodes(probe, state.v));
          break;
        case ProbeQuantity::reaction:
          add(supports ? sum_nodes(probe, *supports) : Vec3(Vec3::Constant(kUnknown)));
          break;
        case ProbeQuantity::contact_force: {
          std::optional<VecX> forces;
          for (const NodeValues& field : simulation.stepper().node_values())
            if (field.name == "contact_force" && state.step > 0)
              forces = Eigen::Map<const VecX>(field.values.data(), static_cast<Eigen::Index>(field.values.size()));
          Vec3 force = Vec3::Constant(state.step > 0 && !model_->contact() ? 0 : kUnknown);
          if (anywhere(model_->sharing(), forces.has_value()))
            force = sum_nodes(probe, forces ? *forces : VecX(VecX::Zero(state.x.size())));
          add(force);
          break;
        }
        case ProbeQuantity::cavity:
          values.push_back(std::abs(probe.cavity.volume(state.x, probe.cavity.mean(state.x))));
          break;
        case ProbeQuantity::stress: {
          const Mat3 mean = elements.stress / elements.volume, deviator = mean - mean.trace() / 3 * Mat3::Identity();
          add(mean.diagonal());
          add({mean(0, 1), mean(1, 2), mean(2, 0)});
          values.push_back(std::sqrt(1.5) * deviator.norm());
          break;
        }
        case ProbeQuantity::volume:
          values.push_back(elements.volume);
          break;
        case ProbeQuantity::energy: {
          double kinetic = 0;
          const Sharing* sharing = model_->sharing();
          const VecX& lumped = sharing ? sharing->lumped_mass() : model_->mass().lumped();
          for (Index i : probe.nodes) kinetic += 0.5 * lumped[i] * node(state.v, i).squaredNorm();
          values.push_back(elements.energy);
          values.push_back(total(model_->sharing(), kinetic));
          break;
        }
        case ProbeQuantity::force:
        case ProbeQuantity::length:
          break;  // of ties
      }
  }
  return values;
}

}  // namespace pliant
