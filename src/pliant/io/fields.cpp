#include "pliant/io/fields.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "pliant/math/decompositions.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kGrain = 512;

/// sqrt(3/2 s:s), s the deviator of the Cauchy stress P F^T / J.
double von_mises(const Mat3& P, const Mat3& F) {
  const Mat3 cauchy = P * F.transpose() / F.determinant();
  const Mat3 deviator = cauchy - cauchy.trace() / 3 * Mat3::Identity();
  return std::sqrt(1.5) * deviator.norm();
}

double largest_stretch(const Mat3& F) { return std::sqrt(rough_symmetric_eigenvalues(F.transpose() * F)[2]); }

ElementFields triangle_fields(const Body& body, const VecX& x) {
  const std::span<const Vec3> rest = body.vertices();
  ElementFields fields;
  for (const Triangle& t : body.surface()) {
    double stretch = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      const double before = (rest[static_cast<std::size_t>(b)] - rest[static_cast<std::size_t>(a)]).norm();
      stretch = std::max(stretch, (node(x, body.nodes.begin + b) - node(x, body.nodes.begin + a)).norm() / before);
    }
    fields.stretch.push_back(stretch);
    fields.von_mises.push_back(0);
  }
  return fields;
}

ElementFields segment_fields(const RodEnergy& rod, const VecX& x) {
  const RodMaterial& material = rod.material();
  ElementFields fields;
  for (const RodEnergy::Strain& strain : rod.strains(x)) {
    fields.stretch.push_back(1 + strain.largest(material.radius));
    fields.von_mises.push_back(material.young * strain.most(material.radius));
  }
  return fields;
}

}  // namespace

ElementFields element_fields(const Body& body, const Pose& pose) {
  if (body.rod) return segment_fields(*body.rod, pose.x);
  if (!body.is_solid()) return triangle_fields(body, pose.x);
  const Index count = body.elements->element_count();
  ElementFields fields;
  fields.von_mises.resize(static_cast<std::size_t>(count));
  fields.stretch.resize(static_cast<std::size_t>(count));
  for_chunks(count, kGrain, [&](Index begin, Index end) {
    Mat3 F[kBatch], P[kBatch];
    for (Index first = begin; first < end; first += kBatch) {
      const Index n = std::min<Index>(kBatch, end - first);
      body.elastic->stresses(pose, {first, first + n}, F, P);
      for (Index k = 0; k < n; ++k) {
        fields.von_mises[static_cast<std::size_t>(first + k)] = von_mises(P[k], F[k]);
        fields.stretch[static_cast<std::size_t>(first + k)] = largest_stretch(F[k]);
      }
    }
  });
  return fields;
}

std::vector<double> element_stretches(const Body& body, const Pose& pose, std::span<const Index> elements) {
  std::vector<double> stretches(elements.size());
  if (!body.is_solid()) {
    const ElementFields fields = element_fields(body, pose);
    for (std::size_t k = 0; k < elements.size(); ++k)
      stretches[k] = fields.stretch[static_cast<std::size_t>(elements[k])];
    return stretches;
  }
  for_chunks(static_cast<Index>(elements.size()), kGrain, [&](Index begin, Index end) {
    Mat3 F[kBatch], P[kBatch];
    for (Index first = begin; first < end;) {
      // A run of elements that follow each other.
      const Index e = elements[static_cast<std::size_t>(first)];
      Index n = 1;
      while (n < kBatch && first + n < end && elements[static_cast<std::size_t>(first + n)] == e + n) ++n;
      body.elastic->stresses(pose, {e, e + n}, F, P);
      for (Index k = 0; k < n; ++k) stretches[static_cast<std::size_t>(first + k)] = largest_stretch(F[k]);
      first += n;
    }
  });
  return stretches;
}

}  // namespace pliant
