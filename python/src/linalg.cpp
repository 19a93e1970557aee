// pliant.linalg: the direct solver for matrices of scipy.sparse. Python passes the upper triangle by rows; here it
// becomes node blocks.
#include <fmt/format.h>

#include <Eigen/Core>
#include <mutex>

#include "bindings.hpp"
#include "convert.hpp"
#include "pliant/base/error.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant::python {

namespace {

using Offsets = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
using Columns = py::array_t<double, py::array::f_style | py::array::forcecast>;

/// The upper triangle of a symmetric matrix by rows, as scipy keeps it.
struct UpperTriangle {
  Offsets start;
  Indices columns;
  Doubles values;
};

/// One object serves one caller at a time; others wait. The GIL is released in whatever takes long.
class NativeCholesky {
  template <class Work>
  auto locked(Work&& work) {
    const py::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return work();
  }

 public:
  NativeCholesky(const UpperTriangle& A, int block_size, const std::vector<Index>& last_nodes, bool schur, int attempts,
                 bool keep_updates)
      : block_size_(block_size) {
    const Index nodes = static_cast<Index>(A.start.size() - 1) / block_size;
    for (const Index node : last_nodes) {
      if (node < 0 || node >= nodes)
        throw InputError(fmt::format("last_nodes has {}; nodes are 0 to {}", node, nodes - 1));
    }
    const py::gil_scoped_release release;
    matrix_ = BlockMatrix(pattern_of(A), block_size);
    solver_.analyze(matrix_.shared_pattern(), block_size,
                    {.last_nodes = last_nodes, .schur = schur, .attempts = attempts});
    solver_.keep_updates(keep_updates);
  }

  std::string factor(const UpperTriangle& A, bool indefinite) {
    return locked([&] {
      fill(A);
      indefinite_ = indefinite;
      return finish(solver_.factor(matrix_, indefinite ? Factorisation::ldlt : Factorisation::llt));
    });
  }
  std::string refactor(const UpperTriangle& A, const std::vector<Index>& dirty_nodes) {
    for (const Index node : dirty_nodes) {
      if (node < 0 || node >= nodes())
        throw InputError(fmt::format("dirty_nodes has {}; nodes are 0 to {}", node, nodes() - 1));
    }
    return locked([&] {
      fill(A);
      return finish(solver_.refactor(matrix_, dirty_nodes));
    });
  }
  void change_pattern(const UpperTriangle& A) {
    locked([&] {
      matrix_ = BlockMatrix(pattern_of(A), block_size_);
      solver_.change_pattern(matrix_.shared_pattern());
      factored_ = false;
    });
  }
  void store_in_float() {
    locked([&] {
      need_factor();
      solver_.store_in_float();
    });
  }
  Columns solve(const Columns& b) {
    Columns x(std::vector<py::ssize_t>{b.shape(0), b.shape(1)});
    std::copy_n(b.data(), b.size(), x.mutable_data());
    Eigen::Map<Eigen::MatrixXd> columns(x.mutable_data(), x.shape(0), x.shape(1));
    locked([&] {
      need_factor();
      solver_.solve(columns);
    });
    return x;
  }
  Columns condense(const Columns& values) {
    Columns X(std::vector<py::ssize_t>{values.shape(0), values.shape(1)});
    std::copy_n(values.data(), values.size(), X.mutable_data());
    Eigen::Map<Eigen::MatrixXd> columns(X.mutable_data(), X.shape(0), X.shape(1));
    locked([&] {
      need_schur();
      solver_.condense(columns);
    });
    return X;
  }
  Columns schur() {
    Eigen::MatrixXd S;
    locked([&] {
      need_schur();
      S = solver_.schur_complement();
    });
    Columns result(std::vector<py::ssize_t>{S.rows(), S.cols()});
    std::copy_n(S.data(), S.size(), result.mutable_data());
    return result;
  }
  py::tuple inertia() {
    const std::lock_guard lock(mutex_);
    if (!indefinite_) throw InputError("the inertia is counted by an LDL^T: factor(A, kind=\"ldlt\")");
    const auto i = solver_.inertia();
    return py::make_tuple(block_size_ * nodes() - i.negative - i.zero, i.negative, i.zero);
  }
  py::dict statistics() {
    const std::lock_guard lock(mutex_);
    const auto s = solver_.statistics();
    py::dict dict;
    dict["factor_entries"] = s.factor_entries;
    dict["flops"] = s.flops;
    dict["last_flops"] = s.last_flops;
    dict["factor_bytes"] = s.factor_bytes;
    dict["update_bytes"] = s.update_bytes;
    dict["supernodes"] = s.supernodes;
    dict["perturbed_pivots"] = indefinite_ ? solver_.perturbed_pivots() : 0;
    return dict;
  }
  py::array order() {
    const std::lock_guard lock(mutex_);
    return take(std::vector<Index>(solver_.order().begin(), solver_.order().end()), {nodes()});
  }

 private:
  Index nodes() const { return matrix_.pattern().rows(); }
  void need_factor() const {
    if (!factored_) throw InputError("there is no factor: call factor(A) first, and see that it returns \"ok\"");
  }
  void need_schur() const {
    if (!solver_.has_schur_complement())
      throw InputError("there is no Schur complement: pass last_nodes=... and schur=True, then call factor(A)");
  }
  std::string finish(FactorStatus status) {
    factored_ = status == FactorStatus::ok;
    return std::string(to_string(status));
  }

  template <class Body>
  void for_entries(const UpperTriangle& A, Body&& body) const {
    const std::int64_t* start = A.start.data();
    for (Index row = 0; row + 1 < static_cast<Index>(A.start.size()); ++row) {
      for (std::int64_t k = start[row]; k < start[row + 1]; ++k) body(row, A.columns.data()[k], k);
    }
  }
  std::shared_ptr<const BlockPattern> pattern_of(const UpperTriangle& A) const {
    std::vector<Index> pairs;
    for_entries(A, [&](Index row, Index column, std::int64_t) {
      const Index i = row / block_size_, j = column / block_size_;
      if (i == j || (!pairs.empty() && pairs[pairs.size() - 2] == i && pairs.back() == j)) return;
      pairs.push_back(i);
      pairs.push_back(j);
    });
    const BlockPattern::Cliques cliques{pairs, 2};
    return std::make_shared<const BlockPattern>(static_cast<Index>(A.start.size() - 1) / block_size_,
                                                std::span(&cliques, 1));
  }
  void fill(const UpperTriangle& A) {
    if (static_cast<Index>(A.start.size() - 1) != block_size_ * nodes())
      throw InputError(
          fmt::format("the matrix has {} rows, the analysed one {}", A.start.size() - 1, block_size_ * nodes()));
    factored_ = false;
    matrix_.set_zero();
    for_entries(A, [&](Index row, Index column, std::int64_t k) {
      const Index i = row / block_size_, j = column / block_size_;
      const std::int64_t block = matrix_.pattern().find(i, j);
      if (block < 0) {
        throw InputError(fmt::format(
            "the entry ({}, {}) is outside of the pattern that was analysed; call change_pattern(A), or make a "
            "new solver",
            row, column));
      }
      const int r = row % block_size_, c = column % block_size_;
      matrix_.block(block)[r + c * block_size_] = A.values.data()[k];
      if (i == j) matrix_.block(block)[c + r * block_size_] = A.values.data()[k];
    });
  }

  int block_size_;
  bool factored_ = false;
  bool indefinite_ = false;
  BlockMatrix matrix_;
  SparseCholesky solver_;
  std::mutex mutex_;
};

}  // namespace

void bind_linalg(py::module_& module) {
  py::class_<NativeCholesky>(module, "SparseCholesky")
      .def(py::init([](const Offsets& start, const Indices& columns, const Doubles& values, int block_size,
                       const std::vector<Index>& last_nodes, bool schur, int attempts, bool keep_updates) {
        return std::make_unique<NativeCholesky>(UpperTriangle{start, columns, values}, block_size, last_nodes, schur,
                                                attempts, keep_updates);
      }))
      .def("factor",
           [](NativeCholesky& self, const Offsets& start, const Indices& columns, const Doubles& values,
              bool indefinite) {
             return self.factor({start, columns, values}, indefinite);
           })
      .def("refactor",
           [](NativeCholesky& self, const Offsets& start, const Indices& columns, const Doubles& values,
              const std::vector<Index>& dirty) {
             return self.refactor({start, columns, values}, dirty);
           })
      .def("change_pattern",
           [](NativeCholesky& self, const Offsets& start, const Indices& columns, const Doubles& values) {
             self.change_pattern({start, columns, values});
           })
      .def("store_in_float", &NativeCholesky::store_in_float)
      .def("solve", &NativeCholesky::solve)
      .def("condense", &NativeCholesky::condense)
      .def("schur", &NativeCholesky::schur)
      .def("inertia", &NativeCholesky::inertia)
      .def("statistics", &NativeCholesky::statistics)
      .def("order", &NativeCholesky::order);
}

}  // namespace pliant::python
