#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

#include "pliant/scene/keys.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

namespace {

std::string cell(const std::string& text) {
  std::string escaped;
  for (char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

/// A key that takes a table says where that is.
std::string type_of(const Setting& key) {
  Setting plain = key;
  plain.unit.clear();
  std::string text = cell(describe_type(plain));
  if (!key.section || key.kind == Kind::selection || key.section->label.find('.') == std::string::npos) return text;
  std::string anchor;  // as GitHub and mkdocs make it of the heading
  for (char c : key.section->label)
    if (c != '.' && c != '[' && c != ']') anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return fmt::format("{}: [`{}`](#{})", text, key.section->label, anchor);
}

std::string key_row(const Setting& key) {
  std::string names = "`" + key.name + "`";
  for (const std::string& alias : key.aliases) names += " (or `" + alias + "`)";
  const std::string fallback = key.required ? "required" : key.fallback.empty() ? "" : "`" + key.fallback + "`";
  return fmt::format("| {} | {} | {} | {} | {} |\n", names, type_of(key), key.unit, cell(fallback), cell(key.summary));
}

std::string alternatives_line(const Alternatives& alternatives) {
  std::string text = alternatives.required ? "Exactly one of" : "At most one of";
  for (std::size_t i = 0; i < alternatives.groups.size(); ++i)
    text += fmt::format("{} `{}`", i == 0 ? ":" : " or", fmt::join(alternatives.groups[i], "` with `"));
  return text + ".\n\n";
}

void write_section(const Section& section, const std::string& heading, std::string& out) {
  const std::string title =
      fmt::format("{} {}\n\n", heading,
                  section.label.find_first_of("[.") == std::string::npos ? section.label : "`" + section.label + "`");
  if (out.find("\n" + title) != std::string::npos) return;  // several places take it
  out += title;
  if (!section.summary.empty()) out += section.summary + "\n\n";
  out += "| key | takes | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const Setting& key : section.keys) out += key_row(key);
  out += "\n";
  for (const Alternatives& alternatives : section.alternatives) out += alternatives_line(alternatives);
  for (const Setting& key : section.keys)
    if (key.section && key.kind != Kind::selection)
      write_section(*key.section, heading == "##" && &section != &scene_keys() ? "###" : heading, out);
}

constexpr const char* kIntroduction = R"(# The scene file

A scene is a TOML file: what bodies there are, what holds and moves them, how time runs, and what to write. Units are SI
(metres, kilograms, seconds, newtons, pascals); angles are in degrees, angular velocities in rad/s. An unknown key is an
error, and the message names the nearest one. `pliant check SCENE` says what would run. This page is generated from the
table that checks the files (`pliant docs scene`); do not edit it.

```toml
version = 1

[simulation]
fps = 60
duration = 2.0

[[body]]
name = "beam"
box = {size = [4, 1, 1], cells = [16, 4, 4]}
material = "neo-hookean"
young = 4e5
poisson = 0.4

[[pin]]
where = "x-min"
```

)";

constexpr const char* kSelections =
    R"(A selection picks vertices by their rest positions (after scale, rotate and translate of the body):

- the name of a vertex set of the mesh, or one that every mesh has: `all`, `boundary`, `x-min`, `x-max`, `y-min`, ...;
- a comparison `"x < 0.1"` with `<`, `<=`, `>`, `>=`, and several joined by `and`: `"x < 0.1 and y >= 0.5"`;
- a table with one of the keys below: `{sphere = {centre = [0, 0, 0], radius = 0.5}}`;
- a list of those, which picks what any of them picks: `["x-min", "x-max"]`.

A selection that picks nothing is an error. With elements of order 2 or 3, a node between vertices belongs when they all do.

)";

constexpr const char* kChanges = R"(## Changing a scene from the command line

`--set key=value` changes one value before the file is checked, with a path of keys; bodies, pins, scripts and loads are
named by number (from 0) or by their name, which may be left out when there is only one:

```
pliant run SCENE --set body.beam.young=1e6 --set simulation.fps=120 --set solver.name=newton
```

Values are written as in the file; a bare word needs no quotes. A key that excludes another (`fps` and `dt`) replaces it.
`--solver NAME` changes the solver and leaves out the parameters that the other one does not have.
)";

}  // namespace

std::string scene_documentation() {
  std::string text = kIntroduction;
  write_section(scene_keys(), "##", text);
  std::string selections;
  write_section(selection_keys(), "##", selections);
  selections.insert(selections.find("\n\n") + 2, kSelections);
  return text + selections + kChanges;
}

}  // namespace pliant
