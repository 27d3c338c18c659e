// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/figures/figure_text.h"

#include <cairo-pdf.h>

#include <algorithm>
#include <cctype>
#include <numbers>

namespace residua::editor {
namespace {

constexpr double kMeasured = 100; ///< the size at which text is measured

cairo_font_face_t* faceOf(const std::string& family)
{
    return cairo_toy_font_face_create(family.c_str(), CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
}

/// Draws parts onto a page.
class PagePainter {
public:
    PagePainter(cairo_t* page, const std::string& family) : m_page(page)
    {
        cairo_font_face_t* const face = faceOf(family);
        cairo_set_font_face(page, face);
        cairo_font_face_destroy(face);
        cairo_font_options_t* const options = cairo_font_options_create();
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
        cairo_set_font_options(page, options);
        cairo_font_options_destroy(options);
    }

    void operator()(const FigurePath& path) const
    {
        const std::vector<Point>& p = path.points;
        cairo_move_to(m_page, p.front().x, p.front().y);
        if (path.kind == FigurePath::Kind::Curves) {
            for (std::size_t i = 3; i < p.size(); i += 3) {
                cairo_curve_to(m_page, p[i - 2].x, p[i - 2].y, p[i - 1].x, p[i - 1].y, p[i].x, p[i].y);
            }
        } else {
            std::for_each(p.begin() + 1, p.end(), [this](Point to) { cairo_line_to(m_page, to.x, to.y); });
        }
        if (path.fill) {
            cairo_close_path(m_page);
        }
        ink(path.pen, path.fill);
    }

    void operator()(const FigureBox& box) const
    {
        constexpr double kQuarter = std::numbers::pi / 2;
        const Rect& r = box.rect;
        const double corner = std::min({box.radius, r.width() / 2, r.height() / 2});
        if (corner > 0) {
            cairo_new_sub_path(m_page);
            cairo_arc(m_page, r.right - corner, r.top + corner, corner, -kQuarter, 0);
            cairo_arc(m_page, r.right - corner, r.bottom - corner, corner, 0, kQuarter);
            cairo_arc(m_page, r.left + corner, r.bottom - corner, corner, kQuarter, 2 * kQuarter);
            cairo_arc(m_page, r.left + corner, r.top + corner, corner, 2 * kQuarter, 3 * kQuarter);
            cairo_close_path(m_page);
        } else {
            cairo_rectangle(m_page, r.left, r.top, r.width(), r.height());
        }
        ink(box.pen, box.fill);
    }

    void operator()(const FigureText& text) const
    {
        cairo_set_font_size(m_page, text.size);
        cairo_text_extents_t extents;
        cairo_text_extents(m_page, text.text.c_str(), &extents);
        const double before = text.anchor == FigureAnchor::Middle ? extents.x_advance / 2
                              : text.anchor == FigureAnchor::End  ? extents.x_advance
                                                                  : 0;
        choose(text.colour, 1);
        cairo_move_to(m_page, text.at.x - before, text.at.y);
        cairo_show_text(m_page, text.text.c_str());
    }

private:
    void choose(resources::Rgb colour, double opacity) const
    {
        constexpr double kFull = 255;
        cairo_set_source_rgba(m_page, colour.r / kFull, colour.g / kFull, colour.b / kFull, opacity);
    }

    void ink(const std::optional<FigurePen>& pen, const std::optional<FigureFill>& fill) const
    {
        if (fill) {
            choose(fill->colour, fill->opacity);
            cairo_fill_preserve(m_page);
        }
        if (pen) {
            constexpr double dashes[] = {2, 1.5};
            cairo_set_dash(m_page, dashes, pen->dashed ? 2 : 0, 0);
            cairo_set_line_width(m_page, pen->width);
            choose(pen->colour, pen->opacity);
            cairo_stroke_preserve(m_page);
        }
        cairo_new_path(m_page);
    }

    cairo_t* m_page;
};

Result<std::string> pdfOf(const Figure& figure)
{
    std::string bytes;
    const auto append = [](void* to, const unsigned char* data, unsigned int size) {
        static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
        return CAIRO_STATUS_SUCCESS;
    };
    cairo_surface_t* const surface = cairo_pdf_surface_create_for_stream(append, &bytes, figure.width, figure.height);
    cairo_t* const page = cairo_create(surface);
    const PagePainter painter(page, figure.family);
    for (const FigurePart& part : figure.parts) {
        std::visit(painter, part);
    }
    const cairo_status_t drawn = cairo_status(page);
    cairo_destroy(page);
    cairo_surface_finish(surface);
    const cairo_status_t finished = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (const cairo_status_t status = drawn != CAIRO_STATUS_SUCCESS ? drawn : finished;
        status != CAIRO_STATUS_SUCCESS) {
        return Error{"PDF", cairo_status_to_string(status)};
    }
    return bytes;
}

} // namespace

FigureFont::FigureFont(const std::string& family)
{
    cairo_font_face_t* const face = faceOf(family);
    cairo_font_options_t* const options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_matrix_t size;
    cairo_matrix_t page;
    cairo_matrix_init_scale(&size, kMeasured, kMeasured);
    cairo_matrix_init_identity(&page);
    m_font = {cairo_scaled_font_create(face, &size, &page, options),
              [](void* font) { cairo_scaled_font_destroy(static_cast<cairo_scaled_font_t*>(font)); }};
    cairo_font_options_destroy(options);
    cairo_font_face_destroy(face);
}

double FigureFont::widthOf(double size, const std::string& text) const
{
    cairo_text_extents_t extents;
    cairo_scaled_font_text_extents(static_cast<cairo_scaled_font_t*>(m_font.get()), text.c_str(), &extents);
    return extents.x_advance * size / kMeasured;
}

Result<FigureFormat> figureFormatOf(const std::filesystem::path& path)
{
    std::string suffix = path.extension().string();
    std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (suffix == ".svg") {
        return FigureFormat::Svg;
    }
    if (suffix == ".pdf") {
        return FigureFormat::Pdf;
    }
    if (suffix == ".tikz") {
        return FigureFormat::Tikz;
    }
    if (suffix == ".tex") {
        return FigureFormat::Tex;
    }
    return Error{path.string(), "got the suffix \"" + suffix + "\", expected .svg, .pdf, .tikz or .tex"};
}

Result<std::string> figureFile(const Figure& figure, FigureFormat format)
{
    switch (format) {
    case FigureFormat::Svg:
        return svgOf(figure);
    case FigureFormat::Tikz:
        return tikzOf(figure);
    case FigureFormat::Tex:
        return texOf(figure);
    case FigureFormat::Pdf:
        break;
    }
    return pdfOf(figure);
}

} // namespace residua::editor
