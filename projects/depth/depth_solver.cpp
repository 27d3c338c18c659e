// SPDX-License-Identifier: GPL-3.0-or-later
// Solves for the weights that give the sums of an unrolled depth.
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_walk.h"
#include "projects/depth/unrolled_depth.h"
#include "projects/model/text_forms.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace residua::projects {
namespace {

/// Returns the numbers with `features` features, repeating a single one.
MixNumbers widened(const MixNumbers& numbers, std::int64_t features)
{
    if (numbers.features == features) {
        return numbers;
    }
    MixNumbers result{features, {}};
    for (const double value : numbers.values) {
        result.values.insert(result.values.end(), static_cast<std::size_t>(features), value);
    }
    return result;
}

std::string countText(std::size_t count, const std::string& what)
{
    return count == 1 ? "its one " + what : "its " + std::to_string(count) + " " + what + "s";
}

/// Solves each mix for its weights. Every entry has a newest branch that earlier entries lack, so the weights are
/// solved one after another from the last entry.
class Solver {
public:
    Solver(const DepthMix& mix, std::int64_t layers, const UnrolledDepth& wanted)
        : m_mix(mix),
          m_layers(layers),
          m_wanted(wanted),
          m_sums(static_cast<std::int64_t>(wanted.inputs.size()), wanted.features),
          m_perFeature(mix.weight == WeightKind::PerFeature)
    {
        const DepthPlan plan = planOf(mix, layers);
        m_weights.features = m_perFeature ? wanted.features : 1;
        m_weights.values.resize(plan.terms.size() * static_cast<std::size_t>(m_weights.features));
    }

    Result<MixNumbers> run()
    {
        const Result<UnrolledDepth> got = walked();
        if (!got) {
            return got.error();
        }
        if (const auto fault = differenceFrom(*got)) {
            return Error{"topology", *fault};
        }
        return std::move(m_weights);
    }

private:
    Result<UnrolledDepth> walked()
    {
        if (m_mix.weight == WeightKind::Fixed || m_mix.weight == WeightKind::DepthAttention) {
            m_weights = startingWeights(m_mix, m_layers);
            return unrolled(m_mix, m_layers, widened(m_weights, m_wanted.features), m_wanted.granularity);
        }
        return Walk(m_mix, m_layers, m_wanted.features, m_wanted.granularity, &m_wanted,
                    [this](const MixSite& site) { return solve(site); })
            .run();
    }

    Result<BranchSum> solve(const MixSite& site)
    {
        std::vector<std::size_t> order(site.entries.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = order.size() - 1 - i; // sources are in ascending order, and so are their newest branches
        }
        BranchSum rest = site.wanted;
        BranchSum mixed = m_sums.none();
        for (const std::size_t e : order) {
            const BranchSum& entry = site.entries[e];
            const std::size_t newest = m_sums.newest(entry);
            std::vector<double> weight(m_sums.features());
            for (std::size_t f = 0; f < weight.size(); ++f) {
                weight[f] = m_sums.at(rest, newest, f) / m_sums.at(entry, newest, f);
                if (!m_perFeature && !same(weight[f], weight[0])) {
                    return Error{"topology",
                                 "weighs all features alike, but the run's own has learned a weight for each of them"};
                }
            }
            for (std::size_t f = 0; f < static_cast<std::size_t>(m_weights.features); ++f) {
                m_weights.values[(site.firstTerm + e) * static_cast<std::size_t>(m_weights.features) + f] = weight[f];
            }
            m_sums.add(mixed, entry, [&](std::size_t f) { return weight[f]; });
            m_sums.add(rest, entry, [&](std::size_t f) { return -weight[f]; });
        }
        return mixed;
    }

    /// Names the first sum that differs from the wanted one. Empty if none differs.
    [[nodiscard]] std::optional<std::string> differenceFrom(const UnrolledDepth& got) const
    {
        static constexpr const char* kPorts[] = {"queries", "keys", "values", "residual"};
        for (std::size_t branch = 0; branch < got.inputs.size(); ++branch) {
            const Ports& wanted = m_wanted.inputs[branch];
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
        for (std::size_t b = 0; b <= m_sums.branches(); ++b) {
            for (std::size_t f = 0; f < m_sums.features(); ++f) {
                if (const double w = m_sums.at(wanted, b, f), g = m_sums.at(got, b, f); !same(w, g)) {
                    const std::string what = b == 0 ? "the input" : "the branch of " + branchText(b);
                    return "cannot compute the same: into " + reader + " the run's own puts " + numberText(w) +
                           " times " + what + ", this one " + numberText(g) + " times, whatever it learns";
                }
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
               std::to_string(layerOf(branch, each));
    }

    const DepthMix& m_mix;
    std::int64_t m_layers;
    const UnrolledDepth& m_wanted;
    Sums m_sums;
    bool m_perFeature;
    MixNumbers m_weights;
};

} // namespace

Result<MixNumbers> weightsFor(const DepthMix& mix, std::int64_t layers, const UnrolledDepth& wanted)
{
    return Solver(mix, layers, wanted).run();
}

Result<ResidualFactors> factorsFor(const UnrolledDepth& wanted, Granularity modules)
{
    const Sums sums(static_cast<std::int64_t>(wanted.inputs.size()), wanted.features);
    const std::size_t halves = wanted.granularity == modules ? 1 : 2;
    const Error impossible{"topology", "cannot compute the same: each layer would have to read one factor times what "
                                       "the one before read and one times its branch, and under the run's own they "
                                       "read other sums"};
    ResidualFactors factors;
    for (std::size_t layer = 1; layer <= wanted.inputs.size() / halves; ++layer) {
        const BranchSum& before = wanted.inputs[(layer - 1) * halves][0];
        const bool last = layer * halves == wanted.inputs.size();
        const BranchSum& after = last ? wanted.output : wanted.inputs[layer * halves][0];
        const auto largest = std::ranges::max_element(before, {}, [](double weight) { return std::abs(weight); });
        const auto place = static_cast<std::size_t>(largest - before.begin());
        factors.residual.push_back(*largest == 0 ? 1.0 : after[place] / *largest);
        factors.branch.push_back(sums.at(after, layer * halves, 0));
    }
    const UnrolledDepth got = unrolled(factors.branch, factors.residual, wanted.granularity, modules);
    const auto alike = [&](const BranchSum& a, const BranchSum& b) {
        const auto feature = static_cast<std::size_t>(wanted.features);
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (!same(a[i], b[i / feature])) {
                return false;
            }
        }
        return true;
    };
    bool equal = alike(wanted.output, got.output);
    for (std::size_t b = 0; b < got.inputs.size(); ++b) {
        for (std::size_t port = 0; port < wanted.inputs[b].size(); ++port) {
            equal = equal && alike(wanted.inputs[b][port], got.inputs[b][port]);
        }
    }
    return equal ? Result<ResidualFactors>(factors) : Result<ResidualFactors>(impossible);
}

Result<MixNumbers> coefficientsFor(const DepthMix& mix, std::int64_t layers, const MixNumbers& applied)
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
    const DepthPlan plan = planOf(mix, layers);
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
                return Error{"topology",
                             who + countText(group.size(), bySource ? "target" : "source") +
                                 " through a softmax, whose weights are positive and add up to 1; to "
                                 "compute the same they would have to be " +
                                 joinedText(group, ", ", [&](std::size_t t) { return numberText(weightOf(t)); })};
            }
        }
    }
    return result;
}

} // namespace residua::projects
