// SPDX-License-Identifier: GPL-3.0-or-later
// Solves for the weights that give the sums of an unrolled depth.
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/unrolled_depth.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace residua::projects {
namespace {

constexpr int kToldDigits = 3; ///< of a weight in an error

std::string countText(std::size_t count, const std::string& what)
{
    return count == 1 ? "its one " + what : "its " + std::to_string(count) + " " + what + "s";
}

/// Solves the mixes of a program for their weights. Every input has a newest branch that earlier ones lack, so the
/// weights are solved one after another from the last input.
class Solver {
public:
    Solver(const DepthProgram& program, const ExecutedLayers& layers, const UnrolledDepth& wanted, bool perFeature)
        : m_program(program),
          m_layers(layers),
          m_wanted(wanted),
          m_features(static_cast<std::size_t>(wanted.features)),
          m_weights{perFeature ? wanted.features : 1, {}}
    {
        m_weights.values.resize(program.terms * static_cast<std::size_t>(m_weights.features));
    }

    Result<MixNumbers> solved()
    {
        const UnrolledDepth got = RESIDUA_TRY(walk(m_program, m_wanted.features, m_wanted.granularity, &m_wanted,
                                                   [this](const MixSite& site) { return solve(site); }));
        return checked(got);
    }
    /// Returns the weights of a network that learns none, if their sums, `got`, are the wanted ones.
    Result<MixNumbers> fixed(MixNumbers weights, const UnrolledDepth& got)
    {
        m_weights = std::move(weights);
        return checked(got);
    }

private:
    Result<MixNumbers> checked(const UnrolledDepth& got)
    {
        if (const auto fault = differenceFrom(got)) {
            return Error{"topology", *fault};
        }
        return std::move(m_weights);
    }

    Result<BranchSum> solve(const MixSite& site)
    {
        const auto count = static_cast<std::size_t>(m_weights.features);
        BranchSum rest = site.wanted;
        BranchSum mixed(rest.size(), 0.0);
        for (std::size_t e = site.entries.size(); e-- > 0;) { // inputs are in ascending order of their newest branches
            const BranchSum& entry = site.entries[e];
            const std::size_t newest = newestIn(entry);
            std::vector<double> weight(m_features);
            for (std::size_t f = 0; f < m_features; ++f) {
                weight[f] = rest[newest + f] / entry[newest + f];
                if (count == 1 && !same(weight[f], weight[0])) {
                    return Error{"topology",
                                 "weighs all features alike, but the run's own has learned a weight for each of them"};
                }
            }
            std::copy_n(weight.begin(), count,
                        m_weights.values.begin() + static_cast<std::ptrdiff_t>((site.firstTerm + e) * count));
            addTo(mixed, entry, weight);
            addTo(rest, entry, weight, -1);
        }
        return mixed;
    }
    /// Returns the place of the newest branch in a sum.
    [[nodiscard]] std::size_t newestIn(const BranchSum& sum) const
    {
        std::size_t place = sum.size() - 1;
        while (place > 0 && sum[place] == 0) {
            --place;
        }
        return place / m_features * m_features;
    }

    /// Names the first sum that differs from the wanted one. Empty if none differs.
    [[nodiscard]] std::optional<std::string> differenceFrom(const UnrolledDepth& got) const
    {
        static constexpr const char* kPorts[] = {"queries", "keys", "values", "residual"};
        for (std::size_t branch = 0; branch < got.inputs.size(); ++branch) {
            const std::array<BranchSum, 4>& wanted = m_wanted.inputs[branch];
            const bool alike = std::ranges::all_of(wanted, [&](const BranchSum& sum) { return sum == wanted[0]; });
            for (std::size_t port = 0; port < wanted.size(); ++port) {
                const std::string who = branchText(branch + 1);
                const std::string reader =
                    alike ? "what " + who + " reads" : "the " + std::string(kPorts[port]) + " of " + who;
                if (auto text = differenceOf(wanted[port], got.inputs[branch][port], reader)) {
                    return text;
                }
            }
        }
        return differenceOf(m_wanted.output, got.output, "the final output");
    }

    [[nodiscard]] std::optional<std::string> differenceOf(const BranchSum& wanted, const BranchSum& got,
                                                          const std::string& reader) const
    {
        for (std::size_t place = 0; place < wanted.size(); ++place) {
            const double found = got[got.size() == wanted.size() ? place : place / m_features];
            if (!same(wanted[place], found)) {
                const std::size_t b = place / m_features;
                const std::string what = b == 0 ? "the input" : "the branch of " + branchText(b);
                return "cannot compute the same: into " + reader + " the run's own puts " +
                       numberText(wanted[place], kToldDigits) + " times " + what + ", this one " +
                       numberText(found, kToldDigits) + " times, whatever it learns";
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string branchText(std::size_t number) const
    {
        const std::int64_t each = m_wanted.granularity == Granularity::Half ? 2 : 1;
        const auto branch = static_cast<std::int64_t>(number);
        const LayerPart part = partOf(branch, each);
        return (part == LayerPart::Whole       ? "layer "
                : part == LayerPart::Attention ? "the attention of layer "
                                               : "the FFN of layer ") +
               m_layers.nameOf(layerOf(branch, each));
    }

    const DepthProgram& m_program;
    const ExecutedLayers& m_layers;
    const UnrolledDepth& m_wanted;
    const std::size_t m_features;
    MixNumbers m_weights;
};

} // namespace

Result<MixNumbers> weightsFor(const DepthMix& mix, const ExecutedLayers& layers, const UnrolledDepth& wanted)
{
    const DepthProgram program = programOf(mix, layers.count);
    Solver solver(program, layers, wanted, traitsOf(mix.weight).isPerFeature);
    const MixNumbers start = startingWeights(mix, layers.count);
    return traitsOf(mix.weight).isLearned ? solver.solved()
                                          : solver.fixed(start, unrolled(mix, layers.count, start, wanted.granularity));
}

Result<MixNumbers> factorsFor(const ExecutedLayers& layers, const UnrolledDepth& wanted, Granularity modules)
{
    const bool joins = wanted.granularity == Granularity::Half && modules == Granularity::Layer;
    const DepthProgram program = factorProgram(wanted.inputs.size() / (joins ? 2 : 1), modules);
    return Solver(program, layers, wanted, false).solved();
}

Result<MixNumbers> coefficientsFor(const DepthMix& mix, const ExecutedLayers& layers, const MixNumbers& applied)
{
    const bool cuts = mix.gate.kind == GateKind::Inside &&
                      std::ranges::any_of(applied.values, [](double weight) { return weight < 0; });
    if (cuts) {
        return Error{"topology",
                     "has its ReLU around weight and gate, which lets no weight below 0 through; to compute "
                     "the same some would have to be"};
    }
    if (mix.normalise == NormaliseOver::None) {
        return applied;
    }
    const DepthPlan plan = planOf(mix, layers.count);
    MixNumbers result = applied;
    const auto features = static_cast<std::size_t>(applied.features);
    for (const std::vector<std::size_t>& group : normalisedTogether(mix, plan)) {
        for (std::size_t f = 0; f < features; ++f) {
            double sum = 0;
            bool positive = true;
            const auto weightOf = [&](std::size_t t) { return applied.values[t * features + f]; };
            for (const std::size_t t : group) {
                const double weight = weightOf(t);
                sum += weight;
                positive = positive && weight > 0;
                result.values[t * features + f] = mix.temperature * std::log(weight);
            }
            if (!positive || !same(sum, 1)) {
                const DepthTerm& first = plan.terms[group.front()];
                const bool bySource = mix.normalise == NormaliseOver::Targets;
                const std::string who = bySource
                                            ? "entry " + std::to_string(first.source) + " reaches "
                                            : readerName(mix, layers, plan.readers[first.reader].target) + " reads ";
                return Error{"topology", who + countText(group.size(), bySource ? "target" : "source") +
                                             " through a softmax, whose weights are positive and add up to 1; to "
                                             "compute the same they would have to be " +
                                             joinedText(group, ", ", [&](std::size_t t) {
                                                 return numberText(weightOf(t), kToldDigits);
                                             })};
            }
        }
    }
    return result;
}

} // namespace residua::projects
