// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/figures/figure_text.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace residua::editor {
namespace {

constexpr double kLeading = 1.2; ///< between baselines, in sizes of the text

/// The characters that mean something to LaTeX, and those that its fonts of 1987 lack.
std::string escapedTex(const std::string& text)
{
    static const std::map<std::string_view, std::string_view> words{{"\\", "\\textbackslash{}"},
                                                                    {"{", "\\{"},
                                                                    {"}", "\\}"},
                                                                    {"$", "\\$"},
                                                                    {"&", "\\&"},
                                                                    {"#", "\\#"},
                                                                    {"%", "\\%"},
                                                                    {"_", "\\_"},
                                                                    {"^", "\\textasciicircum{}"},
                                                                    {"~", "\\textasciitilde{}"},
                                                                    {"<", "$<$"},
                                                                    {">", "$>$"},
                                                                    {"|", "$|$"},
                                                                    {"\"", "''"},
                                                                    {"×", "$\\times$"},
                                                                    {"·", "$\\cdot$"},
                                                                    {"−", "$-$"},
                                                                    {"–", "--"},
                                                                    {"…", "\\ldots{}"},
                                                                    {"→", "$\\to$"},
                                                                    {"σ", "$\\sigma$"},
                                                                    {"α", "$\\alpha$"},
                                                                    {"β", "$\\beta$"},
                                                                    {"γ", "$\\gamma$"},
                                                                    {"λ", "$\\lambda$"},
                                                                    {"±", "$\\pm$"},
                                                                    {"≤", "$\\le$"},
                                                                    {"√", "$\\surd$"}};
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t next = at + 1;
        while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0U) == 0x80U) {
            ++next; // the bytes of one character
        }
        const std::string_view character = std::string_view(text).substr(at, next - at);
        const auto word = words.find(character);
        const bool control = static_cast<unsigned char>(character.front()) < 0x20 || character == "\x7f";
        out += word != words.end() ? word->second : control ? std::string_view(" ") : character;
        at = next;
    }
    return out;
}

std::string colourOf(resources::Rgb colour)
{
    return "{rgb,255:red," + std::to_string(colour.r) + ";green," + std::to_string(colour.g) + ";blue," +
           std::to_string(colour.b) + "}";
}

std::string at(Point point)
{
    return "(" + figureNumber(point.x) + "," + figureNumber(point.y) + ")";
}

/// Returns the options of fill and stroke.
std::string optionsOf(const std::optional<FigurePen>& pen, const std::optional<FigureFill>& fill)
{
    std::string out;
    if (fill) {
        out += ",fill=" + colourOf(fill->colour);
        out += fill->opacity < 1 ? ",fill opacity=" + figureNumber(fill->opacity) : "";
    }
    if (pen) {
        out += ",draw=" + colourOf(pen->colour) + ",line width=" + figureNumber(pen->width) + "bp";
        out += pen->opacity < 1 ? ",draw opacity=" + figureNumber(pen->opacity) : "";
        out += pen->dashed ? ",dash pattern=on 2bp off 1.5bp" : "";
    }
    return out.empty() ? out : out.substr(1);
}

/// Returns the command that draws with the options of its scope.
const char* commandOf(const std::optional<FigurePen>& pen, const std::optional<FigureFill>& fill)
{
    return pen && fill ? "\\filldraw" : fill ? "\\fill" : "\\draw";
}

/// Writes parts.
class TikzWriter : public GroupedText {
public:
    TikzWriter() : GroupedText("\\begin{scope}[", "]\n", "\\end{scope}\n") {}

    void operator()(const FigurePath& path)
    {
        style(optionsOf(path.pen, path.fill));
        m_out += commandOf(path.pen, path.fill) + (" " + at(path.points.front()));
        for (std::size_t i = 1; i < path.points.size(); ++i) {
            const bool curve = path.kind == FigurePath::Kind::Curves;
            m_out += (!curve || i % 3 == 0 ? (curve ? ".." : "--")
                      : i % 3 == 1         ? "..controls"
                                           : "and") +
                     at(path.points[i]);
        }
        m_out += path.fill ? "--cycle;" : ";";
        std::string comment = path.name;
        std::ranges::replace_if(
            comment, [](unsigned char c) { return c < 0x20; }, ' '); // it stays on its line
        m_out += comment.empty() ? "\n" : " % " + comment + "\n";
    }

    void operator()(const FigureBox& box)
    {
        style(optionsOf(box.pen, box.fill));
        m_out += commandOf(box.pen, box.fill);
        m_out += box.radius > 0 ? "[rounded corners=" + figureNumber(box.radius) + "bp] " : " ";
        m_out += at({box.rect.left, box.rect.top}) + "rectangle" + at({box.rect.right, box.rect.bottom}) + ";\n";
    }

    void operator()(const FigureText& text)
    {
        style("text=" + colourOf(text.colour) + ",inner sep=0pt,outer sep=0pt,font=\\fontsize{" +
              figureNumber(text.size) + "bp}{" + figureNumber(kLeading * text.size) + "bp}\\selectfont");
        const char* const anchor = text.anchor == FigureAnchor::Middle ? "base"
                                   : text.anchor == FigureAnchor::End  ? "base east"
                                                                       : "base west";
        m_out += "\\node[anchor=" + std::string(anchor) + "] at " + at(text.at) + " {" + escapedTex(text.text) + "};\n";
    }
};

} // namespace

std::string tikzOf(const Figure& figure)
{
    TikzWriter writer;
    for (const FigurePart& part : figure.parts) {
        std::visit(writer, part);
    }
    return "% \\input this file in a figure; the preamble needs \\usepackage{tikz}.\n"
           "\\begin{tikzpicture}[x=1bp,y=-1bp]\n\\useasboundingbox (0,0)rectangle" +
           at({static_cast<float>(figure.width), static_cast<float>(figure.height)}) + ";\n" + writer.finished() +
           "\\end{tikzpicture}%\n";
}

std::string texOf(const Figure& figure)
{
    return "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage{tikz}\n\\usepackage[paperwidth=" +
           figureNumber(figure.width) + "bp,paperheight=" + figureNumber(figure.height) +
           "bp,margin=0bp]{geometry}\n\\renewcommand{\\familydefault}{\\sfdefault}\n\\pagestyle{empty}\n"
           "\\setlength{\\parindent}{0pt}\n\\setlength{\\topskip}{0pt}\n\\begin{document}\n" +
           tikzOf(figure) + "\\end{document}\n";
}

} // namespace residua::editor
