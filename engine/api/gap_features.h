// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"

namespace residua::engine {

/// What follows the features ω of an attention that stand for its softmax, in GapWeight::follows. Of such a line `out`
/// is the number of features of all key-value heads, `rank` that of one, `in` the width of a head. A method that
/// searches (lfai, lfai-ws, exact) means the fit of appendix B there, any other the features as they are drawn or, of a
/// run, learned. In GapFit functionError is Σ‖P − P̂‖_F² of the attention matrices on held-out sequences, fullFunction
/// Σ‖P‖_F², weightError how far the fit has moved ω, squared, and meanCorrelation, over the heads, that of P with P̂.
inline constexpr const char* kSoftmaxFollows = "softmax";

[[nodiscard]] inline bool isOfFeatures(const GapWeight& weight)
{
    return weight.follows == kSoftmaxFollows;
}

} // namespace residua::engine
