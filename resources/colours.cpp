// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

namespace residua::resources {
namespace {

constexpr Rgb rgb(std::uint32_t hex)
{
    return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8), static_cast<std::uint8_t>(hex)};
}

constexpr ThemeColours kLight{
    .background = rgb(0xf4f5f8),
    .surface = rgb(0xffffff),
    .raised = rgb(0xe9ecf1),
    .border = rgb(0xd3d8e0),
    .grid = rgb(0xe6e9ee),
    .text = rgb(0x1b2230),
    .muted = rgb(0x586273),
    .accent = rgb(0x1f64d6),
    .onAccent = rgb(0xffffff),
    .warning = rgb(0x8f5a00),
    .error = rgb(0xb3261e),
};
constexpr ThemeColours kDark{
    .background = rgb(0x13161b),
    .surface = rgb(0x1b1f26),
    .raised = rgb(0x272d37),
    .border = rgb(0x363e4a),
    .grid = rgb(0x2a303a),
    .text = rgb(0xe7eaf0),
    .muted = rgb(0x9ba6b6),
    .accent = rgb(0x5f9dff),
    .onAccent = rgb(0x0b1220),
    .warning = rgb(0xf0b44c),
    .error = rgb(0xff8a7a),
};

// Ten even samples of the published viridis map. The interpolation error between them is not visible.
constexpr std::array kViridis{rgb(0x440154), rgb(0x482878), rgb(0x3e4989), rgb(0x31688e), rgb(0x26828e),
                              rgb(0x1f9e89), rgb(0x35b779), rgb(0x6ece58), rgb(0xb5de2b), rgb(0xfde725)};
// The parts of the map that are visible on each theme's background.
constexpr double kDarkFrom = 0.28;
constexpr double kLightTo = 0.66;
constexpr double kColoured = 0.2; ///< magnitudes below it fade into grey
constexpr Rgb kCentre = rgb(0x98a1ae);
constexpr Rgb kCentreDark = rgb(0x5a6473);
constexpr std::array kBelow{rgb(0x5b9bd5), rgb(0x2c6fb3), rgb(0x123f7a)};
constexpr std::array kBelowDark{rgb(0x3470ad), rgb(0x5b9fdd), rgb(0xa8d3ff)};
constexpr std::array kAbove{rgb(0xdb8a3f), rgb(0xb85c16), rgb(0x7d3703)};
constexpr std::array kAboveDark{rgb(0x9a581d), rgb(0xd98032), rgb(0xffd09a)};

constexpr std::array kCurvesLight{rgb(0x1f64d6), rgb(0xc2570c), rgb(0x00796b), rgb(0x8e3bb5),
                                  rgb(0x6b6200), rgb(0xb0235f), rgb(0x2a7fa8), rgb(0x5a5f6b)};
constexpr std::array kCurvesDark{rgb(0x6aa5ff), rgb(0xff9a4d), rgb(0x3fd0b8), rgb(0xd08cff),
                                 rgb(0xd8cc4a), rgb(0xff7fb0), rgb(0x7fd0f0), rgb(0xb4bcc8)};

Rgb blend(Rgb a, Rgb b, double t)
{
    const auto channel = [t](std::uint8_t from, std::uint8_t to) {
        return static_cast<std::uint8_t>(std::lround(from + t * (to - from)));
    };
    return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b)};
}

Rgb sample(std::span<const Rgb> stops, double t)
{
    const double clamped = std::isnan(t) ? 0.0 : std::clamp(t, 0.0, 1.0);
    const double position = clamped * static_cast<double>(stops.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(position), stops.size() - 2);
    return blend(stops[below], stops[below + 1], position - static_cast<double>(below));
}

} // namespace

std::string Rgb::hex() const
{
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", r, g, b);
    return text.data();
}

const ThemeColours& themeColours(Theme theme)
{
    return theme == Theme::Dark ? kDark : kLight;
}

Rgb viridis(double t)
{
    return sample(kViridis, t);
}

Rgb magnitude(double t, Theme theme)
{
    const double strength = std::isnan(t) ? 0.0 : std::clamp(t, 0.0, 1.0);
    const bool dark = theme == Theme::Dark;
    return blend(dark ? kCentreDark : kCentre,
                 viridis(dark ? std::lerp(kDarkFrom, 1.0, strength) : std::lerp(kLightTo, 0.0, strength)),
                 std::min(strength / kColoured, 1.0));
}

Rgb diverging(double t, Theme theme)
{
    const bool dark = theme == Theme::Dark;
    const auto& arm = t < 0 ? (dark ? kBelowDark : kBelow) : (dark ? kAboveDark : kAbove);
    const std::array stops{dark ? kCentreDark : kCentre, arm[0], arm[1], arm[2]};
    return sample(stops, std::abs(t));
}

Rgb curveColour(std::size_t n, Theme theme)
{
    const auto& curves = theme == Theme::Dark ? kCurvesDark : kCurvesLight;
    return curves[n % curves.size()];
}

} // namespace residua::resources
