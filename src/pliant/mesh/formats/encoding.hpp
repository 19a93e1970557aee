#pragma once

namespace pliant {

/// Formats that come in two forms.
enum class Encoding { text, binary };

}  // namespace pliant
