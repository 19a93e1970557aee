#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "mesh_info.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/mesh/tetrahedralise.hpp"
#include "pliant/mesh/write_mesh.hpp"
#include "pliant/scene/generator_keys.hpp"

namespace pliant::app {

namespace {

std::string list_formats(const std::vector<FormatInfo>& formats) {
  std::string text;
  for (const FormatInfo& format : formats) {
    text += fmt::format("  {:<14} {:<7} {}\n", format.name, format.extension, format.summary);
  }
  return text;
}

std::string format_help() {
  return fmt::format(
      "Formats of meshes (--format NAME, by default the first with the ending):\n{}Formats of surfaces:\n{}",
      list_formats(mesh_formats()), list_formats(surface_formats()));
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) spdlog::info("{}", note);
}

/// Says what a format cannot carry, then writes.
void save(const std::string& path, const TetMesh& mesh, const std::string& format_name) {
  if (is_surface_file(path)) {
    const FormatInfo& format =
        format_name.empty() ? format_for(path, surface_formats()) : find_format(format_name, surface_formats());
    const TriangleMesh surface = surface_of(mesh);
    write_surface(path, surface, format.name);
    fmt::print("{}: the surface, {} vertices, {} triangles ({})\n", path, surface.vertices.size(),
               surface.triangles.size(), format.summary);
    return;
  }
  const FormatInfo& format =
      format_name.empty() ? format_for(path, mesh_formats()) : find_format(format_name, mesh_formats());
  if (!format.rich) {
    const auto warn = [&](std::size_t count, const char* what) {
      if (count > 0) spdlog::warn("{} files carry no {}: {} left out", format.name, what, count);
    };
    warn(mesh.sets().size(), "vertex sets");
    warn(mesh.element_fields().size(), "element fields");
    warn(mesh.region_names().size(), "names of regions");
  }
  write_mesh(path, mesh, format.name);
  fmt::print("{}: {} vertices, {} tetrahedra ({})\n", path, mesh.vertices().size(), mesh.tets().size(), format.summary);
}

void add_info(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::string file;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("info", "Say what a mesh or surface file holds, and how good its elements are");
  command->add_option("FILE", arguments->file, "The file")->required();
  command->add_flag("--json", arguments->json, "For programs");
  command->callback([arguments, &exit_code] {
    if (is_surface_file(arguments->file)) {
      const TriangleMesh mesh = read_surface(arguments->file);
      fmt::print("{}", arguments->json ? surface_to_json(mesh).dump(2) + "\n" : describe_surface(mesh));
    } else {
      const TetMesh mesh = read_mesh(arguments->file);
      fmt::print("{}", arguments->json ? mesh_to_json(mesh).dump(2) + "\n" : describe_mesh(mesh));
    }
    exit_code = kSuccess;
  });
}

void add_convert(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::string in;
    std::string out;
    std::string format;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("convert",
                                         "Write a mesh or surface in another format; a mesh written as a surface "
                                         "becomes its boundary");
  command->add_option("IN", arguments->in, "The file to read")->required();
  command->add_option("OUT", arguments->out, "The file to write; its ending chooses the format")->required();
  command->add_option("--format", arguments->format, "The format to write, see below")->type_name("NAME");
  command->footer(format_help());
  command->callback([arguments, &exit_code] {
    if (is_surface_file(arguments->in)) {
      const TriangleMesh mesh = read_surface(arguments->in);
      print_notes(mesh.notes);
      const FormatInfo& format = arguments->format.empty() ? format_for(arguments->out, surface_formats())
                                                           : find_format(arguments->format, surface_formats());
      write_surface(arguments->out, mesh, format.name);
      fmt::print("{}: {} vertices, {} triangles ({})\n", arguments->out, mesh.vertices.size(), mesh.triangles.size(),
                 format.summary);
    } else {
      const TetMesh mesh = read_mesh(arguments->in);
      print_notes(mesh.notes());
      save(arguments->out, mesh, arguments->format);
    }
    exit_code = kSuccess;
  });
}

/// What the shell gave for a key, in TOML's notation: a list may go without brackets.
std::string to_toml_notation(const Setting& key, const std::string& text) {
  const bool list =
      key.kind == Kind::vector || key.kind == Kind::counts || key.kind == Kind::pair || key.kind == Kind::pair_counts;
  return list && !text.starts_with('[') ? "[" + text + "]" : text;
}

/// `generate KIND`, its options from the table of the scene file's keys.
void add_generator(CLI::App& app, const Setting& generator, int& exit_code) {
  struct Arguments {
    std::string out;
    std::string format;
    std::map<std::string, std::string> values;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(generator.name, generator.section->summary);
  command->add_option("OUT", arguments->out, "The file to write; its ending chooses the format")->required();
  command->add_option("--format", arguments->format, "The format to write, as for `convert`")->type_name("NAME");
  for (const Setting& key : generator.section->keys) {
    std::string names = "--" + key.name;
    std::replace(names.begin(), names.end(), '_', '-');
    for (const std::string& alias : key.aliases) names += ",--" + alias;
    const std::string help = fmt::format("{}{}{}", key.summary, key.unit.empty() ? "" : " [" + key.unit + "]",
                                         key.required           ? " (required)"
                                         : key.fallback.empty() ? ""
                                                                : " (default " + key.fallback + ")");
    command->add_option(names, arguments->values[key.name], help)
        ->type_name(describe_type({.name = key.name, .kind = key.kind, .summary = ""}));
  }
  command->callback([arguments, &generator, &exit_code] {
    Value table{Value::Table{}, "mesh generate " + generator.name};
    for (const Setting& key : generator.section->keys) {
      const std::string& text = arguments->values.at(key.name);
      if (text.empty()) continue;
      const std::string origin = "--" + key.name;
      table.table().push_back({key.name, origin, parse_toml_value(to_toml_notation(key, text), origin)});
    }
    Section section = *generator.section;
    section.place = "of " + generator.name;
    check_table(table, section);
    save(arguments->out, TetMesh(generate(to_generator(generator.name, table))), arguments->format);
    exit_code = kSuccess;
  });
}

void add_generate(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("generate", "Generate a mesh of a simple body");
  command->require_subcommand(1);
  command->footer("For example: pliant mesh generate cylinder --radius 0.1 --length 1 --axis x --cells 8 beam.vtu");
  for (const Setting& generator : generator_keys()) add_generator(*command, generator, exit_code);
}

void add_tetrahedralise(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::string in;
    std::string out;
    std::string format;
    std::string program = "any";
    double edge = 0;
    Index coarse = 0;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "tetrahedralise", "Fill a closed surface (OBJ, PLY, STL) with tetrahedra, by Gmsh or TetGen or, roughly, alone");
  command->add_option("SURFACE", arguments->in, "The surface")->required();
  command->add_option("OUT", arguments->out, "The file to write; its ending chooses the format")->required();
  command->add_option("--edge", arguments->edge, "Longest edge inside; by default as on the surface")
      ->type_name("METRES");
  command
      ->add_option("--coarse", arguments->coarse,
                   "About so many tetrahedra in all, which follow the surface roughly: for a body that carries it as "
                   "its `visual`; needs no other program")
      ->type_name("N")
      ->excludes("--edge");
  command->add_option("--with", arguments->program, "gmsh or tetgen; by default the one that is installed")
      ->check(CLI::IsMember({"any", "gmsh", "tetgen"}))
      ->type_name("PROGRAM");
  command->add_option("--format", arguments->format, "The format to write, as for `convert`")->type_name("NAME");
  command->callback([arguments, &exit_code] {
    const Mesher mesher = arguments->program == "gmsh"     ? Mesher::gmsh
                          : arguments->program == "tetgen" ? Mesher::tetgen
                                                           : Mesher::any;
    const TetMesh mesh = tetrahedralise(read_surface(arguments->in), {mesher, arguments->edge, arguments->coarse});
    print_notes(mesh.notes());
    save(arguments->out, mesh, arguments->format);
    exit_code = kSuccess;
  });
}

}  // namespace

void add_mesh(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("mesh", "Inspect, convert, generate and fill meshes");
  command->require_subcommand(1);
  add_info(*command, exit_code);
  add_convert(*command, exit_code);
  add_generate(*command, exit_code);
  add_tetrahedralise(*command, exit_code);
}

}  // namespace pliant::app
