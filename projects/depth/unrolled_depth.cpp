// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/unrolled_depth.h"

#include "projects/depth/depth_walk.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::projects {

bool same(double a, double b)
{
    constexpr double kSame = 1e-9;
    return std::abs(a - b) <= kSame * std::max({1.0, std::abs(a), std::abs(b)});
}

bool UnrolledDepth::isPlain() const
{
    const auto adds = [this](const BranchSum& sum, std::size_t branches) {
        const auto end = sum.begin() + static_cast<std::ptrdiff_t>(branches * static_cast<std::size_t>(features));
        return std::all_of(sum.begin(), end, [](double weight) { return same(weight, 1); }) &&
               std::all_of(end, sum.end(), [](double weight) { return same(weight, 0); });
    };
    bool plain = adds(output, inputs.size() + 1);
    for (std::size_t b = 0; b < inputs.size(); ++b) {
        plain = plain && std::ranges::all_of(inputs[b], [&](const BranchSum& sum) { return adds(sum, b + 1); });
    }
    return plain;
}

Granularity granularityFor(const Wiring& a, const Wiring& b)
{
    return splitsLayers(a) || splitsLayers(b) ? Granularity::Half : Granularity::Layer;
}

MixNumbers startingWeights(const DepthMix& mix, std::int64_t layers)
{
    const DepthPlan plan = planOf(mix, layers);
    return appliedWeights(mix, plan, {1, plan.start});
}

UnrolledDepth unrolled(const DepthMix& mix, std::int64_t layers, const MixNumbers& applied, Granularity granularity)
{
    const Sums sums(granularity == Granularity::Half ? 2 * layers : layers, applied.features);
    Walk walk(mix, layers, applied.features, granularity, nullptr, [&](const MixSite& site) -> Result<BranchSum> {
        BranchSum mixed = sums.none();
        for (std::size_t e = 0; e < site.entries.size(); ++e) {
            sums.add(mixed, site.entries[e],
                     [&](std::size_t f) { return applied.at(site.firstTerm + e, static_cast<std::int64_t>(f)); });
        }
        return mixed;
    });
    return *walk.run(); // this mixer returns no error
}

UnrolledDepth unrolled(const std::vector<double>& branch, const std::vector<double>& residual, Granularity granularity,
                       Granularity modules)
{
    const std::size_t halves = granularity == modules ? 1 : 2;
    const Sums sums(static_cast<std::int64_t>(halves * branch.size()), 1);
    UnrolledDepth result{granularity, 1, {}, sums.branch(0)};
    for (std::size_t layer = 0; layer < branch.size(); ++layer) {
        BranchSum own = sums.none();
        BranchSum reads = result.output;
        for (std::size_t half = 0; half < halves; ++half) {
            result.inputs.emplace_back().fill(reads);
            const BranchSum part = sums.branch(result.inputs.size());
            reads = reads + part;
            own = own + part;
        }
        BranchSum next = sums.none();
        sums.add(next, result.output, [&](std::size_t) { return residual[layer]; });
        sums.add(next, own, [&](std::size_t) { return branch[layer]; });
        result.output = std::move(next);
    }
    return result;
}

UnrolledDepth unrolled(const std::vector<StreamLayer>& layers, Granularity granularity, Granularity modules,
                       double exit)
{
    const std::size_t halves = granularity == modules ? 1 : 2;
    const Sums sums(static_cast<std::int64_t>(halves * layers.size()), 1);
    const std::size_t n = layers.empty() ? 0 : layers.front().read.size();
    std::vector<BranchSum> streams(n, sums.branch(0));
    UnrolledDepth result{granularity, 1, {}, sums.none()};
    for (const StreamLayer& layer : layers) {
        BranchSum reads = sums.none();
        BranchSum own = sums.none();
        for (std::size_t s = 0; s < n; ++s) {
            sums.add(reads, streams[s], [&](std::size_t) { return layer.read[s]; });
        }
        for (std::size_t half = 0; half < halves; ++half) {
            result.inputs.emplace_back().fill(reads);
            const BranchSum part = sums.branch(result.inputs.size());
            reads = reads + part;
            own = own + part;
        }
        std::vector<BranchSum> next(n, sums.none());
        for (std::size_t out = 0; out < n; ++out) {
            for (std::size_t in = 0; in < n; ++in) {
                sums.add(next[out], streams[in], [&](std::size_t) { return layer.carry[in * n + out]; });
            }
            sums.add(next[out], own, [&](std::size_t) { return layer.write[out]; });
        }
        streams = std::move(next);
    }
    for (const BranchSum& stream : streams) {
        sums.add(result.output, stream, [&](std::size_t) { return exit; });
    }
    return result;
}

} // namespace residua::projects
