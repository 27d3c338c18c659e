// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/figures/figure_text.h"

#include "projects/base/utf8.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

namespace residua::editor {
namespace {

constexpr double kThousand = 1000;

/// Also replaces what no XML may have: control characters, U+FFFE, U+FFFF and bytes that are not UTF-8.
std::string escapedXml(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const Character character = firstCharacter(text);
        const char32_t code = character.code;
        out += code == '&'                                            ? "&amp;"
               : code == '<'                                          ? "&lt;"
               : code == '>'                                          ? "&gt;"
               : code == '"'                                          ? "&quot;"
               : code < 0x20                                          ? " "
               : !character.valid || code == 0xFFFE || code == 0xFFFF ? "\uFFFD"
                                                                      : text.substr(0, character.bytes);
        text.remove_prefix(character.bytes);
    }
    return out;
}

std::string pair(Point point)
{
    return figureNumber(point.x) + " " + figureNumber(point.y);
}

/// Returns the attributes of fill and stroke.
std::string styleOf(const std::optional<FigurePen>& pen, const std::optional<FigureFill>& fill)
{
    std::string out = " fill=\"" + (fill ? fill->colour.hex() : "none") + "\"";
    if (fill && fill->opacity < 1) {
        out += " fill-opacity=\"" + figureNumber(fill->opacity) + "\"";
    }
    if (pen) {
        out += " stroke=\"" + pen->colour.hex() + "\" stroke-width=\"" + figureNumber(pen->width) + "\"";
        out += pen->opacity < 1 ? " stroke-opacity=\"" + figureNumber(pen->opacity) + "\"" : "";
        out += pen->dashed ? " stroke-dasharray=\"2 1.5\"" : "";
    }
    return out;
}

/// Writes parts.
class SvgWriter : public GroupedText {
public:
    SvgWriter() : GroupedText("<g", ">\n", "</g>\n") {}

    void operator()(const FigurePath& path)
    {
        style(styleOf(path.pen, path.fill));
        m_out += "<path d=\"M" + pair(path.points.front());
        for (std::size_t i = 1; i < path.points.size(); ++i) {
            const bool curve = path.kind == FigurePath::Kind::Curves;
            m_out += (!curve ? "L" : i % 3 == 1 ? "C" : " ") + pair(path.points[i]);
        }
        m_out += path.fill ? "Z\"" : "\"";
        m_out += path.name.empty() ? "/>\n" : "><title>" + escapedXml(path.name) + "</title></path>\n";
    }

    void operator()(const FigureBox& box)
    {
        style(styleOf(box.pen, box.fill));
        m_out += "<rect x=\"" + figureNumber(box.rect.left) + "\" y=\"" + figureNumber(box.rect.top) + "\" width=\"" +
                 figureNumber(box.rect.width()) + "\" height=\"" + figureNumber(box.rect.height()) + "\"";
        m_out += box.radius > 0 ? " rx=\"" + figureNumber(box.radius) + "\"/>\n" : "/>\n";
    }

    void operator()(const FigureText& text)
    {
        style(" fill=\"" + text.colour.hex() + "\"");
        const char* const anchor = text.anchor == FigureAnchor::Middle ? " text-anchor=\"middle\""
                                   : text.anchor == FigureAnchor::End  ? " text-anchor=\"end\""
                                                                       : "";
        m_out += "<text x=\"" + figureNumber(text.at.x) + "\" y=\"" + figureNumber(text.at.y) + "\" font-size=\"" +
                 figureNumber(text.size) + "\"" + anchor + ">" + escapedXml(text.text) + "</text>\n";
    }
};

} // namespace

std::string figureNumber(double number)
{
    char text[32];
    const double rounded = std::round(number * kThousand) / kThousand;
    const auto end =
        std::to_chars(std::begin(text), std::end(text), rounded == 0 ? 0.0 : rounded, std::chars_format::fixed, 3);
    std::string_view shown(text, end.ptr);
    while (shown.ends_with('0')) {
        shown.remove_suffix(1);
    }
    return std::string(shown.ends_with('.') ? shown.substr(0, shown.size() - 1) : shown);
}

std::string svgOf(const Figure& figure)
{
    SvgWriter writer;
    for (const FigurePart& part : figure.parts) {
        std::visit(writer, part);
    }
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + figureNumber(figure.width / kPointsPerCm) +
           "cm\" height=\"" + figureNumber(figure.height / kPointsPerCm) + "cm\" viewBox=\"0 0 " +
           figureNumber(figure.width) + " " + figureNumber(figure.height) + "\" font-family=\"" +
           escapedXml(figure.family) + ", Helvetica, Arial, sans-serif\">\n" + writer.finished() + "</svg>\n";
}

} // namespace residua::editor
