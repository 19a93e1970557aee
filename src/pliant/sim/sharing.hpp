#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

class LinearSystem;
class StepControl;
class StepFunction;
struct LinearOptions;

/// How a model that is one part of a larger one fits into it, where several processes have a part each (distributed/).
///
/// Every element belongs to one part, and nodes between parts have a copy in each of them. The function that a step
/// minimises is then a sum over parts, E(x) = sum_r E_r(R_r x) with R_r x the nodes that part r has, and so are masses,
/// forces and matrices. Energies and assemblers evaluate a part as they would any model; what is summed over all, and
/// all that decides where an iteration goes, passes through here. So every process runs the same step on its own part,
/// and all of them take the same decisions.
///
/// Every process calls the same functions in the same order: each waits for all, but for those said to be its own.
class Sharing {
 public:
  virtual ~Sharing() = default;

  // A process's own.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool is_first() const { return rank() == 0; }
  /// The number of each node in the whole model, and how many that has.
  virtual std::span<const Index> nodes() const = 0;
  virtual Index all_nodes() const = 0;
  /// By node: whether it counts here in sums over all nodes. Of its copies, one does.
  virtual std::span<const std::uint8_t> owned() const = 0;
  /// The mass of each node with the shares of all parts, kg: lumped, or M_ii of the consistent matrix.
  virtual const VecX& lumped_mass() const = 0;
  virtual const VecX& consistent_mass() const = 0;
  /// The first process's control of the steps to come; null: none. sum_values() ends a step everywhere by it.
  virtual void watch(const StepControl* control) = 0;

  /// From shares to sums: what copies of a node have is added in the order of ranks, so that all have the same bits. v
  /// has 3 numbers a node, or one.
  virtual void sum_copies(VecX& v) = 0;
  /// Over the nodes of the whole model; copies must agree.
  virtual double dot(const VecX& a, const VecX& b) = 0;
  virtual void sum(std::span<double> values) = 0;
  virtual double maximum(double value) = 0;
  virtual double minimum(double value) = 0;
  /// The sum of a value of the step's function. Throws Interrupted, everywhere, where the first is asked to end.
  virtual double sum_value(double value) = 0;
  double sum(double value) {
    sum(std::span(&value, 1));
    return value;
  }
  /// What the first says.
  virtual bool agree(bool says) = 0;
  virtual void broadcast(std::span<double> values) = 0;
  /// 3 numbers a node of the whole model, on the first alone, from the parts and back.
  virtual void gather(const VecX& part, VecX& whole) = 0;
  virtual void scatter(const VecX& whole, VecX& part) = 0;
  /// Runs something on the first alone. What it throws is thrown there, and Elsewhere on all others.
  virtual void on_first(const std::function<void()>& work) = 0;

  /// The linear systems of an iteration, with rows of all parts.
  virtual std::unique_ptr<LinearSystem> make_system(StepFunction& function, const LinearOptions& options) = 0;
};

/// Thrown where another process has failed, and says why. Not a std::exception: there is nothing to say here.
struct Elsewhere {};

/// Sums that serve a model of its own and a part of a larger one alike.
inline double dot(Sharing* sharing, const VecX& a, const VecX& b) { return sharing ? sharing->dot(a, b) : a.dot(b); }
inline double norm(Sharing* sharing, const VecX& a) { return sharing ? std::sqrt(sharing->dot(a, a)) : a.norm(); }
/// The largest component, without its sign; infinite where one is not a number.
inline double largest(Sharing* sharing, const VecX& v) {
  if (!sharing) return v.cwiseAbs().maxCoeff();
  const double own = v.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  return sharing->maximum(std::isnan(own) ? HUGE_VAL : own);
}
inline double least(Sharing* sharing, double value) { return sharing ? sharing->minimum(value) : value; }
inline double greatest(Sharing* sharing, double value) { return sharing ? sharing->maximum(value) : value; }
inline double total(Sharing* sharing, double value) { return sharing ? sharing->sum(value) : value; }
inline bool anywhere(Sharing* sharing, bool here) { return sharing ? sharing->maximum(here ? 1 : 0) > 0 : here; }

}  // namespace pliant
