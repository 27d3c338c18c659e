// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/visit_products.h"

#include "projects/base/text.h"
#include "projects/depth/visit_adapters.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/resolved_graph.h"

#include <algorithm>
#include <string_view>

namespace residua::projects {
namespace {

/// Returns the weights of a block to which visits add, by their names within the graph: "attn.q.weight".
std::vector<std::string> adaptedWeights(const Project& project, const GraphRef& block)
{
    std::vector<std::string> weights;
    const Graph* const graph = findGraph(project, block);
    for (const ResolvedNode& node : resolveGraph(project, block).nodes) {
        for (const NodeParameter& weight : rankedWeightsOf(node)) {
            if (isAdapted(weight.shape)) {
                weights.push_back(graph->find(node.id)->name + "." + weight.name);
            }
        }
    }
    return weights;
}

std::int64_t visitsWithProducts(const Stack& stack, std::int64_t layer)
{
    return adaptersAt(stack, {layer, 1}).rank > 0 ? std::ssize(stack.visitsOf(layer)) : 0;
}

/// Returns the linear maps of a layer that VisitLinear takes the place of, by their names in it: "attn.q".
std::vector<std::string> replacedIn(const std::string& prefix, const std::map<std::string, std::string>& names)
{
    std::vector<std::string> maps;
    for (auto at = names.lower_bound(prefix); at != names.end() && at->first.starts_with(prefix); ++at) {
        if (const auto adapter = adapterFrom(at->first); adapter && adapter->visit == 1 && adapter->isU) {
            const std::string_view map = ownerOf(ownerOf(ownerOf(at->second))); // of "layers.2.attn.q.visit.1.u"
            maps.emplace_back(map.substr(prefix.size()));
        }
    }
    return maps;
}

} // namespace

bool addsProducts(const Stack& stack)
{
    return std::ranges::any_of(stack.loops, [](const Loop& loop) { return loop.adapterRank > 0; });
}

void nameProducts(const Project& project, const GraphRef& block, std::int64_t layer,
                  std::map<std::string, std::string>& names)
{
    const std::int64_t visits = visitsWithProducts(project.stack(), layer);
    for (const std::string& weight : visits > 0 ? adaptedWeights(project, block) : std::vector<std::string>()) {
        const std::string whole = layerPrefix(layer) + weight;
        std::string owner;
        for (const char* const last : {"weight", "u", "v", "bias"}) {
            if (const auto found = names.find(siblingOf(whole, last)); found != names.end()) {
                owner = ownerOf(found->second);
                found->second = owner + ".linear." + std::string(lastOf(found->second));
            }
        }
        for (std::int64_t visit = 1; visit <= visits; ++visit) {
            for (const std::string_view factor : {kAdapterU, kAdapterV}) {
                names[adapterOf(whole, visit, factor)] =
                    owner + ".visit." + std::to_string(visit) + "." + std::string(factor);
            }
        }
    }
}

std::vector<std::string> productLines(const Stack& stack, std::int64_t stored,
                                      const std::map<std::string, std::string>& names)
{
    std::vector<std::string> lines;
    for (std::int64_t layer = 1; layer <= stored; ++layer) {
        const std::int64_t visits = visitsWithProducts(stack, layer);
        const std::vector<std::string> maps =
            visits > 0 ? replacedIn(layerPrefix(layer), names) : std::vector<std::string>();
        if (!maps.empty()) {
            lines.push_back("VisitLinear.replace(self.layers[\"" + std::to_string(layer) + "\"], (" +
                            joinedText(maps, " ", [](const std::string& name) { return '"' + name + "\","; }) +
                            "), visits=" + std::to_string(visits) +
                            ", rank=" + std::to_string(stack.loopOf(layer)->adapterRank) + ")");
        }
    }
    return lines;
}

std::vector<std::int64_t> visitsIn(const Stack& stack, const VisitedLayers& layers)
{
    std::vector<std::int64_t> visits;
    for (std::int64_t number = 1; number <= layers.present(); ++number) {
        visits.push_back(stack.visitAt(number).visit);
    }
    return visits;
}

} // namespace residua::projects
