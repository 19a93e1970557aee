// Fig. 9 and Table II of quasi-newton: a cube released from a stretched pose, and the same turned by 90 degrees. The
// Laplacian does not see the difference, the Hessian of the rest pose does: condition numbers of A^{-1} H, H the exact
// Hessian where the frame begins, and the error over the iterations.

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>

#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/sim/incremental_potential.hpp"
#include "pliant/solvers/quasi_newton/laplacian.hpp"

namespace pliant::experiments {

namespace {

std::shared_ptr<const Model> cube(Index cells) {
  BoxOptions options;
  options.size = {1, 1, 1};
  options.cells = {cells, cells, cells};
  MeshData data = box(options);
  for (Vec3& p : data.vertices) p -= Vec3::Constant(0.5);
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("neo-hookean"), {2e4, 4e4}};
  ModelBuilder builder;
  builder.add_body(body);
  return builder.build();
}

Eigen::MatrixXd dense(const BlockMatrix& A) {
  const Eigen::Index n = 3 * static_cast<Eigen::Index>(A.pattern().rows());
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(n, n);
  const int b = A.block_size();
  for (Index i = 0; i < A.pattern().rows(); ++i)
    for (Index j = i; j < A.pattern().rows(); ++j) {
      const auto k = A.pattern().find(i, j);
      if (k < 0) continue;
      const Mat3 block = b == 3 ? Mat3(Eigen::Map<const Mat3>(A.block(k))) : Mat3(*A.block(k) * Mat3::Identity());
      D.block<3, 3>(3 * i, 3 * j) = block;
      D.block<3, 3>(3 * j, 3 * i) = block.transpose();
    }
  return D;
}

double condition(const Eigen::MatrixXd& H, const Eigen::MatrixXd& A) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(H, A, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().maxCoeff() / solver.eigenvalues().minCoeff();
}

void run_rotation(Context& context) {
  const auto model = cube(static_cast<Index>(context.number("cells")));
  IncrementalPotential potential(model, {});
  std::vector<double> ours, rest;
  std::vector<double> errors_ours, errors_rest;
  for (int configuration : {1, 2}) {
    const Mat3 turn =
        configuration == 1 ? Mat3(Mat3::Identity()) : Mat3(Eigen::AngleAxisd(std::acos(0.0), Vec3::UnitZ()));
    State state = model->rest_state();
    for (Index i = 0; i < model->nodes(); ++i)
      node(state.x, i) = turn * Vec3(context.number("stretch"), 1, 1).cwiseProduct(node(model->rest(), i));
    potential.begin_step(state, kFrame);
    BlockMatrix H = potential.make_matrix(), at_rest = potential.make_matrix();
    potential.hessian(state.x, Projection::none, 1, H);
    potential.hessian(model->rest(), Projection::none, 1, at_rest);
    LaplacianMatrix laplacian(model, {});
    const Eigen::MatrixXd exact = dense(H);
    ours.push_back(condition(exact, dense(laplacian.assemble(potential.problem()))));
    rest.push_back(condition(exact, dense(at_rest)));
    const auto curves = convergence_curves(
        context, model, state, kFrame,
        {{"ours", "quasi-newton", {}}, {"rest pose", "quasi-newton", {{"hessian", "rest-pose"}}}}, 40);
    if (curves.size() < 2) return;
    errors_ours.push_back(curves[0].at(10));
    errors_rest.push_back(curves[1].at(10));
    const bool turned = configuration == 2;
    for (const ConvergenceCurve& curve : curves) {
      const bool is_ours = curve.label == "ours";
      context.row({{"method", curve.label + (turned ? ", turned" : "")},
                   {"configuration", configuration},
                   {"condition", is_ours ? ours.back() : rest.back()},
                   {"published_condition", is_ours  ? 9.94
                                           : turned ? 45.5
                                                    : 2.45},
                   {"error_10", curve.at(10)},
                   {"error", curve.error}});
    }
  }
  context.check({"condition number of ours in both configurations", Json::array({9.94, 9.94}), ours,
                 std::abs(ours[1] / ours[0] - 1) < 1e-6});
  context.check({"condition number of the rest pose: more than four times worse when turned", Json::array({2.45, 45.5}),
                 rest, rest[1] > 4 * rest[0]});
  context.check({"errors after 10 iterations, ours: the same; rest pose: better straight, worse turned", "fig. 9",
                 Json::array({errors_ours[0], errors_ours[1], errors_rest[0], errors_rest[1]}),
                 errors_rest[1] > errors_ours[1] && errors_rest[1] > errors_rest[0]});
}

}  // namespace

Experiment rotation() {
  return {
      "quasi-newton/rotation",
      "A stretched cube, straight and turned: condition numbers and convergence (fig. 9, Table II)",
      {{"cells", "6", "4", "of the cube along an edge"}, {"stretch", "1.2", "1.2", "of the cube where it is let go"}},
      run_rotation};
}

}  // namespace pliant::experiments
