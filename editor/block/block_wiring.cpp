// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/block/block_wiring.h"

#include "editor/scenes/words.h"
#include "projects/model/places.h"

#include <algorithm>

namespace residua::editor {

using projects::PortRef;
using projects::Wire;

void BlockWiring::begin(const BlockScene& scene, const BlockHit& pressed)
{
    m_check.reset();
    m_lifted.reset();
    m_fixed = {{pressed.node, pressed.port}, pressed.side};
    if (pressed.side == projects::PortSide::Output) {
        return;
    }
    const auto wire =
        std::ranges::find(scene.wires(), m_fixed.port, [](const BlockWire& each) { return each.wire.to; });
    if (wire != scene.wires().end()) {
        m_lifted = wire->wire;
        m_fixed = {wire->wire.from, projects::PortSide::Output};
    }
}

std::optional<Wire> BlockWiring::over(const projects::Project& project, const projects::GraphRef& ref,
                                      const BlockHit& hover) const
{
    std::optional<PortRef> end;
    if (hover.node == m_fixed.port.node) {
        return std::nullopt; // still over the node where it begins
    }
    if (hover.kind == BlockHit::Kind::Port && hover.side == wanted()) {
        end = PortRef{hover.node, hover.port};
    } else if (hover.kind == BlockHit::Kind::Node || hover.kind == BlockHit::Kind::Port) {
        const projects::Graph* const graph = findGraph(project, ref);
        end = graph != nullptr ? portFor(*graph, hover.node, wanted()) : std::nullopt;
    }
    if (!end) {
        return std::nullopt;
    }
    return wanted() == projects::PortSide::Input ? Wire{m_fixed.port, *end} : Wire{*end, m_fixed.port};
}

const projects::WireCheck& BlockWiring::check(const projects::Project& project, const projects::GraphRef& ref,
                                              const Wire& wire)
{
    if (!m_check || m_check->first != wire) {
        m_check.emplace(wire, checkWire(project, ref, wire));
    }
    return m_check->second;
}

std::string BlockWiring::title(const BlockScene& scene, const std::optional<Wire>& wire) const
{
    const auto name = [&scene](projects::NodeId id) { return scene.node(id)->name; };
    if (wire) {
        return name(wire->from.node) + " > " + name(wire->to.node) + "." + wire->to.port;
    }
    const std::string whereTo = m_lifted
                                    ? translate("Canvas", "%1: drop on an input, or beside it to take the wire out")
                                    : translate("Canvas", "%1: drop on a port, or on the ground to add a node");
    return filled(whereTo, {name(m_fixed.port.node)});
}

} // namespace residua::editor
