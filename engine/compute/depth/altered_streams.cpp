// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/altered_streams.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace residua::engine {

using projects::StreamFill;
using projects::TransitionForm;

namespace {

constexpr const char* kMaskField = "mask"; ///< the condition [batch, time] that is 0 for padding

/// Returns the mean over dimension `tokens` of `x`, which it keeps, without the tokens of padding.
at::Tensor meanOfTokens(const at::Tensor& x, std::int64_t tokens, const Pass& pass)
{
    const auto mask = pass.inputs.find(kMaskField);
    if (mask == pass.inputs.end() || mask->second.numel() != x.size(tokens)) {
        return x.mean(tokens, true);
    }
    return x.index_select(tokens, mask->second.flatten().nonzero().flatten()).mean(tokens, true);
}

/// Returns the matrix that takes the place of `carry`, [to, from] or [to, from, tokens].
at::Tensor replaced(const at::Tensor& carry, const projects::ReplacedTransitions& by, const Pass& pass)
{
    const bool ofTokens = carry.dim() == 3;
    switch (by.form) {
    case TransitionForm::Identity: {
        const at::Tensor one = at::eye(carry.size(0), carry.options());
        return ofTokens ? one.unsqueeze(2).expand_as(carry) : one;
    }
    case TransitionForm::Mean:
        return ofTokens ? meanOfTokens(carry, 2, pass).expand_as(carry) : carry;
    case TransitionForm::Top:
    case TransitionForm::TopScaled: {
        const at::Tensor sizes = carry.abs();
        const at::Tensor places = std::get<1>(at::topk(sizes, std::min(by.top, carry.size(1)), 1));
        const at::Tensor kept = at::zeros_like(carry).scatter(1, places, 1);
        if (by.form == TransitionForm::Top) {
            return carry * kept;
        }
        const at::Tensor left = (sizes * kept).sum(1, true).clamp_min(std::numeric_limits<float>::min());
        return carry * kept * (sizes.sum(1, true) / left);
    }
    }
    return carry;
}

} // namespace

at::Tensor filled(const projects::FilledStreams& fill, std::size_t stream, const std::vector<at::Tensor>& streams,
                  const std::vector<at::Tensor>* unaltered, const Pass& pass)
{
    const at::Tensor& own = streams[stream];
    if (!fill.with) {
        TORCH_CHECK(unaltered != nullptr, "the unaltered pass has not kept the streams");
        return (*unaltered)[stream];
    }
    switch (*fill.with) {
    case StreamFill::Zero:
        return at::zeros_like(own);
    case StreamFill::Mean: {
        const at::ScalarType wide = own.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
        return meanOfTokens(own.flatten(0, -2).to(wide), 0, pass).to(own.scalar_type()).flatten().expand_as(own);
    }
    case StreamFill::Stream:
        return streams.at(static_cast<std::size_t>(fill.other) - 1);
    }
    return own;
}

MixWeights withTransition(MixWeights write, std::int64_t n, const projects::ReplacedTransitions& by, const Pass& pass)
{
    const auto joined = [n](const at::Tensor& carry, const at::Tensor& all) {
        return at::cat({carry, all.narrow(1, n, all.size(1) - n)}, 1);
    };
    if (!write.tokenWeights.defined()) {
        write.weights = joined(replaced(write.weights.narrow(1, 0, n), by, pass), write.weights);
        return write;
    }
    at::Tensor carry = write.tokenWeights.narrow(1, 0, n);
    if (write.weights.defined()) { // the kernels add both
        const at::Tensor shared = write.weights.narrow(1, 0, n);
        carry = carry + shared.unsqueeze(2);
        write.weights = joined(at::zeros_like(shared), write.weights);
    }
    write.tokenWeights = joined(replaced(carry, by, pass), write.tokenWeights);
    return write;
}

} // namespace residua::engine
