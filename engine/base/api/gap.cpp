// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/gap.h"

#include <algorithm>

namespace residua::engine {
namespace {

constexpr const char* kNothingFollows = "identity";
constexpr const char* kSoftmaxFollows = "softmax";

} // namespace

std::string GapWeight::follows() const
{
    return isOfFeatures() ? kSoftmaxFollows : activation.empty() ? kNothingFollows : activation;
}

void GapWeight::setFollows(const std::string& word)
{
    subject = word == kSoftmaxFollows ? Subject::Features : Subject::Weight;
    activation = isOfFeatures() || word == kNothingFollows ? std::string() : word;
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
