// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"
#include "projects/base/result.h"
#include "resources/colours.h"
#include "resources/page.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// Drawings for a page, and their files. All lengths are in points of 1/72 inch; y grows downwards.
namespace residua::editor {

inline constexpr double kPointsPerCm = 72 / 2.54;

/// The size of a figure and its text.
struct FigureStyle {
    double centimetres = resources::page::kWidth;
    double text = resources::page::kText; ///< points
    std::string family = "Inter";
};

struct FigurePen {
    resources::Rgb colour;
    float width = 0.5F;
    double opacity = 1;
    bool dashed = false;
    bool operator==(const FigurePen&) const = default;
};
struct FigureFill {
    resources::Rgb colour;
    double opacity = 1;
    bool operator==(const FigureFill&) const = default;
};

/// Straight lines, or cubic curves through every third point.
struct FigurePath {
    enum class Kind { Lines, Curves };
    std::vector<Point> points; ///< Curves: 3n + 1
    Kind kind = Kind::Lines;
    std::optional<FigurePen> pen = {};
    std::optional<FigureFill> fill = {}; ///< closes the path
    std::string name = {};               ///< of the thing that it draws: "3:7"; may be empty
};
/// A rectangle.
struct FigureBox {
    Rect rect;
    float radius = 0; ///< of its corners
    std::optional<FigurePen> pen = {};
    std::optional<FigureFill> fill = {};
};
enum class FigureAnchor { Start, Middle, End };
struct FigureText {
    Point at; ///< on the baseline
    std::string text;
    double size = 8;
    resources::Rgb colour = {};
    FigureAnchor anchor = FigureAnchor::Start;
};
using FigurePart = std::variant<FigurePath, FigureBox, FigureText>;

/// A drawing as a list of parts, each above those before it.
struct Figure {
    double width = 0;
    double height = 0;
    std::string family; ///< of its text
    std::vector<FigurePart> parts;
};

/// A font as text is measured with it. The system replaces an unknown family by a similar one. Not thread-safe.
class FigureFont {
public:
    explicit FigureFont(const std::string& family);
    /// Returns the width of a line of text of this size.
    [[nodiscard]] double widthOf(double size, const std::string& text) const;

private:
    std::shared_ptr<void> m_font; ///< of size kMeasured
};

enum class FigureFormat {
    Svg,  ///< with text as text
    Pdf,  ///< with its fonts
    Tikz, ///< a tikzpicture for \input
    Tex,  ///< the same as a document of its own
};
/// Returns the format for the suffix of a path (.svg, .pdf, .tikz, .tex). The error lists them.
[[nodiscard]] Result<FigureFormat> figureFormatOf(const std::filesystem::path& path);
/// Returns the contents of the file. Equal figures give equal SVG, TikZ and TeX. A PDF also depends on the
/// installed fonts and the time. Returns an error if the PDF cannot be made.
[[nodiscard]] Result<std::string> figureFile(const Figure& figure, FigureFormat format);

} // namespace residua::editor
