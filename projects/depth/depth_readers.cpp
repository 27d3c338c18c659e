// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_readers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace residua::projects {
namespace {

bool isPruned(const DepthMix& mix, Shortcut shortcut)
{
    const auto state = mix.states.find(shortcut);
    return state != mix.states.end() && state->second == ShortcutState::Pruned;
}

int outputsOf(MixPorts ports)
{
    switch (ports) {
    case MixPorts::Input:
        return 1;
    case MixPorts::Qkv:
        return 3;
    case MixPorts::QkvResidual:
        return 4;
    }
    return 1;
}

} // namespace

std::vector<DepthReader> readersOf(const DepthMix& mix, std::int64_t depth)
{
    std::vector<DepthReader> readers;
    for (std::int64_t target = 1; target <= depth + (mix.finalMix ? 1 : 0); ++target) {
        DepthReader reader{target, sourcesOf(mix, target, depth), summedMiddleOf(mix, target, depth), 1};
        if (reader.middle && !isPruned(mix, {reader.middle->first, target})) {
            reader.sources.push_back(reader.middle->first);
            std::ranges::sort(reader.sources);
        }
        reader.outputs = target <= depth ? outputsOf(mix.ports) : 1;
        readers.push_back(std::move(reader));
    }
    return readers;
}

std::vector<DepthTerm> termsOf(const std::vector<DepthReader>& readers)
{
    std::vector<DepthTerm> terms;
    for (std::size_t r = 0; r < readers.size(); ++r) {
        for (int o = 0; o < readers[r].outputs; ++o) {
            for (const std::int64_t source : readers[r].sources) {
                terms.push_back({r, o, source});
            }
        }
    }
    return terms;
}

double startOf(const DepthMix& mix, const DepthReader& reader, std::int64_t source)
{
    switch (mix.init) {
    case MixInit::Ones:
        return 1;
    case MixInit::Zero:
        return 0;
    case MixInit::Cascaded:
        return source == reader.sources.back() ? 1 : 0;
    case MixInit::Reciprocal:
        return 1.0 / static_cast<double>(reader.target);
    }
    return 1;
}

std::vector<std::vector<std::size_t>> normalisedTogether(const DepthMix& mix, const std::vector<DepthReader>& readers)
{
    const std::vector<DepthTerm> terms = termsOf(readers);
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::pair<int, std::int64_t>, std::size_t> places;
    for (std::size_t t = 0; t < terms.size(); ++t) {
        const bool bySource = mix.normalise == NormaliseOver::Targets;
        const std::pair key{terms[t].output, bySource ? terms[t].source : readers[terms[t].reader].target};
        if (mix.normalise == NormaliseOver::None) {
            groups.push_back({t});
            continue;
        }
        const auto [place, isNew] = places.try_emplace(key, groups.size());
        if (isNew) {
            groups.emplace_back();
        }
        groups[place->second].push_back(t);
    }
    return groups;
}

MixNumbers appliedWeights(const DepthMix& mix, const std::vector<DepthReader>& readers, MixNumbers coefficients)
{
    if (mix.normalise == NormaliseOver::None) {
        return coefficients;
    }
    const auto features = static_cast<std::size_t>(coefficients.features);
    for (const std::vector<std::size_t>& group : normalisedTogether(mix, readers)) {
        for (std::size_t f = 0; f < features; ++f) {
            double largest = -std::numeric_limits<double>::infinity();
            double sum = 0;
            for (const std::size_t t : group) {
                largest = std::max(largest, coefficients.values[t * features + f]);
            }
            for (const std::size_t t : group) {
                double& weight = coefficients.values[t * features + f];
                weight = std::exp((weight - largest) / mix.temperature);
                sum += weight;
            }
            for (const std::size_t t : group) {
                coefficients.values[t * features + f] /= sum;
            }
        }
    }
    return coefficients;
}

} // namespace residua::projects
