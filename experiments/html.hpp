#pragma once

#include <filesystem>
#include <string>

#include "experiments/claims.hpp"

namespace pliant::experiments::html {

std::string escaped(const std::string& text);
/// A word usable as an anchor: letters, digits and hyphens.
std::string anchor(const std::string& text);
/// JSON as a person reads it: numbers to four digits, an object as its names and values, nested lists in brackets.
std::string value(const Json& json);
/// A drawing (.svg, put in as it is) or picture (.png, .jpg); empty for other files.
std::string picture(const std::filesystem::path& file);
/// Style and script of the report.
extern const char* const kHead;
extern const char* const kScript;

}  // namespace pliant::experiments::html
