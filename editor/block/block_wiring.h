// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/block_scene.h"
#include "projects/graphs/graph_edits.h"

#include <optional>
#include <string>
#include <utility>

namespace residua::editor {

/// A wire while it is being drawn: its fixed end, the possible other ends, and the text beside the pointer.
class BlockWiring {
public:
    /// Begins at a port. An input that is wired picks up its wire, whose other end stays.
    void begin(const BlockScene& scene, const BlockHit& pressed);
    void forgetChecks() { m_check.reset(); }

    [[nodiscard]] const projects::WireEnd& fixed() const { return m_fixed; }
    [[nodiscard]] const std::optional<projects::Wire>& lifted() const { return m_lifted; }
    /// Returns the side of the ports at which the wire may end.
    [[nodiscard]] projects::PortSide wanted() const
    {
        return m_fixed.side == projects::PortSide::Output ? projects::PortSide::Input : projects::PortSide::Output;
    }
    /// Returns the wire that releasing the button over `hover` would draw. On a node away from its ports, the wire ends
    /// at portFor().
    [[nodiscard]] std::optional<projects::Wire> over(const projects::Project& project, const projects::GraphRef& ref,
                                                     const BlockHit& hover) const;
    /// Returns the effect of drawing the wire, computed once for each wire.
    [[nodiscard]] const projects::WireCheck& check(const projects::Project& project, const projects::GraphRef& ref,
                                                   const projects::Wire& wire);
    /// Returns the first line beside the pointer.
    [[nodiscard]] std::string title(const BlockScene& scene, const std::optional<projects::Wire>& wire) const;

private:
    projects::WireEnd m_fixed;
    std::optional<projects::Wire> m_lifted;
    std::optional<std::pair<projects::Wire, projects::WireCheck>> m_check;
};

} // namespace residua::editor
