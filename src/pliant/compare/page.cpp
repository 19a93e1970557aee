#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/compare/compare.hpp"
#include "pliant/compare/page_look.hpp"
#include "pliant/io/animation/draw.hpp"
#include "pliant/io/build_info.hpp"
#include "pliant/render/gif.hpp"
#include "pliant/render/svg_plot.hpp"

namespace pliant {

namespace {

std::string base64(std::string_view bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (int k = 3; k >= 0; --k)
      out += i + static_cast<std::size_t>(3 - k) > bytes.size() ? '=' : digits[group >> (6 * k) & 63];
  }
  return out;
}

std::string name_of(const SceneComparison& comparison, const Trial& trial) {
  return comparison.swept.empty() ? trial.solver : trial.setting;
}

/// Hues a golden angle apart differ whatever their number; the page says how bright they are.
std::string colour_of(std::size_t n) {
  return fmt::format("hsl({:.0f} {}% var(--tone))", std::fmod(215 + 137.5 * static_cast<double>(n), 360.0),
                     n % 2 == 0 ? 68 : 48);
}

/// Units as a page writes them, where a terminal has plain letters only.
std::string typeset(std::string text) {
  for (const auto& [plain, fine] : {std::pair(" um", " \u00b5m"), std::pair("^2", "\u00b2")})
    for (std::size_t p = text.find(plain); p != std::string::npos; p = text.find(plain, p + 1))
      text.replace(p, std::string_view(plain).size(), fine);
  return escape_html(text);
}

bool has_reference(const SceneComparison& comparison) { return comparison.reference.setting == "reference"; }

/// "3 mm at iterations = 5", the second part below the first.
std::string in_two_lines(std::string cell) {
  const std::size_t at = cell.find(" at ");
  return at == std::string::npos ? cell : fmt::format("{} <small>{}</small>", cell.substr(0, at), cell.substr(at + 1));
}

/// As a sentence begins.
std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string dot(std::size_t n) { return fmt::format("<i class=\"dot\" style=\"color:{}\"></i>", colour_of(n)); }

std::string table(const SceneComparison& comparison) {
  const std::vector<std::string> columns = comparison_columns(comparison);
  std::string html = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& column : columns)
    html += fmt::format("<th{}>{}</th>", column == "ms a step" || column == "distance, rms" ? " data-bar" : "",
                        typeset(column));
  html += "</tr></thead><tbody>\n";
  const auto add = [&](const Trial& trial, const std::string& kind, const std::string& mark) {
    html += fmt::format("<tr{}>", kind.empty() ? "" : " class=\"" + kind + "\"");
    const std::vector<std::string> cells = comparison_row(comparison, trial);
    for (std::size_t c = 0; c < cells.size(); ++c)
      html += fmt::format("<td>{}{}</td>", c == 0 ? mark : "", in_two_lines(typeset(cells[c])));
    html += "</tr>\n";
  };
  if (has_reference(comparison))
    add(comparison.reference, "reference", "<i class=\"dot\" style=\"color:var(--ink)\"></i>");
  for (std::size_t k = 0; k < comparison.trials.size(); ++k)
    add(comparison.trials[k], comparison.trials[k].finished ? "" : "ended", dot(k));
  return html + "</tbody></table></div>\n";
}

/// What one wants to know first.
std::string tiles(const SceneComparison& comparison) {
  const Trial *fastest = nullptr, *nearest = nullptr;
  for (const Trial& trial : comparison.trials) {
    if (!trial.finished) continue;
    if (!fastest || trial.median_milliseconds() < fastest->median_milliseconds()) fastest = &trial;
    if (!nearest || trial.error() < nearest->error()) nearest = &trial;
  }
  const auto tile = [&](const std::string& title, const std::string& name, const Trial& trial) {
    const std::vector<std::string> row = comparison_row(comparison, trial);
    return fmt::format(
        "<div class=\"tile\"><span>{}</span><b>{}</b><span>{} ms a step, {} from the reference{}</span></div>\n", title,
        escape_html(name), row[1], typeset(row[4]),
        // Merit that is another's.
        trial.newton_steps > 0
            ? fmt::format("; {} of {} steps ended by Newton's method", trial.newton_steps, trial.taken())
            : std::string());
  };
  std::string html;
  if (fastest) html += tile("Fastest", name_of(comparison, *fastest), *fastest);
  if (nearest && has_reference(comparison))
    html += tile("Nearest to the reference", name_of(comparison, *nearest), *nearest);
  if (comparison.budget > 0) {
    const Trial* best = nullptr;
    for (const EffortCurve& curve : comparison.curves)
      if (const Trial* trial = best_within(curve, comparison.budget);
          trial && (!best || trial->error() < best->error()))
        best = trial;
    if (best)
      html += tile(fmt::format("Nearest within {:.4g} ms a step", comparison.budget),
                   best->solver + (best->setting.empty() ? "" : ", " + best->setting), *best);
  }
  return html.empty() ? "" : "<div class=\"tiles\">" + html + "</div>\n";
}

Plot effort_plot(const SceneComparison& comparison) {
  Plot plot{"Error against time, as each is given more work",
            "median time of a step, ms",
            "distance to the reference, rms, m",
            true,
            true,
            {}};
  if (comparison.budget > 0) plot.limit = comparison.budget;
  const auto line_of = [](const std::string& name, std::size_t colour, const std::vector<Trial>& trials) {
    PlotLine line{name, colour_of(colour), {}, {}, false, true};
    for (const Trial& trial : trials) {
      line.x.push_back(trial.median_milliseconds());
      line.y.push_back(trial.error());
      line.notes.push_back(fmt::format("{}{}{}: {:.3g} ms a step, {:.3g} m from the reference", trial.solver,
                                       trial.setting.empty() ? "" : ", ", trial.setting, line.x.back(), line.y.back()));
    }
    return line;
  };
  if (!comparison.swept.empty()) {
    plot.lines.push_back(line_of(comparison.swept, 0, comparison.trials));
    return plot;
  }
  for (std::size_t c = 0; c < comparison.curves.size(); ++c)
    plot.lines.push_back(line_of(comparison.curves[c].solver, c, comparison.curves[c].trials));
  return plot;
}

std::string titled(const Plot& plot, const std::string& html, const std::string& kind = "") {
  return fmt::format("<figure{}><figcaption>{}</figcaption>{}</figure>\n",
                     kind.empty() ? "" : " class=\"" + kind + "\"", escape_html(plot.title), html);
}

/// Wide where there is room, and again as high as the others on a telephone, whose letters would be too small.
std::string main_plot(const SceneComparison& comparison) {
  Plot plot = effort_plot(comparison);
  const std::string narrow = to_svg(plot);
  plot.width = 1000;
  plot.height = 440;
  return titled(plot, "<div class=\"wide\">" + to_svg(plot) + "</div><div class=\"narrow\">" + narrow + "</div>",
                "main");
}

/// Whether there is something to draw over time: two values at least.
bool is_line(const SceneComparison& comparison, std::vector<double> TrialSeries::*values) {
  return std::any_of(comparison.trials.begin(), comparison.trials.end(), [&](const Trial& trial) {
    const std::vector<double>& v = trial.series.*values;
    return std::count_if(v.begin(), v.end(), [](double value) { return std::isfinite(value); }) > 1;
  });
}

std::string series_plot(const SceneComparison& comparison, const std::string& title, const std::string& label,
                        bool is_log, std::vector<double> TrialSeries::*values, bool with_reference) {
  Plot plot{title, "time, s", label, false, is_log, {}};
  if (with_reference && has_reference(comparison))
    plot.lines.push_back({"reference", "var(--ink)", comparison.reference.series.time,
                          comparison.reference.series.*values, true, false});
  for (std::size_t k = 0; k < comparison.trials.size(); ++k) {
    const Trial& trial = comparison.trials[k];
    plot.lines.push_back(
        {name_of(comparison, trial), colour_of(k), trial.series.time, trial.series.*values, false, false});
  }
  return titled(plot, to_svg(plot));
}

std::string plots(const SceneComparison& comparison) {
  std::string html = "<h2>Curves</h2>\n<div class=\"key\">";
  const auto add_key = [&](const std::string& name, const std::string& colour) {
    html += fmt::format(
        "<button data-name=\"{0}\" aria-pressed=\"true\"><i class=\"dot\" style=\"color:{1}\"></i>{0}</button>",
        escape_html(name), colour);
  };
  if (has_reference(comparison)) add_key("reference", "var(--ink)");
  for (std::size_t k = 0; k < comparison.trials.size(); ++k)
    add_key(name_of(comparison, comparison.trials[k]), colour_of(k));
  html += "</div>\n";
  if (!comparison.swept.empty() || !comparison.curves.empty()) html += main_plot(comparison);
  html += "<div class=\"plots\">\n";
  const auto add = [&](const char* title, const char* label, bool is_log, std::vector<double> TrialSeries::*values,
                       bool with_reference) {
    if (is_line(comparison, values)) html += series_plot(comparison, title, label, is_log, values, with_reference);
  };
  add("Distance to the reference", "rms over the nodes, m", true, &TrialSeries::distance, false);
  add("What is left of the equation", "acceleration error, m/s\u00b2", true, &TrialSeries::acceleration, true);
  add("Time of a step", "ms", true, &TrialSeries::milliseconds, false);
  add("Total energy", "J", false, &TrialSeries::total, true);
  add("Kinetic energy", "J", false, &TrialSeries::kinetic, true);
  add("Linear momentum", "kg m/s", false, &TrialSeries::momentum, true);
  add("Angular momentum about the origin", "kg m\u00b2/s", false, &TrialSeries::angular_momentum, true);
  add("Smallest gap", "m", true, &TrialSeries::gap, true);
  return html + "</div>\n";
}

/// As small as it gets: a page has hundreds of them.
std::string small_file(const Picture& picture) {
  GifFilm still(picture.width, picture.height, 1);
  still.add(picture);
  return still.finish();
}

/// Pictures of one trial at its moments, all but the last hidden.
std::string film(const std::string& name, const std::string& colour, const Animation& animation, const Camera& camera,
                 const ScenePicture& options) {
  Staging staging = stage(animation, options);
  staging.camera = camera;
  std::string html = "<figure>";
  for (std::size_t k = 0; k < animation.frames(); ++k)
    html += fmt::format("<img{} alt=\"{} at {:.3f} s\" data-time=\"{:.3f}\" src=\"data:image/gif;base64,{}\">",
                        k + 1 < animation.frames() ? " hidden" : "", escape_html(name), animation.times[k],
                        animation.times[k], base64(small_file(draw_frame(animation, k, staging, options))));
  return html + fmt::format("<figcaption><i class=\"dot\" style=\"color:{}\"></i>{}</figcaption></figure>\n", colour,
                            escape_html(name));
}

struct TrialFilm {
  std::string name, colour;
  Animation animation;
};

std::string films(const SceneComparison& comparison) {
  std::vector<TrialFilm> shown;
  const auto add = [&](const std::string& name, const std::string& colour, const Trial& trial) {
    std::vector<double> times;
    std::vector<VecX> positions;
    for (const TrialMoment& moment : trial.moments) {
      times.push_back(moment.time);
      positions.push_back(moment.x);
    }
    if (!times.empty())
      shown.push_back({name, colour, animation_of(comparison.as_given, *trial.model, times, positions)});
  };
  if (has_reference(comparison)) add("reference: " + comparison.reference.solver, "var(--ink)", comparison.reference);
  for (std::size_t k = 0; k < comparison.trials.size(); ++k)
    add(name_of(comparison, comparison.trials[k]), colour_of(k), comparison.trials[k]);
  if (shown.empty()) return "";
  // One camera and one range of colours for all, so that what looks alike is alike.
  ScenePicture options = comparison.as_given.picture;
  options.width = 400;
  options.height = 225;
  options.legend = false;
  options.stamp = false;
  const Camera camera = stage(shown.front().animation, options).camera;
  std::size_t moments = 0;
  std::string figures;
  for (TrialFilm& one : shown) {
    one.animation.high = shown.front().animation.high;
    moments = std::max(moments, one.animation.frames());
    figures += film(one.name, one.colour, one.animation, camera, options);
  }
  return fmt::format(
      "<h2>Side by side</h2>\n<p class=\"soft\">Colours show the largest stretch, from 1 to {:.3g}.</p>\n<div "
      "class=\"moments\"><button id=\"play\">Play</button><input id=\"moment\" type=\"range\" min=\"0\" max=\"{}\" "
      "value=\"{}\" aria-label=\"moment\"><span id=\"time\">{:.3f} s</span></div>\n<div class=\"films\">\n{}</div>\n",
      shown.front().animation.high, moments - 1, moments - 1, shown.front().animation.times.back(), figures);
}

/// Solvers that ended early or could not begin, with their reasons.
std::string left_out(const SceneComparison& comparison) {
  std::string html;
  for (const Trial& trial : comparison.trials)
    if (!trial.finished)
      html +=
          fmt::format("<li><b>{}</b> ended after {} of {} steps: {}</li>\n", escape_html(name_of(comparison, trial)),
                      trial.taken(), trial.steps, escape_html(trial.detail));
  for (const auto& [name, reason] : comparison.refused)
    html += fmt::format("<li><b>{}</b> cannot run this scene: {}</li>\n", escape_html(name), escape_html(reason));
  return html.empty() ? "" : "<h2>What did not run, or not to the end</h2>\n<ul>" + html + "</ul>\n";
}

}  // namespace

std::string to_html(const SceneComparison& comparison) {
  const std::string heading =
      fmt::format("{}: {}", escape_html(comparison.scene),
                  comparison.swept.empty() ? "one scene, several solvers" : "over " + escape_html(comparison.swept));
  const std::string distances =
      has_reference(comparison)
          ? fmt::format("root mean squares over the nodes, to {} run until rounding ends its convergence",
                        escape_html(comparison.reference.solver))
          : "root mean squares over the nodes, to the first value";
  const std::int64_t steps = comparison.trials.empty() ? 0 : comparison.trials.front().steps;
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
             "content=\"width=device-width, initial-scale=1\"><title>{0}</title>\n{1}</head><body><main>\n"
             "<h1>{0}</h1>\n<p>{2}</p>\n<p class=\"soft\">{3} of {4:.4g} s, on a scene {5:.3g} m across. "
             "Distances are {6}. Times are medians {8} {7}.</p>\n",
             heading, kComparePageStyle, escape_html(capital(comparison.title)),
             steps == 1 ? "One step" : fmt::format("{} steps", steps), comparison.dt, comparison.size, distances,
             escape_html(this_machine().processor),
             comparison.clock == StageClock::processor ? "of processor time on" : "on") +
         tiles(comparison) + table(comparison) + plots(comparison) + films(comparison) + left_out(comparison) +
         fmt::format("<footer>pliant {} ({})</footer></main>\n{}</body></html>\n", version(), commit(),
                     kComparePageScript);
}

}  // namespace pliant
