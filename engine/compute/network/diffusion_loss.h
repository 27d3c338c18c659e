// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/theory/noise_schedule.h"
#include "projects/model/diffusion.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// The loss of a network that predicts the noise in examples, and perhaps the variances of the steps back. Engine
/// thread.
class DiffusionLoss {
public:
    explicit DiffusionLoss(const projects::Diffusion& diffusion);

    /// Returns the mean over batch and features of (ε_θ − ε)² (Ho et al., 2020, equation 14). With learned variances,
    /// adds the mean of each step's term of the variational bound in bits, in which ε_θ has no gradient (Nichol and
    /// Dhariwal, 2021, equations 15 and 16, with λ = 1). Shapes: output [batch, d], with variances [batch, 2 d]; noise
    /// and input, the example with noise, [batch, d]; step [batch] tokens. A scalar in the type of `output`.
    [[nodiscard]] at::Tensor of(const at::Tensor& output, const at::Tensor& noise, const at::Tensor& input,
                                const at::Tensor& step);

private:
    /// Returns the table's rows, by the columns below, of each step on its device, [batch, 1] each.
    [[nodiscard]] at::Tensor rowsOf(const at::Tensor& step, const at::Tensor& like);

    bool m_learnsVariance;
    at::Tensor m_table; ///< a row for each step, in double on the CPU
    at::Tensor m_there; ///< the same in the type and on the device of the last batch
};

/// Returns ln σ² of a step back from the second half of an output, f = (v + 1) / 2 of the way from ln β̃ to ln β.
[[nodiscard]] at::Tensor logVarianceOf(const at::Tensor& output, const at::Tensor& logPosterior,
                                       const at::Tensor& logBeta);

} // namespace residua::engine
