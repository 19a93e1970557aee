#include "pliant/mesh/formats/xml_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/text_scanner.hpp"

namespace pliant {

namespace {

bool is_xml_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
         c == '-' || c == '.';
}

/// Replaces the five entities every XML file may use; leaves others as they are.
std::string decoded(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> entities = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto found = std::find_if(entities.begin(), entities.end(),
                                    [&](const auto& entity) { return text.substr(i).starts_with(entity.first); });
    if (found == entities.end()) {
      result += text[i++];
    } else {
      result += found->second;
      i += found->first.size();
    }
  }
  return result;
}

}  // namespace

std::int64_t XmlScanner::line_of(std::size_t position) const {
  if (position < counted_) counted_ = 0, line_ = 1;
  line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                      text_.begin() + static_cast<std::ptrdiff_t>(position), '\n');
  counted_ = position;
  return line_;
}

void XmlScanner::fail(const std::string& message) const {
  throw InputError(fmt::format("{}:{}: {}", file_, line_of(tag_), message));
}

void XmlScanner::skip_space() {
  while (position_ < text_.size() && is_xml_space(text_[position_])) ++position_;
}

void XmlScanner::pass(std::string_view end, const char* what) {
  const std::size_t at = text_.find(end, position_);
  if (at == std::string_view::npos) fail(fmt::format("{} does not end; the file may be truncated.", what));
  position_ = at + end.size();
}

std::string XmlScanner::name() {
  constexpr std::size_t longest = 256;
  const std::size_t begin = position_;
  while (position_ < text_.size() && is_name(text_[position_])) ++position_;
  if (position_ == begin || position_ - begin > longest) {
    fail(fmt::format("expected a name, found '{}'.", shown(text_.substr(begin, 60))));
  }
  return std::string(text_.substr(begin, position_ - begin));
}

void XmlScanner::attribute(Tag& tag) {
  std::string key = name();
  skip_space();
  if (position_ >= text_.size() || text_[position_] != '=') fail(fmt::format("expected '=' after '{}'.", key));
  ++position_;
  skip_space();
  const char quote = position_ < text_.size() ? text_[position_] : '\0';
  const std::size_t close = quote == '"' || quote == '\'' ? text_.find(quote, position_ + 1) : std::string_view::npos;
  if (close == std::string_view::npos) fail(fmt::format("expected the value of '{}' in quotes.", key));
  constexpr std::size_t longest = 65536;
  if (close - position_ > longest) fail(fmt::format("the value of '{}' is too long.", key));
  if (!tag.attributes.emplace(key, decoded(text_.substr(position_ + 1, close - position_ - 1))).second) {
    fail(fmt::format("the attribute '{}' is given twice.", key));
  }
  position_ = close + 1;
}

XmlScanner::Tag XmlScanner::next() {
  for (;;) {
    const std::size_t open = text_.find('<', position_);
    if (open == std::string_view::npos) {
      position_ = tag_ = text_.size();
      return {};
    }
    position_ = tag_ = open;
    if (text_.substr(position_).starts_with("<!--")) {
      pass("-->", "a comment");
    } else if (text_.substr(position_).starts_with("<?")) {
      pass("?>", "an instruction");
    } else if (text_.substr(position_).starts_with("<!")) {
      fail("a document type or CDATA section, which VTK's files do not have.");
    } else {
      break;
    }
  }
  ++position_;
  Tag tag;
  tag.kind = Kind::open;
  if (position_ < text_.size() && text_[position_] == '/') {
    ++position_;
    tag.kind = Kind::close;
  }
  tag.name = name();
  for (;;) {
    skip_space();
    if (position_ >= text_.size()) fail(fmt::format("the tag <{}> does not end; the file may be truncated.", tag.name));
    if (text_[position_] == '>') break;
    if (text_.substr(position_).starts_with("/>")) {
      tag.empty = true;
      ++position_;
      break;
    }
    if (tag.kind == Kind::close) fail(fmt::format("expected '>' after </{}.", tag.name));
    attribute(tag);
  }
  ++position_;
  return tag;
}

std::string_view XmlScanner::content() {
  const std::size_t begin = position_;
  const std::size_t end = text_.find('<', position_);
  if (end == std::string_view::npos) fail("the file ends inside an element; it may be truncated.");
  position_ = end;
  return text_.substr(begin, end - begin);
}

}  // namespace pliant
