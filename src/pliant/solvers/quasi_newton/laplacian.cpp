#include "pliant/solvers/quasi_newton/laplacian.hpp"

#include <algorithm>
#include <map>

#include "pliant/base/memory.hpp"
#include "pliant/math/dense.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

/// Secant stiffness by parameters: bodies mostly have few different ones.
class StiffnessTable {
 public:
  explicit StiffnessTable(StretchRange range) : range_(range) {}
  double of(const Law& law, const Lame& lame) {
    auto [entry, is_new] = laws_.try_emplace({lame.mu, lame.lambda}, 0.0);
    if (is_new) entry->second = std::max(0.0, secant_stiffness(law, lame, range_));
    return entry->second;
  }
  /// The stiffer of relaxed and fully active.
  double of(const FibreLaw& law, const FibreParameters& p) {
    auto [entry, is_new] = fibres_.try_emplace({p.stiffness, p.shape, p.active_stress}, 0.0);
    if (is_new)
      entry->second = std::max({0.0, secant_stiffness(law, p, 0, range_), secant_stiffness(law, p, 1, range_)});
    return entry->second;
  }

 private:
  StretchRange range_;
  std::map<std::array<double, 2>, double> laws_;
  std::map<std::array<double, 3>, double> fibres_;
};

template <class T>
const T& one_or_each(const std::vector<T>& list, std::size_t e) {
  return list.size() == 1 ? list[0] : list[e];
}

/// The stiffness of a body's laws where they differ: one for all elements, or one for each.
struct BodyStiffness {
  std::vector<double> isotropic;
  std::vector<std::vector<double>> fibres;

  BodyStiffness(const Body& body, StretchRange range) {
    StiffnessTable table(range);
    for (const Lame& lame : body.lame) isotropic.push_back(table.of(*body.law, lame));
    for (const Fibres& group : body.fibres) {
      StiffnessTable own(range);
      std::vector<double>& list = fibres.emplace_back();
      for (const FibreParameters& parameters : group.parameters) list.push_back(own.of(*group.law, parameters));
    }
  }
  /// k 1 + sum_f k_f d d^T
  Mat3 of(const Body& body, std::size_t e) const {
    Mat3 C = one_or_each(isotropic, e) * Mat3::Identity();
    for (std::size_t f = 0; f < fibres.size(); ++f) {
      const Vec3& d = one_or_each(body.fibres[f].directions, e);
      if (d.squaredNorm() > 0) C += one_or_each(fibres[f], e) / d.squaredNorm() * d * d.transpose();
    }
    return C;
  }
};

void add_solid(const Body& body, StretchRange range, BlockMatrix& L) {
  constexpr int kMostNodes = 20;
  constexpr Index kBlock = 1 << 15, kGrain = 512;  // elements whose matrices are kept, and are computed, at a time
  const FeMesh& mesh = *body.elements;
  const ReferenceElement& reference = mesh.reference();
  const auto n = static_cast<std::size_t>(reference.nodes());
  std::vector<Eigen::Matrix<double, 3, Eigen::Dynamic>> gradients;
  for (int q = 0; q < reference.points(); ++q) {
    const auto table = reference.shape_gradients(reference.points_positions()[static_cast<std::size_t>(q)]);
    gradients.emplace_back(
        Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>>(table.data(), 3, static_cast<Eigen::Index>(n)));
  }
  const BodyStiffness stiffness(body, range);
  using ElementMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostNodes, kMostNodes>;
  using Gradients = Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, kMostNodes>;
  const auto count = static_cast<Index>(mesh.volumes().size());
  std::vector<double> matrices(at(std::min(count, kBlock)) * n * n);
  for (Index first = 0; first < count; first += kBlock) {
    const Index block = std::min(kBlock, count - first);
    for_chunks(block, kGrain, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        const std::size_t e = at(first + k);
        // grad N = B^T g with the inverse rest edges B, so that grad N^T C grad N = g^T (B C B^T) g.
        const Mat3& B = mesh.inverse_edges()[e];
        const Mat3 pulled = mesh.volumes()[e] * B * stiffness.of(body, e) * B.transpose();
        const auto size = static_cast<Eigen::Index>(n);
        ElementMatrix K = ElementMatrix::Zero(size, size);
        for (int q = 0; q < reference.points(); ++q) {
          const auto& g = gradients[static_cast<std::size_t>(q)];
          const Gradients turned = pulled * g;
          K += reference.weights()[static_cast<std::size_t>(q)] * (g.transpose() * turned);
        }
        std::copy_n(K.data(), n * n, matrices.data() + at(k) * n * n);
      }
    });
    for (Index k = 0; k < block; ++k) {
      const double* K = matrices.data() + at(k) * n * n;
      const auto nodes = mesh.elements().subspan(at(first + k) * n, n);
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) {
          const Index p = body.nodes.begin + nodes[a], q = body.nodes.begin + nodes[b];
          if (p <= q) *L.block(L.pattern().find(p, q)) += K[a + b * n];
        }
    }
  }
}

void add_springs(const Body& body, BlockMatrix& L) {
  const Stencils& stencils = body.springs->stencils();
  for (Index s = 0; s < stencils.count(); ++s) {
    const double k = body.springs->stiffness()[static_cast<std::size_t>(s)];
    const Index a = std::min(stencils[s][0], stencils[s][1]), b = std::max(stencils[s][0], stencils[s][1]);
    *L.block(L.pattern().find(a, a)) += k;
    *L.block(L.pattern().find(b, b)) += k;
    *L.block(L.pattern().find(a, b)) -= k;
  }
}

void add_shell(const ShellEnergy& shell, BlockMatrix& L) {
  for (Index s = 0; s < shell.stencils().count(); ++s) {
    const Index* nodes = shell.stencils()[s];
    for (const ShellEnergy::Row& row : shell.rest_rows(s))
      for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b)
          if (nodes[a] <= nodes[b] && row.weights[a] != 0 && row.weights[b] != 0)
            *L.block(L.pattern().find(nodes[a], nodes[b])) += row.stiffness * row.weights[a] * row.weights[b];
  }
}

void add_rod(const RodEnergy& rod, BlockMatrix& L) {
  for (Index s = 0; s < rod.stencils().count(); ++s) {
    const Index* nodes = rod.stencils()[s];
    for (const RodEnergy::Row& row : rod.rest_rows(s))
      for (int a = 0; a < 3 && row.stiffness > 0; ++a)
        for (int b = 0; b < 3; ++b)
          if (nodes[a] <= nodes[b] && row.weights[a] != 0 && row.weights[b] != 0)
            *L.block(L.pattern().find(nodes[a], nodes[b])) += row.stiffness * row.weights[a] * row.weights[b];
  }
}

/// w w^T times a number for each tie: exact for ties of no length, and no less than the Hessian of springs.
void add_ties(const TieEnergy& energy, double Tie::*number, BlockMatrix& L) {
  for (const Tie& tie : energy.ties())
    for (std::size_t a = 0; a < tie.nodes.size(); ++a)
      for (std::size_t b = 0; b < tie.nodes.size(); ++b)
        if (tie.nodes[a] <= tie.nodes[b])
          *L.block(L.pattern().find(tie.nodes[a], tie.nodes[b])) += tie.*number * tie.weights[a] * tie.weights[b];
}

void add_scaled(const BlockMatrix& from, double scale, BlockMatrix& to) {
  for (std::size_t i = 0; i < to.values().size(); ++i) to.values()[i] += scale * from.values()[i];
}

void add_mass(const Mass& mass, double scale, Range nodes, BlockMatrix& A) {
  if (mass.kind() == MassKind::consistent && nodes.size() == mass.nodes()) {
    add_scaled(mass.consistent(), scale, A);
    return;
  }
  for (Index i = nodes.begin; i < nodes.end; ++i) *A.block(A.pattern().find(i, i)) += scale * mass.lumped()[i];
}

/// Of the residual of a solution by multigrid: L-BFGS begins with an estimate of the Hessian, a percent more of which
/// is not seen in its convergence.
constexpr double kTolerance = 1e-2;

/// Whether a factor would need more memory than it may have, or take longer to solve with than multigrid.
bool prefers_multigrid(const SparseCholesky::Statistics& factor, const BlockPattern& pattern) {
  constexpr double kShareOfMemory = 0.6;
  // The factorisation, and the same numbers in single precision beside it.
  const double bytes = static_cast<double>(factor.needed_bytes) + 4.5 * static_cast<double>(factor.factor_entries);
  if (bytes > kShareOfMemory * physical_memory()) return true;
  // What a solution costs, with its share of a factorisation that serves a thousand, in entries of the factor that are
  // read once: measured on boxes of 9 thousand to a million vertices.
  constexpr double kEntriesPerFlop = 8e-5, kEntriesPerBlock = 113;
  return static_cast<double>(factor.factor_entries) + kEntriesPerFlop * factor.flops >
         kEntriesPerBlock * static_cast<double>(pattern.blocks());
}

}  // namespace

LaplacianMatrix::LaplacianMatrix(std::shared_ptr<const Model> model, const Options& options)
    : model_(std::move(model)),
      options_(options),
      stiffness_(model_->pattern(), 1),
      damping_(model_->pattern(), 1),
      A_(model_->pattern(), 1) {
  stiffness_.set_zero();
  damping_.set_zero();
  BlockMatrix part(model_->pattern(), 1);
  for (const Body& body : model_->bodies()) {
    part.set_zero();
    if (body.is_solid())
      add_solid(body, options.stretches, part);
    else if (body.shell)
      add_shell(*body.shell, part);
    else if (body.rod)
      add_rod(*body.rod, part);
    else
      add_springs(body, part);
    add_scaled(part, 1, stiffness_);
    add_scaled(part, body.damping.stiffness, damping_);
    if (body.damping.mass > 0)
      for (Index i = body.nodes.begin; i < body.nodes.end; ++i)
        *damping_.block(damping_.pattern().find(i, i)) += body.damping.mass * model_->mass().lumped()[i];
  }
  if (const TieEnergy* ties = model_->ties()) {
    add_ties(*ties, &Tie::stiffness, stiffness_);
    add_ties(*ties, &Tie::damping, damping_);
  }
}

const BlockMatrix& LaplacianMatrix::assemble(const StepProblem& problem) {
  const BoundaryState& boundary = problem.boundary;
  A_.set_zero();
  add_scaled(stiffness_, 1, A_);
  if (problem.has_inertia()) {
    add_scaled(damping_, 1 / problem.h, A_);
    add_mass(model_->mass(), 1 / (problem.h * problem.h), {0, model_->nodes()}, A_);
  }
  const VecX diagonal = model_->mass().consistent_diagonal();
  for (std::size_t k = 0; k < boundary.penalised.size(); ++k) {
    const Index i = boundary.penalised[k];
    *A_.block(A_.pattern().find(i, i)) += boundary.sigma[k] * diagonal[i];
  }
  // A node that is held along some axes only stays in the matrix, which x, y and z share; solve() leaves its held
  // coordinates alone.
  std::vector<std::uint8_t> held(static_cast<std::size_t>(model_->nodes()));
  for (std::size_t i = 0; i < held.size(); ++i)
    held[i] = boundary.fixed[3 * i] && boundary.fixed[3 * i + 1] && boundary.fixed[3 * i + 2];
  A_.eliminate(held);
  held_ = problem.fixed;
  return A_;
}

bool LaplacianMatrix::prepare(const StepProblem& problem, int& factorisations) {
  linear_iterations_ = 0;
  if (made_for_.fits(problem)) return false;
  if (!made_for_.fits_without_grabs(problem)) {
    assemble(problem);
    if (!has_solver_) choose_solver();
    ++factorisations;
    factorise();
  }
  // What memory did not suffice for is tried again: there may be more by then.
  made_for_ = status_ == FactorStatus::out_of_memory ? MatrixKey() : MatrixKey(problem);
  prepare_grabs(problem);
  return true;
}

/// By what the analysis counts and by the memory of the machine, not by what is free of it now: a run that is resumed
/// chooses the same.
void LaplacianMatrix::choose_solver() {
  if (options_.solve != Solve::multigrid) cholesky_.analyze(model_->pattern(), 1);
  if (options_.solve == Solve::multigrid ||
      (options_.solve == Solve::automatic && prefers_multigrid(cholesky_.statistics(), *model_->pattern()))) {
    cholesky_ = SparseCholesky();
    multigrid_.emplace();
  }
  has_solver_ = true;
}

void LaplacianMatrix::factorise() {
  if (multigrid_) {
    multigrid_->set(A_);
    status_ = multigrid_->is_usable() ? FactorStatus::ok : FactorStatus::singular;
    return;
  }
  status_ = cholesky_.factor(A_);
  if (status_ == FactorStatus::ok && options_.precision == Precision::single_precision) cholesky_.make_explicit();
}

/// In place, and as accurately as there is.
void LaplacianMatrix::solve_columns(Eigen::MatrixXd& columns) {
  if (!multigrid_) return cholesky_.solve(columns);
  constexpr double kAccurate = 1e-5;
  VecX b, x;
  for (Eigen::Index first = 0; first < columns.cols(); first += 3) {
    const Eigen::Index count = std::min<Eigen::Index>(3, columns.cols() - first);
    b.setZero(3 * columns.rows());
    for (Eigen::Index c = 0; c < count; ++c) b(Eigen::seqN(c, columns.rows(), 3)) = columns.col(first + c);
    multigrid_->solve(b, x, kAccurate);
    for (Eigen::Index c = 0; c < count; ++c) columns.col(first + c) = x(Eigen::seqN(c, columns.rows(), 3));
  }
}

void LaplacianMatrix::prepare_grabs(const StepProblem& problem) {
  grabs_.clear();
  for (const Grab& grab : problem.grabs)
    if (grab.stiffness > 0) grabs_.push_back(grab);
  if (grabs_.empty() || status_ != FactorStatus::ok) return;
  const auto count = static_cast<Eigen::Index>(grabs_.size());
  Z_ = Eigen::MatrixXd::Zero(model_->nodes(), count);
  for (Eigen::Index k = 0; k < count; ++k)
    for (std::size_t a = 0; a < 3; ++a) {
      const Grab& grab = grabs_[static_cast<std::size_t>(k)];
      const auto u = static_cast<std::size_t>(3 * grab.nodes[a]);
      const std::vector<std::uint8_t>& fixed = problem.boundary.fixed;
      if (!(fixed[u] && fixed[u + 1] && fixed[u + 2])) Z_(grab.nodes[a], k) += grab.weights[a];
    }
  const Eigen::MatrixXd W = Z_;
  solve_columns(Z_);
  coupling_.setZero(count, count);
  add_transposed_product(1, W, Z_, coupling_);
  for (Eigen::Index k = 0; k < count; ++k) coupling_(k, k) += 1 / grabs_[static_cast<std::size_t>(k)].stiffness;
  DenseCholesky factor;  // of Z^T A Z and more on the diagonal
  factor.factor(coupling_);
  coupling_.setIdentity();
  factor.solve_in_place(coupling_);
}

void LaplacianMatrix::correct_for_grabs(VecX& d) const {
  // W^T d: what the solution moves the grabbed points by.
  Eigen::MatrixXd moved(static_cast<Eigen::Index>(grabs_.size()), 3);
  for (std::size_t k = 0; k < grabs_.size(); ++k)
    moved.row(static_cast<Eigen::Index>(k)) = grabs_[k].point(d).transpose();
  const Eigen::MatrixXd pull = coupling_.lazyProduct(moved);
  for (Index i = 0; i < model_->nodes(); ++i)
    for (int axis = 0; axis < 3; ++axis) {
      double sum = 0;
      for (Eigen::Index k = 0; k < pull.rows(); ++k) sum += Z_(i, k) * pull(k, axis);
      d[3 * i + axis] -= sum;
    }
}

void LaplacianMatrix::solve(const VecX& g, VecX& d) {
  if (multigrid_)
    linear_iterations_ += multigrid_->solve(g, d, kTolerance);
  else
    cholesky_.solve_coordinates(g, d);
  if (!grabs_.empty()) correct_for_grabs(d);
  for (Index i : held_) d[i] = 0;
}

}  // namespace pliant
