// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/depth_picture.h"

#include "projects/depth/depth_names.h"

#include <algorithm>
#include <cmath>

namespace residua::editor {
namespace {

constexpr double kReadable = 120; ///< visible arcs; if there are more, weak arcs are drawn fainter
constexpr double kFaintest = 0.12;
constexpr float kThinnestArc = 1.5F; ///< screen pixels
constexpr float kThickest = 4.5F;
constexpr float kDimmed = 0.35F;   ///< factor for parts that a step leaves out
constexpr float kStrandGap = 3.5F; ///< screen pixels between the ports of one shortcut

/// Returns the weight that determines the arc's colour.
std::optional<float> weightOf(const DepthPicture& picture, const Arc& arc, const PortWeights& weights)
{
    if (arc.kind == projects::ShortcutKind::Pruned || arc.kind == projects::ShortcutKind::Stream) {
        return std::nullopt;
    }
    if (arc.count == 1) {
        return weights.of(arc.shortcut);
    }
    // Shortcuts drawn as one arc have the colour of the strongest.
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

ArcInk inkOf(const DepthPicture& picture, const Arc& arc, const ShownPort& port, bool apart)
{
    const resources::ThemeColours& c = resources::themeColours(picture.theme);
    ArcInk ink{.shape = arc, .colour = c.muted};
    if (const auto weight = weightOf(picture, arc, port.weights)) {
        const projects::WeightScale& scale = picture.weights.scale();
        ink.weighed = true;
        ink.strength = static_cast<float>(scale.strength(*weight));
        ink.width = std::lerp(kThinnestArc, apart ? kStrandGap : kThickest, ink.strength); // strands stay apart
        ink.colour = apart ? port.port->colour : weightColour(scale, *weight, picture.theme);
    } else if (arc.kind == projects::ShortcutKind::Stream) {
        ink.strength = 1;
        ink.floor = 0;
        ink.width = 2.0F;
    } else if (arc.kind == projects::ShortcutKind::Fixed) {
        ink.opacity = 0.8F;
        ink.width = 1.3F;
    } else if (arc.kind == projects::ShortcutKind::Pruned) {
        ink.opacity = 0.35F;
        ink.dashed = true;
    } else {
        ink.colour = port.port->colour;
        ink.opacity = 0.55F;
        ink.width = 1.4F;
    }
    const bool runs = activeShareOf(picture, picture.scene.boxes()[arc.to]) > 0;
    ink.opacity *= runs ? 1.0F : kDimmed;
    return ink;
}

} // namespace

std::vector<DepthPort> depthPorts(const projects::Topology& topology, resources::Theme theme)
{
    std::vector<DepthPort> ports;
    for (const projects::MixPort port : portsOf(topology)) {
        ports.push_back({port, resources::curveColour(ports.size(), theme), true});
    }
    return ports;
}

ArcShape ArcInk::shapeAt(float zoom) const
{
    const float inwards = aside / zoom;
    return {shape.left - inwards, shape.right + inwards, std::max(shape.height + inwards, 1.0F)};
}

double fadeOf(double crowd)
{
    return std::clamp(std::sqrt(kReadable / std::max(crowd, 1.0)), kFaintest, 1.0);
}

double activeShareOf(const DepthPicture& picture, const LayerBox& box)
{
    double sum = 0;
    for (std::int64_t visit = 0; visit < box.visits; ++visit) {
        for (std::int64_t layer = box.layer; layer <= box.lastLayer; ++layer) {
            sum += picture.weights.activeShare(layer + visit * box.apart);
        }
    }
    return sum / static_cast<double>(std::max<std::int64_t>((box.lastLayer - box.layer + 1) * box.visits, 1));
}

bool isSelected(const DepthPicture& picture, const Arc& arc)
{
    const auto& selected = picture.selection.shortcuts;
    const auto members = picture.scene.members(arc);
    return !selected.empty() && std::any_of(members.begin(), members.end(),
                                            [&](const auto& shortcut) { return selected.contains(shortcut); });
}

std::vector<ShownPort> shownPorts(const DepthPicture& picture)
{
    std::vector<ShownPort> shown;
    for (const DepthPort& port : picture.ports) {
        if (port.shown && (shown.empty() || !picture.weights.areEffects())) {
            shown.push_back({&port, picture.weights.port(port.port)});
        }
    }
    return shown;
}

// The final output has a single mix, which has no port's colour.
std::vector<ArcInk> inksOf(const DepthPicture& picture, const std::vector<ShownPort>& ports, const Arc& arc)
{
    std::vector<ArcInk> inks;
    const bool apart = ports.size() > 1;
    const bool final = arc.shortcut.target > picture.scene.modules();
    const bool split =
        apart && !final && arc.kind != projects::ShortcutKind::Pruned && arc.kind != projects::ShortcutKind::Stream;
    const std::size_t count = split ? ports.size() : std::min<std::size_t>(ports.size(), 1);
    for (std::size_t i = 0; i < count; ++i) {
        inks.push_back(inkOf(picture, arc, ports[i], apart));
        if (apart && final) {
            inks.back().colour = resources::themeColours(picture.theme).muted;
        }
        inks.back().aside = kStrandGap * (static_cast<float>(i) - static_cast<float>(count - 1) / 2);
    }
    return inks;
}

std::vector<ArcInk> inksOf(const DepthPicture& picture)
{
    const std::vector<ShownPort> ports = shownPorts(picture);
    const bool manySelected = picture.selection.shortcuts.size() > kMostStrokes; // else drawn over the picture
    std::vector<ArcInk> inks;
    inks.reserve(picture.scene.arcs().size() * ports.size());
    for (const Arc& arc : picture.scene.arcs()) {
        for (ArcInk& ink : inksOf(picture, ports, arc)) {
            if (manySelected && isSelected(picture, arc)) {
                ink.halo = resources::themeColours(picture.theme).accent;
                ink.strength = ink.opacity = 1;
            }
            inks.push_back(ink);
        }
    }
    return inks;
}

bool hasWeighedArc(const DepthPicture& picture)
{
    const std::vector<ShownPort> ports = shownPorts(picture);
    return std::ranges::any_of(picture.scene.arcs(), [&](const Arc& arc) {
        return std::ranges::any_of(
            ports, [&](const ShownPort& port) { return weightOf(picture, arc, port.weights).has_value(); });
    });
}

} // namespace residua::editor
