// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/layer_dropping.h"

#include "engine/base/api/matrix_name.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>

namespace residua::engine {

using projects::DropSampling;
using projects::DropScaling;
using projects::KeepShares;
using projects::StageSpan;

namespace {

/// Returns the rate of VisitDraw::LogNormalPoisson for a number of the standard normal distribution.
double rateAt(const projects::Loop& loop, double normal)
{
    constexpr double kSigma = 0.5;
    return std::exp(kSigma * normal + std::log(std::max(loop.mean - 1, 1e-9)) - kSigma * kSigma / 2);
}

/// Returns the probability that `first` + Poisson(rate), cut to 1..most, is `count`.
double shareOfPoisson(double rate, std::int64_t first, std::int64_t count, std::int64_t most)
{
    const auto share = [rate](std::int64_t k) {
        const auto number = static_cast<double>(k);
        return k < 0 ? 0 : std::exp(number * std::log(rate) - rate - std::lgamma(number + 1));
    };
    if (count < most) {
        return share(count - first) + (count == 1 && first == 0 ? share(0) : 0);
    }
    double rest = 1;
    for (std::int64_t k = 0; k < most - first; ++k) {
        rest -= most > 1 ? share(k) : 0;
    }
    return std::max(rest, 0.0);
}

/// Returns the probability of a visit of `count` beside the one that is kept, if each is to be kept with `share`.
double shareBesideOne(double share, std::size_t count)
{
    const auto all = static_cast<double>(count);
    return std::clamp((share * all - 1) / (all - 1), 0.0, 1.0);
}

} // namespace

LayerDropping::LayerDropping(const projects::Project& project)
    : m_stack(project.stack()),
      m_schedule(projects::drawnSchedule(project.stack().schedule, project.stack())),
      m_depth(project.network.depth()),
      m_steps(project.training.steps)
{
    if (!projects::trainsAll(m_schedule)) {
        m_spans = projects::spansOf(m_schedule, m_depth, m_steps);
    }
}

std::vector<LayerUse> LayerDropping::draw(const Pass& pass) const
{
    if (m_spans.empty() || m_depth == 0) {
        std::vector<LayerUse> layers;
        (void)limitVisits(layers, pass);
        return layers;
    }
    return bySchedule(pass);
}

void LayerDropping::setVisits(std::vector<LayerUse>& layers,
                              const std::vector<std::pair<std::size_t, std::int64_t>>& visits) const
{
    for (std::size_t number = 1; number <= layers.size(); ++number) {
        const projects::LayerVisit at = m_stack.visitAt(static_cast<std::int64_t>(number));
        for (const auto& [index, count] : visits) {
            const projects::Loop& loop = m_stack.loops.at(index);
            if (at.layer >= loop.first && at.layer <= loop.last) {
                layers[number - 1].runs = at.visit <= count;
            }
        }
    }
}

std::vector<bool> LayerDropping::limitVisits(std::vector<LayerUse>& layers, const Pass& pass) const
{
    std::vector<bool> made(static_cast<std::size_t>(m_depth), true);
    for (std::size_t i = 0; i < m_stack.loops.size(); ++i) {
        const projects::Loop& loop = m_stack.loops[i];
        const std::int64_t visits = visitsIn(pass, m_stack, i, m_steps);
        const bool cuts = pass.training() && loop.gradientVisits > 0 && loop.gradientVisits < visits;
        if (!m_stack.isSound(i) || (visits == loop.visits && !cuts)) {
            continue;
        }
        layers.resize(static_cast<std::size_t>(m_depth));
        for (std::int64_t layer = loop.first; layer <= loop.last; ++layer) {
            const std::vector<std::int64_t> numbers = m_stack.visitsOf(layer);
            for (std::int64_t visit = 1; visit <= std::ssize(numbers); ++visit) {
                const auto index = static_cast<std::size_t>(numbers[static_cast<std::size_t>(visit - 1)] - 1);
                made[index] = visit <= visits;
                layers[index].runs &= visit <= visits;
                layers[index].gradient = !cuts || visit > visits - loop.gradientVisits;
            }
        }
    }
    return made;
}

std::vector<LayerUse> LayerDropping::bySchedule(const Pass& pass) const
{
    // A run may continue past the document's number of steps: a curve continues, and the last stage stays.
    const std::int64_t step = std::max<std::int64_t>(pass.step, 1);
    const StageSpan& span = projects::spanAt(m_spans, step);
    const KeepShares shares = projects::keepShares(m_schedule, span, m_depth, m_steps, step);
    const bool grows = projects::grows(m_schedule);
    if (!pass.training() && !grows) {
        std::vector<LayerUse> layers = wholeNetwork(shares);
        (void)limitVisits(layers, pass);
        return layers;
    }
    std::vector<LayerUse> layers(static_cast<std::size_t>(m_depth));
    for (std::size_t l = 0; l < layers.size(); ++l) {
        layers[l].runs = shares.layers[l] >= 1;
    }
    if (projects::leavesOutVisits(m_schedule)) {
        drawVisits(layers, shares, pass.random);
    } else {
        drawLayers(layers, shares, pass.random.stream("layers"));
    }
    const std::vector<bool> made = limitVisits(layers, pass);
    scale(layers, shares, made);
    openNew(layers, span, step);
    setParts(layers, shares, span, step, pass.random);
    // If no layer runs, the last one does: a network of layers alone must have a gradient.
    if (pass.training() && std::ranges::none_of(layers, &LayerUse::runs)) {
        const auto last = std::find(made.rbegin(), made.rend(), true);
        layers[static_cast<std::size_t>(made.rend() - last - 1)] = {.runs = true, .factor = 0, .heads = {}, .mlp = {}};
    }
    return layers;
}

std::vector<LayerUse> LayerDropping::wholeNetwork(const KeepShares& shares) const
{
    std::vector<LayerUse> layers(static_cast<std::size_t>(m_depth));
    for (std::size_t l = 0; l < layers.size(); ++l) {
        if (m_schedule.scaling == DropScaling::Evaluation) {
            layers[l].factor = shares.layers[l];
        } else if (m_schedule.scaling == DropScaling::EvaluationInverse && shares.layers[l] > 0) {
            layers[l].factor = 1 / shares.layers[l];
        }
    }
    return layers;
}

void LayerDropping::drawLayers(std::vector<LayerUse>& layers, const KeepShares& shares, const Philox& random) const
{
    if (m_schedule.sampling != DropSampling::FixedSize) {
        for (std::size_t l = 0; l < layers.size(); ++l) {
            layers[l].runs = layers[l].runs || random.uniform(l) < shares.layers[l];
        }
        return;
    }
    // Chooses as many of the others as the share says.
    std::vector<std::size_t> others;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        if (!layers[l].runs) {
            others.push_back(l);
        }
    }
    if (others.empty()) {
        return;
    }
    const double share = shares.layers[others.front()];
    const auto kept = static_cast<std::size_t>(std::llround(share * static_cast<double>(others.size())));
    others = inDrawnOrder(std::move(others), random);
    for (const std::size_t l : std::span(others).first(kept)) {
        layers[l].runs = true;
    }
}

void LayerDropping::drawVisits(std::vector<LayerUse>& layers, const KeepShares& shares,
                               const RandomStreams& random) const
{
    for (std::size_t i = 0; i < m_stack.loops.size(); ++i) {
        if (!m_stack.isSound(i)) {
            continue;
        }
        const std::vector<bool> kept = keptVisits(visitShares(m_stack, i, shares), m_schedule.sampling,
                                                  random.stream("visits." + std::to_string(i + 1)));
        const bool byGap = m_schedule.scaling == DropScaling::SquareRoot || m_schedule.scaling == DropScaling::Linear;
        double gap = 1; // to the next visit that runs
        for (std::size_t v = kept.size(); v-- > 0;) {
            for (std::int64_t layer = m_stack.loops[i].first; layer <= m_stack.loops[i].last; ++layer) {
                const std::int64_t number = m_stack.numberOf({layer, static_cast<std::int64_t>(v) + 1});
                layers[static_cast<std::size_t>(number - 1)].runs = kept[v];
                layers[static_cast<std::size_t>(number - 1)].factor = byGap && kept[v] ? gap : 1;
            }
            gap = kept[v] ? 1 : gap + 1;
        }
    }
}

void LayerDropping::scale(std::vector<LayerUse>& layers, const KeepShares& shares, const std::vector<bool>& made) const
{
    const bool byGap = m_schedule.scaling == DropScaling::SquareRoot || m_schedule.scaling == DropScaling::Linear;
    if (byGap && !projects::grows(m_schedule) && !projects::leavesOutVisits(m_schedule)) {
        double gap = 1; // to the next layer that runs
        for (std::size_t l = layers.size(); l-- > 0;) {
            if (layers[l].runs) {
                layers[l].factor = m_schedule.scaling == DropScaling::Linear ? gap : std::sqrt(gap);
                gap = 1;
            } else {
                gap += made[l] ? 1 : 0;
            }
        }
    }
    if (m_schedule.scaling == DropScaling::InverseProbability) {
        for (std::size_t l = 0; l < layers.size(); ++l) {
            layers[l].factor = layers[l].runs && shares.layers[l] > 0 ? 1 / shares.layers[l] : 1;
        }
    }
}

double LayerDropping::openingOf(const StageSpan& span, std::int64_t step) const
{
    const bool added = projects::grows(m_schedule) && span.isStage() && span.stage > 0;
    if (!added || m_schedule.growthWarmup == 0) {
        return 1;
    }
    return std::clamp(static_cast<double>(step - 1 - span.from) / static_cast<double>(m_schedule.growthWarmup), 0.0,
                      1.0);
}

StageSpan LayerDropping::stageBefore(const StageSpan& span) const
{
    return {span.from, span.to, span.stage - 1, m_schedule.stages[span.stage - 1].averageLength};
}

void LayerDropping::openNew(std::vector<LayerUse>& layers, const StageSpan& span, std::int64_t step) const
{
    const double opening = openingOf(span, step);
    if (opening == 1 || !projects::leavesOutLayers(m_schedule.axis)) {
        return;
    }
    const std::int64_t before = projects::grownDepth(m_schedule, stageBefore(span), m_depth);
    const std::int64_t after = projects::grownDepth(m_schedule, span, m_depth);
    const projects::Growth growth = projects::growthOf(m_schedule.growth, before, after);
    for (std::size_t l = 0; l < growth.isNew.size(); ++l) {
        layers[l].factor *= growth.isNew[l] ? opening : 1;
    }
}

void LayerDropping::setParts(std::vector<LayerUse>& layers, const KeepShares& shares, const StageSpan& span,
                             std::int64_t step, const RandomStreams& random) const
{
    PartUse use{.sampling = m_schedule.sampling, .opening = openingOf(span, step)};
    if (use.opening != 1) {
        use.before = projects::keepShares(m_schedule, stageBefore(span), m_depth, m_steps, step).parts.front();
    }
    for (std::size_t l = 0; l < layers.size(); ++l) {
        use.keep = shares.parts[l];
        // Steps that draw nothing are equal, so that one recording serves for all (train/step_graphs.h).
        const bool draws = use.sampling != DropSampling::First && use.keep < 1;
        const auto key = [&](const char* part) {
            return draws ? random.stream(part + std::to_string(l + 1)).key() : 0;
        };
        layers[l].mlpParts = m_schedule.mlpParts;
        if (projects::leavesOutHeads(m_schedule.axis)) {
            layers[l].heads = use;
            layers[l].heads.key = key("heads.");
        }
        if (projects::leavesOutMlp(m_schedule.axis)) {
            layers[l].mlp = use;
            layers[l].mlp.key = key("mlp.");
        }
    }
}

std::vector<double> visitShares(const projects::Stack& stack, std::size_t loop, const KeepShares& shares)
{
    std::vector<double> visits;
    for (std::int64_t visit = 1; visit <= stack.loops[loop].visits; ++visit) {
        visits.push_back(shares.layers[static_cast<std::size_t>(stack.numberOf({stack.loops[loop].first, visit}) - 1)]);
    }
    return visits;
}

std::vector<bool> keptVisits(const std::vector<double>& shares, DropSampling sampling, const Philox& random)
{
    std::vector<bool> kept;
    std::vector<std::size_t> drawn;
    for (std::size_t v = 0; v < shares.size(); ++v) {
        kept.push_back(shares[v] >= 1);
        if (!kept[v]) {
            drawn.push_back(v);
        }
    }
    if (drawn.empty()) {
        return kept;
    }
    const double share = shares[drawn.front()];
    const bool anyMay = drawn.size() == shares.size(); // no visit is always kept
    if (sampling == DropSampling::FixedSize) {
        const auto number = static_cast<std::size_t>(std::llround(share * static_cast<double>(drawn.size())));
        drawn = inDrawnOrder(std::move(drawn), random);
        for (const std::size_t v : std::span(drawn).first(std::max<std::size_t>(number, anyMay ? 1 : 0))) {
            kept[v] = true;
        }
        return kept;
    }
    const double others = anyMay ? shareBesideOne(share, drawn.size()) : share;
    for (const std::size_t v : drawn) {
        kept[v] = random.uniform(v) < others;
    }
    if (anyMay) {
        const double place = random.uniform(shares.size()) * static_cast<double>(drawn.size());
        kept[static_cast<std::size_t>(place)] = true;
    }
    return kept;
}

double shareOfKept(const std::vector<double>& shares, DropSampling sampling, const std::vector<bool>& kept)
{
    const auto isDrawn = [](double share) { return share < 1; };
    const auto first = std::ranges::find_if(shares, isDrawn);
    if (first == shares.end()) {
        return 1;
    }
    const auto drawn = static_cast<double>(std::ranges::count_if(shares, isDrawn));
    const auto all = static_cast<double>(shares.size());
    const double running = static_cast<double>(std::ranges::count(kept, true)) - (all - drawn);
    if (sampling == DropSampling::FixedSize) {
        return std::exp(std::lgamma(running + 1) + std::lgamma(drawn - running + 1) - std::lgamma(drawn + 1));
    }
    if (drawn < all) {
        return std::pow(*first, running) * std::pow(1 - *first, drawn - running);
    }
    const double others = shareBesideOne(*first, shares.size());
    return running / drawn * std::pow(others, running - 1) * std::pow(1 - others, drawn - running);
}

std::int64_t visitsIn(const Pass& pass, const projects::Stack& stack, std::size_t index, std::int64_t steps)
{
    const projects::Loop& loop = stack.loops.at(index);
    if (loop.draw == projects::VisitDraw::Rising) {
        return projects::risenVisits(loop, pass.step, steps);
    }
    return pass.training() ? drawnVisits(loop, pass.random.stream("loop." + std::to_string(index + 1)))
                           : projects::evaluatedVisits(loop);
}

std::int64_t drawnVisits(const projects::Loop& loop, const Philox& random)
{
    // Poisson by its cumulative distribution, cut at the loop's visits.
    const auto poisson = [&](double rate) {
        const double uniform = random.uniform(0);
        double term = -rate; // its logarithm, because that of a large rate begins below the least number
        double sum = std::exp(term);
        std::int64_t count = 0;
        while (sum < uniform && count < loop.visits) {
            term += std::log(rate / static_cast<double>(++count));
            sum += std::exp(term);
        }
        return count;
    };
    std::int64_t visits = loop.visits;
    switch (loop.draw) {
    case projects::VisitDraw::All:
    case projects::VisitDraw::Rising:
        break;
    case projects::VisitDraw::Uniform:
        visits = 1 + static_cast<std::int64_t>(random.uniform(0) * static_cast<double>(loop.visits));
        break;
    case projects::VisitDraw::Poisson:
        visits = poisson(loop.mean);
        break;
    case projects::VisitDraw::LogNormalPoisson: {
        const double normal = std::sqrt(-2 * std::log(1 - random.uniform(1))) *
                              std::cos(2 * std::numbers::pi * random.uniform(2)); // Box and Muller
        visits = 1 + poisson(rateAt(loop, normal));
        break;
    }
    }
    return std::clamp<std::int64_t>(visits, 1, loop.visits);
}

double shareOfVisits(const projects::Loop& loop, std::int64_t visits)
{
    switch (loop.draw) {
    case projects::VisitDraw::All:
    case projects::VisitDraw::Rising:
        break;
    case projects::VisitDraw::Uniform:
        return 1 / static_cast<double>(loop.visits);
    case projects::VisitDraw::Poisson:
        return shareOfPoisson(loop.mean, 0, visits, loop.visits);
    case projects::VisitDraw::LogNormalPoisson: {
        constexpr double kEnd = 6; // the rest of the normal distribution is below 1e-8
        constexpr int kParts = 240;
        double share = 0;
        for (int i = 0; i < kParts; ++i) {
            const double normal = kEnd * ((2 * i + 1) / static_cast<double>(kParts) - 1);
            const double density = std::exp(-normal * normal / 2) / std::sqrt(2 * std::numbers::pi);
            share += density * 2 * kEnd / kParts * shareOfPoisson(rateAt(loop, normal), 1, visits, loop.visits);
        }
        return share;
    }
    }
    return visits == loop.visits ? 1 : 0;
}

Matrix activeLayers(const std::vector<LayerUse>& layers, std::int64_t step)
{
    Matrix matrix{matrix::kActive, step, 1, static_cast<std::int64_t>(layers.size()), {}};
    for (const LayerUse& layer : layers) {
        const double inside = std::min(layer.heads.keep, layer.mlp.keep);
        matrix.values.push_back(layer.runs && layer.factor != 0 ? static_cast<float>(inside) : 0.0F);
    }
    return matrix;
}

} // namespace residua::engine
