// SPDX-License-Identifier: GPL-3.0-or-later
// The arcs of the depth canvas: how each is drawn, and which are left out or merged.
#include "editor/depth/depth_paint.h"

#include "editor/canvas/paint_tools.h"
#include "editor/shortcuts/arc_painter.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace residua::editor {
namespace {

constexpr float kMergedPitch = 12;             ///< screen pixels from layer to layer, below which arcs are merged
constexpr int kFinestSegments = 64;            ///< of an arc
constexpr int kFewestSegments = 14;            ///< where so many are drawn that corners are not visible
constexpr std::size_t kSegmentBudget = 220000; ///< of all arcs of a frame
constexpr double kReadable = 120;              ///< arcs in sight; where there are more, the weak ones are drawn fainter
constexpr double kFaintest = 0.12;
constexpr double kAside = 0.3;      ///< opacity of arcs that do not touch the layer under the pointer
constexpr double kWeakest = 0.45;   ///< opacity of the smallest weight, where arcs are not faded
constexpr float kStrandGap = 3.5F;  ///< screen pixels between the ports of one shortcut
constexpr float kSmallestCount = 9; ///< screen pixels of an arc's height, below which a bundle's number is left out

struct Strand {
    ArcShape shape;
    const Arc* arc = nullptr;
    Stroke stroke;
};

std::optional<float> weightOf(const DepthPicture& picture, const Arc& arc, const PortWeights& weights)
{
    if (arc.count == 1) {
        return weights.of(arc.shortcut);
    }
    // A bundle has the colour of its strongest weight.
    std::optional<float> strongest;
    double most = -1;
    for (const projects::Shortcut& shortcut : picture.scene.members(arc)) {
        if (const auto weight = weights.of(shortcut)) {
            if (const double strength = picture.weights.scale().strength(*weight); strength > most) {
                most = strength;
                strongest = weight;
            }
        }
    }
    return strongest;
}

bool isSelected(const DepthPicture& picture, const Arc& arc)
{
    const auto& selected = picture.selection.shortcuts;
    const auto members = picture.scene.members(arc);
    return !selected.empty() && std::any_of(members.begin(), members.end(),
                                            [&](const auto& shortcut) { return selected.contains(shortcut); });
}

/// Draws what is in sight, arc by arc.
class Arcs {
public:
    Arcs(ImDrawList& list, const DepthPicture& picture)
        : m_list(list),
          m_picture(picture),
          m_painter(list, picture.view, picture.width, picture.height),
          m_hovered(picture.hoveredShortcut ? picture.scene.arc(*picture.hoveredShortcut) : nullptr)
    {
        for (const DepthPort& port : picture.ports) {
            if (port.shown) {
                m_ports.push_back({&port, picture.weights.port(port.port)});
            }
        }
    }

    void paint();

private:
    struct Port {
        const DepthPort* port;
        PortWeights weights;
    };

    [[nodiscard]] const resources::ThemeColours& colours() const { return resources::themeColours(m_picture.theme); }
    [[nodiscard]] bool apart() const { return m_ports.size() > 1; }
    [[nodiscard]] Stroke strokeOf(const Arc& arc, const Port& port) const;
    [[nodiscard]] std::vector<Strand> worthDrawing(std::vector<Strand> strands) const;
    void addStrands(const Arc& arc, std::vector<Strand>& strands) const;
    void paintStrand(const Strand& strand) const;
    void paintCount(const Arc& arc) const;

    ImDrawList& m_list;
    const DepthPicture& m_picture;
    ArcPainter m_painter;
    const Arc* m_hovered;
    std::vector<Port> m_ports;
    double m_fade = 1; ///< of arcs that do not stand out
};

Stroke Arcs::strokeOf(const Arc& arc, const Port& port) const
{
    const resources::ThemeColours& c = colours();
    if (isSelected(m_picture, arc)) {
        return {imColour(c.accent), 3.0F};
    }
    const float emphasis = m_hovered == &arc ? 1.5F : 0.0F;
    double alpha = m_hovered == &arc ? 1 / m_fade : 1.0;
    if (m_picture.hoveredModule) {
        const LayerBox* over = m_picture.scene.box(*m_picture.hoveredModule);
        const bool touches =
            over == m_picture.scene.box(arc.shortcut.source) || over == m_picture.scene.box(arc.shortcut.target);
        alpha = touches ? 1 / m_fade : kAside;
    }
    const bool runs = m_picture.weights.isActive(m_picture.scene.box(arc.shortcut.target)->layer);
    alpha *= runs ? 1.0 : 0.35;
    if (const auto weight = weightOf(m_picture, arc, port.weights);
        weight && arc.kind != projects::ShortcutKind::Pruned && arc.kind != projects::ShortcutKind::Stream) {
        const double strength = m_picture.weights.scale().strength(*weight);
        const double faintest = kWeakest * m_fade;
        const resources::Rgb colour =
            apart() ? port.port->colour : weightColour(m_picture.weights.scale(), *weight, m_picture.theme);
        return {imColour(colour, alpha * (faintest + (1 - faintest) * strength)),
                1.0F + 3.5F * static_cast<float>(strength) + emphasis};
    }
    switch (arc.kind) {
    case projects::ShortcutKind::Stream:
        return {imColour(c.muted, alpha), 2.0F + emphasis};
    case projects::ShortcutKind::Fixed:
        return {imColour(c.muted, 0.8 * alpha * m_fade), 1.3F + emphasis};
    case projects::ShortcutKind::Pruned:
        return {imColour(c.muted, 0.35 * alpha * m_fade), 1.0F + emphasis};
    case projects::ShortcutKind::Learned:
    case projects::ShortcutKind::Frozen:
        break;
    }
    return {imColour(port.port->colour, 0.55 * alpha * m_fade), 1.4F + emphasis};
}

// One strand for each port that is shown, side by side.
void Arcs::addStrands(const Arc& arc, std::vector<Strand>& strands) const
{
    const bool split =
        apart() && arc.kind != projects::ShortcutKind::Pruned && arc.kind != projects::ShortcutKind::Stream;
    const std::size_t count = split ? m_ports.size() : std::min<std::size_t>(m_ports.size(), 1);
    const float gap = kStrandGap / m_picture.view.zoom();
    for (std::size_t i = 0; i < count; ++i) {
        const float aside = gap * (static_cast<float>(i) - static_cast<float>(count - 1) / 2);
        ArcShape shape = arc;
        shape.left -= aside;
        shape.right += aside;
        shape.height = std::max(shape.height + aside, 1.0F);
        strands.push_back({shape, &arc, strokeOf(arc, m_ports[i])});
    }
}

// Where layers are so near that arcs cover each other, those with both ends in the same places are drawn once, as
// the strongest of them: every one that stands out is still seen.
std::vector<Strand> Arcs::worthDrawing(std::vector<Strand> strands) const
{
    if (DepthScene::kPitch * m_picture.view.zoom() >= kMergedPitch) {
        return strands;
    }
    std::unordered_map<std::uint64_t, std::size_t> strongest;
    strongest.reserve(strands.size());
    std::vector<Strand> kept;
    const auto cellOf = [&](float x) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(m_picture.view.toScreen({x, 0}).x)));
    };
    for (const Strand& strand : strands) {
        const std::uint64_t cell = (cellOf(strand.arc->left) << 32U) ^ (cellOf(strand.arc->right) & 0xFFFFFFFFU);
        const auto [found, first] = strongest.try_emplace(cell, kept.size());
        if (first) {
            kept.push_back(strand);
        } else if (strand.stroke.width > kept[found->second].stroke.width) {
            kept[found->second] = strand;
        }
    }
    return kept;
}

void Arcs::paintStrand(const Strand& strand) const
{
    if (strand.arc->kind == projects::ShortcutKind::Pruned) {
        m_painter.dash(strand.shape, strand.stroke);
        return;
    }
    m_painter.stroke(strand.shape, strand.stroke);
    if (strand.arc->kind == projects::ShortcutKind::Frozen) {
        const ImVec2 top = vec(m_picture.view.toScreen(strand.shape.at(0.5F)));
        m_list.AddRectFilled({top.x - 4, top.y - 4}, {top.x + 4, top.y + 4}, strand.stroke.colour, 1.5F);
    }
}

// How many shortcuts a bundle is.
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

void Arcs::paint()
{
    std::vector<const Arc*> inSight;
    for (const Arc& arc : m_picture.scene.arcs()) {
        if (m_painter.inSight(arc)) {
            inSight.push_back(&arc);
        }
    }
    const auto crowd = static_cast<double>(inSight.size() * m_ports.size());
    m_fade = std::clamp(std::sqrt(kReadable / std::max(crowd, 1.0)), kFaintest, 1.0);
    std::vector<Strand> below;
    std::vector<Strand> onTop;
    for (const Arc* arc : inSight) {
        addStrands(*arc, m_hovered == arc || isSelected(m_picture, *arc) ? onTop : below);
    }
    below = worthDrawing(std::move(below));
    if (m_fade < 1) { // faint arcs first, so that strong ones are drawn over them
        std::stable_sort(below.begin(), below.end(),
                         [](const Strand& a, const Strand& b) { return a.stroke.width < b.stroke.width; });
    }
    const auto each = static_cast<int>(kSegmentBudget / std::max<std::size_t>(below.size(), 1));
    m_painter.setFinest(std::clamp(each, kFewestSegments, kFinestSegments));
    for (const Strand& strand : below) {
        paintStrand(strand);
    }
    m_painter.setFinest(kFinestSegments);
    for (const Strand& strand : onTop) {
        paintStrand(strand);
    }
    for (const Strand& strand : below) {
        paintCount(*strand.arc);
    }
}

} // namespace

void paintArcs(ImDrawList& list, const DepthPicture& picture)
{
    Arcs(list, picture).paint();
}

} // namespace residua::editor
