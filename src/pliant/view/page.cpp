#include "pliant/view/page.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <utility>

namespace pliant::view {

namespace {

constexpr std::string_view kNoPage = R"(<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Pliant</title></head>
<body>
<h1>The viewer's page is not built in</h1>
<p>The server runs, but this program was built without the page. With Node.js and npm (Debian: <code>apt install
nodejs npm</code>), build it and the program again:</p>
<pre>cd viewer &amp;&amp; npm ci &amp;&amp; npm run build &amp;&amp; cd ..
cmake -DPLIANT_VIEWER=ON build &amp;&amp; cmake --build build</pre>
<p>Programs can use the WebSocket at <code>/ws</code> as it is: docs/viewer-protocol.md.</p>
</body>
</html>
)";

std::string_view type_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> types = {{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".json", "application/json"},
      {".map", "application/json"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
  }};
  for (const auto& [ending, type] : types)
    if (name.ends_with(ending)) return type;
  return "application/octet-stream";
}

/// Letters, digits, '-', '_' and single dots between them.
bool is_plain(std::string_view name) {
  if (name.empty() || name.size() > 100 || name.front() == '.') return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                         c == '_' || (c == '.' && name[i - 1] != '.');
    if (!is_fine) return false;
  }
  return true;
}

}  // namespace

std::optional<PageFile> page_file(std::string_view target, const std::filesystem::path& folder) {
  target = target.substr(0, target.find_first_of("?#"));
  if (!target.starts_with('/')) return std::nullopt;
  const std::string name(target == "/" ? "index.html" : target.substr(1));
  if (!is_plain(name)) return std::nullopt;
  if (!folder.empty()) {
    std::ifstream in(folder / name, std::ios::binary);
    if (in && std::filesystem::is_regular_file(folder / name))
      return PageFile{std::string(std::istreambuf_iterator<char>(in), {}), type_of(name)};
  } else {
    for (const EmbeddedFile* file = kEmbeddedPage; !file->name.empty(); ++file)
      if (file->name == name) return PageFile{std::string(file->begin, file->end), type_of(name)};
  }
  if (name == "index.html") return PageFile{std::string(kNoPage), type_of(name)};
  return std::nullopt;
}

}  // namespace pliant::view
