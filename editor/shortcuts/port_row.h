// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/paint_tools.h"
#include "editor/scenes/depth_picture.h"
#include "editor/scenes/words.h"
#include "projects/model/topology.h"
#include "resources/colours.h"

#include <imgui.h>

#include <vector>

namespace residua::editor {

/// The ports of a topology as a row of toggles, top left. There is no row for a single port.
class PortRow {
public:
    static constexpr float kRoom = 28; ///< height of the row in pixels

    /// Shows the topology's ports. Hidden ports stay hidden while the ports are the same.
    void follow(const projects::Topology& topology, resources::Theme theme);
    void setTheme(resources::Theme theme);
    [[nodiscard]] const std::vector<DepthPort>& ports() const { return m_ports; }
    [[nodiscard]] bool empty() const { return m_ports.size() < 2; }

    [[nodiscard]] bool contains(Point onScreen) const;
    enum class Click {
        Toggle,
        Alone, ///< hides all others
    };
    /// Toggles the port at a point. Returns false if there is no toggle.
    bool click(Point onScreen, Click how);
    /// Shows the next choice (1) or the previous one (−1) among all ports and each single port, cyclically.
    void step(int direction);
    void paint(ImDrawList& list, resources::Theme theme, Point pointer) const;

private:
    [[nodiscard]] std::vector<Chip> chips() const;

    std::vector<DepthPort> m_ports;
};

inline constexpr float kLegendRoom = 72;     ///< height of the legend with its margin, in pixels
inline constexpr float kRightOfLegend = 184; ///< where further text beside it begins

/// The meaning of the colours of shortcuts.
enum class Colours { Weights, Ports };

/// Paints the colour bar of the weights, bottom left, or the reason for their absence. If colours identify ports,
/// paints words instead that say so.
void paintLegend(ImDrawList& list, const LiveWeights& weights, resources::Theme theme, float height,
                 LiveMeasure measure = LiveMeasure::Mean, Colours colours = Colours::Weights);

} // namespace residua::editor
