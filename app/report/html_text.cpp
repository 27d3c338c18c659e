// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/html_text.h"

#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"
#include "projects/model/data_source.h"
#include "resources/colours.h"

#include <algorithm>
#include <sstream>
#include <system_error>
#include <utility>

namespace residua::report {
namespace {

constexpr double kGlyph = 7;                 ///< approximate width of a Latin letter
constexpr double kWideGlyph = 13;            ///< of scripts with square letters
constexpr const char* kFirstWide = "\u2E80"; ///< the first of these scripts

/// Splits well-formed UTF-8 into characters.
std::vector<std::string_view> charactersOf(std::string_view text)
{
    std::vector<std::string_view> characters;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        while (end < text.size() && !beginsCodePoint(text[end])) {
            ++end;
        }
        characters.push_back(text.substr(at, end - at));
        at = end;
    }
    return characters;
}

double widthOf(std::string_view character)
{
    return character < std::string_view(kFirstWide) ? kGlyph : kWideGlyph;
}

bool isControl(char c)
{
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

void takeName(std::string& path)
{
    const std::filesystem::path given(path);
    path = given.is_absolute() ? given.filename().string() : path;
}

using resources::Theme;

constexpr std::size_t kMostFaults = 30;
constexpr std::size_t kMostFaultText = 1000; ///< bytes of one fault

const char* const kStyle = R"(
:root{color-scheme:light dark}
body{margin:0 auto;max-width:900px;padding:28px 20px 60px;font:15px/1.5 Inter,system-ui,sans-serif;background:var(--ground);color:var(--text)}
h1{font-size:24px;margin:0}h2{font-size:17px;margin:36px 0 10px}p.sub{margin:2px 0 18px;color:var(--muted)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px}
.cards div{background:var(--surface);border:1px solid var(--border);border-radius:8px;padding:10px 12px}
.cards b{display:block;font-size:19px;font-weight:600}.cards span{color:var(--muted);font-size:13px}
figure,.panel{margin:0 0 14px;background:var(--surface);border:1px solid var(--border);border-radius:8px;padding:12px;overflow-x:auto}
svg{display:block;width:100%;height:auto;font:12px Inter,system-ui,sans-serif}
svg .tick{fill:var(--muted);paint-order:stroke;stroke:var(--surface);stroke-width:3px}svg .label,svg .title{fill:var(--text)}svg .title{font-weight:600;font-size:13px}
svg .band{fill:var(--muted);opacity:.1}svg .grid{stroke:var(--grid)}svg .axis{stroke:var(--border)}svg .broken{fill:var(--error);font-size:14px}
.curve{fill:none;stroke-width:1.8}.faint{stroke-width:1;opacity:.3}.dashed{stroke-dasharray:5 3}.dotted{stroke-dasharray:1.5 3}
.pictures img{max-width:100%;image-rendering:pixelated}
figcaption{margin-bottom:6px}input[type=range]{width:100%}
.scale{display:flex;gap:8px;align-items:center;color:var(--muted);font-size:13px;margin-top:8px}.scale i{height:8px;width:160px;border-radius:2px}
i.bar{display:inline-block;height:8px;border-radius:2px;background:var(--c0)}
table{border-collapse:collapse;width:100%;font-size:14px}td,th{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid var(--grid);vertical-align:top}
th{color:var(--muted);font-weight:500}td.n{font-variant-numeric:tabular-nums;white-space:nowrap}
pre{font:12px/1.45 'JetBrains Mono',monospace;white-space:pre-wrap;margin:8px 0 0}
@media print{body{max-width:none;padding:0;background:none}input[type=range]{display:none}
figure,.panel,.cards div,tr,svg{break-inside:avoid}h1,h2,figcaption{break-after:avoid}h2{margin-top:18px}}
)";

/// Returns the names of the colours, as the style uses them, with their values.
std::vector<std::pair<std::string, std::string>> coloursOf(Theme theme)
{
    const auto& c = resources::themeColours(theme);
    std::vector<std::pair<std::string, std::string>> colours = {
        {"ground", c.background.hex()}, {"surface", c.surface.hex()}, {"border", c.border.hex()},
        {"grid", c.grid.hex()},         {"text", c.text.hex()},       {"muted", c.muted.hex()},
        {"error", c.error.hex()}};
    for (std::size_t i = 0; i < kPageColours; ++i) {
        colours.emplace_back("c" + std::to_string(i), resources::curveColour(i, theme).hex());
    }
    return colours;
}

std::string themeVariables(Theme theme)
{
    return joinedText(coloursOf(theme), "",
                      [](const auto& colour) { return "--" + colour.first + ":" + colour.second + ";"; });
}

/// The classes of curves and dots, and the style that all pages share.
std::string sharedStyle()
{
    std::ostringstream out;
    for (std::size_t i = 0; i < kPageColours; ++i) {
        out << ".c" << i << "{stroke:var(--c" << i << ")}.d" << i << "{fill:var(--c" << i << ")}";
    }
    out << kStyle;
    return out.str();
}

} // namespace

std::string escapeHtml(std::string_view text)
{
    std::string escaped;
    for (const char c : asUtf8(text)) {
        switch (c) {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '\'':
            escaped += "&#39;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        default:
            isControl(c) ? escaped.append("\uFFFD") : escaped.append(1, c);
        }
    }
    return escaped;
}

double textWidth(std::string_view text)
{
    return sumOf(charactersOf(text), [&](const std::string_view character) -> double { return widthOf(character); });
}

std::string elided(const std::string& text, double width)
{
    if (textWidth(text) <= width) {
        return text;
    }
    const auto characters = charactersOf(text);
    std::string head;
    std::string tail;
    double left = width - kGlyph; // minus the ellipsis
    for (std::size_t i = 0; i < characters.size() / 2; ++i) {
        const std::string_view first = characters[i];
        const std::string_view last = characters[characters.size() - 1 - i];
        left -= widthOf(first) + widthOf(last);
        if (left < 0) {
            break;
        }
        head += first;
        tail.insert(0, last);
    }
    return head + "…" + tail;
}

std::string shortened(const std::string& text, std::size_t bytes)
{
    if (text.size() <= bytes) {
        return text;
    }
    std::size_t end = bytes;
    while (end > 0 && !beginsCodePoint(text[end])) {
        --end;
    }
    return text.substr(0, end) + "… (" + std::to_string(text.size()) + " bytes)";
}

projects::Project withoutPlaces(projects::Project project)
{
    projects::Source& source = project.data.source;
    projects::forEachPath(source, takeName);
    if (projects::Tokeniser* const tokeniser = projects::tokeniserOf(source)) {
        takeName(tokeniser->model);
    }
    return project;
}

std::string withoutPlaces(std::string text, const std::filesystem::path& folder)
{
    std::error_code code;
    const std::filesystem::path inner = std::filesystem::absolute(folder, code).lexically_normal();
    for (const std::filesystem::path& place : {inner, inner.parent_path()}) {
        const std::string path = place.string() + "/";
        for (std::size_t at = text.find(path); path.size() > 1 && at != std::string::npos; at = text.find(path, at)) {
            text.erase(at, path.size());
        }
    }
    return text;
}

std::string svgStyle()
{
    return sharedStyle();
}

std::string withLightColours(std::string text)
{
    for (const auto& [name, value] : coloursOf(Theme::Light)) {
        const std::string variable = "var(--" + name + ")";
        for (std::size_t at = text.find(variable); at != std::string::npos; at = text.find(variable, at)) {
            text.replace(at, variable.size(), value);
        }
    }
    return text;
}

std::string pageHead(const std::string& title)
{
    std::ostringstream out;
    out << "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
           "content='width=device-width,initial-scale=1'><title>"
        << escapeHtml(title) << " · Residua</title><style>:root{" << themeVariables(Theme::Light)
        << "}@media(prefers-color-scheme:dark){:root{" << themeVariables(Theme::Dark) << "}}" << sharedStyle()
        << "</style></head><body>";
    return out.str();
}

std::string faultList(const std::vector<std::string>& faults)
{
    if (faults.empty()) {
        return {};
    }
    std::string html = "<div class='panel'><b>Left out</b><ul>";
    for (std::size_t i = 0; i < std::min(faults.size(), kMostFaults); ++i) {
        html += "<li>" + escapeHtml(shortened(faults[i], kMostFaultText)) + "</li>";
    }
    if (faults.size() > kMostFaults) {
        html += "<li>and " + std::to_string(faults.size() - kMostFaults) + " more</li>";
    }
    return html + "</ul></div>";
}

} // namespace residua::report
