// A material law of your own, from outside the library: Ciarlet and Geymonat's,
//
//   Psi = mu/2 (|F|^2 - 3) - mu log J + lambda/4 (J^2 - 1 - 2 log J),   P = mu F + c G,   G = F^-T,   c = lambda/2 (J^2
//   - 1) - mu.
//
// A bar hangs from the ceiling under it and under Neo-Hookean's law; its derivatives are checked on the way. (Laws of
// the library itself are vector code and shorter: CONTRIBUTING.md.)
#include <pliant/pliant.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>
#include <cstdio>

namespace {

using pliant::Mat3;
using pliant::Mat9;

class CiarletGeymonat final : public pliant::Law {
 public:
  const pliant::LawInfo& info() const override { return info_; }

  void stress(const pliant::Batch9& F, const pliant::Batch<2>& lame, pliant::Batch<1>& psi,
              pliant::Batch9& P) const override {
    for (int p = 0; p < pliant::kBatch; ++p) {
      const double mu = lame[0][p], lambda = lame[1][p];
      const Mat3 f = matrix(F, p), G = f.inverse().transpose();
      const double J = f.determinant(), L = std::log(J);
      psi[0][p] = J > 0 ? mu / 2 * (f.squaredNorm() - 3) - mu * L + lambda / 4 * (J * J - 1 - 2 * L) : HUGE_VAL;
      const Mat3 stress = mu * f + (lambda / 2 * (J * J - 1) - mu) * G;
      for (int c = 0; c < 9; ++c) P[c][p] = stress.data()[c];
    }
  }

  /// dP_ij/dF_kl = mu delta_ik delta_jl + lambda J^2 G_ij G_kl - c G_il G_kj
  void hessian(const pliant::Batch9& F, const pliant::Batch<2>& lame, pliant::Projection projection,
               pliant::Batch45& H) const override {
    for (int p = 0; p < pliant::kBatch; ++p) {
      const double mu = lame[0][p], lambda = lame[1][p];
      const Mat3 f = matrix(F, p), G = f.inverse().transpose();
      const double J = f.determinant(), c = lambda / 2 * (J * J - 1) - mu;
      Mat9 h;
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i)
          for (int l = 0; l < 3; ++l)
            for (int k = 0; k < 3; ++k)
              h(3 * j + i, 3 * l + k) =
                  (i == k && j == l ? mu : 0) + lambda * J * J * G(i, j) * G(k, l) - c * G(i, l) * G(k, j);
      if (projection == pliant::Projection::analytic) {  // negative eigenvalues to zero
        const Eigen::SelfAdjointEigenSolver<Mat9> eigen(h);
        h = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
      }
      for (int column = 0; column < 9; ++column)
        for (int row = 0; row <= column; ++row) H[pliant::packed(row, column)][p] = h(row, column);
    }
  }

 private:
  static Mat3 matrix(const pliant::Batch9& F, int p) {
    Mat3 f;
    for (int c = 0; c < 9; ++c) f.data()[c] = F[c][p];
    return f;
  }
  pliant::LawInfo info_ = {.name = "ciarlet-geymonat", .survives_inversion = false};
};

/// How far the bar's end sinks in a second.
double lowest_point(std::shared_ptr<const pliant::Law> law) {
  pliant::Scene scene;
  scene.dt = 1.0 / 30;
  pliant::SceneBody bar;
  bar.name = "bar";
  bar.mesh.generator = pliant::BoxOptions{.origin = {0, -1, 0}, .size = {0.2, 1, 0.2}, .cells = {2, 10, 2}};
  bar.law = std::move(law);
  bar.lame = pliant::lame_from_young(2e4, 0.4);
  scene.bodies.push_back(bar);
  pliant::ScenePin pin;
  pin.where.any = {pliant::parse_selection("y-max")};
  scene.pins.push_back(pin);
  pliant::Simulation simulation(scene);
  for (int step = 0; step < 30; ++step)
    if (const auto report = simulation.step(); !simulation.took(report)) throw pliant::InputError(report.detail);
  double lowest = 0;
  const pliant::VecX& x = simulation.state()->x;
  for (Eigen::Index i = 1; i < x.size(); i += 3) lowest = std::min(lowest, x[i]);
  return lowest;
}

}  // namespace

int main() try {
  const auto law = std::make_shared<CiarletGeymonat>();
  const pliant::Material material{law, pliant::lame_from_young(2e4, 0.4)};
  const Mat3 F = Mat3::Identity() + 0.1 * (Mat3() << 1, 2, -1, 0, 1, 1, -2, 1, 0.5).finished();
  const Mat3 dF = (Mat3() << 0.3, -1, 0.2, 0.5, 0.1, -0.4, 0.7, 0.2, -0.6).finished();
  const double e = 1e-5;
  const Mat3 difference = (material.stress(F + e * dF) - material.stress(F - e * dF)) / (2 * e);
  const Eigen::Matrix<double, 9, 1> product = material.hessian(F) * dF.reshaped();
  const double error = (product - difference.reshaped()).norm() / product.norm();
  std::printf("Hessian against differences of the stress: relative error %.1e\n", error);

  const double own = lowest_point(law), known = lowest_point(pliant::find_law("neo-hookean"));
  std::printf("lowest point after a second: %.4f m, under Neo-Hookean %.4f m\n", own, known);
  return error < 1e-8 && std::abs(own - known) < 0.02 ? 0 : 1;
} catch (const pliant::InputError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
