// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/cost/stage_cost.h"

#include "projects/base/mapped.h"
#include "projects/cost/cost_topology.h"
#include "projects/nodes/ffn_site.h"
#include "projects/schedule/kept_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace residua::projects {
namespace {

/// The cost of a block, or of a part of one that can be left out.
struct Share {
    double trainFlops = 0;
    double activationBytes = 0;
};

/// The costs of the attentions and MLPs of a block, each with the number of parts that can be left out.
struct BlockParts {
    struct Cut {
        Share all;
        std::int64_t count = 1;
    };
    std::vector<Cut> heads;
    std::vector<Cut> mlps;
    double activationBytes = 0; ///< of the whole block
};

BlockParts partsOf(const Project& project, const CostReport& report, const GraphRef& ref)
{
    BlockParts parts;
    const ResolvedGraph graph = resolveGraph(project, ref);
    const auto known = report.nodes.find(ref);
    const std::map<NodeId, Cost> costs = known == report.nodes.end() ? std::map<NodeId, Cost>() : known->second;
    const auto costOf = [&costs](NodeId id) {
        const auto found = costs.find(id);
        return found == costs.end() ? Cost() : found->second;
    };
    for (const auto& [id, cost] : costs) {
        parts.activationBytes += cost.activationBytes;
    }
    for (const ResolvedNode& node : graph.nodes) {
        if (node.kind->traits.role == NodeRole::Attention && !node.in.empty()) {
            const AttentionSizes sizes = attentionSizesOf(node.params, node.in.front().features());
            const Cost cost = costOf(node.id);
            parts.heads.push_back({{cost.trainFlops, cost.activationBytes}, sizes.kvHeads});
        }
    }
    for (const MlpNodes& mlp : mlpsOf(graph)) {
        // The output's activations are not saved: it has the same width with fewer parts.
        Share all{costOf(mlp.closer).trainFlops, 0};
        for (const NodeId opener : mlp.openers) {
            all.trainFlops += costOf(opener).trainFlops;
            all.activationBytes += costOf(opener).activationBytes;
        }
        for (const NodeId between : mlp.between) {
            all.activationBytes += costOf(between).activationBytes;
        }
        parts.mlps.push_back({all, project.stack().schedule.mlpParts});
    }
    return parts;
}

/// Returns the savings by the left-out parts of a layer that is itself kept. `keep` is the share of its parts.
Share sparedInside(const StageSchedule& schedule, const BlockParts& parts, double keep)
{
    Share spared;
    const auto add = [&](const std::vector<BlockParts::Cut>& cuts) {
        for (const BlockParts::Cut& cut : cuts) {
            const double absent = 1 - keptShare(schedule.sampling, keep, cut.count);
            spared.trainFlops += absent * cut.all.trainFlops;
            spared.activationBytes += absent * cut.all.activationBytes;
        }
    };
    if (keep < 1 && leavesOutHeads(schedule.axis)) {
        add(parts.heads);
    }
    if (keep < 1 && leavesOutMlp(schedule.axis)) {
        add(parts.mlps);
    }
    return spared;
}

/// True if each unit is drawn independently, so that a step may keep all.
bool drawnOneByOne(DropSampling sampling)
{
    return sampling == DropSampling::Bernoulli || sampling == DropSampling::DeeperSeldomer;
}

/// Computes the costs of spans. Each block is analysed once.
class SpanCosting {
public:
    SpanCosting(const Project& project, const CostReport& report)
        : m_project(project),
          m_report(report),
          m_schedule(drawnSchedule(project.stack().schedule, project.stack())),
          m_topology(leavesOutVisits(m_schedule) ? topologyCost(project.stack()) : NodeCost())
    {
    }

    [[nodiscard]] SpanCost of(const StageSpan& span)
    {
        SpanCost cost{1, m_report.total.activationBytes, m_report.total.activationBytes};
        if (span.stage == StageSpan::kFull || m_report.total.trainFlops <= 0) {
            return cost;
        }
        const KeepShares kept = keepShares(m_schedule, span, depth(), m_project.training.steps);
        double spared = sparedBetween(kept).trainFlops;
        for (std::size_t i = 0; i < m_report.layers.size(); ++i) {
            const double whole = m_report.layers[i].trainFlops;
            spared += whole - kept.layers[i] * (whole - inside(i, kept.parts[i]).trainFlops);
        }
        cost.flopShare = 1 - spared / m_report.total.trainFlops;
        cost.activationBytes = activationsOf(kept);
        cost.peakActivationBytes = activationsOf(mostOf(kept));
        return cost;
    }

private:
    [[nodiscard]] std::int64_t depth() const { return static_cast<std::int64_t>(m_report.layers.size()); }

    [[nodiscard]] const BlockParts& partsOfLayer(std::size_t index)
    {
        static const BlockParts none;
        const Block* const block = m_project.network.blockOfLayer(static_cast<std::int64_t>(index) + 1);
        if (!block) {
            return none;
        }
        const auto found = m_known.find(block->name);
        return found != m_known.end()
                   ? found->second
                   : m_known.emplace(block->name, partsOf(m_project, m_report, GraphRef::block(block->name)))
                         .first->second;
    }

    [[nodiscard]] Share inside(std::size_t index, double keep)
    {
        return keep < 1 ? sparedInside(m_schedule, partsOfLayer(index), keep) : Share();
    }

    /// Returns the activations with every layer and part weighted by its share in `kept`. The topology's share counts
    /// whole. If layers are recomputed, they keep nothing inside, and the total includes the inside of the largest one.
    [[nodiscard]] double activationsOf(const KeepShares& kept)
    {
        const bool again = m_project.training.activations == Activations::Recompute;
        double bytes = m_report.total.activationBytes - sparedBetween(kept).activationBytes;
        double whole = 0;
        double largest = 0;
        for (std::size_t i = 0; i < m_report.layers.size(); ++i) {
            const double layer = m_report.layers[i].activationBytes;
            const double spared = inside(i, kept.parts[i]).activationBytes;
            bytes -= layer - kept.layers[i] * (layer - (again ? 0 : spared));
            if (again) {
                const double block = partsOfLayer(i).activationBytes;
                whole = std::max(whole, block);
                largest = std::max(largest, kept.layers[i] > 0 ? block - spared : 0);
            }
        }
        return bytes - (whole - largest);
    }

    /// Returns the shares of the step that keeps the most. If every step trains the same number of layers, the largest
    /// of those that may be drawn.
    [[nodiscard]] KeepShares mostOf(KeepShares kept)
    {
        if (drawnOneByOne(m_schedule.sampling)) {
            for (std::vector<double>* const shares : {&kept.layers, &kept.parts}) {
                std::ranges::transform(*shares, shares->begin(), [](double share) { return share > 0 ? 1.0 : 0.0; });
            }
            return kept;
        }
        if (leavesOutVisits(m_schedule)) {
            return kept; // the visits of a loop are alike
        }
        std::vector<std::size_t> drawn;
        double count = 0;
        for (std::size_t i = 0; i < kept.layers.size(); ++i) {
            if (kept.layers[i] > 0 && kept.layers[i] < 1) {
                drawn.push_back(i);
                count += kept.layers[i];
            }
        }
        std::ranges::stable_sort(drawn, std::greater<>(),
                                 [&](std::size_t i) { return m_report.layers[i].activationBytes; });
        for (std::size_t rank = 0; rank < drawn.size(); ++rank) {
            kept.layers[drawn[rank]] = static_cast<double>(rank) < std::round(count) ? 1 : 0;
        }
        return kept;
    }

    /// Returns the savings by the begins and ends of visits that are left out as a whole.
    [[nodiscard]] Share sparedBetween(const KeepShares& kept) const
    {
        if (!leavesOutVisits(m_schedule) || m_project.network.depth() != depth()) {
            return {};
        }
        const NodeCost rest = topologyCost(m_project.stack(), {}, kept.layers);
        const auto sparedShare = [](double part, double all) { return all > 0 ? 1 - part / all : 0; };
        return {m_report.topology.trainFlops * sparedShare(rest.flops, m_topology.flops),
                m_report.topology.activationBytes *
                    sparedShare(rest.activationElements, m_topology.activationElements)};
    }

    const Project& m_project;
    const CostReport& m_report;
    const StageSchedule m_schedule; ///< with every layer that its steps always keep
    const NodeCost m_topology;      ///< of one position; only for whole visits
    std::map<std::string, BlockParts> m_known;
};

} // namespace

std::vector<SpanCost> costsOfSpans(const Project& project, const CostReport& report)
{
    SpanCosting costing(project, report);
    return mapped(spansOf(project.stack().schedule, project.network.depth(), project.training.steps),
                  [&](const StageSpan& span) { return costing.of(span); });
}

double expectedFlopShare(const Project& project, const CostReport& report)
{
    const auto steps = static_cast<double>(project.training.steps);
    return steps > 0 ? wholeSteps(flopCourseOf(project, report), steps) / steps : 1;
}

FlopCourse flopCourseOf(const Project& project, const CostReport& report)
{
    FlopCourse course;
    if (trainsAll(project.stack().schedule)) {
        return course;
    }
    SpanCosting costing(project, report);
    for (const StageSpan& span : spansOf(project.stack().schedule, project.network.depth(), project.training.steps)) {
        course.push_back({span.to, costing.of(span).flopShare});
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
