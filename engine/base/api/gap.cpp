// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/gap.h"

#include <algorithm>
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

} // namespace residua::engine
