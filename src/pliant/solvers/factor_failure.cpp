#include "pliant/solvers/factor_failure.hpp"

#include <fmt/format.h>

#include "pliant/base/memory.hpp"

namespace pliant {

void end_without_factor(StepReport& report, FactorStatus status, const SparseCholesky& cholesky, std::string_view what,
                        std::string_view remedy) {
  if (status == FactorStatus::out_of_memory) {
    const auto needed = static_cast<double>(cholesky.statistics().needed_bytes);
    const double available = available_memory();
    return report.end(
        Outcome::out_of_memory,
        fmt::format("{} could not be factorised: {}; remedy: {}", what,
                    needed > available ? MemoryShortage("its factor", needed, available).what() : "out of memory",
                    kLessMemory));
  }
  report.end(
      status == FactorStatus::not_finite ? Outcome::not_finite : Outcome::factorisation_failed,
      fmt::format("{} could not be factorised: {}{}{}", what, to_string(status), remedy.empty() ? "" : "; ", remedy));
}

}  // namespace pliant
