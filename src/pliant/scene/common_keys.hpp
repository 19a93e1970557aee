#pragma once

#include "pliant/scene/keys.hpp"

namespace pliant {

/// Keys that several sections share.
inline Setting name_key(const std::string& what) {
  return {.name = "name",
          .kind = Kind::text,
          .summary = "Name of the " + what + " in messages and results; must be unique.",
          .example = "\"" + what + "-a\""};
}
inline Setting body_key(const std::string& summary = "The body it acts on; needed when there are several.",
                        const std::string& example = "\"beam\"") {
  return {.name = "body", .kind = Kind::text, .summary = summary, .example = example};
}
inline Setting where_key(const std::string& what, bool required) {
  return {.name = "where",
          .kind = Kind::selection,
          .summary = what + " See [Selections](#selections).",
          .example = "\"x-min\"",
          .required = required,
          .section = &selection_keys()};
}

}  // namespace pliant
