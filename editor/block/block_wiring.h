// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/block/block_scene.h"
#include "projects/graphs/graph_edits.h"

#include <optional>
#include <string>
#include <utility>

namespace residua::editor {

/// A wire while it is being drawn: which end stays, where the other may go, and what is said beside the pointer.
class BlockWiring {
public:
    /// Begins at a port. From an input that is wired the wire is picked up: its other end stays.
    void begin(const BlockScene& scene, const BlockHit& pressed);
    void forgetChecks() { m_check.reset(); }

    [[nodiscard]] const projects::WireEnd& fixed() const { return m_fixed; }
    [[nodiscard]] const std::optional<projects::Wire>& lifted() const { return m_lifted; }
    /// The side of the ports at which the wire may end.
    [[nodiscard]] projects::PortSide wanted() const
    {
        return m_fixed.side == projects::PortSide::Output ? projects::PortSide::Input : projects::PortSide::Output;
    }
    /// The wire that would be drawn if the button were let go over `hover`; on a node away from its ports, to
    /// portFor().
    [[nodiscard]] std::optional<projects::Wire> over(const projects::Project& project, const projects::GraphRef& ref,
                                                     const BlockHit& hover) const;
    /// What drawing the wire would do, which is worked out once for each wire and kept.
    [[nodiscard]] const projects::WireCheck& check(const projects::Project& project, const projects::GraphRef& ref,
                                                   const projects::Wire& wire);
    /// The first line beside the pointer.
    [[nodiscard]] std::string title(const BlockScene& scene, const std::optional<projects::Wire>& wire) const;

private:
    projects::WireEnd m_fixed;
    std::optional<projects::Wire> m_lifted;
    std::optional<std::pair<projects::Wire, projects::WireCheck>> m_check;
};

} // namespace residua::editor
