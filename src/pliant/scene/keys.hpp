#pragma once

#include "pliant/settings/setting.hpp"

namespace pliant {

/// The scene file, as settings: the table is in keys.cpp and the files beside it.

/// The top level; other sections hang from its keys.
const Section& scene_keys();
/// The tables a selection may be.
const Section& selection_keys();

}  // namespace pliant
