// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/image_generation.h"

#include "engine/compute/train/tensor_io.h"
#include "projects/nodes/example_schema.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/TensorOptions.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

constexpr std::int64_t kMostAtOnce = 64;    ///< images of a batch, so that finished ones are seen early
constexpr std::int64_t kRecordedSteps = 20; ///< from noise to a recorded image

} // namespace

ImageGeneration::ImageGeneration(TrainedState state, const Generation& generation, std::int64_t seed,
                                 std::int64_t otherwise)
    : m_state(std::move(state)), m_count(generation.samples > 0 ? generation.samples : otherwise)
{
    const projects::DataSource& data = m_state.project.data;
    m_options = {.diffusion = data.diffusion,
                 .size = *projects::imageSizeOf(data.source),
                 .classes = projects::examplesOf(data).target().vocabulary,
                 .generation = generation,
                 .seed = seed};
    m_each = static_cast<std::size_t>(m_options.size.channels * m_options.size.height * m_options.size.width);
}

void ImageGeneration::beginBatch()
{
    const std::int64_t first = std::ssize(m_classes);
    const std::int64_t most = std::clamp<std::int64_t>(m_state.project.training.batch, 1, kMostAtOnce);
    std::vector<std::int64_t> classes;
    for (std::int64_t i = first; i < std::min(m_count, first + most); ++i) {
        classes.push_back(m_options.generation.ofClass >= 0 ? m_options.generation.ofClass : i % m_options.classes);
    }
    m_classes.insert(m_classes.end(), classes.begin(), classes.end());
    const at::ScalarType type = parameterType(m_state.project.training.precision);
    NoiseModel predicts = [&network = m_state.network, pass = passAfter(m_state.step)](
                              const at::Tensor& x, const at::Tensor& steps, const at::Tensor& labels) {
        return network.forward(DeviceBatch{x, {}, {{projects::kTimestep, steps}, {projects::kClass, labels}}}, pass);
    };
    m_chain.emplace(std::move(predicts), m_options, classes, first,
                    at::TensorOptions().dtype(type).device(m_state.device));
    m_steps = m_chain->left();
}

void ImageGeneration::advance()
{
    const at::NoGradGuard noGrad;
    if (!m_chain) {
        beginBatch();
    }
    m_chain->advance();
    if (m_chain->atEnd()) {
        const at::Tensor images = m_chain->images().to(at::kCPU, at::kFloat).contiguous();
        const float* const values = images.const_data_ptr<float>();
        m_values.insert(m_values.end(), values, values + images.numel());
        m_chain.reset();
    }
}

double ImageGeneration::share() const
{
    const auto total = static_cast<double>(m_count);
    const auto current = static_cast<double>(m_classes.size() - finished());
    const double ofCurrent = m_chain ? 1 - static_cast<double>(m_chain->left()) / static_cast<double>(m_steps) : 0;
    return (static_cast<double>(finished()) + current * ofCurrent) / total;
}

FedBatch ImageGeneration::shown() const
{
    const std::span<const std::int64_t> all = classes();
    return madeImages(m_state.dataset, m_values, {all.begin(), all.end()}, m_state.project.data);
}

std::optional<Event> GenerationNews::take(const ImageGeneration& generation)
{
    if (generation.share() <= m_share) {
        return std::nullopt;
    }
    m_share = generation.share();
    QueryProgress progress{m_tag, m_share};
    if (m_shows == Shows::Images && generation.classes().size() > m_finished) {
        m_finished = generation.classes().size();
        progress.made = generation.shown();
    }
    return progress;
}

Status measureSamples(const TrainedState& state, Measured& measured)
{
    if (projects::sampleUseOf(state.project.network.objective) != projects::SampleUse::Generate) {
        return Done{};
    }
    const Generation few{.steps = std::min(kRecordedSteps, state.project.data.diffusion.steps),
                         .sampler = DiffusionSampler::Ddim};
    ImageGeneration generation(state, few, /*seed=*/1, kSampledImages);
    while (!generation.atEnd()) {
        generation.advance();
    }
    measured.matrices.push_back(recordedImages(generation.values(), kSampledImages, state.project.data, state.step));
    return Done{};
}

Matrix ImageGeneration::asData() const
{
    const auto* const latents = std::get_if<projects::LatentData>(&m_state.project.data.source);
    Matrix matrix{MatrixName("made"), m_state.step, static_cast<std::int64_t>(finished()),
                  static_cast<std::int64_t>(m_each), m_values};
    for (float& value : matrix.values) {
        value = latents != nullptr ? static_cast<float>(value / latents->scale) : value;
    }
    return matrix;
}

} // namespace residua::engine
