#include "pliant/solvers/pxpbd/elements.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "pliant/math/decompositions.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant::pbd {

namespace {

struct NamedLaw {
  const char* name;
  LocalLaw kind;
};
constexpr NamedLaw kNamedLaws[] = {{"fixed-corotated", LocalLaw::corotated},
                                   {"arap", LocalLaw::corotated},
                                   {"macklin-mueller", LocalLaw::macklin_mueller},
                                   {"stable-neo-hookean", LocalLaw::stable_neo_hookean}};

/// Largest ratio of the eigenvalues of a round metric. Those of good elements are below and stay as they are; with 256
/// sweeps on meshes with slivers amplify rounding.
constexpr double kRoundness = 16;

LocalLaw local_law(const Body& body) {
  if (!body.fibres.empty() || body.damping.stiffness > 0) return LocalLaw::any;
  for (const NamedLaw& law : kNamedLaws)
    if (body.law->info().name == law.name) return law.kind;
  return LocalLaw::any;
}

}  // namespace

std::vector<std::string> laws_of_two_constraints() {
  std::vector<std::string> names;
  for (const NamedLaw& law : kNamedLaws)
    if (law.kind == LocalLaw::corotated || law.kind == LocalLaw::macklin_mueller) names.push_back(law.name);
  return names;
}

Elements::Elements(const Model& model) {
  for (const Body& body : model.bodies()) {
    const bool alone = !body.fibres.empty();
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const ElementGroup& g) {
      return !alone && !g.fibres && g.law == body.law && g.damping == body.damping.stiffness;
    });
    if (group == groups_.end()) {
      groups_.push_back({body.name, body.law, local_law(body), alone ? &body.fibres : nullptr, body.damping.stiffness});
      group = groups_.end() - 1;
    } else {
      group->bodies += ", " + body.name;
    }
    const FeMesh& mesh = *body.elements;
    const bool arap = body.law->info().name == "arap";
    for (Index e = 0; e < mesh.element_count(); ++e) {
      const auto i = static_cast<std::size_t>(e);
      for (std::size_t a = 0; a < 4; ++a) nodes_.push_back(body.nodes.begin + mesh.elements()[4 * i + a]);
      B_.push_back(mesh.inverse_edges()[i]);
      volume_.push_back(mesh.volumes()[i]);
      Lame lame = body.lame[body.lame.size() == 1 ? 0 : i];
      if (arap) lame.lambda = 0;
      lame_.push_back(lame);
      group_.push_back(static_cast<int>(group - groups_.begin()));
      local_.push_back(e);
    }
  }
}

void Elements::gradients_at(const VecX& x, const ElementBatch& batch, Batch9& F) const {
  for (int p = 0; p < kBatch; ++p) {
    const auto corner = [&](int a) { return node(x, batch.nodes[a][p]); };
    Mat3 edges;
    for (int a = 1; a < 4; ++a) edges.col(a - 1) = corner(a) - corner(0);
    const Mat3 gradient = edges * inverse_edges(batch.elements[p]);
    for (int c = 0; c < 9; ++c) F[c][p] = gradient.data()[c];
  }
}

Vec3 Elements::gradient(Index e, int a) const {
  const Mat3& B = inverse_edges(e);
  return a == 0 ? Vec3(-(B.row(0) + B.row(1) + B.row(2)).transpose()) : Vec3(B.row(a - 1).transpose());
}

std::vector<Index> Elements::mesh_colours(Index node_count) const {
  std::vector<Index> colours(volume_.size(), -1), start(volume_.size() + 1);
  for (std::size_t e = 0; e < start.size(); ++e) start[e] = static_cast<Index>(4 * e);
  colour_elements(node_count, start, nodes_, colours);
  return colours;
}

void Elements::sort(std::span<const Index> colours) {
  const ColourOrder order = order_by_colour(colours);
  ++sorts_;
  batches_.clear();
  colour_start_.assign(1, 0);
  std::vector<std::vector<Index>> members(groups_.size());
  const auto close = [&](std::size_t g, std::size_t from) {
    ElementBatch& batch = batches_.emplace_back();
    batch.group = static_cast<int>(g);
    batch.count = static_cast<int>(std::min<std::size_t>(kBatch, members[g].size() - from));
    for (int p = 0; p < kBatch; ++p)
      batch.elements[p] = members[g][from + static_cast<std::size_t>(std::min(p, batch.count - 1))];
  };
  for (Index c = 0; c < order.colours(); ++c) {
    for (auto& m : members) m.clear();
    const Range range = order.range(c);
    for (Index k = range.begin; k < range.end; ++k) {
      const Index e = order.elements[static_cast<std::size_t>(k)];
      members[static_cast<std::size_t>(group(e))].push_back(e);
    }
    for (std::size_t g = 0; g < members.size(); ++g)
      for (std::size_t from = 0; from < members[g].size(); from += kBatch) close(g, from);
    colour_start_.push_back(static_cast<Index>(batches_.size()));
  }
  for_chunks(static_cast<Index>(batches_.size()), 64, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      ElementBatch& batch = batches_[static_cast<std::size_t>(b)];
      for (int p = 0; p < kBatch; ++p) {
        const Index e = batch.elements[p];
        for (int a = 0; a < 4; ++a) batch.nodes[a][p] = nodes(e)[static_cast<std::size_t>(a)];
        for (int c = 0; c < 9; ++c) batch.B[c][p] = inverse_edges(e).data()[c];
        batch.volume[0][p] = volume(e);
        batch.lame[0][p] = lame(e).mu;
        batch.lame[1][p] = lame(e).lambda;
      }
    }
  });
}

void ElementBatch::set_metric(int lane, const Mat3& A) {
  const Vec3 values = rough_symmetric_eigenvalues(A);
  const double least = std::max(0.0, values[0]), most = values[2];
  const double raised = std::max(0.0, (most - kRoundness * least) / (kRoundness - 1));
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i <= j; ++i) {
      metric[packed(i, j)][lane] = A(i, j);
      round_metric[packed(i, j)][lane] = A(i, j) + (i == j ? raised : 0);
    }
}

void Elements::set_metric(std::span<const double> inverse_mass) {
  for_chunks(static_cast<Index>(batches_.size()), 64, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      ElementBatch& batch = batches_[static_cast<std::size_t>(b)];
      for (int p = 0; p < kBatch; ++p) {
        const Index e = batch.elements[p];
        Mat3 A = Mat3::Zero();
        for (int a = 0; a < 4; ++a) {
          const Vec3 g = gradient(e, a);
          A += inverse_mass[static_cast<std::size_t>(batch.nodes[a][p])] * g * g.transpose();
        }
        batch.set_metric(p, A);
      }
    }
  });
}

void stiffness_numbers(const ElementBatch& batch, double h2, double* kappa) {
  for (int p = 0; p < kBatch; ++p) {
    Mat3 A;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) A(i, j) = batch.metric[packed_any(i, j)][p];
    kappa[p] = h2 * batch.volume[0][p] * 2 * batch.lame[0][p] * std::max(0.0, rough_symmetric_eigenvalues(A)[2]);
  }
}

}  // namespace pliant::pbd
