// SPDX-License-Identifier: GPL-3.0-or-later
// The schedule of stages: the parts of the network that train at each time.
#include "projects/check/problems.h"

#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/model/graph.h"
#include "projects/model/topology.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/node_kinds.h"
#include "projects/schedule/kept_parts.h"

#include <algorithm>
#include <cmath>

namespace residua::projects {
namespace {

const std::string kSchedule = "/schedule";
constexpr double kRounding = 1e-9;

/// Returns the reason why a network with this wiring computes another function after a layer with a zero branch is
/// added; empty if it does not. `moves`: existing layers move to other positions.
struct GrownWiring {
    bool moves = false;

    [[nodiscard]] std::string operator()(const DepthMix& mix) const
    {
        if (const std::string_view growth = traitsOf(mix.weight).growth; !growth.empty()) {
            return std::string(growth);
        }
        return moves && !isPlainResidual(mix) ? "shortcuts belong to places, and layers move to others" : "";
    }
    [[nodiscard]] std::string operator()(const MultiStream& /*streams*/) const
    {
        return moves ? "the weights of the streams belong to places, and layers move to others" : "";
    }
    [[nodiscard]] std::string operator()(const BranchGate& gate) const
    {
        if (const std::string_view growth = traitsOf(gate.gate).growth; !growth.empty()) {
            return std::string(growth);
        }
        if (hasBoundedFactors(gate)) {
            return "the weight of the residual of a new layer begins below 1";
        }
        return moves ? "the gates belong to places, and layers move to others" : "";
    }
    [[nodiscard]] std::string operator()(const Concatenation& /*wiring*/) const
    {
        return moves ? "the projections belong to places, and layers move to others" : "";
    }
};

class ScheduleCheck {
public:
    ScheduleCheck(const Project& project, Problems& problems)
        : m_project(project),
          m_schedule(drawnSchedule(project.stack().schedule, project.stack())),
          m_depth(project.network.depth()),
          m_problems(problems)
    {
    }

    void run()
    {
        for (std::size_t i = 0; i < m_schedule.stages.size(); ++i) {
            checkStage(i);
            if (i > 0) {
                checkOrder(i);
            }
        }
        m_problems.atMost(kSchedule + "/full_model_steps", m_schedule.fullModelSteps, m_project.training.steps);
        checkCourse();
        checkGrowth();
        if (leavesOutVisits(m_schedule)) {
            checkVisits();
        }
        if (!trainsAll(m_schedule)) {
            checkBlocks();
            checkWiring();
            checkPath();
            checkStates();
        }
        if (grows(m_schedule)) {
            checkPromise();
            checkGrownLoops();
        }
    }

private:
    static std::string pathOf(std::size_t stage) { return kSchedule + "/stages/" + std::to_string(stage); }

    void checkStage(std::size_t index)
    {
        const Stage& stage = m_schedule.stages[index];
        const std::string path = pathOf(index);
        m_problems.atMost(path + "/start", stage.start, std::max<std::int64_t>(m_project.training.steps, 1) - 1);
        const double always = grows(m_schedule) ? 0 : static_cast<double>(stage.always.size());
        // checkLength() reports the minimum average length for this sampling.
        const double least = m_schedule.sampling == DropSampling::DeeperSeldomer ? 0.0 : 1.0;
        m_problems.within(path + "/average_length", stage.averageLength, std::max(least, always),
                          static_cast<double>(std::max<std::int64_t>(m_depth, 1)));
        const std::vector<std::int64_t>& listed = m_project.stack().schedule.stages[index].always;
        for (std::size_t i = 0; i < listed.size(); ++i) {
            if (listed[i] < 1 || listed[i] > m_depth) {
                m_problems.error(path + "/always", "got layer " + std::to_string(listed[i]) + ", expected 1 to " +
                                                       std::to_string(m_depth));
            }
            if (i > 0 && listed[i] <= listed[i - 1]) {
                m_problems.error(path + "/always", "layers are not in ascending order, each once");
            }
        }
        checkLength(index);
    }

    /// Checks that the sampling can reach the average length.
    void checkLength(std::size_t index)
    {
        const double length = m_schedule.stages[index].averageLength;
        const std::string path = pathOf(index) + "/average_length";
        const bool counted =
            m_schedule.sampling == DropSampling::FixedSize || m_schedule.sampling == DropSampling::First;
        if (counted && leavesOutLayers(m_schedule.axis) && length != std::round(length)) {
            m_problems.error(path, "got " + numberText(length) + ", expected a whole number where every step trains " +
                                       "the same number of layers");
        }
        if (m_schedule.sampling == DropSampling::DeeperSeldomer && m_schedule.course == DropCourse::Stages) {
            const StageSpan span{0, 1, index, length};
            const double reached = expectedSum(span);
            if (std::abs(reached - length) > 1e-6 * std::max(length, 1.0)) {
                m_problems.error(path, "got " + numberText(length) + ", expected at least " +
                                           numberText(std::round(lowestDeeper(index) * 100) / 100) +
                                           ": leaving out the deeper ones more often comes to no less");
            }
        }
    }

    [[nodiscard]] double expectedSum(const StageSpan& span) const
    {
        double sum = 0;
        for (const double keep : keepShares(m_schedule, span, m_depth, m_project.training.steps, 1).layers) {
            sum += keep;
        }
        return leavesOutLayers(m_schedule.axis) ? sum : span.averageLength;
    }

    /// Returns the average if the last layer is never kept.
    [[nodiscard]] double lowestDeeper(std::size_t index) const
    {
        double sum = static_cast<double>(m_depth);
        for (std::int64_t layer = 1; layer <= m_depth; ++layer) {
            if (!std::ranges::binary_search(m_schedule.stages[index].always, layer)) {
                sum -= static_cast<double>(layer) / static_cast<double>(m_depth);
            }
        }
        return sum;
    }

    void checkOrder(std::size_t index)
    {
        const Stage& before = m_schedule.stages[index - 1];
        const Stage& stage = m_schedule.stages[index];
        if (stage.start <= before.start) {
            m_problems.error(pathOf(index) + "/start", "got step " + std::to_string(stage.start) +
                                                           ", expected one after " + std::to_string(before.start));
        }
        if (grows(m_schedule)) {
            if (stage.averageLength < before.averageLength) {
                m_problems.error(pathOf(index) + "/average_length", "falls from " + numberText(before.averageLength) +
                                                                        " to " + numberText(stage.averageLength) +
                                                                        " layers, expected it to stay or grow");
            }
            return;
        }
        if (keepProbability(stage, m_depth) < keepProbability(before, m_depth) - kRounding) {
            m_problems.error(pathOf(index) + "/average_length",
                             "keep probability falls from " + percentText(keepProbability(before, m_depth)) + " to " +
                                 percentText(keepProbability(stage, m_depth)) + ", expected it to stay or grow");
        }
        if (!std::ranges::includes(stage.always, before.always)) {
            m_problems.error(pathOf(index) + "/always", "leaves out a layer that the stage before always keeps");
        }
    }

    void checkCourse()
    {
        if (m_schedule.course == DropCourse::Stages) {
            return;
        }
        if (!m_schedule.stages.empty()) {
            m_problems.warning(kSchedule + "/stages", "are not read: the kept share goes by a curve");
        }
        if (m_schedule.sampling == DropSampling::First) {
            m_problems.error(kSchedule + "/course", "a network of the first layers grows by stages, expected those");
        }
    }

    /// Checks the requirements of a network that grows from stage to stage.
    void checkGrowth()
    {
        if (!grows(m_schedule)) {
            const bool isRead = m_schedule.sampling == DropSampling::First;
            if (!isRead && (m_schedule.growth != GrowthSource::Fresh || m_schedule.growthWarmup > 0)) {
                const bool copies = m_schedule.growth != GrowthSource::Fresh;
                m_problems.warning(kSchedule + (copies ? "/growth" : "/growth_warmup"),
                                   "layers are made where the first ones train alone: see sampling");
            }
            return;
        }
        if (m_schedule.fullModelSteps > 0) {
            m_problems.error(kSchedule + "/full_model_steps",
                             "got " + std::to_string(m_schedule.fullModelSteps) +
                                 ", expected 0: a network that grows has no layers to begin with but the first");
        }
        if (m_schedule.growthWrites == GrowthWrites::Zero && m_schedule.axis != DropAxis::Layers) {
            m_problems.warning(kSchedule + "/growth_writes",
                               "is of new layers alone: new heads and MLP parts write from the first, unless they open "
                               "over a warm-up");
        }
        if (m_schedule.growthMoments == GrowthMoments::Empty && !leavesOutLayers(m_schedule.axis)) {
            m_problems.warning(kSchedule + "/growth_moments",
                               "is of new layers alone: heads and MLP parts are no copies, and begin without any");
        }
        if (m_schedule.growth == GrowthSource::Fresh) {
            return;
        }
        if (!leavesOutLayers(m_schedule.axis)) {
            m_problems.error(kSchedule + "/growth", "copies layers, but it is not layers that are left out: see axis");
            return;
        }
        for (std::size_t i = 1; i < m_schedule.stages.size(); ++i) {
            checkCopies(i);
        }
    }

    /// Checks that steps can leave out whole visits of loops.
    void checkVisits()
    {
        const Stack& stack = m_project.stack();
        bool loops = false;
        for (std::size_t i = 0; i < stack.loops.size(); ++i) {
            if (stack.isSound(i)) {
                loops = true;
                checkLoop(i);
            }
        }
        if (!loops) {
            m_problems.error(kSchedule + "/unit", "leaves out whole visits, but the network has no loop; expected the "
                                                  "unit \"layer\", or layers that are visited several times");
        }
        if (m_schedule.course == DropCourse::Curve) {
            m_problems.error(kSchedule + "/course",
                             "leaves out whole visits, which are drawn by the stages; expected those");
        }
        if (m_schedule.sampling != DropSampling::Bernoulli && m_schedule.sampling != DropSampling::FixedSize) {
            m_problems.error(kSchedule + "/sampling",
                             "leaves out whole visits, which are drawn alike; expected \"bernoulli\" or "
                             "\"fixed_size\", or the draw \"rising\" of a loop for visits that are added");
        }
    }

    /// Checks the draw of a loop's visits. Each stage keeps at least one on average, and a whole number if it is fixed.
    void checkLoop(std::size_t index)
    {
        const Loop& loop = m_project.stack().loops[index];
        const std::string path = "/network/loops/" + std::to_string(index);
        if (loop.draw != VisitDraw::All) {
            m_problems.error(path + "/draw", "draws the number of visits, and the stages leave out whole visits; "
                                             "expected \"all\", or the schedule's unit \"layer\"");
        }
        if (loop.gradientVisits > 0) {
            m_problems.error(path + "/gradient_visits", "got " + std::to_string(loop.gradientVisits) +
                                                            ", expected 0 (all) where the stages leave out whole "
                                                            "visits, the last ones too");
        }
        for (std::size_t s = 0; s < m_schedule.stages.size(); ++s) {
            const Stage& stage = m_schedule.stages[s];
            double kept = 0;
            for (std::int64_t visit = 1; visit <= loop.visits; ++visit) {
                const std::int64_t number = m_project.stack().numberOf({loop.first, visit});
                kept += std::ranges::binary_search(stage.always, number) ? 1 : keepProbability(stage, m_depth);
            }
            const bool fixed = m_schedule.sampling == DropSampling::FixedSize;
            const bool splits = fixed && std::abs(kept - std::round(kept)) > 1e-6;
            if (kept < 1 - kRounding || splits) {
                m_problems.error(pathOf(s) + "/average_length",
                                 "got " + numberText(stage.averageLength) + ", which keeps " +
                                     numberText(std::round(kept * 100) / 100) + " of the " +
                                     std::to_string(loop.visits) + " visits of loop " + std::to_string(index + 1) +
                                     (splits ? ", expected a whole number" : ", expected at least 1"));
            }
        }
    }

    /// A step keeps the states of the parts that it leaves out only if they are slices like those of the weights.
    void checkStates()
    {
        const bool cuts = leavesOutHeads(m_schedule.axis) || leavesOutMlp(m_schedule.axis);
        const bool keeps = m_schedule.absentWeights == AbsentWeights::Untouched || grows(m_schedule);
        const TrainingPlan& plan = m_project.training;
        const bool whole =
            !keepsShapes(plan.optimiser) || !std::ranges::all_of(plan.groups, keepsShapes, &ParameterGroup::optimiser);
        if (cuts && keeps && whole) {
            m_problems.error(kSchedule + "/axis", "leaves out parts of weights and keeps what the optimiser holds of "
                                                  "them, but Adafactor and GaLore hold it of whole weights: expected "
                                                  "layers, or another optimiser");
        }
    }

    /// A growing network has loops as a whole or not at all.
    void checkGrownLoops()
    {
        const Stack& stack = m_project.stack();
        if (stack.loops.empty() || !leavesOutLayers(m_schedule.axis)) {
            return;
        }
        if (m_schedule.growth != GrowthSource::Fresh) {
            m_problems.error(kSchedule + "/growth",
                             "copies layers of a network with loops, whose weights serve several "
                             "of them; expected new layers as initialised, or loops whose "
                             "number of visits rises");
            return;
        }
        for (std::size_t i = 0; i < stack.loops.size(); ++i) {
            const Loop& loop = stack.loops[i];
            if (!stack.isSound(i)) {
                continue;
            }
            const std::int64_t before = stack.numberOf({loop.first, 1}) - 1;
            const std::int64_t whole = stack.numberOf({loop.last, loop.visits});
            for (std::size_t index = 0; index < m_schedule.stages.size(); ++index) {
                const auto length = static_cast<std::int64_t>(std::llround(m_schedule.stages[index].averageLength));
                const bool cuts = length > before && length < whole;
                if (cuts || (length <= before && changesState(loop))) {
                    m_problems.error(pathOf(index) + "/average_length",
                                     "trains " + countText(static_cast<std::size_t>(length), "layer") +
                                         ", of which loop " + std::to_string(i + 1) + " makes number " +
                                         std::to_string(before + 1) + " to " + std::to_string(whole) +
                                         (cuts ? "; expected all of its visits or none"
                                               : ", and changes the residual between visits; expected all of them"));
                    return;
                }
            }
        }
    }

    void checkCopies(std::size_t index)
    {
        const auto before = static_cast<std::int64_t>(std::llround(m_schedule.stages[index - 1].averageLength));
        const auto after = std::min<std::int64_t>(std::llround(m_schedule.stages[index].averageLength), m_depth);
        if (after > 2 * before) {
            m_problems.error(pathOf(index) + "/average_length",
                             "grows from " + std::to_string(before) + " to " + std::to_string(after) +
                                 " layers, expected at most " + std::to_string(2 * before) +
                                 ": a layer is copied once");
            return;
        }
        const Growth growth = growthOf(m_schedule.growth, before, after);
        for (std::int64_t layer = 1; layer <= after; ++layer) {
            const std::int64_t source = growth.source[static_cast<std::size_t>(layer - 1)];
            const Block* const to = m_project.network.blockOfLayer(layer);
            const Block* const from = m_project.network.blockOfLayer(source);
            if (source != layer && to && from && to != from) {
                const auto named = [this](std::int64_t number, const Block& block) {
                    return "layer " + layerName(m_project.stack(), number) + " of block " + block.name;
                };
                m_problems.error(pathOf(index) + "/average_length", named(layer, *to) + " would be a copy of " +
                                                                        named(source, *from) +
                                                                        ", expected layers of one block");
                return;
            }
        }
    }

    /// Searches sound blocks for heads and MLP parts. Errors of other blocks are reported elsewhere.
    void checkBlocks()
    {
        std::size_t attentions = 0;
        std::size_t mlps = 0;
        for (const Block* const block : usedBlocks(m_project.network)) {
            const ResolvedGraph graph = resolveGraph(m_project, GraphRef::block(block->name));
            if (!graph.errors.empty()) {
                return;
            }
            for (const ResolvedNode& node : graph.nodes) {
                if (node.kind->traits.role == NodeRole::Attention) {
                    ++attentions;
                    checkHeads(attentionSizesOf(node.params, node.in.front().features()), block->name);
                }
            }
            const std::vector<MlpNodes> found = mlpsOf(graph);
            if (leavesOutMlp(m_schedule.axis) && !found.empty()) {
                checkWhole(m_schedule.mlpParts, "MLP parts", block->name);
            }
            for (const MlpNodes& mlp : found) {
                ++mlps;
                if (leavesOutMlp(m_schedule.axis) && m_schedule.mlpParts > 0 && mlp.hidden % m_schedule.mlpParts != 0) {
                    m_problems.error(kSchedule + "/mlp_parts", "the MLP of block " + block->name + " has " +
                                                                   std::to_string(mlp.hidden) +
                                                                   " hidden features, expected a multiple of " +
                                                                   std::to_string(m_schedule.mlpParts) + " parts");
                }
            }
        }
        if (leavesOutHeads(m_schedule.axis) && attentions == 0) {
            m_problems.error(kSchedule + "/axis", "no block has attention heads to leave out");
        }
        if (leavesOutMlp(m_schedule.axis) && mlps == 0) {
            m_problems.error(kSchedule + "/axis", "no block has an MLP whose parts could be left out");
        }
    }

    void checkHeads(const AttentionSizes& sizes, const std::string& block)
    {
        if (!leavesOutHeads(m_schedule.axis)) {
            return;
        }
        if (sizes.kvHeads == 1) {
            m_problems.warning(kSchedule + "/axis", "the heads of block " + block +
                                                        " share one key-value head, with which they stay: leaving out "
                                                        "heads saves nothing there");
            return;
        }
        checkWhole(sizes.kvHeads, sizes.kvHeads < sizes.heads ? "key-value heads" : "heads", block);
    }

    /// Checks that the kept number of the `count` parts is an integer if a step keeps a fixed number.
    void checkWhole(std::int64_t count, const std::string& parts, const std::string& block)
    {
        const bool counted =
            m_schedule.sampling == DropSampling::FixedSize || m_schedule.sampling == DropSampling::First;
        if (!counted || m_schedule.course != DropCourse::Stages || m_depth < 1) {
            return;
        }
        for (const StageSpan& span : spansOf(m_schedule, m_depth, m_project.training.steps)) {
            if (!span.isStage()) {
                continue;
            }
            const KeepShares kept = keepShares(m_schedule, span, m_depth, m_project.training.steps);
            const double number = std::ranges::min(kept.parts) * static_cast<double>(count);
            if (std::abs(number - std::round(number)) > 1e-6 || number < 0.5) {
                m_problems.error(pathOf(span.stage) + "/average_length",
                                 "got " + numberText(span.averageLength) + ", which keeps " +
                                     numberText(std::round(number * 100) / 100) + " of the " + std::to_string(count) +
                                     " " + parts + " of block " + block + ", expected a whole number");
            }
        }
    }

    void checkWiring()
    {
        if (m_depth < 1 || mayBeLeftOut(m_project.stack().topology.wiring, 1)) {
            return;
        }
        if (leavesOutHeads(m_schedule.axis)) {
            m_problems.error(kSchedule + "/axis",
                             "a value residual mixes the values of all heads, expected none left out");
        }
        const std::int64_t steps = m_project.training.steps;
        const auto keepsFirst = [&](const StageSpan& span) {
            return keepShares(m_schedule, span, m_depth, steps).layers.front() == 1;
        };
        if (!std::ranges::all_of(spansOf(m_schedule, m_depth, steps), keepsFirst)) {
            m_problems.error(kSchedule + "/stages",
                             "a value residual takes the first layer's values, expected layer 1 among the always-kept");
        }
    }

    /// Warns if a wiring without shortcuts beside the branches has no path around a layer that is left out.
    void checkPath()
    {
        const auto* const mix = std::get_if<DepthMix>(&m_project.stack().topology.wiring);
        const bool leavesOut = leavesOutLayers(m_schedule.axis) &&
                               !std::ranges::all_of(spansOf(m_schedule, m_depth, m_project.training.steps),
                                                    [&](const StageSpan& span) { return keepsAllLayers(span); });
        if (!mix || !leavesOut || mix->feeds != MixFeeds::ResidualBesideBranch) {
            return;
        }
        const auto* const listed = std::get_if<ExplicitSources>(&mix->sources);
        if (listed && listed->shortcuts.empty() && mix->states.empty()) {
            m_problems.warning(kSchedule + "/axis", "without shortcuts nothing passes a layer that is left out: a step "
                                                    "that leaves one out learns nothing of those before it");
        }
    }

    [[nodiscard]] bool keepsAllLayers(const StageSpan& span) const
    {
        const auto isWhole = [](double keep) { return keep >= 1; };
        return std::ranges::all_of(keepShares(m_schedule, span, m_depth, m_project.training.steps).layers, isWhole);
    }

    /// Warns if new layers should leave the function of the network unchanged but the wiring prevents that.
    void checkPromise()
    {
        const bool opens = m_schedule.growthWarmup > 0;
        const bool silent = m_schedule.growthWrites == GrowthWrites::Zero;
        if ((!opens && !silent) || !leavesOutLayers(m_schedule.axis) || m_schedule.stages.size() < 2) {
            return;
        }
        const GrownWiring grown{m_schedule.growth == GrowthSource::Adjacent};
        if (const std::string why = std::visit(grown, m_project.stack().topology.wiring); !why.empty()) {
            m_problems.warning(kSchedule + "/growth",
                               "new layers count nothing at first, but the network will not compute what it did: " +
                                   why);
        }
    }

    const Project& m_project;
    const StageSchedule m_schedule; ///< with every layer that its steps always keep
    const std::int64_t m_depth;
    Problems& m_problems;
};

} // namespace

void validateSchedule(const Project& project, Problems& problems)
{
    ScheduleCheck(project, problems).run();
}

} // namespace residua::projects
