// Contact detection: how the broad phase grows with the number of primitives, what a distance, a projected Hessian and
// a continuous collision test cost, and, with the argument "campaign", a million queries of the latter against brute
// force.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "contact/ccd_campaign.hpp"
#include "pliant/contact/barrier.hpp"
#include "pliant/contact/broad_phase.hpp"
#include "pliant/contact/intersection.hpp"
#include "pliant/contact/pair_derivatives.hpp"

namespace {

using namespace pliant;

double seconds(auto&& work) {
  double best = 1e9;
  for (int k = 0; k < 3; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

/// Wavy sheets of n x n cells on top of each other, half a cell apart: as near as contact makes them.
struct Sheets {
  std::shared_ptr<const ContactSurface> surface;
  VecX x;
};
Sheets sheets(Index n) {
  std::vector<Triangle> triangles;
  std::vector<Index> group;
  const Index per_sheet = (n + 1) * (n + 1);
  Sheets result;
  result.x.resize(3 * Eigen::Index(2 * per_sheet));
  for (Index s = 0; s < 2; ++s)
    for (Index i = 0; i <= n; ++i)
      for (Index j = 0; j <= n; ++j) {
        const Index v = s * per_sheet + i * (n + 1) + j;
        const double u = double(i) / n, w = double(j) / n;
        node(result.x, v) = Vec3(u, 0.1 * std::sin(9 * u) * std::cos(7 * w) + s * 0.3 / n, w);
        group.push_back(s);
        if (i == n || j == n) continue;
        triangles.push_back({v, v + 1, v + n + 2});
        triangles.push_back({v, v + n + 2, v + n + 1});
      }
  result.surface = std::make_shared<ContactSurface>(make_contact_surface(triangles, group));
  return result;
}

void growth() {
  fmt::print("{:>10} {:>12} {:>12} {:>12} {:>12} {:>14} {:>16}\n", "primitives", "static ms", "swept ms", "again ms",
             "crossing ms", "pairs", "us per primitive");
  for (Index n : {9, 29, 91, 289}) {
    const Sheets s = sheets(n);
    const auto primitives = s.surface->points.size() + s.surface->edges.size() + s.surface->triangles.size();
    const double distance = 0.4 / n;
    VecX dx = s.x;
    for (Eigen::Index i = 0; i < dx.size(); ++i) dx[i] = 0.3 / n * std::sin(37.0 * double(i));
    Candidates found;
    std::vector<CandidatePair> crossing;
    const double fresh = seconds([&] { BroadPhase(s.surface).find(s.x, distance, found); });
    const std::size_t pairs = found.point_triangle.size() + found.edge_edge.size();
    BroadPhase broad(s.surface);
    broad.find(s.x, distance, found);
    const double again = seconds([&] { broad.find(s.x, distance, found); });
    const double cross = seconds([&] { broad.find_edge_triangle(s.x, crossing); });
    const double swept = seconds([&] { broad.find_swept(s.x, dx, distance, found); });
    fmt::print("{:>10} {:>12.3f} {:>12.3f} {:>12.3f} {:>12.3f} {:>14} {:>16.3f}\n", primitives, 1e3 * fresh,
               1e3 * swept, 1e3 * again, 1e3 * cross, pairs, 1e6 * fresh / static_cast<double>(primitives));
  }
}

void narrow() {
  testing::PairSampler sample(1);
  std::vector<Corners> x, dx;
  for (int k = 0; k < 20000; ++k) {
    x.push_back(sample.corners());
    dx.push_back(sample.corners(0.5));
  }
  double sum = 0;
  fmt::print("\n{:<36} {:>16} {:>16}   ns each, one thread\n", "", "point-triangle", "edge-edge");
  const auto row = [&](const char* name, auto&& work) {
    fmt::print("{:<36}", name);
    for (PairKind kind : {PairKind::point_triangle, PairKind::edge_edge})
      fmt::print(" {:>16.0f}", 1e9 / static_cast<double>(x.size()) * seconds([&] {
                                 for (std::size_t k = 0; k < x.size(); ++k) sum += work(kind, k);
                               }));
    fmt::print("\n");
  };
  row("closest points", [&](PairKind kind, std::size_t k) { return closest(kind, x[k]).d2; });
  row("barrier Hessian", [&](PairKind kind, std::size_t k) {
    const Closest c = closest(kind, x[k]);
    const Barrier b = barrier(c.d2, 2 * c.d2);
    return function_hessian(c, x[k], b.first, b.second, false)(0, 0);
  });
  row("barrier Hessian, projected", [&](PairKind kind, std::size_t k) {
    const Closest c = closest(kind, x[k]);
    const Barrier b = barrier(c.d2, 2 * c.d2);
    return function_hessian(c, x[k], b.first, b.second, true)(0, 0);
  });
  row("time of impact, a tenth of the gap",
      [&](PairKind kind, std::size_t k) { return time_of_impact(kind, x[k], dx[k], {.gap = 0.1}).value_or(1); });
  row("time of impact, a thousandth",
      [&](PairKind kind, std::size_t k) { return time_of_impact(kind, x[k], dx[k]).value_or(1); });
  if (sum == 0.123) fmt::print(" ");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "campaign") == 0) {
    const int queries = argc > 2 ? std::atoi(argv[2]) : 1000000;
    const testing::CcdCampaign r = testing::run_ccd_campaign(queries, 7);
    fmt::print(
        "{} queries, {} collisions: {} missed, {} overshot, {} touching at the time returned; of {} ordinary ones {} "
        "pass "
        "within the asked gap well before they meet, and of the others the "
        "earliest is {:.3f}% early\n",
        r.queries, r.collisions, r.missed, r.overshot, r.touching, r.ordinary, r.near_misses, 100 * r.worst_early);
    return r.missed + r.overshot + r.touching > 0;
  }
  growth();
  narrow();
}
