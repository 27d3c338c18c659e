// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/gap.h"

#include "projects/base/text.h"
#include "projects/schema/method_keys.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace residua::engine {

namespace {

constexpr const char* kNothingFollows = "identity";
constexpr const char* kSoftmaxFollows = "softmax";

} // namespace

GapWeight::Columns GapWeight::columns() const
{
    if (const auto* const features = std::get_if<GapFeatures>(&is)) {
        return {features->heads * features->rank, features->width, features->rank, kSoftmaxFollows};
    }
    const GapFactors& of = std::get<GapFactors>(is);
    return {of.out, of.in, of.rank, of.activation.empty() ? kNothingFollows : of.activation};
}

GapWeight GapWeight::from(std::string name, const Columns& columns)
{
    const auto& [out, in, rank, follows] = columns;
    if (follows == kSoftmaxFollows) {
        return {std::move(name), GapFeatures{rank > 0 ? out / rank : 0, rank, in}};
    }
    return {std::move(name), GapFactors{out, in, rank, follows == kNothingFollows ? std::string() : follows}};
}

std::optional<double> GapFit::relativeBound() const
{
    return spectralGapBound && fullFunction > 0 ? std::optional(*spectralGapBound / fullFunction) : std::nullopt;
}

std::size_t Gap::done() const
{
    return static_cast<std::size_t>(
        std::ranges::count_if(fits, [](const GapFit& fit) { return fit.state != GapFit::State::Pending; }));
}

GapTotal totalOf(const Gap& gap, std::size_t method)
{
    GapTotal total;
    double error = 0;
    double full = 0;
    for (std::size_t weight = 0; weight < gap.weights.size(); ++weight) {
        const GapFit& fit = gap.fit(weight, method);
        // The errors of attention matrices cannot be added to those of weights.
        if (fit.state == GapFit::State::Fitted && gap.weights[weight].factors() != nullptr) {
            ++total.weights;
            error += fit.functionError;
            full += fit.fullFunction;
            total.seconds += fit.seconds;
        }
    }
    total.relativeError = full > 0 ? error / full : 0;
    return total;
}

std::vector<std::size_t> ordered(const Gap& gap, GapOrder order)
{
    std::vector<std::size_t> weights(gap.weights.size());
    std::iota(weights.begin(), weights.end(), std::size_t{0});
    if (order == GapOrder::Size) {
        std::ranges::stable_sort(weights, std::ranges::greater(), [&](std::size_t weight) {
            const GapWeight::Columns of = gap.weights[weight].columns();
            return of.out * of.in;
        });
    } else if (order == GapOrder::Error && !gap.methods.empty()) {
        std::ranges::stable_sort(weights, std::ranges::greater(),
                                 [&](std::size_t weight) { return gap.fit(weight, 0).relativeError(); });
    }
    return weights;
}

std::string csvOf(const Gap& gap, const std::vector<std::size_t>& weights)
{
    std::string csv = "weight,out,in,rank,follows,method,relative_function_error,function_error,weight_error,"
                      "mean_correlation,spectral_gap_bound,seconds,converged\n";
    for (const std::size_t index : weights) {
        const GapWeight::Columns of = gap.weights[index].columns();
        for (std::size_t method = 0; method < gap.methods.size(); ++method) {
            const GapFit& fit = gap.fit(index, method);
            if (fit.state != GapFit::State::Fitted) {
                continue;
            }
            for (const std::string& field :
                 {gap.weights[index].name, std::to_string(of.out), std::to_string(of.in), std::to_string(of.rank),
                  of.follows, wordOf(gap.methods[method]), numberText(fit.relativeError()),
                  numberText(fit.functionError), numberText(fit.weightError), numberText(fit.meanCorrelation),
                  fit.spectralGapBound ? numberText(*fit.spectralGapBound) : std::string(), numberText(fit.seconds)}) {
                csv += field + ",";
            }
            csv += fit.converged ? "1\n" : "0\n";
        }
    }
    return csv;
}

} // namespace residua::engine
