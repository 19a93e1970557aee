#pragma once

#include <cstdint>

#include "pliant/math/types.hpp"

namespace pliant::experiments {

/// The same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// In [0, 1).
  double unit() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }
  /// In [-1, 1).
  double symmetric() { return 2 * unit() - 1; }
  /// Of length one.
  Vec3 direction() {
    Vec3 v;
    do {
      v = {symmetric(), symmetric(), symmetric()};
    } while (v.norm() > 1 || v.norm() < 0.1);
    return v.normalized();
  }

 private:
  std::uint64_t state_;
};

}  // namespace pliant::experiments
