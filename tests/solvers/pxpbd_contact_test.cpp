#include <gtest/gtest.h>

#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"
namespace pliant {
namespace {}
}  // namespace pliant
