#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/compare/compare.hpp"
#include "pliant/io/animation/draw.hpp"
#include "pliant/io/build_info.hpp"
#include "pliant/render/svg_plot.hpp"

namespace pliant {

namespace {

constexpr const char* kStyle = R"(<style>
body{font:15px/1.5 system-ui,sans-serif;color:#23272e;background:#fbfbfa;max-width:1320px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin-bottom:.1em}h2{font-size:1.15em;margin-top:2em}p{max-width:75ch}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
td,th{padding:.25em .8em;text-align:right;border-bottom:1px solid #e2e4e8;white-space:nowrap}
td:first-child,th:first-child{text-align:left}.scroll{overflow-x:auto}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1em}
svg{background:#fff;border:1px solid #e2e4e8;border-radius:6px;width:100%}
svg text{font:12px system-ui,sans-serif;fill:#444}svg .title{font-size:14px;font-weight:600;fill:#23272e}
svg .grid{stroke:#eceef1}svg polyline{fill:none;stroke-width:1.8;stroke-linejoin:round}
svg .line.dim{opacity:.12}.key{display:flex;flex-wrap:wrap;gap:.3em 1.1em;margin:.8em 0}
.key span{cursor:default}.key i{display:inline-block;width:1.4em;height:.28em;margin-right:.4em;vertical-align:middle}
.films{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:.8em}
figure{margin:0}figure img{width:100%;border-radius:6px;display:block}figure img[hidden]{display:none}figcaption{font-size:13px;color:#555}
input[type=range]{width:min(480px,90%);vertical-align:middle}
</style>)";

constexpr const char* kScript = R"(<script>
const slider=document.getElementById('moment');
if(slider)slider.addEventListener('input',()=>{for(const f of document.querySelectorAll('figure'))
{const all=f.querySelectorAll('img');all.forEach((im,k)=>im.hidden=k!==Math.min(+slider.value,all.length-1))}});
for(const k of document.querySelectorAll('.key span')){
k.addEventListener('mouseenter',()=>document.querySelectorAll('svg .line').forEach(l=>l.classList.toggle('dim',l.dataset.name!==k.dataset.name)));
k.addEventListener('mouseleave',()=>document.querySelectorAll('svg .line').forEach(l=>l.classList.remove('dim')))}
</script>)";

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

/// Hues a golden angle apart differ whatever their number.
std::string colour_of(std::size_t n) {
  return fmt::format("hsl({:.0f} 62% {}%)", std::fmod(215 + 137.5 * static_cast<double>(n), 360.0),
                     n % 2 == 0 ? 44 : 52);
}

std::string table(const SceneComparison& comparison) {
  std::string html = "<div class=\"scroll\"><table><tr>";
  for (const std::string& column : comparison_columns(comparison)) html += "<th>" + escape_html(column) + "</th>";
  html += "</tr>\n";
  const auto add = [&](const Trial& trial) {
    html += "<tr>";
    for (const std::string& cell : comparison_row(comparison, trial)) html += "<td>" + escape_html(cell) + "</td>";
    html += "</tr>\n";
  };
  if (comparison.reference.setting == "reference") add(comparison.reference);
  for (const Trial& trial : comparison.trials) add(trial);
  return html + "</table></div>\n";
}

Plot effort_plot(const SceneComparison& comparison) {
  Plot plot{"Error against time, as each is given more work",
            "median time of a step, ms",
            "distance to the reference, rms, m",
            true,
            true,
            {}};
  if (!comparison.swept.empty()) {
    PlotLine line{comparison.swept, colour_of(0), {}, {}, false, true};
    for (const Trial& trial : comparison.trials) {
      line.x.push_back(trial.median_milliseconds());
      line.y.push_back(trial.error());
    }
    plot.lines.push_back(std::move(line));
    return plot;
  }
  for (std::size_t c = 0; c < comparison.curves.size(); ++c) {
    PlotLine line{comparison.curves[c].solver, colour_of(c), {}, {}, false, true};
    for (const Trial& trial : comparison.curves[c].trials) {
      line.x.push_back(trial.median_milliseconds());
      line.y.push_back(trial.error());
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

std::string series_plot(const SceneComparison& comparison, const std::string& title, const std::string& label,
                        bool is_log, std::vector<double> TrialSeries::*values, bool with_reference) {
  Plot plot{title, "time, s", label, false, is_log, {}};
  if (with_reference && comparison.reference.setting == "reference")
    plot.lines.push_back(
        {"reference", "#222", comparison.reference.series.time, comparison.reference.series.*values, true, false});
  for (std::size_t k = 0; k < comparison.trials.size(); ++k) {
    const Trial& trial = comparison.trials[k];
    plot.lines.push_back(
        {name_of(comparison, trial), colour_of(k), trial.series.time, trial.series.*values, false, false});
  }
  return to_svg(plot);
}

/// Pictures of one trial at its moments, all but the last hidden.
std::string film(const std::string& name, const Animation& animation, const Camera& camera,
                 const ScenePicture& options) {
  Staging staging = stage(animation, options);
  staging.camera = camera;
  std::string html = "<figure>";
  for (std::size_t k = 0; k < animation.frames(); ++k)
    html += fmt::format("<img{} alt=\"{} at {:.3f} s\" src=\"data:image/png;base64,{}\">",
                        k + 1 < animation.frames() ? " hidden" : "", escape_html(name), animation.times[k],
                        base64(encode_png(draw_frame(animation, k, staging, options))));
  return html + fmt::format("<figcaption>{}</figcaption></figure>\n", escape_html(name));
}

std::string films(const SceneComparison& comparison) {
  std::vector<std::pair<std::string, Animation>> animations;
  const auto add = [&](const std::string& name, const Trial& trial) {
    std::vector<double> times;
    std::vector<VecX> positions;
    for (const TrialMoment& moment : trial.moments) {
      times.push_back(moment.time);
      positions.push_back(moment.x);
    }
    if (!times.empty())
      animations.emplace_back(name, animation_of(comparison.as_given, *trial.model, times, positions));
  };
  if (comparison.reference.setting == "reference")
    add("reference: " + comparison.reference.solver, comparison.reference);
  for (const Trial& trial : comparison.trials) add(name_of(comparison, trial), trial);
  if (animations.empty()) return "";
  // One camera and one range of colours for all, so that what looks alike is alike.
  ScenePicture options = comparison.as_given.picture;
  options.width = 400;
  options.height = 225;
  options.legend = false;
  const Camera camera = stage(animations.front().second, options).camera;
  std::size_t moments = 0;
  std::string figures;
  for (auto& [name, animation] : animations) {
    animation.high = animations.front().second.high;
    moments = std::max(moments, animation.frames());
    figures += film(name, animation, camera, options);
  }
  return fmt::format(
      "<h2>Side by side</h2>\n<p>Colours show the largest stretch, from 1 to {:.3g}. <label>moment <input "
      "id=\"moment\" "
      "type=\"range\" min=\"0\" max=\"{}\" value=\"{}\"></label></p>\n<div class=\"films\">\n{}</div>\n",
      animations.front().second.high, moments - 1, moments - 1, figures);
}

}  // namespace

std::string to_html(const SceneComparison& comparison) {
  const bool solvers = comparison.swept.empty();
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{0}: {1}</title>\n{2}</head><body>\n<h1>{0}: {1}</h1>\n<p>{3}</p>\n",
      escape_html(comparison.scene), solvers ? "one scene, every solver" : "over " + escape_html(comparison.swept),
      kStyle, escape_html(comparison.title));
  html += fmt::format(
      "<p>{} steps of {:.4g} s, on a scene {:.3g} m across. Distances are {}. Times are medians on {}.</p>\n",
      comparison.trials.empty() ? 0 : comparison.trials.front().steps, comparison.dt, comparison.size,
      comparison.reference.setting == "reference"
          ? fmt::format("root mean squares over the nodes, to {} run until rounding ends its convergence",
                        escape_html(comparison.reference.solver))
          : "root mean squares over the nodes, to the first value",
      escape_html(this_machine().processor));
  html += table(comparison);
  for (const Trial& trial : comparison.trials)
    if (!trial.finished)
      html += fmt::format("<p><b>{}</b> ended after {} of {} steps: {}</p>\n", escape_html(name_of(comparison, trial)),
                          trial.taken(), trial.steps, escape_html(trial.detail));
  if (!comparison.refused.empty()) {
    html += "<h2>Not run</h2>\n<ul>";
    for (const auto& [name, reason] : comparison.refused)
      html += fmt::format("<li><b>{}</b>: {}</li>", escape_html(name), escape_html(reason));
    html += "</ul>\n";
  }
  html += "<h2>Curves</h2>\n<div class=\"key\">";
  for (std::size_t k = 0; k < comparison.trials.size(); ++k)
    html += fmt::format("<span data-name=\"{0}\"><i style=\"background:{1}\"></i>{0}</span>",
                        escape_html(name_of(comparison, comparison.trials[k])), colour_of(k));
  html += "</div>\n<div class=\"plots\">\n";
  if (!solvers || !comparison.curves.empty()) html += to_svg(effort_plot(comparison));
  html += series_plot(comparison, "Distance to the reference", "rms over the nodes, m", true, &TrialSeries::distance,
                      false);
  html += series_plot(comparison, "What is left of the equation", "acceleration error, m/s^2", true,
                      &TrialSeries::acceleration, true);
  html += series_plot(comparison, "Total energy", "J", false, &TrialSeries::total, true);
  html += series_plot(comparison, "Kinetic energy", "J", false, &TrialSeries::kinetic, true);
  html += series_plot(comparison, "Linear momentum", "kg m/s", false, &TrialSeries::momentum, true);
  html += series_plot(comparison, "Angular momentum about the origin", "kg m^2/s", false,
                      &TrialSeries::angular_momentum, true);
  html += series_plot(comparison, "Time of a step", "ms", true, &TrialSeries::milliseconds, false);
  if (std::any_of(comparison.trials.begin(), comparison.trials.end(), [](const Trial& t) {
        return std::any_of(t.series.gap.begin(), t.series.gap.end(), [](double g) { return std::isfinite(g); });
      }))
    html += series_plot(comparison, "Smallest gap", "m", true, &TrialSeries::gap, true);
  html += "</div>\n" + films(comparison);
  html += fmt::format("<p>pliant {} ({})</p>\n{}</body></html>\n", version(), commit(), kScript);
  return html;
}

}  // namespace pliant
