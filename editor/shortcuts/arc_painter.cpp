// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/shortcuts/arc_painter.h"

#include "editor/canvas/paint_tools.h"

#include <algorithm>
#include <cmath>

namespace residua::editor {
namespace {

constexpr float kPixelsPerSegment = 9;
constexpr int kFewest = 12; ///< minimum number of segments of an arc, so that a short arc is also curved
constexpr int kFinest = 64; ///< maximum number of segments
constexpr float kSpare = 8; ///< pixels drawn beyond the canvas, so that a wide stroke is not cut at its edge

// Returns t on the rising half at which 4t(1 − t) is `share` of the height.
float risingTo(float share)
{
    return (1 - std::sqrt(1 - std::clamp(share, 0.0F, 1.0F))) / 2;
}

} // namespace

void ArcPainter::stroke(const ArcShape& arc, const Stroke& stroke) const
{
    const Rect r = m_view.rectToScreen({arc.left, -arc.height, arc.right, 0});
    const ArcShape shown{r.left, r.right, r.bottom - r.top};
    float from = shown.left < -kSpare ? shown.atX(-kSpare) : 0;
    float to = shown.right > m_width + kSpare ? shown.atX(m_width + kSpare) : 1;
    if (r.bottom > m_height + kSpare) { // it begins and ends below the canvas
        const float enters = risingTo((r.bottom - m_height - kSpare) / shown.height);
        from = std::max(from, enters);
        to = std::min(to, 1 - enters);
    }
    if (r.top >= -kSpare) {
        strip(shown, r.bottom, from, to, stroke);
        return;
    }
    const float leaves = risingTo((r.bottom + kSpare) / shown.height); // above the canvas from here to its mirror
    strip(shown, r.bottom, from, std::min(to, leaves), stroke);
    strip(shown, r.bottom, std::max(from, 1 - leaves), to, stroke);
}

void ArcPainter::strip(const ArcShape& onScreen, float base, float from, float to, const Stroke& stroke) const
{
    if (from >= to) {
        return;
    }
    const float across = onScreen.right - onScreen.left;
    const float up = 4 * onScreen.height;
    const Point a = onScreen.at(from);
    const Point b = onScreen.at(to);
    const Point middle = onScreen.at((from + to) / 2);
    const float length = std::abs(b.x - a.x) + std::abs(middle.y - a.y) + std::abs(b.y - middle.y);
    const int segments = std::clamp(static_cast<int>(length / kPixelsPerSegment), kFewest, kFinest);
    // Dear ImGui has soft-edged lines of every width in its texture, so two vertices per point draw a smooth line.
    const auto row = static_cast<std::size_t>(std::clamp(std::lround(stroke.width), 1L, 16L));
    const ImVec4& line = ImGui::GetIO().Fonts->TexUvLines[row];
    const float reach = stroke.width / 2 + 1;

    m_list.PrimReserve(segments * 6, (segments + 1) * 2);
    const float step = (to - from) / static_cast<float>(segments);
    for (int i = 0; i <= segments; ++i) {
        const float t = from + step * static_cast<float>(i);
        const float rest = 1 - t;
        const float dx = across * 6 * t * rest;
        const float dy = up * (2 * t - 1);
        const float scale = reach / std::sqrt(dx * dx + dy * dy);
        const ImVec2 at{onScreen.left + across * t * t * (3 - 2 * t), base - up * t * rest};
        if (i < segments) {
            const auto first = static_cast<ImDrawIdx>(m_list._VtxCurrentIdx);
            m_list.PrimWriteIdx(first);
            m_list.PrimWriteIdx(static_cast<ImDrawIdx>(first + 1));
            m_list.PrimWriteIdx(static_cast<ImDrawIdx>(first + 2));
            m_list.PrimWriteIdx(static_cast<ImDrawIdx>(first + 2));
            m_list.PrimWriteIdx(static_cast<ImDrawIdx>(first + 1));
            m_list.PrimWriteIdx(static_cast<ImDrawIdx>(first + 3));
        }
        m_list.PrimWriteVtx({at.x - dy * scale, at.y + dx * scale}, {line.x, line.y}, stroke.colour);
        m_list.PrimWriteVtx({at.x + dy * scale, at.y - dx * scale}, {line.z, line.w}, stroke.colour);
    }
}

void ArcPainter::dash(const ArcShape& arc, const Stroke& stroke) const
{
    const float length = (arc.right - arc.left + 2 * arc.height) * m_view.zoom();
    const int dashes = std::clamp(static_cast<int>(length / 10), 6, 200);
    for (int i = 0; i < dashes; ++i) {
        const float t = static_cast<float>(i) / static_cast<float>(dashes);
        const float end = t + 0.5F / static_cast<float>(dashes);
        m_list.AddLine(vec(m_view.toScreen(arc.at(t))), vec(m_view.toScreen(arc.at(end))), stroke.colour, stroke.width);
    }
}

} // namespace residua::editor
