// SPDX-License-Identifier: GPL-3.0-or-later
// Muon (Jordan): momentum, made nearly orthogonal. Moonlight's momentum is a multiple of it, so that the two differ by
// the factor on the rate alone.
#include "engine/train/updates.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>
#include <cmath>

namespace residua::engine {
namespace {

/// beta·c + alpha·a·b of matrices or of batches of them
at::Tensor sumWithProduct(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, double beta, double alpha)
{
    return c.dim() == 2 ? at::addmm(c, a, b, beta, alpha) : at::baddbmm(c, a, b, beta, alpha);
}

/// Matrices with the singular vectors of `matrices` and singular values near 1, by iterations of Newton and Schulz.
at::Tensor orthogonalised(const at::Tensor& matrices, std::int64_t iterations, at::ScalarType type)
{
    constexpr double kA = 3.4445;
    constexpr double kB = -4.7750;
    constexpr double kC = 2.0315;
    constexpr double kLeastNorm = 1e-7;
    const bool tall = matrices.size(1) > matrices.size(2);
    at::Tensor x = matrices.size(0) == 1 ? matrices[0].to(type) : matrices.to(type); // a batch of one would be slower
    x = tall ? x.mT() : x;
    x = x.div(at::linalg_vector_norm(x, 2, {{-2, -1}}, true).clamp_min(kLeastNorm));
    for (std::int64_t i = 0; i < iterations; ++i) {
        const at::Tensor gram = x.matmul(x.mT());
        const at::Tensor polynomial = sumWithProduct(gram, gram, gram, kB, kC);
        x = sumWithProduct(x, polynomial, x, kA, 1);
    }
    return tall ? x.mT() : x;
}

/// The factor on the rate for kernels or matrices [members, …] and their form as matrices. A kernel's sides are equal,
/// which leaves the original scaling at 1.
double rateFactor(projects::MuonScaling scaling, at::IntArrayRef shape, at::IntArrayRef matrices)
{
    if (scaling == projects::MuonScaling::Moonlight) {
        return 0.2 * std::sqrt(static_cast<double>(std::max(matrices[1], matrices[2])));
    }
    const double ratio = static_cast<double>(matrices[1]) / static_cast<double>(matrices[2]);
    return shape.size() > 3 ? 1.0 : std::sqrt(std::max(1.0, ratio));
}

} // namespace

void update(const projects::Muon& muon, const UpdateGroup& group, const UpdateStep& step)
{
    for (const UpdateGroup& part : group.parts(step.joinsBytes)) {
        const at::Tensor gradients = step.gradientsOf(part);
        const JoinedTensors parameters(part.parameters());
        const JoinedTensors momenta(part.states("momentum"));
        const at::Tensor means = momenta.values.lerp(gradients, 1 - muon.momentum);
        step.store(momenta, means);
        const at::Tensor directions = (muon.nesterov ? gradients.lerp(means, muon.momentum) : means).flatten(2);
        const at::ScalarType type = step.roundsTo16 ? at::kBFloat16 : directions.scalar_type();
        const at::Tensor changes = orthogonalised(directions, muon.iterations, type).to(directions.scalar_type());
        const double rate = step.rate * rateFactor(muon.scaling, parameters.values.sizes(), directions.sizes());
        const at::Tensor decayed = parameters.values.mul(1 - step.rate * group.rule.weightDecay);
        step.store(parameters, decayed.add(changes.reshape(decayed.sizes()), -rate));
    }
}

} // namespace residua::engine
