// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/augment.h"

#include "engine/data/pictures/random_operation.h"
#include "projects/base/random.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

/// Moves the picture by whole pixels. Pixels from outside it are black.
void shift(Picture& picture, std::int64_t down, std::int64_t right)
{
    const auto [height, width, channels] = picture.form;
    std::vector<std::uint8_t> moved(picture.values.size(), 0);
    const std::int64_t columns = std::max<std::int64_t>(width - std::abs(right), 0) * channels;
    for (std::int64_t y = std::max<std::int64_t>(down, 0); y < height + std::min<std::int64_t>(down, 0); ++y) {
        const std::int64_t from = ((y - down) * width + std::max<std::int64_t>(-right, 0)) * channels;
        const std::int64_t to = (y * width + std::max<std::int64_t>(right, 0)) * channels;
        std::copy_n(picture.values.begin() + from, columns, moved.begin() + to);
    }
    picture.values = std::move(moved);
}

void mirror(Picture& picture)
{
    const auto [height, width, channels] = picture.form;
    for (std::int64_t y = 0; y < height; ++y) {
        std::uint8_t* const row = picture.values.data() + y * width * channels;
        for (std::int64_t left = 0, right = width - 1; left < right; ++left, --right) {
            std::swap_ranges(row + left * channels, row + (left + 1) * channels, row + right * channels);
        }
    }
}

/// Returns the mean and the deviation of a channel.
std::pair<double, double> normalOf(const projects::Augmentation& of, std::size_t channel)
{
    const double mean = channel == 0 ? of.mean : channel == 1 ? of.meanGreen : of.meanBlue;
    const double deviation = channel == 0 ? of.deviation : channel == 1 ? of.deviationGreen : of.deviationBlue;
    return {mean < 0 ? of.mean : mean, deviation > 0 ? deviation : of.deviation};
}

/// Draws the logarithm of a number from Gamma(alpha, 1): Marsaglia and Tsang, 2000, for alpha + 1, times u^(1/alpha).
double logOfGamma(double alpha, RandomStream& random)
{
    const double d = alpha + 1 - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = random.gaussian();
        const double v = std::pow(1 + c * x, 3);
        const double u = random.uniform();
        if (v > 0 && std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) {
            return std::log(d * v) + std::log(random.uniform()) / alpha;
        }
    }
}

} // namespace

void normalise(const Picture& picture, const projects::Augmentation& augmentation, std::span<float> out)
{
    const auto channels = static_cast<std::size_t>(picture.form.channels);
    const std::size_t pixels = picture.values.size() / channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const auto [mean, deviation] = normalOf(augmentation, channel);
        const double scale = 1.0 / (255.0 * deviation);
        const double offset = mean / deviation;
        for (std::size_t i = 0; i < pixels; ++i) {
            out[channel * pixels + i] = static_cast<float>(picture.values[i * channels + channel] * scale - offset);
        }
    }
}

Picture shownAgain(std::span<const float> values, const PictureForm& form, const projects::Augmentation& augmentation)
{
    Picture picture{form, std::vector<std::uint8_t>(values.size())};
    const auto channels = static_cast<std::size_t>(form.channels);
    const std::size_t pixels = values.size() / channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const auto [mean, deviation] = normalOf(augmentation, channel);
        for (std::size_t i = 0; i < pixels; ++i) {
            const double value = 255 * (values[channel * pixels + i] * deviation + mean);
            picture.values[i * channels + channel] =
                static_cast<std::uint8_t>(std::lround(std::fmin(std::fmax(value, 0.0), 255.0))); // black if NaN
        }
    }
    return picture;
}

Picture randomPart(Picture picture, double leastArea, const PictureForm& form, std::uint64_t key,
                   ReadingVersion reading)
{
    constexpr int kTries = 10;
    constexpr double kNarrowest = 3.0 / 4;
    constexpr double kWidest = 4.0 / 3;
    RandomStream random(key, streamOf(Stream::Crops));
    const auto [height, width, channels] = picture.form;
    for (int i = 0; i < kTries; ++i) {
        const double area = (leastArea + (1 - leastArea) * random.uniform()) * static_cast<double>(height * width);
        const double aspect = kNarrowest + (kWidest - kNarrowest) * random.uniform();
        const auto high = std::max<std::int64_t>(std::llround(std::sqrt(area / aspect)), 1);
        const auto wide = std::max<std::int64_t>(std::llround(std::sqrt(area * aspect)), 1);
        if (high <= height && wide <= width) {
            const std::int64_t top = random.below(height - high + 1);
            const std::int64_t left = random.below(width - wide + 1);
            Picture part{{high, wide, channels}, {}};
            for (std::int64_t y = top; y < top + high; ++y) {
                const auto first = picture.values.begin() + (y * width + left) * channels;
                part.values.insert(part.values.end(), first, first + wide * channels);
            }
            return stretched(std::move(part), form, reading);
        }
    }
    return stretched(std::move(picture), form, reading);
}

void augment(Picture& picture, const projects::Augmentation& augmentation, std::uint64_t key)
{
    RandomStream random(key, streamOf(Stream::Changes));
    const std::int64_t places = 2 * augmentation.padding + 1;
    const std::int64_t down = random.below(places) - augmentation.padding;
    const std::int64_t right = random.below(places) - augmentation.padding;
    if (down != 0 || right != 0) {
        shift(picture, down, right);
    }
    if (augmentation.flip && random.uniform() < 0.5) {
        mirror(picture);
    }
    for (std::int64_t i = 0; i < augmentation.operations; ++i) {
        apply(picture, drawOperation(picture.form, augmentation.magnitude, random));
    }
}

double mixedShare(double alpha, std::uint64_t key)
{
    RandomStream random(key, streamOf(Stream::Changes));
    const double first = logOfGamma(alpha, random);
    const double second = logOfGamma(alpha, random);
    return 1 / (1 + std::exp(std::abs(first - second)));
}

void mixWith(std::span<float> example, std::span<const float> other, double share)
{
    const auto part = static_cast<float>(share);
    for (std::size_t i = 0; i < example.size(); ++i) {
        example[i] += part * (other[i] - example[i]);
    }
}

} // namespace residua::engine
