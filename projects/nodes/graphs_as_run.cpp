// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/ffn_site.h"

#include "projects/nodes/node_kinds.h"

#include <utility>

namespace residua::projects {

Graph graphAsRun(const Wiring& wiring, Graph graph)
{
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    for (Node& node : graph.nodes) {
        if (mix != nullptr && mix->separateNorms && !weightOwnerOf(node).empty()) {
            node.params.erase(kShareParam);
        }
    }
    return graph;
}

Result<std::vector<Graph>> graphsAsRun(const Wiring& wiring, const Block& block)
{
    if (!splitsLayers(wiring)) {
        return std::vector{graphAsRun(wiring, block.graph)};
    }
    BlockHalves halves = RESIDUA_TRY(splitAtFfn(block));
    return std::vector{graphAsRun(wiring, std::move(halves.attention)),
                       graphAsRun(wiring, std::move(halves.feedForward))};
}

} // namespace residua::projects
