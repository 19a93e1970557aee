#include "pliant/sim/contact/nearest_parts.hpp"

#include <gtest/gtest.h>

#include <random>

#include "pliant/contact/pair_derivatives.hpp"
#include "pliant/energies/assembler.hpp"
#include "pliant/energies/barrier_energy.hpp"
#include "pliant/sim/contact/contact_search.hpp"
#include "support/models.hpp"

namespace pliant {
namespace {

/// Two boxes of five cells an edge, one above the other with a small gap, the upper one displaced sideways.
std::shared_ptr<const Model> two_boxes(const Vec3& shift) {
  ModelBuilder builder;
  for (int b = 0; b < 2; ++b) {
    BodyOptions body;
    const Vec3 origin = b * (Vec3(0, 1.02, 0) + shift);
    body.mesh = std::make_shared<TetMesh>(box({.origin = origin, .size = Vec3::Ones(), .cells = {5, 5, 5}}));
    body.material = testing::material("neo-hookean", 1e5, 0.3);
    builder.add_body(body);
  }
  ContactOptions contact;
  contact.dhat = 0.03;
  builder.set_contact(contact);
  return builder.build();
}

struct Sums {
  double energy;
  VecX gradient;
  BlockMatrix exact, projected;
};

Sums sums(const Model& model, const VecX& x, std::vector<ContactPair> pairs) {
  BarrierEnergy energy(model.contact());
  energy.set_stiffness(1e4);
  energy.set_pairs(std::move(pairs));
  Assembler assembler(model.nodes(), {&energy});
  // A pattern for all corners of all pairs, whatever is merged.
  ContactSearch search(model.contact());
  ContactSearch::Near near;
  search.find_near(x, near);
  BarrierEnergy all(model.contact());
  all.set_pairs(near.pairs);
  const Energy* both[] = {&energy, &all};
  const auto pattern = coupling_pattern(model.nodes(), both);
  Sums sums{0, VecX::Zero(x.size()), BlockMatrix(pattern, 3), BlockMatrix(pattern, 3)};
  const Pose pose(x);
  sums.energy = assembler.add_gradient(pose, sums.gradient);
  sums.exact.set_zero();
  sums.projected.set_zero();
  assembler.add_hessian(pose, Projection::none, sums.exact);
  assembler.add_hessian(pose, Projection::analytic, sums.projected);
  return sums;
}

double largest_difference(const BlockMatrix& A, const BlockMatrix& B) {
  double largest = 0, scale = 0;
  for (std::size_t k = 0; k < A.values().size(); ++k) {
    largest = std::max(largest, std::abs(A.values()[k] - B.values()[k]));
    scale = std::max(scale, std::abs(A.values()[k]));
  }
  return largest / scale;
}

TEST(NearestParts, HaveTheEnergyAndTheDerivativesOfAllPairs) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(-2e-3, 2e-3);
  for (const Vec3& shift : {Vec3(0, 0, 0), Vec3(0.1, 0, 0.07), Vec3(0.004, 0, 0.001)})
    for (const bool is_rough : {false, true}) {
      SCOPED_TRACE(::testing::Message() << shift.transpose() << (is_rough ? ", rough" : ""));
      const auto model = two_boxes(shift);
      VecX x = model->rest_state().x;
      if (is_rough)
        for (double& v : x) v += noise(random);
      ContactSearch search(model->contact());
      ContactSearch::Near near;
      search.find_near(x, near);
      ASSERT_GT(near.pairs.size(), 300u);
      EXPECT_LT(near.parts.size(), near.pairs.size());
      const Sums all = sums(*model, x, near.pairs), parts = sums(*model, x, near.parts);
      EXPECT_NEAR(parts.energy, all.energy, 1e-13 * all.energy);
      EXPECT_LT((parts.gradient - all.gradient).norm(), 1e-12 * all.gradient.norm());
      EXPECT_LT(largest_difference(all.exact, parts.exact), 1e-12);
      EXPECT_LT(largest_difference(all.projected, parts.projected), 1e-11);
    }
}

TEST(NearestParts, OfMeshesThatMeetVertexOnVertexAreFew) {
  const auto model = two_boxes(Vec3::Zero());
  ContactSearch search(model->contact());
  ContactSearch::Near near;
  search.find_near(model->rest_state().x, near);
  Index points = 0;
  for (const ContactPair& part : near.parts) points += part.kind == PairKind::point_point ? 1 : 0;
  EXPECT_EQ(points, 36);  // six by six, each once
  EXPECT_LT(2 * near.parts.size(), near.pairs.size());
}

TEST(NearestParts, DoNotDependOnTheOrderOfThePairs) {
  const auto model = two_boxes({0.004, 0, 0.001});
  ContactSearch search(model->contact());
  ContactSearch::Near near;
  search.find_near(model->rest_state().x, near);
  std::vector<ContactPair> parts;
  for (const ContactPair& pair : near.pairs) {
    const PlacedPair placed = place(pair, model->nodes(), model->rest_state().x, {});
    parts.push_back(nearest_part(pair, placed.x, placed.closest));
  }
  std::shuffle(parts.begin(), parts.end(), std::mt19937(3));
  merge_equal(parts);
  ASSERT_EQ(parts.size(), near.parts.size());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    EXPECT_EQ(parts[k].corners, near.parts[k].corners);
    EXPECT_EQ(parts[k].area, near.parts[k].area);
  }
}

}  // namespace
}  // namespace pliant
