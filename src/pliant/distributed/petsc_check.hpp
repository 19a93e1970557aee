#pragma once

#include <fmt/format.h>
#include <petscsys.h>

#include <stdexcept>

namespace pliant {

/// Throws std::runtime_error where PETSc could not do something.
inline void check(PetscErrorCode code, const char* what) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  throw std::runtime_error(fmt::format("PETSc cannot {}: {}", what, text ? text : "no reason given"));
}

/// Whether PETSc has ended, as it may before all that it has made is gone: in Python, what is still there at the end.
inline bool petsc_is_over() {
  PetscBool is_over = PETSC_FALSE;
  PetscFinalized(&is_over);
  return is_over == PETSC_TRUE;
}

}  // namespace pliant
