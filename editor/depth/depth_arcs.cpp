// SPDX-License-Identifier: GPL-3.0-or-later
// The arcs of the depth canvas: their styles, and the selection and merging of those drawn.
#include "editor/depth/depth_paint.h"

#include "editor/shortcuts/arc_painter.h"

#include <algorithm>
#include <functional>

namespace residua::editor {
namespace {

constexpr std::size_t kSketch = 300;     ///< arcs drawn as a sample until the picture of all is ready
constexpr std::size_t kMostMarks = 2000; ///< marks of frozen arcs and counts of groups, drawn over that picture
constexpr double kAside = 0.3;           ///< opacity of arcs that do not touch the layer under the pointer
constexpr float kHoveredWider = 2;       ///< screen pixels
constexpr float kHalo = 4;               ///< screen pixels of background around the arc under the pointer
constexpr float kSelectionGap = 2;       ///< screen pixels of background between the two
constexpr float kSmallestCount = 9;      ///< height of an arc in screen pixels below which a group's count is omitted

struct Strand {
    ArcShape shape;
    const Arc* arc = nullptr;
    Stroke stroke;
};

bool isInSight(const DepthPicture& picture, const Arc& arc)
{
    return inSight(picture.view, picture.width, picture.height, arc);
}

/// Draws the visible arcs one by one.
class Arcs {
public:
    Arcs(ImDrawList& list, const DepthPicture& picture)
        : m_list(list),
          m_picture(picture),
          m_painter(list, picture.view, picture.width, picture.height),
          m_hovered(picture.hoveredShortcut ? picture.scene.arc(*picture.hoveredShortcut) : nullptr),
          m_ports(shownPorts(picture))
    {
    }

    void paint();

private:
    [[nodiscard]] const resources::ThemeColours& colours() const { return resources::themeColours(m_picture.theme); }
    [[nodiscard]] Stroke strokeOf(const Arc& arc, const ArcInk& ink) const;
    [[nodiscard]] bool touchesHovered(const Arc& arc) const;
    [[nodiscard]] bool isPointedAt(const Arc& arc) const;
    [[nodiscard]] bool othersStandBack() const;
    [[nodiscard]] std::vector<Strand> strandsOf(const Arc& arc) const;
    void paintStrands(const std::vector<Strand>& strands) const;
    void paintStrand(const Strand& strand) const;
    void paintMark(const Strand& strand) const;
    void paintCount(const Arc& arc) const;
    void paintCrowd(const std::vector<const Arc*>& inSight) const;
    void paintSheet() const;

    ImDrawList& m_list;
    const DepthPicture& m_picture;
    ArcPainter m_painter;
    const Arc* m_hovered;
    std::vector<ShownPort> m_ports;
    double m_fade = 1; ///< fade of arcs that are not highlighted
};

bool Arcs::touchesHovered(const Arc& arc) const
{
    const LayerBox* over = m_picture.hoveredModule ? m_picture.scene.box(*m_picture.hoveredModule) : nullptr;
    const std::vector<LayerBox>& boxes = m_picture.scene.boxes();
    return over != nullptr && (over == &boxes[arc.from] || over == &boxes[arc.to]);
}

bool Arcs::isPointedAt(const Arc& arc) const
{
    return m_hovered == &arc || touchesHovered(arc) || isSelected(m_picture, arc);
}

Stroke Arcs::strokeOf(const Arc& arc, const ArcInk& ink) const
{
    if (m_hovered == &arc) {
        return {imColour(ink.colour), ink.width + kHoveredWider};
    }
    if (isSelected(m_picture, arc)) {
        return {imColour(ink.colour), ink.width};
    }
    if (touchesHovered(arc)) {
        return {imColour(ink.colour, ink.alpha(1)), ink.width};
    }
    return {imColour(ink.colour, ink.alpha(m_fade) * (othersStandBack() ? kAside : 1.0)), ink.width};
}

std::vector<Strand> Arcs::strandsOf(const Arc& arc) const
{
    std::vector<Strand> strands;
    for (const ArcInk& ink : inksOf(m_picture, m_ports, arc)) {
        strands.push_back({ink.shapeAt(m_picture.view.zoom()), &arc, strokeOf(arc, ink)});
    }
    return strands;
}

/// True if arcs that are not highlighted are faint: if a layer is highlighted, or an arc among crowded arcs.
bool Arcs::othersStandBack() const
{
    return m_picture.hoveredModule || (m_hovered != nullptr && m_fade < 1);
}

/// Paints the strands of one or more arcs, and first what surrounds those that are selected or under the pointer. A
/// selected arc keeps the colour of its weight.
void Arcs::paintStrands(const std::vector<Strand>& strands) const
{
    for (const Strand& strand : strands) {
        if (isSelected(m_picture, *strand.arc)) {
            m_painter.stroke(strand.shape, {imColour(colours().accent), strand.stroke.width + kSelectionHalo});
            m_painter.stroke(strand.shape, {imColour(colours().background), strand.stroke.width + kSelectionGap});
        } else if (strand.arc == m_hovered) {
            m_painter.stroke(strand.shape, {imColour(colours().background), strand.stroke.width + kHalo});
        }
    }
    for (const Strand& strand : strands) {
        paintStrand(strand);
    }
}

void Arcs::paintStrand(const Strand& strand) const
{
    if (strand.arc->kind == projects::ShortcutKind::Pruned) {
        m_painter.dash(strand.shape, strand.stroke);
        return;
    }
    m_painter.stroke(strand.shape, strand.stroke);
    paintMark(strand);
}

void Arcs::paintMark(const Strand& strand) const
{
    if (strand.arc->kind == projects::ShortcutKind::Frozen) {
        const ImVec2 top = vec(m_picture.view.toScreen(strand.shape.at(0.5F)));
        m_list.AddRectFilled({top.x - 4, top.y - 4}, {top.x + 4, top.y + 4}, strand.stroke.colour, 1.5F);
    }
}

// Paints the number of shortcuts drawn as this arc.
void Arcs::paintCount(const Arc& arc) const
{
    if (arc.count < 2 || arc.height * m_picture.view.zoom() < kSmallestCount) {
        return;
    }
    const std::string count = "×" + std::to_string(arc.count);
    const Point at = m_picture.view.toScreen(arc.at(0.5F));
    const float half = textWidth(kTextSize, count) / 2 + 4;
    m_list.AddRectFilled({at.x - half, at.y - 8}, {at.x + half, at.y + 8}, imColour(colours().background, 0.9), 4);
    centredText(m_list, kTextSize, at, 2 * half, imColour(colours().muted), count);
}

void Arcs::paintSheet() const
{
    const Rect r = m_picture.view.rectToScreen(m_picture.sheet->shows);
    const double alpha = othersStandBack() ? kAside : 1.0;
    m_list.AddImage(m_picture.sheet->texture, {r.left, r.top}, {r.right, r.bottom}, {0, 0}, {1, 1},
                    imColour({255, 255, 255}, alpha));
}

// Too many arcs to draw in one frame: draws the picture made on another thread, then the hovered and selected arcs.
void Arcs::paintCrowd(const std::vector<const Arc*>& inSight) const
{
    if (m_picture.sheet) {
        paintSheet();
    } else {
        for (std::size_t i = 0; i < inSight.size(); i += inSight.size() / kSketch + 1) {
            paintStrands(strandsOf(*inSight[i]));
        }
    }
    std::size_t strokes = 0;
    std::size_t marks = 0;
    for (const Arc* arc : inSight) {
        if (strokes < kMostStrokes && isPointedAt(*arc)) {
            const std::vector<Strand> strands = strandsOf(*arc);
            paintStrands(strands);
            strokes += strands.size();
        } else if (arc->kind == projects::ShortcutKind::Frozen && marks++ < kMostMarks) {
            paintMark(strandsOf(*arc).front());
        }
        if (arc->count > 1 && marks++ < kMostMarks) {
            paintCount(*arc);
        }
    }
}

void Arcs::paint()
{
    std::vector<const Arc*> inSight;
    for (const Arc& arc : m_picture.scene.arcs()) {
        if (isInSight(m_picture, arc)) {
            inSight.push_back(&arc);
        }
    }
    const std::size_t crowd = inSight.size() * m_ports.size();
    m_fade = fadeOf(static_cast<double>(crowd));
    if (crowd > kMostStrokes) {
        paintCrowd(inSight);
        return;
    }
    std::vector<Strand> below;
    std::vector<Strand> onTop;
    for (const Arc* arc : inSight) {
        auto& strands = m_hovered == arc || isSelected(m_picture, *arc) ? onTop : below;
        const std::vector<Strand> own = strandsOf(*arc);
        strands.insert(strands.end(), own.begin(), own.end());
    }
    if (m_fade < 1) { // faint arcs first, so that strong ones are drawn over them
        std::stable_sort(below.begin(), below.end(),
                         [](const Strand& a, const Strand& b) { return a.stroke.width < b.stroke.width; });
    }
    paintStrands(below);
    paintStrands(onTop);
    for (const Strand& strand : below) {
        paintCount(*strand.arc);
    }
}

} // namespace

std::size_t strokesInSight(const DepthPicture& picture)
{
    const auto arcs =
        std::ranges::count_if(picture.scene.arcs(), [&picture](const Arc& arc) { return isInSight(picture, arc); });
    return static_cast<std::size_t>(arcs * std::ranges::count_if(picture.ports, &DepthPort::shown));
}

std::optional<ThinnedArcs> thinOut(std::vector<ArcInk>& inks)
{
    std::vector<float> strengths;
    for (const ArcInk& ink : inks) {
        if (ink.weighed) {
            strengths.push_back(ink.strength);
        }
    }
    if (strengths.size() <= kMostStrokes) {
        return std::nullopt;
    }
    const auto last = strengths.begin() + kMostStrokes - 1;
    std::ranges::nth_element(strengths, last, std::greater());
    const float least = *last;
    if (least <= 0) { // most of them are where they started, so none stands out
        return std::nullopt;
    }
    std::erase_if(inks, [least](const ArcInk& ink) { return ink.weighed && !ink.halo && ink.strength < least; });
    const auto drawn = std::ranges::count_if(inks, &ArcInk::weighed);
    return ThinnedArcs{static_cast<std::size_t>(drawn), strengths.size(), least};
}

void paintArcs(ImDrawList& list, const DepthPicture& picture)
{
    Arcs(list, picture).paint();
}

} // namespace residua::editor
