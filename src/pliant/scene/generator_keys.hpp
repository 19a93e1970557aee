#pragma once

#include "pliant/mesh/generators.hpp"
#include "pliant/scene/keys.hpp"

namespace pliant {

/// One key of [[body]] for each mesh generator ("box", "cylinder", ...), with its section; the command line's
/// `mesh generate` reads the same table.
const std::vector<Setting>& generator_keys();

/// The options in a table that check_table has seen; `kind` is the name of one of generator_keys().
MeshGenerator to_generator(std::string_view kind, const Value& table);

}  // namespace pliant
