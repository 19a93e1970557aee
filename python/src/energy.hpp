#pragma once

#include <memory>

#include "pliant/energies/energy.hpp"

namespace pliant::python {

/// What Python holds of an energy; pybind11's holders cannot be pointers to const.
struct EnergyHandle {
  std::shared_ptr<const Energy> energy;
};

}  // namespace pliant::python
