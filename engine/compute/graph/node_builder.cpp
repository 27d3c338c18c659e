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
    Weight weight = plan.addWeight(prefix() + name, shape, std::move(start), rank,
                                   found->bySide ? Unfolding::BySide : Unfolding::WholeKernel);
    if (adapters.rank > 0 && projects::isAdapted(found->shape)) {
        weight.addedV = plan.add(projects::adapterOf(prefix() + name, adapters.visit, projects::kAdapterV),
                                 {adapters.rank, found->in()}, Role::Matrix);
        weight.addedU = plan.add(projects::adapterOf(prefix() + name, adapters.visit, projects::kAdapterU),
                                 {found->out(), adapters.rank}, {.factor = 0, .values = {}, .follows = {}}, Decay::Yes);
    }
    return weight;
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
