#pragma once

#include <array>

namespace pliant::experiments {

struct Paper {
  const char *key, *authors, *title;
};

constexpr std::array<Paper, 5> kPapers = {
    {{"pitfalls", "Longva et al. 2023",
      "Pitfalls of Projection: A study of Newton-type solvers for incremental potentials"},
     {"quasi-newton", "Liu, Bouaziz, Kavan 2017",
      "Quasi-Newton Methods for Real-Time Simulation of Hyperelastic Materials"},
     {"warp-canceling", "Hecht et al. 2012", "Updated Sparse Cholesky Factors for Corotational Elastodynamics"},
     {"conjac", "Weidner, Kim, Sueda 2020", "CONJAC: Large Steps in Dynamic Simulation"},
     {"pxpbd", "Chen et al. 2024",
      "Primal Residual Reduction with Extended Position Based Dynamics and Hyperelasticity"}}};

}  // namespace pliant::experiments
