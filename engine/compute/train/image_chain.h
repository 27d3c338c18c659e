// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/measure_queries.h"
#include "engine/maths/theory/noise_schedule.h"
#include "projects/base/random.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace residua::engine {

/// Returns an error if the project's network cannot make such images: a class or a number of steps out of range, or
/// guidance without label dropout. The place is the option.
[[nodiscard]] Status checkGeneration(const projects::Project& project, const Generation& generation);

/// A network that predicts noise: of images x [batch, d], steps of training [batch] and classes [batch] it returns the
/// noise [batch, d], and with learned variances [batch, 2 d].
using NoiseModel = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& steps, const at::Tensor& classes)>;

/// The settings of a chain.
struct ChainOptions {
    projects::Diffusion diffusion;
    projects::ImageSize size;
    std::int64_t classes = 0; ///< their number, which is the null class
    Generation generation;
    std::int64_t seed = 1;
};

/// A batch of images on their way from noise, step by step, with
///     x₀ = (x − √(1 − ᾱ) ε) / √ᾱ and, with ᾱ' of the step before,
///     DDPM: x' = √ᾱ' β / (1 − ᾱ) x₀ + √(1 − β) (1 − ᾱ') / (1 − ᾱ) x + σ z (Ho et al., 2020, equation 7);
///     DDIM: x' = √ᾱ' x₀ + √(1 − ᾱ') ε (Song et al., 2021, equation 12 with η = 0).
/// σ² is learned, or else β; the last step draws nothing. The noise of an image depends on the seed and its number
/// alone, not on the batch. Engine thread.
class ImageChain {
public:
    /// Begins with images of these classes, numbered from `first`. `like` has the type and the device.
    ImageChain(NoiseModel model, const ChainOptions& options, const std::vector<std::int64_t>& classes,
               std::int64_t first, const at::TensorOptions& like);

    /// Makes a step. Precondition: !atEnd().
    void advance();
    [[nodiscard]] bool atEnd() const { return m_left == 0; }
    /// Returns the number of steps that are left.
    [[nodiscard]] std::size_t left() const { return m_left; }
    /// Returns [images, d].
    [[nodiscard]] const at::Tensor& images() const { return m_images; }

private:
    [[nodiscard]] at::Tensor noise();
    /// Returns the model's output with guidance.
    [[nodiscard]] at::Tensor predicted(std::int64_t step) const;

    NoiseModel m_model;
    ChainOptions m_options;
    NoiseSchedule m_schedule;
    std::vector<RandomStream> m_random; ///< of each image
    at::Tensor m_classes;
    at::Tensor m_images;
    std::size_t m_left = 0;
};

} // namespace residua::engine
