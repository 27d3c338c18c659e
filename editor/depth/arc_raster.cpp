// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/arc_picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace residua::editor {
namespace {

constexpr float kPixelsPerSegment = 6;
constexpr int kFewestSegments = 8;
constexpr int kMostSegments = 400;
constexpr std::size_t kArcsATurn = 128; ///< drawn between two checks of whether the picture is still wanted

/// An image with premultiplied colours, drawn over each other.
class Sheet {
public:
    Sheet(int width, int height)
        : m_width(width), m_height(height), m_pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height))
    {
    }

    void setInk(resources::Rgb colour, double alpha, float width)
    {
        m_alpha = static_cast<float>(alpha);
        m_ink = {static_cast<float>(colour.r), static_cast<float>(colour.g), static_cast<float>(colour.b), 1};
        m_half = width / 2;
    }

    void stroke(Point from, Point to)
    {
        const float across = to.x - from.x;
        const float down = to.y - from.y;
        if (std::abs(across) >= std::abs(down)) {
            run(from.x, to.x, from.y, across == 0 ? 0 : down / across, m_width, m_height,
                [this](int along, int aside, float cover) { put(along, aside, cover); });
        } else {
            run(from.y, to.y, from.x, across / down, m_height, m_width,
                [this](int along, int aside, float cover) { put(aside, along, cover); });
        }
    }

    [[nodiscard]] CanvasImage image() const
    {
        CanvasImage image{m_width, m_height, std::vector<std::uint8_t>(m_pixels.size() * 4)};
        auto* byte = image.pixels.data();
        for (const Pixel& pixel : m_pixels) {
            const float whole = pixel.a > 0 ? 1 / pixel.a : 0;
            for (const float part : {pixel.r * whole, pixel.g * whole, pixel.b * whole, pixel.a * 255}) {
                *byte++ = static_cast<std::uint8_t>(std::lround(std::clamp(part, 0.0F, 255.0F)));
            }
        }
        return image;
    }

private:
    struct Pixel {
        float r = 0;
        float g = 0;
        float b = 0;
        float a = 0;
    };

    /// Steps pixel by pixel along the axis nearest to the line. A pixel belongs to the line beside its centre, so that
    /// no pixel is drawn twice where two lines meet.
    template <class Put>
    void run(float from, float to, float aside, float slope, int most, int mostAside, const Put& put) const
    {
        const float start = from;
        if (from > to) {
            std::swap(from, to);
        }
        const int first = std::max(static_cast<int>(std::ceil(from - 0.5F)), 0);
        const int last = std::min(static_cast<int>(std::ceil(to - 0.5F)), most);
        const float reach = m_half * std::sqrt(1 + slope * slope);
        for (int i = first; i < last; ++i) {
            const float at = aside + (static_cast<float>(i) + 0.5F - start) * slope;
            const int low = std::max(static_cast<int>(std::floor(at - reach - 0.5F)), 0);
            const int high = std::min(static_cast<int>(std::ceil(at + reach + 0.5F)), mostAside - 1);
            for (int j = low; j <= high; ++j) {
                const float cover = reach + 0.5F - std::abs(static_cast<float>(j) + 0.5F - at);
                if (cover > 0) {
                    put(i, j, std::min(cover, std::min(1.0F, 2 * reach)));
                }
            }
        }
    }

    void put(int x, int y, float cover)
    {
        Pixel& pixel =
            m_pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(m_width) + static_cast<std::size_t>(x)];
        const float alpha = m_alpha * cover;
        const float rest = 1 - alpha;
        pixel.r = m_ink.r * alpha + pixel.r * rest;
        pixel.g = m_ink.g * alpha + pixel.g * rest;
        pixel.b = m_ink.b * alpha + pixel.b * rest;
        pixel.a = alpha + pixel.a * rest;
    }

    int m_width;
    int m_height;
    std::vector<Pixel> m_pixels;
    Pixel m_ink;
    float m_alpha = 1;
    float m_half = 0.5F;
};

Point inPixels(const ArcView& view, Point scene)
{
    const Point p = view.viewport.toScreen(scene);
    return {p.x * view.ratio, p.y * view.ratio};
}

void draw(Sheet& sheet, const ArcView& view, const ArcInk& ink)
{
    const ArcShape shape = ink.shapeAt(view.viewport.zoom());
    const Rect r = view.viewport.rectToScreen({shape.left, -shape.height, shape.right, 0});
    const float length = (r.width() + 2 * r.height()) * view.ratio;
    const int segments = std::clamp(static_cast<int>(length / kPixelsPerSegment), kFewestSegments, kMostSegments);
    Point from = inPixels(view, shape.at(0));
    for (int i = 1; i <= segments; ++i) {
        const Point to = inPixels(view, shape.at(static_cast<float>(i) / static_cast<float>(segments)));
        if (!ink.dashed || i % 2 == 1) {
            sheet.stroke(from, to);
        }
        from = to;
    }
}

} // namespace

std::optional<CanvasImage> rasterise(const std::vector<ArcInk>& inks, const ArcView& view,
                                     const std::function<bool()>& wanted)
{
    std::vector<const ArcInk*> shown;
    for (const ArcInk& ink : inks) {
        if (inSight(view.viewport, view.width, view.height, ink.shape)) {
            shown.push_back(&ink);
        }
    }
    const double fade = fadeOf(static_cast<double>(shown.size()));
    if (fade < 1) { // strong arcs are drawn over faint ones
        std::ranges::stable_sort(shown, {}, &ArcInk::width);
    }
    Sheet sheet(std::max(static_cast<int>(view.width * view.ratio), 1),
                std::max(static_cast<int>(view.height * view.ratio), 1));
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (i % kArcsATurn == 0 && wanted && !wanted()) {
            return std::nullopt;
        }
        if (shown[i]->halo) {
            sheet.setInk(*shown[i]->halo, 1, (shown[i]->width + kSelectionHalo) * view.ratio);
            draw(sheet, view, *shown[i]);
        }
        sheet.setInk(shown[i]->colour, shown[i]->alpha(fade), shown[i]->width * view.ratio);
        draw(sheet, view, *shown[i]);
    }
    return sheet.image();
}

} // namespace residua::editor
