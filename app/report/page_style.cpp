// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/html_text.h"

#include "resources/colours.h"

#include <algorithm>
#include <sstream>

namespace residua::report {
namespace {

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
figcaption{margin-bottom:6px}input[type=range]{width:100%}
.scale{display:flex;gap:8px;align-items:center;color:var(--muted);font-size:13px;margin-top:8px}.scale i{height:8px;width:160px;border-radius:2px}
i.bar{display:inline-block;height:8px;border-radius:2px;background:var(--c0)}
table{border-collapse:collapse;width:100%;font-size:14px}td,th{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid var(--grid);vertical-align:top}
th{color:var(--muted);font-weight:500}td.n{font-variant-numeric:tabular-nums;white-space:nowrap}
pre{font:12px/1.45 'JetBrains Mono',monospace;white-space:pre-wrap;margin:8px 0 0}
)";

std::string themeVariables(Theme theme)
{
    const auto& c = resources::themeColours(theme);
    std::ostringstream out;
    out << "--ground:" << c.background.hex() << ";--surface:" << c.surface.hex() << ";--border:" << c.border.hex()
        << ";--grid:" << c.grid.hex() << ";--text:" << c.text.hex() << ";--muted:" << c.muted.hex()
        << ";--error:" << c.error.hex() << ';';
    for (std::size_t i = 0; i < kPageColours; ++i) {
        out << "--c" << i << ':' << resources::curveColour(i, theme).hex() << ';';
    }
    return out.str();
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

std::string svgStyle()
{
    return ":root{" + themeVariables(Theme::Light) + "}" + sharedStyle();
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
