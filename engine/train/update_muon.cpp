// SPDX-License-Identifier: GPL-3.0-or-later
// Muon (Jordan): momentum, made nearly orthogonal. Moonlight's momentum is a multiple of it, so that the two differ by
// the factor on the rate alone.
#include "engine/train/updates.h"

#include <ATen/ops/addmm.h>

#include <algorithm>
#include <cmath>

namespace residua::engine {
namespace {

/// A matrix with the singular vectors of `matrix` and singular values near 1, by iterations of Newton and Schulz.
at::Tensor orthogonalised(const at::Tensor& matrix, std::int64_t iterations, at::ScalarType type)
{
    constexpr double kA = 3.4445;
    constexpr double kB = -4.7750;
    constexpr double kC = 2.0315;
    constexpr double kLeastNorm = 1e-7;
    const bool tall = matrix.size(0) > matrix.size(1);
    at::Tensor x = tall ? matrix.to(type).t() : matrix.to(type);
    x = x.div(x.norm().clamp_min(kLeastNorm));
    for (std::int64_t i = 0; i < iterations; ++i) {
        const at::Tensor gram = x.matmul(x.t());
        const at::Tensor polynomial = at::addmm(gram, gram, gram, kB, kC);
        x = at::addmm(x, polynomial, x, kA);
    }
    return tall ? x.t() : x;
}

/// The factor on the rate. A kernel's sides are equal, which leaves the original scaling at 1.
double rateFactor(projects::MuonScaling scaling, at::IntArrayRef shape, at::IntArrayRef matrix)
{
    if (scaling == projects::MuonScaling::Moonlight) {
        return 0.2 * std::sqrt(static_cast<double>(std::max(matrix[0], matrix[1])));
    }
    const double ratio = static_cast<double>(matrix[0]) / static_cast<double>(matrix[1]);
    return shape.size() > 2 ? 1.0 : std::sqrt(std::max(1.0, ratio));
}

} // namespace

void update(const projects::Muon& muon, const UpdateGroup& group, const UpdateStep& step)
{
    for (const UpdateGroup::Member& member : group.members) {
        const at::Tensor gradient = step.gradientOf(member);
        const at::Tensor momentum = (*member.states)["momentum"];
        const at::Tensor mean = momentum.lerp(gradient, 1 - muon.momentum);
        step.store(momentum, mean);
        const at::Tensor direction = (muon.nesterov ? gradient.lerp(mean, muon.momentum) : mean).flatten(1);
        const at::ScalarType type = step.roundsTo16 ? at::kBFloat16 : direction.scalar_type();
        const at::Tensor change = orthogonalised(direction, muon.iterations, type).to(direction.scalar_type());
        const double rate = step.rate * rateFactor(muon.scaling, member.parameter.sizes(), direction.sizes());
        const at::Tensor decayed = member.parameter.mul(1 - step.rate * group.rule.weightDecay);
        step.store(member.parameter, decayed.add(change.view_as(decayed), -rate));
    }
}

} // namespace residua::engine
