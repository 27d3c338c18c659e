// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/node_builder.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace residua::engine {

Weight NodeContext::weight(const std::string& name, at::IntArrayRef shape, double factor) const
{
    const auto weights = projects::findNodeKind(node.kind)->parametersRule(params, inputs);
    const auto found = std::ranges::find(weights, name, &projects::NodeParameter::name);
    TORCH_CHECK(found != weights.end() && !found->rank.empty(), node.kind, " has no weight ", name,
                " of a rank of its own");
    const bool compares = name == "q.weight" || name == "k.weight"; // their product alone matters
    ParameterStart start{.factor = compares ? factor : factor * startFactor, .values = {}, .follows = {}};
    if (found->atOutput) {
        start.role = writesResidual ? Role::ResidualMatrix : Role::Matrix;
        start.follows = follows;
    }
    const auto rank = projects::rankOf(params, found->rank, found->out(), found->in());
    return plan.addWeight(prefix() + name, shape, std::move(start), rank,
                          found->bySide ? Unfolding::BySide : Unfolding::WholeKernel);
}

NodeBuilder findNodeBuilder(const std::string& kind)
{
    for (const auto table :
         {linearBuilders(), normBuilders(), sequenceBuilders(), arithmeticBuilders(), imageBuilders()}) {
        for (const NodeBuilderEntry& entry : table) {
            if (kind == entry.kind) {
                return entry.build;
            }
        }
    }
    return nullptr;
}

} // namespace residua::engine
