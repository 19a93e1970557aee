#include "experiments/warp_canceling/warped_bar.hpp"

namespace pliant::experiments {

namespace {

SupernodePartition analysed_partition(SparseCholesky& factor, const Model& model) {
  factor.analyze(model.pattern(), 3);
  return partition_of(factor, model);
}

}  // namespace

WarpedPieces::WarpedPieces(std::shared_ptr<const Model> model, double h)
    : model_(std::move(model)),
      partition_(analysed_partition(factor_, *model_)),
      elements_(*model_, partition_.of_element),
      rotations_(*model_, NodeRotationKind::ring),
      matrix_(*model_, elements_, partition_),
      fresh_(*model_, elements_, partition_),
      error_(*model_, elements_, partition_, WarpMeasure::impulse),
      all_(at(partition_.count()), 1),
      none_(at(model_->nodes()), 0),
      identity_(at(model_->nodes()), Mat3::Identity()) {
  StepProblem problem;
  problem.h = h;
  problem.boundary = boundary_state({}, {}, model_->rest(), 0);
  matrix_.set_boundary(problem);
  fresh_.set_boundary(problem);
  deform(model_->rest());
  refresh();
}

void WarpedPieces::deform(const VecX& x) {
  elements_.deform(x);
  rotations_.compute(x, none_);
}

void WarpedPieces::refresh() { matrix_.refresh(all_, all_, rotations_.rotations()); }

std::vector<Mat3> WarpedPieces::warped(std::span<const Mat3> rotations) const {
  const BlockMatrix& A = matrix_.matrix();
  std::vector<Mat3> blocks;
  for (Index i = 0; i < model_->nodes(); ++i)
    for (std::int64_t k = A.pattern().row_start()[at(i)]; k < A.pattern().row_start()[at(i) + 1]; ++k)
      blocks.push_back(rotations[at(i)] * Eigen::Map<const Mat3>(A.block(k)) *
                       rotations[at(A.pattern().columns()[at(k)])].transpose());
  return blocks;
}

std::vector<Mat3> WarpedPieces::corotational() {
  fresh_.refresh(all_, all_, identity_);
  const BlockMatrix& A = fresh_.matrix();
  std::vector<Mat3> blocks;
  for (std::int64_t k = 0; k < A.pattern().blocks(); ++k) blocks.push_back(Eigen::Map<const Mat3>(A.block(k)));
  return blocks;
}

double relative_difference(const std::vector<Mat3>& a, const std::vector<Mat3>& b) {
  double off = 0, largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    off = std::max(off, (a[k] - b[k]).cwiseAbs().maxCoeff());
    largest = std::max(largest, b[k].cwiseAbs().maxCoeff());
  }
  return off / largest;
}

}  // namespace pliant::experiments
