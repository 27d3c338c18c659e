// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/stage_course.h"

#include "engine/compute/depth/layer_dropping.h"
#include "engine/compute/train/transfer_plan.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/visit_adapters.h"
#include "projects/model/parameter_name.h"
#include "projects/schedule/kept_parts.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

using projects::Growth;
using projects::GrowthMoments;
using projects::GrowthSource;
using projects::GrowthWrites;
using projects::StageSpan;

/// The indices of the layers' parameters, by layer and name.
using LayerIndex = std::map<std::pair<std::int64_t, std::string_view>, std::size_t>;

/// `nameOf` parses a name.
template <class NameOf>
LayerIndex indexOf(const std::vector<NamedParameter>& parameters, const NameOf& nameOf)
{
    LayerIndex index;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (const projects::ParameterName named = nameOf(parameters[i].name); named.layer > 0) {
            index.emplace(std::pair{named.layer, named.rest}, i);
        }
    }
    return index;
}

/// Returns the parameters of a layer that write to the residual, with their biases, which are added to the matrix
/// product.
std::set<std::string_view> writersOf(const LayerIndex& index, std::int64_t layer,
                                     const std::vector<NamedParameter>& parameters)
{
    std::set<std::string_view> writers;
    for (const auto& [at, i] : index) {
        if (at.first == layer && parameters[i].writesResidual) {
            writers.insert(parameters[i].name);
            if (const auto beside = index.find({layer, projects::siblingOf(at.second, "bias")});
                beside != index.end()) {
                writers.insert(parameters[beside->second].name);
            }
        }
    }
    return writers;
}

/// The change of one layer at a border.
struct LayerGrowth {
    std::int64_t layer = 0;
    std::int64_t source = 0; ///< the layer that it is copied from; its own number: it is unchanged
    Moments moments = Moments::Fresh;
    bool silent = false; ///< true if it initially writes nothing to the residual
};

/// Adds the rows of a layer.
void addRows(const LayerIndex& index, const LayerGrowth& growth, const std::vector<NamedParameter>& parameters,
             TransferPlan& plan)
{
    const std::set<std::string_view> writers =
        growth.silent ? writersOf(index, growth.layer, parameters) : std::set<std::string_view>();
    for (const auto& [at, to] : index) {
        const auto from = index.find({growth.source, at.second});
        if (at.first != growth.layer || (from == index.end() && !growth.silent)) {
            continue;
        }
        const NamedParameter& parameter = parameters[to];
        const bool copied = growth.source != growth.layer && from != index.end();
        Transfer row{.tensor = {copied ? parameters[from->second].name : parameter.name, {parameter.name}},
                     .moments = copied ? growth.moments : Moments::Carried};
        if (writers.contains(parameter.name)) {
            const auto options = parameter.tensor.options().requires_grad(false);
            row.computed = at::zeros({}, options).expand(parameter.tensor.sizes());
        }
        if (copied || row.computed.defined()) {
            plan.add(std::move(row));
        }
    }
}

std::string toldOfLayers(const projects::Stack& stack, const Growth& growth, GrowthSource kind)
{
    std::vector<std::string> numbers;
    for (std::size_t l = 0; l < growth.isNew.size(); ++l) {
        if (growth.isNew[l]) {
            numbers.push_back(projects::layerName(stack, static_cast<std::int64_t>(l + 1)));
        }
    }
    if (numbers.empty()) {
        return {};
    }
    const char* const made = kind == GrowthSource::Fresh ? " as initialised"
                             : kind == GrowthSource::Top ? " as copies of the top layers"
                                                         : " as copies of the layers before them";
    return "new layers " + joinedText(numbers) + made;
}

} // namespace

StageCourse::StageCourse(const projects::Project& view, std::string scope)
    : m_stack(view.stack()),
      m_schedule(projects::drawnSchedule(view.stack().schedule, view.stack())),
      m_depth(view.network.depth()),
      m_scope(std::move(scope)),
      m_spans(projects::spansOf(m_schedule, m_depth, view.training.steps))
{
}

projects::ParameterName StageCourse::nameOf(std::string_view parameter) const
{
    const bool isOwn = parameter.starts_with(m_scope);
    return isOwn ? projects::parameterNameFrom(parameter.substr(m_scope.size())) : projects::ParameterName();
}

std::optional<StageBorder> StageCourse::after(std::int64_t stepsDone) const
{
    const bool hasBorders = m_schedule.course == projects::DropCourse::Stages && !projects::trainsAll(m_schedule);
    const auto begins = std::ranges::find(m_spans, stepsDone, &StageSpan::from);
    if (!hasBorders || begins == m_spans.end()) {
        return std::nullopt;
    }
    const StageSpan& before = begins == m_spans.begin() ? *begins : begins[-1];
    return StageBorder{stepsDone, before, *begins, projects::nameOf(m_schedule, *begins, m_depth)};
}

bool StageCourse::drawsAt(std::int64_t step) const
{
    if (projects::grows(m_schedule) || projects::trainsAll(m_schedule)) {
        return false;
    }
    const StageSpan& span = projects::spanAt(m_spans, step);
    const projects::KeepShares kept = projects::keepShares(m_schedule, span, m_depth, m_spans.back().to, step);
    const auto isWhole = [](double keep) { return keep >= 1; };
    return !std::ranges::all_of(kept.layers, isWhole) || !std::ranges::all_of(kept.parts, isWhole);
}

StageCourse::VisitRepeats StageCourse::visitRepeats(const Pass& pass, std::int64_t end) const
{
    VisitRepeats repeats{end, 1, std::vector<bool>(static_cast<std::size_t>(m_depth), true)};
    const std::int64_t steps = m_spans.back().to;
    for (std::size_t i = 0; i < m_stack.loops.size(); ++i) {
        if (!m_stack.isSound(i)) {
            continue;
        }
        const projects::Loop& loop = m_stack.loops[i];
        const std::int64_t visits = visitsIn(pass, m_stack, i, steps);
        if (loop.draw == projects::VisitDraw::Rising) {
            const auto later = std::views::iota(pass.step, std::max(repeats.end, pass.step) + 1);
            const auto isAlike = [&](std::int64_t step) { return projects::risenVisits(loop, step, steps) == visits; };
            repeats.end = *(std::ranges::partition_point(later, isAlike) - 1);
        } else {
            repeats.share *= shareOfVisits(loop, visits);
        }
        for (std::int64_t layer = loop.first; layer <= loop.last; ++layer) {
            const std::vector<std::int64_t> numbers = m_stack.visitsOf(layer);
            for (std::size_t visit = static_cast<std::size_t>(visits); visit < numbers.size(); ++visit) {
                repeats.made[static_cast<std::size_t>(numbers[visit] - 1)] = false;
            }
        }
    }
    return repeats;
}

double StageCourse::expectedRepeats(const Pass& pass) const
{
    const StageSpan& span = projects::spanAt(m_spans, pass.step);
    const VisitRepeats visits = visitRepeats(pass, span.to);
    auto repeats = static_cast<double>(visits.end - pass.step) * visits.share;
    if (pass.layers.empty() || projects::trainsAll(m_schedule)) {
        return repeats;
    }
    const projects::KeepShares kept = projects::keepShares(m_schedule, span, m_depth, m_spans.back().to, pass.step);
    if (projects::leavesOutVisits(m_schedule)) {
        for (std::size_t i = 0; i < m_stack.loops.size(); ++i) {
            const projects::Loop& loop = m_stack.loops[i];
            std::vector<bool> runs;
            for (std::int64_t visit = 1; m_stack.isSound(i) && visit <= loop.visits; ++visit) {
                runs.push_back(pass.layer(static_cast<std::size_t>(m_stack.numberOf({loop.first, visit}) - 1)).runs);
            }
            repeats *= runs.empty() ? 1 : shareOfKept(visitShares(m_stack, i, kept), m_schedule.sampling, runs);
        }
        return repeats;
    }
    std::vector<std::size_t> drawn;
    double running = 0;
    double shareOfAll = 0;
    for (std::size_t l = 0; l < kept.layers.size(); ++l) {
        if (kept.layers[l] > 0 && kept.layers[l] < 1) {
            drawn.push_back(l);
            running += pass.layers[l].runs ? 1 : 0;
            shareOfAll = kept.layers[l];
        }
    }
    const auto isMade = [&visits](std::size_t l) { return visits.made[l]; };
    if (!std::ranges::all_of(drawn, isMade)) { // some were drawn that the pass does not visit
        running = std::round(shareOfAll * static_cast<double>(drawn.size()));
        std::ranges::stable_partition(drawn, isMade);
    }
    for (std::size_t i = 0; i < drawn.size() && isMade(drawn[i]); ++i) {
        const bool runs = pass.layers[drawn[i]].runs;
        // If a fixed number runs, the later layers share the rest of it.
        const bool fixed = m_schedule.sampling == projects::DropSampling::FixedSize;
        const double share = fixed ? running / static_cast<double>(drawn.size() - i) : kept.layers[drawn[i]];
        repeats *= runs ? share : 1 - share;
        running -= runs ? 1 : 0;
    }
    return repeats;
}

bool StageCourse::growsAt(const StageBorder& border) const
{
    return projects::grows(m_schedule) && border.before.averageLength < border.after.averageLength;
}

bool StageCourse::meansToKeep() const
{
    return m_schedule.growthWarmup > 0 || m_schedule.growthWrites == GrowthWrites::Zero;
}

std::string StageCourse::toldOfParts(const StageBorder& border) const
{
    const bool heads = projects::leavesOutHeads(m_schedule.axis);
    const bool mlp = projects::leavesOutMlp(m_schedule.axis);
    if (!growsAt(border) || (!heads && !mlp)) {
        return {};
    }
    const auto shareOf = [&](const StageSpan& span) {
        return projects::keepShares(m_schedule, span, m_depth, m_spans.back().to, border.step + 1).parts.front();
    };
    return std::string(heads && mlp ? "heads and MLP parts"
                       : heads      ? "heads"
                                    : "MLP parts") +
           " from " + percentText(shareOf(border.before)) + " to " + percentText(shareOf(border.after)) +
           ", as initialised";
}

std::string StageCourse::grow(const StageBorder& border, CompiledNetwork& network, Optimiser& optimiser) const
{
    const std::int64_t before = projects::grownDepth(m_schedule, border.before, m_depth);
    const std::int64_t after = projects::grownDepth(m_schedule, border.after, m_depth);
    const std::string parts = toldOfParts(border);
    if (!projects::grows(m_schedule) || before >= after) {
        return parts;
    }
    const Growth growth = projects::growthOf(m_schedule.growth, before, after);
    std::vector<NamedParameter>& parameters = network.parameters();
    const LayerIndex index = indexOf(parameters, [this](std::string_view name) { return nameOf(name); });
    TransferPlan plan;
    // A source is never above its copy, so rows from the top layer down never read a layer that was already written.
    for (std::int64_t number = after; number >= 1; --number) {
        const auto [layer, visit] = m_stack.visitAt(number);
        if (visit > 1) {
            continue; // the first visit has the weights, and copies are of networks without loops
        }
        const std::int64_t source = growth.source[static_cast<std::size_t>(number - 1)];
        const bool isNew = growth.isNew[static_cast<std::size_t>(number - 1)];
        const bool carries = !isNew || m_schedule.growthMoments == GrowthMoments::Copied;
        addRows(index,
                {.layer = layer,
                 .source = source > 0 ? m_stack.visitAt(source).layer : layer,
                 .moments = carries ? Moments::Carried : Moments::Fresh,
                 .silent = isNew && m_schedule.growthWrites == GrowthWrites::Zero},
                parameters, plan);
    }
    plan.applyWithin(parameters, optimiser);
    return toldOfLayers(m_stack, growth, m_schedule.growth) + (parts.empty() ? "" : "; " + parts);
}

std::vector<HeldSlice> StageCourse::untouched(const Pass& pass, const std::vector<NamedParameter>& parameters) const
{
    std::vector<HeldSlice> held;
    const bool holds = m_schedule.absentWeights == projects::AbsentWeights::Untouched || projects::grows(m_schedule);
    const bool cuts = projects::leavesOutHeads(m_schedule.axis) || projects::leavesOutMlp(m_schedule.axis);
    if (!holds || !cuts || pass.layers.empty()) {
        return held;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const projects::ParameterName named = nameOf(parameters[i].name);
        if (named.layer == 0 || !parameters[i].slices) {
            continue;
        }
        const PartSlices& slices = *parameters[i].slices;
        const bool heads = slices.of == PartSlices::Of::Heads;
        const std::int64_t count = heads ? slices.count : pass.layers.front().mlpParts;
        std::set<std::size_t> kept; // by any visit that uses the parameter
        bool whole = true;
        for (const std::int64_t number : projects::usersOf(m_stack, named)) {
            const LayerUse layer = pass.layer(static_cast<std::size_t>(number - 1));
            const PartUse& use = heads ? layer.heads : layer.mlp;
            if (layer.runs && use.keep >= 1) {
                whole = true;
                break;
            }
            if (layer.runs) {
                whole = false;
                const std::vector<std::size_t> parts = keptParts(use, count, slices.node).parts;
                kept.insert(parts.begin(), parts.end());
            }
        }
        if (whole) {
            continue;
        }
        const std::int64_t length = parameters[i].tensor.size(slices.dimension) / count;
        for (std::int64_t part = 0; part < count; ++part) {
            if (!kept.contains(static_cast<std::size_t>(part))) {
                const std::int64_t begin = part * length;
                if (!held.empty() && held.back().parameter == i && held.back().begin + held.back().length == begin) {
                    held.back().length += length; // one copy for adjacent parts
                } else {
                    held.push_back({i, slices.dimension, begin, length});
                }
            }
        }
    }
    return held;
}

void StageCourse::fillAbsent(const Pass& pass, std::vector<NamedParameter>& parameters)
{
    const bool leavesOut = std::ranges::any_of(pass.layers, [](const LayerUse& layer) { return !layer.runs; });
    if (!leavesOut || m_schedule.absentWeights == projects::AbsentWeights::Untouched) {
        return;
    }
    const StageSpan& span = projects::spanAt(m_spans, pass.step);
    const std::int64_t exists = projects::grownDepth(m_schedule, span, m_depth);
    for (NamedParameter& parameter : parameters) {
        const projects::ParameterName name = nameOf(parameter.name);
        const std::vector<std::int64_t> visits = projects::usersOf(m_stack, name);
        const bool absent = name.layer > 0
                                ? !visits.empty() && visits.front() <= exists && !anyRuns(visits, pass.layers)
                                : name.part == projects::NetworkPart::Topology && exists == m_depth;
        if (!absent || parameter.isBuffer || parameter.isFrozen || parameter.tensor.grad().defined()) {
            continue;
        }
        if (!m_zeros.defined() || m_zeros.numel() < parameter.tensor.numel()) {
            m_zeros = at::zeros({parameter.tensor.numel()}, parameter.tensor.options().requires_grad(false));
        }
        parameter.tensor.mutable_grad() = m_zeros.narrow(0, 0, parameter.tensor.numel()).view(parameter.tensor.sizes());
    }
}

} // namespace residua::engine
