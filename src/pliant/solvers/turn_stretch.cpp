#include "pliant/solvers/turn_stretch.hpp"

#include <Eigen/LU>
#include <algorithm>

namespace pliant {

namespace {

constexpr double kAlike = 10;  ///< times the stiffness of a neighbour

Lame lame_of(const Body& body, std::size_t element) {
  return body.law->linearised(body.lame[body.lame.size() == 1 ? 0 : element]);
}

/// For each element the number of its connected piece of elements that are alike in stiffness; returns their count.
std::size_t find_pieces(const Body& body, std::vector<std::size_t>& piece) {
  const auto elements = static_cast<std::size_t>(body.elements->element_count());
  const std::span<const Index> nodes = body.elements->elements();
  const std::size_t each = nodes.size() / elements;
  std::vector<std::vector<std::size_t>> around(static_cast<std::size_t>(body.elements->node_count()));
  for (std::size_t e = 0; e < elements; ++e)
    for (std::size_t k = 0; k < each; ++k) around[static_cast<std::size_t>(nodes[each * e + k])].push_back(e);
  const auto modulus = [&](std::size_t e) { return lame_of(body, e).mu; };
  constexpr auto kNone = static_cast<std::size_t>(-1);
  piece.assign(elements, kNone);
  std::size_t count = 0;
  std::vector<std::size_t> stack;
  for (std::size_t start = 0; start < elements; ++start) {
    if (piece[start] != kNone) continue;
    piece[start] = count;
    stack.push_back(start);
    while (!stack.empty()) {
      const std::size_t e = stack.back();
      stack.pop_back();
      for (std::size_t k = 0; k < each; ++k)
        for (std::size_t other : around[static_cast<std::size_t>(nodes[each * e + k])]) {
          if (piece[other] != kNone) continue;
          if (std::max(modulus(e), modulus(other)) > kAlike * std::min(modulus(e), modulus(other))) continue;
          piece[other] = count;
          stack.push_back(other);
        }
    }
    ++count;
  }
  return count;
}

/// Half the square of the turn in dF, as Green strain. An inverted element is taken as if it were at rest.
Mat3 strain_by_turn(const Mat3& F, const Mat3& dF) {
  const bool is_inverted = !(F.determinant() > 0);
  const Mat3 G = is_inverted ? dF : Mat3(dF * F.inverse());
  const Mat3 turn = 0.5 * (G - G.transpose()), moved = is_inverted ? turn : Mat3(turn * F);
  return 0.5 * moved.transpose() * moved;
}

}  // namespace

TurnStretch::TurnStretch(const Model& model) : model_(model) {
  for (const Body& body : model.bodies()) {
    if (!body.elastic || body.rigid) continue;
    Solid solid{&body, {}};
    const std::size_t first = parts_.size();
    parts_.resize(first + find_pieces(body, solid.part_of));
    const std::span<const Index> nodes = body.elements->elements();
    const std::size_t each = nodes.size() / solid.part_of.size();
    for (std::size_t e = 0; e < solid.part_of.size(); ++e) {
      solid.part_of[e] += first;
      for (std::size_t k = 0; k < each; ++k)
        parts_[solid.part_of[e]].nodes.push_back(body.nodes.begin + nodes[each * e + k]);
    }
    solids_.push_back(std::move(solid));
  }
  for (Part& part : parts_) {
    std::sort(part.nodes.begin(), part.nodes.end());
    part.nodes.erase(std::unique(part.nodes.begin(), part.nodes.end()), part.nodes.end());
    for (Index i : part.nodes) part.mass += model.mass().lumped()[i];
  }
}

double TurnStretch::largest_share(const VecX& x, const VecX& dx, double h) {
  for (Part& part : parts_) part.stretch = 0;
  for (const Solid& solid : solids_) {
    const Body& body = *solid.body;
    F_.resize(solid.part_of.size());
    dF_.resize(solid.part_of.size());
    const Range all{0, body.elements->element_count()};
    body.elastic->deformation_gradients(x, all, F_.data());
    body.elastic->deformation_gradients(dx, all, dF_.data());  // F is linear in the positions
    for (std::size_t e = 0; e < F_.size(); ++e) {
      const Mat3 q = strain_by_turn(F_[e], dF_[e]);
      const Lame lame = lame_of(body, e);
      parts_[solid.part_of[e]].stretch +=
          body.elements->volumes()[e] * (lame.mu * q.squaredNorm() + 0.5 * lame.lambda * q.trace() * q.trace());
    }
  }
  double largest = 0;
  for (const Part& part : parts_) {
    Vec3 mean = Vec3::Zero();
    for (Index i : part.nodes) mean += model_.mass().lumped()[i] / part.mass * node(dx, i);
    double kinetic = 0;
    for (Index i : part.nodes) kinetic += 0.5 * model_.mass().lumped()[i] * (node(dx, i) - mean).squaredNorm();
    if (kinetic > 0) largest = std::max(largest, part.stretch * h * h / kinetic);
  }
  return largest;
}

}  // namespace pliant
