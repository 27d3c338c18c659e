// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/random_operation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

using Values = std::vector<std::uint8_t>;
using Table = std::array<std::uint8_t, 256>;

constexpr std::uint8_t kFill = 128;
constexpr double kUsualSide = 224; ///< of the pictures that the lengths are given for

std::int64_t channelsOf(const Picture& picture)
{
    return picture.form.channels;
}

/// Maps every value of one channel by a table.
void mapChannel(Picture& picture, std::int64_t channel, const Table& table)
{
    for (auto i = static_cast<std::size_t>(channel); i < picture.values.size();
         i += static_cast<std::size_t>(channelsOf(picture))) {
        picture.values[i] = table[picture.values[i]];
    }
}

template <class Function>
void mapAll(Picture& picture, Function&& of)
{
    std::ranges::transform(picture.values, picture.values.begin(),
                           [&](std::uint8_t value) { return static_cast<std::uint8_t>(of(int{value})); });
}

std::array<std::int64_t, 256> histogramOf(const Picture& picture, std::int64_t channel)
{
    std::array<std::int64_t, 256> counts{};
    for (auto i = static_cast<std::size_t>(channel); i < picture.values.size();
         i += static_cast<std::size_t>(channelsOf(picture))) {
        ++counts[picture.values[i]];
    }
    return counts;
}

void autoContrast(Picture& picture, std::int64_t channel)
{
    const std::array<std::int64_t, 256> counts = histogramOf(picture, channel);
    const auto isThere = [](std::int64_t count) { return count > 0; };
    const auto low = std::ranges::find_if(counts, isThere) - counts.begin();
    const auto high = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), isThere) - 1;
    if (high <= low) {
        return;
    }
    Table table{};
    for (auto value = low; value <= high; ++value) {
        table[static_cast<std::size_t>(value)] = static_cast<std::uint8_t>((value - low) * 255 / (high - low));
    }
    mapChannel(picture, channel, table);
}

void equalize(Picture& picture, std::int64_t channel)
{
    const std::array<std::int64_t, 256> counts = histogramOf(picture, channel);
    const auto last = std::find_if(counts.rbegin(), counts.rend(), [](std::int64_t count) { return count > 0; });
    const std::int64_t pixels = picture.form.height * picture.form.width;
    const std::int64_t step = last == counts.rend() ? 0 : (pixels - *last) / 255;
    if (step == 0) {
        return;
    }
    Table table{};
    std::int64_t below = 0;
    for (std::size_t value = 0; value < table.size(); ++value) {
        // A value that no pixel is below becomes 0, as in the reference.
        table[value] =
            value == 0 ? 0 : static_cast<std::uint8_t>(std::min<std::int64_t>((below + step / 2) / step, 255));
        below += counts[value];
    }
    mapChannel(picture, channel, table);
}

/// Returns `from` + `factor` · (`to` − `from`), cut off to 0 to 255 and to an integer.
std::uint8_t blended(double from, double to, double factor)
{
    return static_cast<std::uint8_t>(std::clamp(from + factor * (to - from), 0.0, 255.0));
}

std::vector<std::uint8_t> greyOf(const Picture& picture)
{
    // Drawn changes do not depend on the version of the reading.
    const Picture grey = fitted(picture, {picture.form.height, picture.form.width, 1}, ReadingVersion::First);
    return grey.values;
}

void colour(Picture& picture, double factor)
{
    const Values grey = greyOf(picture);
    const auto channels = static_cast<std::size_t>(channelsOf(picture));
    for (std::size_t i = 0; i < picture.values.size(); ++i) {
        picture.values[i] = blended(grey[i / channels], picture.values[i], factor);
    }
}

void contrast(Picture& picture, double factor)
{
    const Values grey = greyOf(picture);
    double sum = 0;
    for (const std::uint8_t value : grey) {
        sum += value;
    }
    const double mean = std::floor(sum / static_cast<double>(grey.size()) + 0.5);
    mapAll(picture, [&](int value) { return blended(mean, value, factor); });
}

/// Smooths by the kernel with the weight 5 in its centre and 1 around it. The border stays as it is.
void sharpen(Picture& picture, double factor)
{
    const auto [height, width, channels] = picture.form;
    const Values before = picture.values;
    const std::int64_t line = width * channels;
    for (std::int64_t y = 1; y + 1 < height; ++y) {
        for (std::int64_t x = channels; x + channels < line; ++x) {
            const std::int64_t at = y * line + x;
            std::int64_t sum = 4 * before[static_cast<std::size_t>(at)];
            for (const std::int64_t row : {-line, std::int64_t{0}, line}) {
                for (const std::int64_t column : {-channels, std::int64_t{0}, channels}) {
                    sum += before[static_cast<std::size_t>(at + row + column)];
                }
            }
            picture.values[static_cast<std::size_t>(at)] =
                blended(static_cast<double>(sum / 13), before[static_cast<std::size_t>(at)], factor);
        }
    }
}

/// The point of the input that a point of the output is read from: (x·xx + y·xy + x0, x·yx + y·yy + y0).
struct Affine {
    double xx = 1;
    double xy = 0;
    double x0 = 0;
    double yx = 0;
    double yy = 1;
    double y0 = 0;
};

/// Returns the map that turns about the centre of a picture.
Affine rotation(const PictureForm& form, double degrees)
{
    const double angle = degrees * std::numbers::pi / 180;
    const double x = static_cast<double>(form.width - 1) / 2;
    const double y = static_cast<double>(form.height - 1) / 2;
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    return {c, -s, x - c * x + s * y, s, c, y - s * x - c * y};
}

/// Reads each pixel from the nearest one.
void warp(Picture& picture, const Affine& map)
{
    const auto [height, width, channels] = picture.form;
    const Values before = std::exchange(picture.values, Values(picture.values.size(), kFill));
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            const auto dx = static_cast<double>(x);
            const auto dy = static_cast<double>(y);
            const std::int64_t column = std::llround(map.xx * dx + map.xy * dy + map.x0);
            const std::int64_t row = std::llround(map.yx * dx + map.yy * dy + map.y0);
            if (column >= 0 && column < width && row >= 0 && row < height) {
                std::copy_n(before.begin() + (row * width + column) * channels, channels,
                            picture.values.begin() + (y * width + x) * channels);
            }
        }
    }
}

void cutOut(Picture& picture, const AppliedOperation& of)
{
    const auto [height, width, channels] = picture.form;
    const auto half = static_cast<std::int64_t>(of.amount);
    const std::int64_t left = std::max<std::int64_t>(of.column - half, 0);
    const std::int64_t right = std::min(of.column + half, width);
    for (std::int64_t y = std::max<std::int64_t>(of.row - half, 0); y < std::min(of.row + half, height); ++y) {
        std::fill_n(picture.values.begin() + (y * width + left) * channels,
                    std::max<std::int64_t>(right - left, 0) * channels, kFill);
    }
}

double amountOf(PictureOperation operation, const PictureForm& form, double strength)
{
    const auto height = static_cast<double>(form.height);
    const auto width = static_cast<double>(form.width);
    switch (operation) {
    case PictureOperation::Rotate:
        return 30 * strength;
    case PictureOperation::Posterize:
        return std::floor(4 * strength);
    case PictureOperation::Solarize:
        return std::floor(256 * strength);
    case PictureOperation::Colour:
    case PictureOperation::Contrast:
    case PictureOperation::Brightness:
    case PictureOperation::Sharpness:
        return 1.8 * strength + 0.1;
    case PictureOperation::ShearX:
    case PictureOperation::ShearY:
        return 0.3 * strength;
    case PictureOperation::TranslateX:
        return 100 * strength * width / kUsualSide;
    case PictureOperation::TranslateY:
        return 100 * strength * height / kUsualSide;
    case PictureOperation::Cutout:
        return std::floor(40 * strength * std::min(height, width) / kUsualSide);
    case PictureOperation::SolarizeAdd:
        return std::floor(110 * strength);
    default:
        return 0;
    }
}

bool isSigned(PictureOperation operation)
{
    return operation == PictureOperation::Rotate ||
           (operation >= PictureOperation::ShearX && operation <= PictureOperation::TranslateY);
}

} // namespace

AppliedOperation drawOperation(const PictureForm& form, double magnitude, RandomStream& random)
{
    AppliedOperation drawn;
    drawn.operation = static_cast<PictureOperation>(random.below(static_cast<std::int64_t>(PictureOperation::Count)));
    drawn.amount = amountOf(drawn.operation, form, magnitude / 10);
    if (isSigned(drawn.operation) && random.uniform() < 0.5) {
        drawn.amount = -drawn.amount;
    }
    if (drawn.operation == PictureOperation::Cutout) {
        drawn.row = random.below(form.height);
        drawn.column = random.below(form.width);
    }
    return drawn;
}

void apply(Picture& picture, const AppliedOperation& of)
{
    const double amount = of.amount;
    const auto eachChannel = [&](auto change) {
        for (std::int64_t channel = 0; channel < channelsOf(picture); ++channel) {
            change(picture, channel);
        }
    };
    switch (of.operation) {
    case PictureOperation::AutoContrast:
        return eachChannel(autoContrast);
    case PictureOperation::Equalize:
        return eachChannel(equalize);
    case PictureOperation::Invert:
        return mapAll(picture, [](int value) { return 255 - value; });
    case PictureOperation::Rotate:
        return warp(picture, rotation(picture.form, amount));
    case PictureOperation::Posterize:
        return mapAll(picture, [bits = std::clamp(static_cast<int>(amount), 0, 8)](int value) {
            return value >> (8 - bits) << (8 - bits);
        });
    case PictureOperation::Solarize:
        return mapAll(picture, [amount](int value) { return value < amount ? value : 255 - value; });
    case PictureOperation::Colour:
        return colour(picture, amount);
    case PictureOperation::Contrast:
        return contrast(picture, amount);
    case PictureOperation::Brightness:
        return mapAll(picture, [amount](int value) { return blended(0, value, amount); });
    case PictureOperation::Sharpness:
        return sharpen(picture, amount);
    case PictureOperation::ShearX:
        return warp(picture, {.xy = amount});
    case PictureOperation::ShearY:
        return warp(picture, {.yx = amount});
    case PictureOperation::TranslateX:
        return warp(picture, {.x0 = amount});
    case PictureOperation::TranslateY:
        return warp(picture, {.y0 = amount});
    case PictureOperation::Cutout:
        return cutOut(picture, of);
    case PictureOperation::SolarizeAdd:
        return mapAll(picture, [amount](int value) {
            return value < 128 ? std::min(value + static_cast<int>(amount), 255) : value;
        });
    case PictureOperation::Count:
        break;
    }
}

} // namespace residua::engine
