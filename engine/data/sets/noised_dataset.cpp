// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/noised_dataset.h"

#include "projects/base/random.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

namespace residua::engine {
namespace {

void fillGaussian(std::span<float> values, RandomStream& random)
{
    for (std::size_t i = 0; i < values.size(); i += 2) {
        const double first = random.uniform();
        const std::array<double, 2> pair = gaussianPair(first, random.uniform());
        values[i] = static_cast<float>(pair[0]);
        if (i + 1 < values.size()) {
            values[i + 1] = static_cast<float>(pair[1]);
        }
    }
}

} // namespace

NoisedDataset::NoisedDataset(std::unique_ptr<Dataset> images, const projects::Diffusion& diffusion,
                             std::int64_t dataSeed)
    : HidingDataset(std::move(images), dataSeed), m_diffusion(diffusion), m_schedule(diffusion)
{
}

projects::ExampleSchema NoisedDataset::schema() const
{
    return windows().schema().noised(m_diffusion);
}

Status NoisedDataset::hide(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const
{
    const auto count = static_cast<std::size_t>(batch.batch);
    const std::vector<std::int64_t> labels = batch.values<std::int64_t>(1);
    batch.fields.resize(1);
    batch.values<std::int64_t>(3) =
        labels; // the last field first, because a new one makes references to others invalid
    std::vector<std::int64_t>& classes = batch.values<std::int64_t>(3);
    std::vector<std::int64_t>& steps = batch.values<std::int64_t>(2);
    std::vector<float>& noise = batch.values<float>(1);
    std::vector<float>& inputs = batch.values<float>(0);
    const std::size_t features = count == 0 ? 0 : inputs.size() / count;
    const std::int64_t null = windows().schema().target().vocabulary;
    const std::uint64_t stream = streamOf(Stream::Diffusion, static_cast<std::uint64_t>(split));
    steps.resize(count);
    noise.resize(inputs.size());
    for (std::size_t row = 0; row < count; ++row) {
        const auto number = static_cast<std::uint64_t>(first) + row;
        RandomStream random(drawBits(static_cast<std::uint64_t>(seed), stream, number), 0);
        steps[row] = random.below(m_diffusion.steps);
        const bool drops = random.uniform() < m_diffusion.labelDropout;
        classes[row] = drops && !isEvaluation(first) ? null : classes[row];
        const double alphaBar = m_schedule.alphaBar(static_cast<std::size_t>(steps[row]));
        const double signal = std::sqrt(alphaBar);
        const double deviation = std::sqrt(1 - alphaBar);
        const auto x = std::span(inputs).subspan(row * features, features);
        const auto epsilon = std::span(noise).subspan(row * features, features);
        fillGaussian(epsilon, random);
        for (std::size_t i = 0; i < features; ++i) {
            x[i] = static_cast<float>(signal * double{x[i]} + deviation * double{epsilon[i]});
        }
    }
    return Done{};
}

} // namespace residua::engine
