// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/depth_lanes.h"
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/live_weights.h"
#include "editor/scenes/tower_rows.h"
#include "editor/scenes/viewport.h"
#include "projects/commands/selection.h"
#include "projects/depth/mix_port.h"
#include "projects/model/project.h"
#include "resources/colours.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// The styles of the depth canvas's arcs and boxes, which frames and figures share.
namespace residua::editor {

/// A port with a mix of its own, as its layer of arcs is drawn.
struct DepthPort {
    projects::MixPort port = projects::MixPort::Input;
    resources::Rgb colour; ///< used if several ports are shown; a single one is coloured by its weights
    bool shown = true;
};
/// Returns the ports of a topology, all of them shown.
[[nodiscard]] std::vector<DepthPort> depthPorts(const projects::Topology& topology, resources::Theme theme);

/// The style of an arc when nothing is highlighted. It does not depend on the visible part of the scene.
struct ArcInk {
    ArcShape shape; ///< scene units
    resources::Rgb colour;
    float width = 1; ///< screen pixels
    float aside = 0; ///< screen pixels outwards and upwards, if the ports of a shortcut are drawn side by side
    /// Opacity is opacity · (floor·fade + (1 − floor·fade)·strength). fade decreases from 1 as more arcs are visible.
    float opacity = 1;
    float floor = 1;
    float strength = 0; ///< in [0, 1]
    bool dashed = false;
    bool weighed = false;                 ///< true if colour and strength are those of a learned weight
    std::optional<resources::Rgb> halo{}; ///< around the arc, if it is selected

    /// Returns the shape in scene units at `zoom` screen pixels per unit.
    [[nodiscard]] ArcShape shapeAt(float zoom) const;
    [[nodiscard]] double alpha(double fade) const { return opacity * (floor * fade + (1 - floor * fade) * strength); }
};

/// Returns the fade for `crowd` visible arcs.
[[nodiscard]] double fadeOf(double crowd);

/// A picture of the arcs that was made before.
struct ArcSheet {
    void* texture = nullptr; ///< Dear ImGui's handle
    Rect shows;              ///< scene units
};

/// The arcs with learned weights that remain in a picture of very many.
struct ThinnedArcs {
    std::size_t drawn = 0;
    std::size_t all = 0;
    double least = 0; ///< smallest strength of a drawn arc, as a share of the scale
};

/// All data for drawing one frame.
struct DepthPicture {
    const DepthScene& scene;
    const Viewport& view;
    const projects::Selection& selection;
    const LiveWeights& weights;
    const projects::Project& project;
    const std::vector<DepthPort>& ports;
    std::optional<projects::Shortcut> hoveredShortcut;
    std::optional<std::int64_t> hoveredModule;
    resources::Theme theme = resources::Theme::Light;
    float width = 0;
    float height = 0;
    std::optional<std::size_t> hoveredLoop = {}; ///< index in DepthScene::loops()
    const TowerRows* towers = nullptr;           ///< the other towers; null or empty: none
    TowerSpot hoveredTower = {};
    std::optional<ArcSheet> sheet = {};      ///< if there is one
    std::optional<ThinnedArcs> thinned = {}; ///< of the sheet
    bool isSmall = false;                    ///< true for a stack beside the shown one, without controls
};

/// The largest number of visible arcs, one for each visible port, that a frame draws one by one. If there are more, the
/// picture of all arcs is drawn, with hovered and selected arcs over it.
inline constexpr std::size_t kMostStrokes = 900;

/// A visible port with its weights.
struct ShownPort {
    const DepthPort* port;
    PortWeights weights;
};
/// Returns the visible ports, or one of them if a number of all ports is shown.
[[nodiscard]] std::vector<ShownPort> shownPorts(const DepthPicture& picture);
/// Returns the styles of an arc, one for each of `ports` that draws it, side by side.
[[nodiscard]] std::vector<ArcInk> inksOf(const DepthPicture& picture, const std::vector<ShownPort>& ports,
                                         const Arc& arc);
/// Returns the style of every arc.
[[nodiscard]] std::vector<ArcInk> inksOf(const DepthPicture& picture);
[[nodiscard]] bool isSelected(const DepthPicture& picture, const Arc& arc);
/// True if an arc has the colour of a weight.
[[nodiscard]] bool hasWeighedArc(const DepthPicture& picture);

/// Returns the mean share that the step runs of the layers of the box; 0 if it runs none of them.
[[nodiscard]] double activeShareOf(const DepthPicture& picture, const LayerBox& box);

} // namespace residua::editor
