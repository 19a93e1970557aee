#include "experiments/html.hpp"

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <iterator>

namespace pliant::experiments::html {

namespace {

std::string base64(const std::string& bytes) {
  constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    unsigned group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (k + j < bytes.size() ? static_cast<unsigned char>(bytes[k + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) out += k + j > bytes.size() ? '=' : kLetters[group >> (18 - 6 * j) & 63U];
  }
  return out;
}

std::string inline_value(const Json& json) {
  if (json.is_number_float()) return fmt::format("{:.4g}", json.get<double>());
  if (json.is_string()) return escaped(json.get<std::string>());
  if (json.is_null()) return "–";
  if (!json.is_structured()) return json.dump();
  std::string out;
  for (const auto& [key, entry] : json.items()) {
    if (!out.empty()) out += ", ";
    if (json.is_object()) out += escaped(key) + ": ";
    out += entry.is_structured() ? "[" + inline_value(entry) + "]" : inline_value(entry);
  }
  return out;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string anchor(const std::string& text) {
  std::string out;
  for (char c : text) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return out;
}

std::string value(const Json& json) {
  if (!json.is_object()) return inline_value(json);
  std::string out;
  for (const auto& [key, entry] : json.items())
    out += fmt::format("<div class=v><span>{}</span> <b>{}</b></div>", escaped(key), inline_value(entry));
  return out;
}

std::string picture(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending != ".svg" && ending != ".png" && ending != ".jpg") return "";
  std::ifstream stream(file, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (ending == ".svg") return fmt::format("<figure class=chart>{}</figure>", content);
  return fmt::format("<figure><img alt=\"{}\" src=\"data:image/{};base64,{}\"></figure>", escaped(file.stem().string()),
                     ending == ".png" ? "png" : "jpeg", base64(content));
}

const char* const kHead = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pliant: the papers' claims, measured</title>
<style>
:root { color-scheme: light dark; --page: #fbfaf8; --card: #fff; --ink: #1d2126; --soft: #5c6570; --line: #e3e1dc;
  --holds: #18794e; --fails: #c2362b; --undecided: #a86400; --none: #8a929c; --shade: #f3f1ec; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --card: #1b1f25; --ink: #e4e7eb; --soft: #9aa4b0; --line: #2d333b;
  --holds: #4cc38a; --fails: #ff7b6e; --undecided: #f0b04f; --none: #6f7985; --shade: #22272e; --link: #6cb2ff; }
  .chart svg { filter: invert(.9) hue-rotate(180deg); } }
.tone-size { --tone: var(--link); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 32px 24px 96px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 6px; letter-spacing: -.01em; }
h2 { font-size: 22px; margin: 56px 0 4px; } h3 { font-size: 16px; margin: 0; }
p { margin: 6px 0; } .soft { color: var(--soft); } a { color: var(--link); }
code { font: 12.5px/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.cards { display: flex; flex-wrap: wrap; gap: 12px; margin: 24px 0; }
.card { flex: 1 1 150px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px; cursor: pointer;
  display: flex; flex-direction: column; align-items: flex-start; text-align: left; font: inherit; color: inherit; border-top: 4px solid var(--tone); }
.card b { display: block; font-size: 34px; line-height: 1.1; color: var(--tone); font-variant-numeric: tabular-nums; }
.card[aria-pressed=true] { outline: 2px solid var(--tone); }
.tone-holds { --tone: var(--holds); } .tone-fails { --tone: var(--fails); } .tone-undecided { --tone: var(--undecided); }
.tone-none { --tone: var(--none); }
.bars { width: 100%; display: grid; grid-template-columns: max-content 1fr max-content; gap: 8px 14px; align-items: center; }
.bars svg { width: 100%; height: 20px; display: block; border-radius: 5px; } .bars .n { color: var(--soft); font-variant-numeric: tabular-nums; }
.wrap { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: 12px 0; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: 9px 12px; }
th { font-size: 12px; color: var(--soft); font-weight: 600; background: var(--shade); position: sticky; top: 0; }
tr + tr td, thead + tbody tr:first-child td { border-top: 1px solid var(--line); }
.claims { table-layout: fixed; min-width: 1080px; } .claims th:nth-child(1) { width: 104px; } .claims th:nth-child(2) { width: 30%; }
.claims th:nth-child(3) { width: 13%; } .claims th:nth-child(4) { width: 27%; }
.claims td:nth-child(n+3) { font-size: 13px; overflow-wrap: anywhere; } .claims tr:target td { background: var(--shade); }
.part { margin: 0 0 3px; padding-left: 18px; text-indent: -18px; } .part b { font-variant-numeric: tabular-nums; }
.more { border: 0; padding: 0; margin: 2px 0 0; background: none; } .more summary { padding: 0; color: var(--link); font-size: 12.5px; }
.find input { font: inherit; padding: 8px 14px; width: min(420px, 100%); border: 1px solid var(--line); border-radius: 99px;
  background: var(--card); color: inherit; } .find { margin: 28px 0 -24px; } a.run { font-size: 12.5px; }
.claims code { color: var(--soft); overflow-wrap: anywhere; } .claims .test { color: var(--soft); font-size: 13px; margin-top: 4px; }
.verdict { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 12.5px; font-weight: 600; white-space: nowrap;
  color: var(--tone); border: 1px solid currentColor; } .size { font-size: 12px; color: var(--soft); display: block; margin: 3px 0 0 3px; }
.v { margin: 0 0 2px; } .v span { color: var(--soft); } .v b { font-weight: 600; font-variant-numeric: tabular-nums; }
details { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: 10px 0; padding: 0 16px; }
summary { cursor: pointer; padding: 12px 0; } summary h3 { display: inline; } details > div { padding-bottom: 14px; }
.rows { font-size: 12.5px; } .rows th, .rows td { padding: 4px 10px; white-space: nowrap; font-variant-numeric: tabular-nums; }
.rows .wrap { max-height: 420px; overflow: auto; } .pictures { display: flex; flex-wrap: wrap; gap: 12px; } .pictures figure { flex: 1 1 500px; max-width: 760px; }
figure { margin: 8px 0; max-width: 100%; } figure svg, figure img { max-width: 100%; height: auto; border-radius: 6px; }
nav { display: flex; flex-wrap: wrap; gap: 6px 18px; margin: 4px 0 0; }
.hours td:nth-child(2), .hours td:nth-child(3), .hours th:nth-child(2), .hours th:nth-child(3) { text-align: right; font-variant-numeric: tabular-nums; }
.hours { font-size: 13px; } .hours th, .hours td { padding: 6px 12px; } #remaining { margin-top: 20px; }
@media (max-width: 720px) { main { padding: 20px 14px 64px; } h1 { font-size: 25px; } .card { flex-basis: 130px; padding: 10px 14px; } .card b { font-size: 28px; }
  .bars { grid-template-columns: 1fr max-content; grid-auto-flow: dense; gap: 4px 14px; } .bars svg { grid-column: 1 / -1; margin-bottom: 8px; }
  .claims { min-width: 0; } .claims thead { display: none; } .claims, .claims tbody, .claims tr, .claims td { display: block; width: auto; }
  .claims tr.hidden { display: none; } .claims tr { padding: 10px 0; border-top: 1px solid var(--line); } .claims tr:first-child { border-top: 0; }
  .claims td { padding: 4px 14px; border: 0 !important; } .claims td:first-child { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; }
  .claims td:nth-child(3)::before { content: "Published"; } .claims td:nth-child(4)::before { content: "Measured"; } .claims td:nth-child(5)::before { content: "Why"; }
  .claims td:nth-child(n+3)::before { display: block; font-size: 12px; color: var(--soft); font-weight: 600; } .claims td:empty { display: none; }
  .pictures figure { flex-basis: 100%; } .hours thead { display: none; } .hours tr { display: grid; grid-template-columns: 1fr auto auto; padding: 6px 0; border-top: 1px solid var(--line); }
  .hours td { border: 0 !important; padding: 2px 12px; } .hours td:nth-child(2)::after { content: " claims"; color: var(--soft); }
  .hours td:nth-child(3)::after { content: " h"; color: var(--soft); } .hours td:last-child { grid-column: 1 / -1; color: var(--soft); } }
.hidden { display: none; } .passes { color: var(--holds); } .misses { color: var(--fails); font-weight: 600; }
@media print { details > div { display: block; } .card { break-inside: avoid; } }
</style></head><body><main>
)html";

// The cards at the top choose which verdicts are shown, the field which words; a link to a run opens it.
const char* const kScript = R"html(<script>
const rows = [...document.querySelectorAll('tr[data-verdict]')], field = document.querySelector('.find input');
let verdict = '', size = '';
function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const on = (!verdict || row.dataset.verdict === verdict) && (!size || row.dataset.size === size) && words.every(w => text.includes(w));
    row.classList.toggle('hidden', !on);
    shown += on;
  }
  document.querySelector('#shown').textContent = shown < rows.length ? shown + ' of ' + rows.length + ' claims' : '';
}
for (const card of document.querySelectorAll('.card')) card.onclick = () => {
  if (card.dataset.size) size = size ? '' : card.dataset.size;
  else verdict = verdict === card.dataset.verdict ? '' : card.dataset.verdict;
  for (const c of document.querySelectorAll('.card'))
    c.setAttribute('aria-pressed', c.dataset.size ? c.dataset.size === size : c.dataset.verdict === verdict);
  show();
};
field.oninput = show;
function open() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === 'DETAILS') target.open = true, target.scrollIntoView();
}
addEventListener('hashchange', open);
open();
</script></main></body></html>
)html";

}  // namespace pliant::experiments::html
