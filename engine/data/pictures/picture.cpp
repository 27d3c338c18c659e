// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::engine {
namespace {

/// The positions of the input that one position of the output is a weighted sum of.
struct Reach {
    std::int64_t first = 0;
    std::vector<float> weights;
};

/// Returns the reach of each of `to` positions, the centre of `from` positions at `scale` outputs per input. The filter
/// is a triangle, as wide as an output position if the picture shrinks.
std::vector<Reach> reachesOf(std::int64_t from, std::int64_t to, double scale)
{
    std::vector<Reach> reaches;
    const double radius = std::max(1.0, 1.0 / scale);
    const double middle = static_cast<double>(from) / 2.0;
    for (std::int64_t i = 0; i < to; ++i) {
        const double at = middle + (static_cast<double>(i) + 0.5 - static_cast<double>(to) / 2.0) / scale;
        const auto low = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(at - radius)), 0, from - 1);
        const auto high = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(at + radius)), low, from - 1);
        Reach reach{low, {}};
        double sum = 0;
        for (std::int64_t j = low; j <= high; ++j) {
            const double weight = std::max(0.0, 1.0 - std::abs(static_cast<double>(j) + 0.5 - at) / radius);
            reach.weights.push_back(static_cast<float>(weight));
            sum += weight;
        }
        for (float& weight : reach.weights) {
            weight = sum > 0 ? static_cast<float>(weight / sum) : 1.0F / static_cast<float>(reach.weights.size());
        }
        reaches.push_back(std::move(reach));
    }
    return reaches;
}

/// Returns the sum of `reach` over values that are `stride` apart.
float summed(const float* values, std::int64_t stride, const Reach& reach)
{
    float sum = 0;
    for (std::size_t k = 0; k < reach.weights.size(); ++k) {
        sum += reach.weights[k] * values[(reach.first + static_cast<std::int64_t>(k)) * stride];
    }
    return sum;
}

/// Returns Rec. 601 luma. The current reading rounds the weights to 16 bits, as Pillow does.
std::uint8_t greyOf(const std::uint8_t* rgb, ReadingVersion reading)
{
    return static_cast<std::uint8_t>(reading == ReadingVersion::First
                                         ? (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000
                                         : (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 0x8000) >> 16);
}

Picture inChannels(Picture picture, std::int64_t channels, ReadingVersion reading)
{
    const std::int64_t had = std::exchange(picture.form.channels, channels);
    if (had == channels) {
        return picture;
    }
    std::vector<std::uint8_t> values(static_cast<std::size_t>(picture.form.values()));
    const auto pixels = static_cast<std::size_t>(picture.form.height * picture.form.width);
    for (std::size_t i = 0; i < pixels; ++i) {
        if (had == 1) {
            std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(i * static_cast<std::size_t>(channels)), channels,
                        picture.values[i]);
        } else {
            values[i] = greyOf(picture.values.data() + 3 * i, reading);
        }
    }
    picture.values = std::move(values);
    return picture;
}

/// Returns the picture scaled by these factors, and its centre cropped to the form.
Picture scaled(Picture picture, const PictureForm& form, double high, double wide, ReadingVersion reading)
{
    const PictureForm from = picture.form;
    const std::vector<float> values(picture.values.begin(), picture.values.end());
    const std::vector<Reach> columns = reachesOf(from.width, form.width, wide);
    std::vector<float> narrow; // [from.height, form.width, channels]
    narrow.reserve(static_cast<std::size_t>(from.height * form.width * from.channels));
    for (std::int64_t y = 0; y < from.height; ++y) {
        for (const Reach& column : columns) {
            for (std::int64_t c = 0; c < from.channels; ++c) {
                narrow.push_back(summed(values.data() + y * from.width * from.channels + c, from.channels, column));
            }
        }
    }
    Picture result{{form.height, form.width, from.channels}, {}};
    const std::int64_t stride = form.width * from.channels;
    for (const Reach& row : reachesOf(from.height, form.height, high)) {
        for (std::int64_t x = 0; x < stride; ++x) {
            const float value = std::clamp(summed(narrow.data() + x, stride, row), 0.0F, 255.0F);
            result.values.push_back(static_cast<std::uint8_t>(std::lround(value)));
        }
    }
    return inChannels(std::move(result), form.channels, reading);
}

double ratio(std::int64_t to, std::int64_t from)
{
    return static_cast<double>(to) / static_cast<double>(from);
}

} // namespace

Picture fitted(Picture picture, const PictureForm& form, ReadingVersion reading)
{
    const double scale = std::max(ratio(form.height, picture.form.height), ratio(form.width, picture.form.width));
    const bool fits = picture.form.height == form.height && picture.form.width == form.width;
    return fits ? inChannels(std::move(picture), form.channels, reading)
                : scaled(std::move(picture), form, scale, scale, reading);
}

Picture stretched(Picture picture, const PictureForm& form, ReadingVersion reading)
{
    const double high = ratio(form.height, picture.form.height);
    const double wide = ratio(form.width, picture.form.width);
    return scaled(std::move(picture), form, high, wide, reading);
}

Picture laidOn(int background, const PictureForm& form, std::span<const std::uint8_t> values)
{
    const auto channels = static_cast<std::size_t>(form.channels);
    Picture laid{form, {}};
    laid.values.reserve(values.size() / (channels + 1) * channels);
    for (std::size_t i = 0; i + channels < values.size(); i += channels + 1) {
        const int opacity = values[i + channels];
        laid.wasTransparent = laid.wasTransparent || opacity < 255;
        for (std::size_t c = 0; c < channels; ++c) {
            laid.values.push_back(
                static_cast<std::uint8_t>((values[i + c] * opacity + background * (255 - opacity) + 127) / 255));
        }
    }
    return laid;
}

} // namespace residua::engine
