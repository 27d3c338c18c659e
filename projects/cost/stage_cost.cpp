// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/cost/stage_cost.h"

#include "projects/nodes/mlp_parts.h"
#include "projects/schedule/kept_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {
namespace {

/// What of a block's FLOP its attentions and MLPs take, each with the number of units that can be left out.
struct BlockParts {
    struct Unit {
        double trainFlops = 0;
        std::int64_t count = 1;
    };
    std::vector<Unit> heads;
    std::vector<Unit> mlps;
};

BlockParts partsOf(const Project& project, const CostReport& report, const GraphRef& ref)
{
    BlockParts parts;
    const ResolvedGraph graph = resolveGraph(project, ref);
    const std::map<NodeId, Cost>& costs = report.nodes.at(ref);
    for (const ResolvedNode& node : graph.nodes) {
        if (node.kind->traits.role == NodeRole::Attention) {
            const AttentionSizes sizes = attentionSizesOf(node.params, node.in.front().features());
            parts.heads.push_back({costs.at(node.id).trainFlops, sizes.kvHeads});
        }
    }
    for (const MlpNodes& mlp : mlpsOf(graph)) {
        double flops = costs.at(mlp.closer).trainFlops;
        for (const NodeId opener : mlp.openers) {
            flops += costs.at(opener).trainFlops;
        }
        parts.mlps.push_back({flops, project.schedule.mlpParts});
    }
    return parts;
}

/// What the left-out units of a layer spare, where the layer itself is kept.
double sparedInside(const StageSchedule& schedule, const BlockParts& parts, double share)
{
    double spared = 0;
    const auto add = [&](const std::vector<BlockParts::Unit>& units) {
        for (const BlockParts::Unit& unit : units) {
            const double kept = keptShare(schedule.sampling, share, unit.count);
            spared += (1 - kept) * unit.trainFlops;
        }
    };
    if (leavesOutHeads(schedule.axis)) {
        add(parts.heads);
    }
    if (leavesOutMlp(schedule.axis)) {
        add(parts.mlps);
    }
    return spared;
}

} // namespace

double expectedFlopShare(const Project& project, const CostReport& report, const StageSpan& span)
{
    const auto depth = static_cast<std::int64_t>(report.layers.size());
    if (span.stage == StageSpan::kFull || report.total.trainFlops <= 0) {
        return 1;
    }
    const KeepShares kept = keepShares(project.schedule, span, depth, project.training.steps);
    std::map<std::string, BlockParts> known;
    double spared = 0;
    for (std::int64_t layer = 1; layer <= depth; ++layer) {
        const auto index = static_cast<std::size_t>(layer - 1);
        const Block* const block = project.network.blockOfLayer(layer);
        double inside = 0;
        if (kept.parts[index] < 1 && block) {
            const auto found = known.find(block->name);
            const BlockParts& parts =
                found != known.end()
                    ? found->second
                    : known.emplace(block->name, partsOf(project, report, GraphRef::block(block->name))).first->second;
            inside = sparedInside(project.schedule, parts, kept.parts[index]);
        }
        const double whole = report.layers[index].trainFlops;
        spared += whole - kept.layers[index] * (whole - inside);
    }
    return 1 - spared / report.total.trainFlops;
}

double expectedFlopShare(const Project& project, const CostReport& report)
{
    const auto steps = static_cast<double>(project.training.steps);
    return steps > 0 ? wholeSteps(flopCourseOf(project, report), steps) / steps : 1;
}

FlopCourse flopCourseOf(const Project& project, const CostReport& report)
{
    FlopCourse course;
    if (trainsAll(project.schedule)) {
        return course;
    }
    for (const StageSpan& span : spansOf(project.schedule, project.network.depth(), project.training.steps)) {
        course.push_back({span.to, expectedFlopShare(project, report, span)});
    }
    return course;
}

double wholeSteps(const FlopCourse& course, double steps)
{
    double sum = 0;
    double from = 0;
    for (const FlopStretch& stretch : course) {
        if (from >= steps) {
            break;
        }
        const double to = std::min(steps, static_cast<double>(stretch.to));
        sum += stretch.share * (to - from);
        from = to;
    }
    return sum + (steps - from);
}

} // namespace residua::projects
