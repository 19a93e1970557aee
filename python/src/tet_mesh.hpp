#pragma once

#include <memory>

#include "pliant/mesh/tet_mesh.hpp"

namespace pliant::python {

using SharedMesh = std::shared_ptr<const TetMesh>;

/// What Python holds: pybind11's holders cannot be pointers to const.
struct MeshHandle {
  SharedMesh mesh;
};

}  // namespace pliant::python
