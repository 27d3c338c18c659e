// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/paint_tools.h"
#include "projects/depth/mix_port.h"
#include "projects/model/topology.h"
#include "resources/colours.h"

#include <vector>

namespace residua::editor {

/// A port that reads a mix of its own, as its layer of arcs is drawn.
struct DepthPort {
    projects::MixPort port = projects::MixPort::Input;
    resources::Rgb colour; ///< where several are shown at once; one alone is coloured by its weights
    bool shown = true;
};

/// The ports of a topology as a row of toggles, top left; no row where there is one port.
class PortRow {
public:
    static constexpr float kRoom = 28; ///< pixels that the row takes at the top

    /// Takes up the topology's ports. What a person hid stays hidden while they are the same.
    void follow(const projects::Topology& topology, resources::Theme theme);
    void setTheme(resources::Theme theme);
    [[nodiscard]] const std::vector<DepthPort>& ports() const { return m_ports; }
    [[nodiscard]] bool empty() const { return m_ports.size() < 2; }

    [[nodiscard]] bool contains(Point onScreen) const;
    enum class Click {
        Toggle,
        Alone, ///< hides all others
    };
    /// Toggles what lies at a point; false where there is no toggle.
    bool click(Point onScreen, Click how);
    /// For the keys: shows the next choice (1) or the one before (−1) among all ports and each port alone, in a circle.
    void step(int direction);
    void paint(ImDrawList& list, resources::Theme theme, Point pointer) const;

private:
    [[nodiscard]] std::vector<Chip> chips() const;

    std::vector<DepthPort> m_ports;
};

} // namespace residua::editor
