#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "commands.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/animation/export.hpp"
#include "pliant/io/build_info.hpp"
#include "pliant/scene/common_keys.hpp"

// What shells and `man` want to know about the program is taken from the commands themselves, so that it cannot be
// out of date.

namespace pliant::app {

namespace {

std::vector<CLI::App*> commands_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App* command) { return !command->get_name().empty(); });
}

struct Word {
  std::string name;  ///< --out
  std::string help;  ///< its first line
  bool takes_value = false;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<Word> options_of(CLI::App& command) {
  std::vector<Word> words;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      words.push_back({"--" + name, first_line(option->get_description()), option->get_items_expected_max() > 0});
  return words;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) names.emplace_back(format.name);
  return names;
}

/// What may stand behind an option, where that is known.
std::vector<std::string> values_of(const std::string& option) {
  if (option == "--solver" || option == "--solvers" || option == "--reference") return solver_names();
  if (option == "--format") return format_names();
  if (option == "--material") return material_names();
  if (option == "--colour" || option == "--color") return {"stretch", "von_mises", "speed", "displacement", "body"};
  return {};
}

std::string quote(std::string text) {
  std::string out;
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + out + "'";
}

std::string bash_completion(CLI::App& app) {
  std::string names, cases;
  for (CLI::App* command : commands_of(app)) {
    names += command->get_name() + " ";
    std::string words;
    for (const Word& word : options_of(*command)) words += word.name + " ";
    for (CLI::App* below : commands_of(*command)) words += below->get_name() + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), words);
  }
  return fmt::format(R"(# pliant completion bash > ~/.local/share/bash-completion/completions/pliant
_pliant() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
  case $before in
    --solver|--reference) COMPREPLY=($(compgen -W "{0}" -- "$current")); return ;;
    --solvers)  # one after the other, with commas
      local chosen=""
      [[ $current != *,* ]] || chosen=${{current%,*}},
      COMPREPLY=($(compgen -P "$chosen" -W "all {0}" -- "${{current##*,}}"))
      return ;;
    --material) COMPREPLY=($(compgen -W "{4}" -- "$current")); return ;;
    --format) COMPREPLY=($(compgen -W "{1}" -- "$current")); return ;;
    --colour|--color) COMPREPLY=($(compgen -W "{5}" -- "$current")); return ;;
    solvers) COMPREPLY=($(compgen -W "{0} --help --json" -- "$current")); return ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$current")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{2}--help --version" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{3}  esac
  if [[ $current == -* || ${{COMP_WORDS[1]}} == docs || ${{COMP_WORDS[1]}} == mesh ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _pliant pliant
)",
                     fmt::join(solver_names(), " "), fmt::join(format_names(), " "), names, cases,
                     fmt::join(material_names(), " "), fmt::join(values_of("--colour"), " "));
}

std::string zsh_completion(CLI::App& app) {
  const auto clean = [](std::string text) {  // characters that _arguments reads as its own
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '[' || c == ']' || c == ':'; }, ' ');
    return text;
  };
  std::string names, cases;
  for (CLI::App* command : commands_of(app)) {
    names += fmt::format("    {}\n", quote(command->get_name() + ":" + first_line(command->get_description())));
    cases += fmt::format("    {}) _arguments", command->get_name());
    for (const Word& word : options_of(*command)) {
      const std::vector<std::string> known = values_of(word.name);
      const std::string values = known.empty() ? "_files"
                                 : word.name == "--solvers"
                                     ? fmt::format("_values -s , solver {}", fmt::join(known, " "))
                                     : fmt::format("({})", fmt::join(known, " "));
      cases +=
          " " + quote(fmt::format("{}[{}]{}", word.name, clean(word.help), word.takes_value ? ":value:" + values : ""));
    }
    std::vector<std::string> below;
    for (CLI::App* sub : commands_of(*command)) below.push_back(sub->get_name());
    cases += below.empty() ? " '*:file:_files' ;;\n"
                           : fmt::format(" '1:what:({})' '*:file:_files' ;;\n", fmt::join(below, " "));
  }
  return fmt::format(R"(#compdef pliant
# pliant completion zsh > a folder of $fpath, as _pliant
_pliant() {{
  local -a commands
  commands=(
{0}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{1}  esac
}}
_pliant "$@"
)",
                     names, cases);
}

std::string fish_completion(CLI::App& app) {
  std::string text = "# pliant completion fish > ~/.config/fish/completions/pliant.fish\n";
  for (CLI::App* command : commands_of(app)) {
    text += fmt::format("complete -c pliant -n __fish_use_subcommand -f -a {} -d {}\n", command->get_name(),
                        quote(first_line(command->get_description())));
    for (const Word& word : options_of(*command)) {
      const std::vector<std::string> known = values_of(word.name);
      const std::string values = !known.empty()     ? fmt::format(" -x -a '{}'", fmt::join(known, " "))
                                 : word.takes_value ? " -r"
                                                    : "";
      text += fmt::format("complete -c pliant -n '__fish_seen_subcommand_from {}' -l {} -d {}{}\n", command->get_name(),
                          word.name.substr(2), quote(word.help), values);
    }
    for (CLI::App* below : commands_of(*command))
      text += fmt::format("complete -c pliant -n '__fish_seen_subcommand_from {}' -a {} -d {}\n", command->get_name(),
                          below->get_name(), quote(first_line(below->get_description())));
  }
  return text;
}

/// Text as roff takes it: a backslash and a leading dot or quote are its own.
std::string roff(const std::string& text) {
  std::string out;
  bool starts = true;
  for (char c : text) {
    if (starts && (c == '.' || c == '\'')) out += "\\&";
    out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
    starts = c == '\n';
  }
  return out;
}

std::string manual(CLI::App& app) {
  std::string text = fmt::format(
      ".TH PLIANT 1 \"\" \"pliant {}\" \"Pliant\"\n.SH NAME\npliant \\- simulates deformable solids: one scene, every "
      "solver\n.SH SYNOPSIS\n.B pliant\n.I COMMAND\n[arguments]\n.SH COMMANDS\n",
      roff(version()));
  for (CLI::App* command : commands_of(app)) {
    text += fmt::format(".SS {}", roff(command->get_name()));
    for (const CLI::Option* option : command->get_options())
      if (option->get_positional()) text += " " + roff(option->get_name(true));
    text += "\n" + roff(command->get_description()) + ".\n";
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_lnames().empty()) continue;
      const std::string given = option->get_default_str();
      const std::string value = option->get_type_name() + (given.empty() ? "" : "=" + given);
      // The argument of .TP is one line.
      text +=
          fmt::format(".TP\n.BI \\-\\-{} \"{}\"\n{}\n", roff(option->get_lnames().front()),
                      option->get_items_expected_max() > 0 ? " " + roff(value) : "", roff(option->get_description()));
    }
    for (CLI::App* below : commands_of(*command))
      text += fmt::format(".TP\n.B {}\n{}\n", roff(below->get_name()), roff(below->get_description()));
  }
  text +=
      ".SH EXIT STATUS\n0: done; 1: the run failed; 2: bad input; 3: finished with a result that is in doubt; 130: "
      "interrupted.\n.SH ENVIRONMENT\n.TP\n.B "
      "NO_COLOR\nSet to anything: no colours in messages.\n.SH FILES\nA run leaves result.pvd, frames, steps.jsonl, "
      "summary.json and checkpoints in its folder, by default out/NAME.\n";
  return text;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes commands in a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app, &exit_code] {
    fmt::print("{}", *shell == "bash"  ? bash_completion(app)
                     : *shell == "zsh" ? zsh_completion(app)
                                       : fish_completion(app));
    exit_code = kSuccess;
  });
  app.get_subcommand("docs")
      ->add_subcommand("man", "The manual page: pliant docs man > pliant.1")
      ->callback([&app, &exit_code] {
        fmt::print("{}", manual(app));
        exit_code = kSuccess;
      });
}

}  // namespace pliant::app
