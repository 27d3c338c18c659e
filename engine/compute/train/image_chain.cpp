// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/image_chain.h"

#include "engine/compute/network/diffusion_loss.h"
#include "projects/nodes/example_schema.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace residua::engine {
namespace {

std::vector<std::int64_t> stepsOf(const projects::Diffusion& diffusion, const Generation& generation)
{
    const std::int64_t count = generation.steps > 0 ? generation.steps : diffusion.steps;
    return generation.sampler == DiffusionSampler::Ddim ? stridedSteps(diffusion.steps, count)
                                                        : evenSteps(diffusion.steps, count);
}

} // namespace

Status checkGeneration(const projects::Project& project, const Generation& generation)
{
    const std::int64_t classes = projects::examplesOf(project.data).target().vocabulary;
    if (generation.ofClass >= classes) {
        return Error{"class", "got " + std::to_string(generation.ofClass) + ", expected 0 to " +
                                  std::to_string(classes - 1) + ", the classes of the run \"" + project.name + "\""};
    }
    if (generation.steps > project.data.diffusion.steps) {
        return Error{"steps", "got " + std::to_string(generation.steps) + ", expected at most " +
                                  std::to_string(project.data.diffusion.steps) + ", the steps of training"};
    }
    if (generation.guidance != 1 && project.data.diffusion.labelDropout == 0) {
        return Error{"guidance", "the run \"" + project.name +
                                     "\" was trained without label dropout, so its network knows no null class: "
                                     "expected 1, or a run with data · diffusion · label dropout above 0"};
    }
    return Done{};
}

ImageChain::ImageChain(NoiseModel model, const ChainOptions& options, const std::vector<std::int64_t>& classes,
                       std::int64_t first, const at::TensorOptions& like)
    : m_model(std::move(model)),
      m_options(options),
      m_schedule(NoiseSchedule(options.diffusion).of(stepsOf(options.diffusion, options.generation))),
      m_left(m_schedule.size())
{
    for (std::size_t i = 0; i < classes.size(); ++i) {
        m_random.emplace_back(drawBits(static_cast<std::uint64_t>(options.seed), streamOf(Stream::Samples),
                                       static_cast<std::uint64_t>(first) + i),
                              0);
    }
    m_classes = at::empty({std::ssize(classes)}, at::kLong);
    std::ranges::copy(classes, m_classes.mutable_data_ptr<std::int64_t>());
    m_classes = m_classes.to(like.device());
    m_images = at::empty({std::ssize(classes), options.size.channels * options.size.height * options.size.width}, like);
    m_images = noise();
}

at::Tensor ImageChain::noise()
{
    at::Tensor drawn = at::empty(m_images.sizes(), at::kDouble);
    double* value = drawn.mutable_data_ptr<double>();
    for (RandomStream& random : m_random) {
        for (std::int64_t i = 0; i < m_images.size(1); ++i) {
            *value++ = random.gaussian();
        }
    }
    return drawn.to(m_images.options());
}

at::Tensor ImageChain::predicted(std::int64_t step) const
{
    const at::Tensor steps = at::full(m_classes.sizes(), step, m_classes.options());
    if (m_options.generation.guidance == 1) {
        return m_model(m_images, steps, m_classes);
    }
    const at::Tensor null = at::full(m_classes.sizes(), m_options.classes, m_classes.options());
    const at::Tensor both = m_model(at::cat({m_images, m_images}), at::cat({steps, steps}), at::cat({m_classes, null}));
    const std::int64_t count = m_images.size(0);
    at::Tensor output = both.narrow(0, 0, count).clone();
    const at::Tensor without = both.narrow(0, count, count);
    const std::int64_t channels = m_options.generation.guidedChannels > 0
                                      ? std::min(m_options.generation.guidedChannels, m_options.size.channels)
                                      : m_options.size.channels;
    const std::int64_t guided = channels * m_options.size.height * m_options.size.width;
    at::Tensor part = output.narrow(1, 0, guided);
    const at::Tensor base = without.narrow(1, 0, guided);
    part.copy_(base + m_options.generation.guidance * (part - base));
    return output;
}

void ImageChain::advance()
{
    const std::size_t i = --m_left;
    const double alphaBar = m_schedule.alphaBar(i);
    const double before = m_schedule.alphaBarBefore(i);
    const double beta = m_schedule.beta(i);
    const std::int64_t features = m_images.size(1);
    const at::Tensor output = predicted(m_schedule.step(i)).to(m_images.scalar_type());
    const at::Tensor epsilon = output.narrow(1, 0, features);
    const at::Tensor start = (m_images - std::sqrt(1 - alphaBar) * epsilon) / std::sqrt(alphaBar);
    if (m_options.generation.sampler == DiffusionSampler::Ddim) {
        m_images = std::sqrt(before) * start + std::sqrt(1 - before) * epsilon;
        return;
    }
    at::Tensor next = std::sqrt(before) * beta / (1 - alphaBar) * start +
                      std::sqrt(1 - beta) * (1 - before) / (1 - alphaBar) * m_images;
    if (i > 0) {
        const auto number = [&](double value) { return at::scalar_tensor(value, m_images.options()); };
        const at::Tensor logVariance =
            m_options.diffusion.learnsVariance
                ? logVarianceOf(output.narrow(1, features, features), number(m_schedule.logPosteriorVariance(i)),
                                number(std::log(beta)))
                : number(std::log(beta));
        next = next + at::exp(logVariance * 0.5) * noise();
    }
    m_images = next;
}

} // namespace residua::engine
