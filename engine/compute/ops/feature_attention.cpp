// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/operators.h"

#include "projects/nodes/attention_features.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/ones.h>

#include <cmath>
#include <vector>

namespace residua::engine {
namespace {

/// The lower bound of a row's sum. If all weights of a token underflow to 0, its output is 0.
constexpr double kLeastSum = 1e-30;

/// Returns the maximum over a dimension, kept as size 1, without gradient: it only keeps exponentials in range.
at::Tensor largest(const at::Tensor& x, std::int64_t dimension)
{
    return at::amax(x.detach(), dimension, true);
}

/// Sums over the keys so far: φ(k_t)·[v_t, 1], with each feature scaled by e^−shift.
struct Sums {
    at::Tensor values; ///< [batch, kvHeads, 1, r, f + 1]
    at::Tensor shift;  ///< [batch, kvHeads, 1, 1, r]
};

/// The inputs of the sums: [batch, kvHeads, group, time, …], with a group of 1 for keys and values.
struct Parts {
    at::Tensor ofQueries; ///< ω·q' [.., r]; the factor of φ(q) by ‖q'‖² cancels
    at::Tensor ofKeys;    ///< ω·k' − ‖k'‖²/2 [.., r]
    at::Tensor values;    ///< [v, 1] [.., f + 1]
};

/// Returns the quotient of the sums of values and the sums of weights, by query.
at::Tensor divided(const at::Tensor& sums)
{
    const std::int64_t features = sums.size(-1) - 1;
    return sums.narrow(-1, 0, features) / sums.narrow(-1, features, 1).clamp_min(kLeastSum);
}

/// Returns φ(q) for φ(k) scaled by e^−shift.
at::Tensor ofQueries(const at::Tensor& products, const at::Tensor& shift)
{
    const at::Tensor shifted = products + shift;
    return (shifted - largest(shifted, -1)).exp();
}

at::Tensor overAll(const Parts& parts)
{
    const at::Tensor shift = largest(parts.ofKeys, -2);
    const at::Tensor sums = at::matmul((parts.ofKeys - shift).exp().transpose(-2, -1), parts.values);
    return divided(at::matmul(ofQueries(parts.ofQueries, shift), sums));
}

/// Returns the result of one chunk of a causal attention and adds its keys to `before`.
at::Tensor overChunk(const Parts& parts, Sums& before, bool isLast)
{
    at::Tensor shift = largest(parts.ofKeys, -2);
    at::Tensor earlier;
    if (before.values.defined()) {
        shift = at::maximum(shift, before.shift);
        earlier = before.values * (before.shift - shift).exp().transpose(-2, -1);
    }
    const at::Tensor queries = ofQueries(parts.ofQueries, shift);
    const at::Tensor keys = (parts.ofKeys - shift).exp();
    at::Tensor sums = at::matmul(at::matmul(queries, keys.transpose(-2, -1)).tril(), parts.values);
    if (earlier.defined()) {
        sums = sums + at::matmul(queries, earlier);
    }
    if (!isLast) {
        const at::Tensor own = at::matmul(keys.transpose(-2, -1), parts.values);
        before = {earlier.defined() ? earlier + own : own, shift};
    }
    return divided(sums);
}

at::Tensor overChunks(const Parts& parts)
{
    const std::int64_t time = parts.ofKeys.size(-2);
    std::vector<at::Tensor> chunks;
    Sums before;
    for (std::int64_t first = 0; first < time; first += projects::kFeatureChunk) {
        const std::int64_t length = std::min(projects::kFeatureChunk, time - first);
        const auto chunk = [&](const at::Tensor& of) { return of.narrow(-2, first, length); };
        chunks.push_back(overChunk({chunk(parts.ofQueries), chunk(parts.ofKeys), chunk(parts.values)}, before,
                                   first + length == time));
    }
    return chunks.size() == 1 ? chunks.front() : at::cat(chunks, -2);
}

} // namespace

at::Tensor featureAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& features,
                            bool causal)
{
    const at::ScalarType type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const std::int64_t kvHeads = k.size(1);
    const double scale = std::pow(static_cast<double>(q.size(-1)), -0.25);
    const at::Tensor kernel = features.to(type).transpose(-2, -1).unsqueeze(1); // [kvHeads, 1, e, r]
    const at::Tensor queries = q.to(type).view({q.size(0), kvHeads, q.size(1) / kvHeads, q.size(2), q.size(3)}) * scale;
    const at::Tensor keys = k.to(type).unsqueeze(2) * scale;
    const at::Tensor values = v.to(type).unsqueeze(2);
    std::vector<std::int64_t> ones = values.sizes().vec();
    ones.back() = 1;
    const Parts parts{.ofQueries = at::matmul(queries, kernel),
                      .ofKeys = at::matmul(keys, kernel) - (keys * keys).sum(-1, true) / 2,
                      .values = at::cat({values, at::ones(ones, values.options())}, -1)};
    const at::Tensor out = causal ? overChunks(parts) : overAll(parts);
    return out.flatten(1, 2).to(q.scalar_type());
}

} // namespace residua::engine
