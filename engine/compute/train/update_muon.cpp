// SPDX-License-Identifier: GPL-3.0-or-later
// Muon (Jordan): momentum, made nearly orthogonal. Moonlight's momentum is a multiple of it, so that the two differ by
// the factor on the rate alone.
#include "engine/compute/train/updates.h"

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

/// Views parameters [members, …] as tensors [matrices, rows, …].
at::Tensor matricesIn(const at::Tensor& parameters, const projects::MatrixForm& form)
{
    return form.stacks ? parameters.flatten(0, 1).movedim(form.rows, 1) : parameters.movedim(form.rows + 1, 1);
}

/// Undoes matricesIn() for parameters of this shape.
at::Tensor parametersOf(const at::Tensor& matrices, const projects::MatrixForm& form, at::IntArrayRef shape)
{
    return matrices.movedim(1, form.stacks ? form.rows : form.rows + 1).reshape(shape);
}

/// The factor on the rate for matrices [members, rows, columns]. The sides of a kernel are equal, which leaves the
/// original scaling at 1.
double rateFactor(projects::MuonScaling scaling, bool isKernel, at::IntArrayRef matrices)
{
    if (scaling == projects::MuonScaling::Moonlight) {
        return 0.2 * std::sqrt(static_cast<double>(std::max(matrices[1], matrices[2])));
    }
    const double ratio = static_cast<double>(matrices[1]) / static_cast<double>(matrices[2]);
    return isKernel ? 1.0 : std::sqrt(std::max(1.0, ratio));
}

} // namespace

void update(const projects::Muon& muon, const UpdateGroup& group, const UpdateStep& step)
{
    const projects::MatrixForm form = group.rule.matrix.value_or(projects::MatrixForm());
    for (const UpdateGroup& part : group.parts(step.joinsBytes)) {
        const at::Tensor gradients = step.gradientsOf(part);
        const JoinedTensors parameters(part.parameters());
        const JoinedTensors momenta(part.states(muon, &StateTensors<projects::Muon>::momentum));
        const at::Tensor means = momenta.values.lerp(gradients, 1 - muon.momentum);
        step.store(momenta, means);
        const at::Tensor moved = matricesIn(muon.nesterov ? gradients.lerp(means, muon.momentum) : means, form);
        const at::Tensor directions = moved.flatten(2);
        const at::ScalarType type = step.roundsTo16 ? at::kBFloat16 : directions.scalar_type();
        const at::Tensor changes = orthogonalised(directions, muon.iterations, type).to(directions.scalar_type());
        const bool isKernel = !group.rule.matrix && moved.dim() > 3;
        const double rate = step.rate * rateFactor(muon.scaling, isKernel, directions.sizes());
        const at::Tensor decayed = parameters.values.mul(1 - step.rate * group.rule.weightDecay);
        step.store(parameters, decayed.add(parametersOf(changes.reshape(moved.sizes()), form, decayed.sizes()), -rate));
    }
}

} // namespace residua::engine
