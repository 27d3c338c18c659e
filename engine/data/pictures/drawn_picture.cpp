// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture.h"

#include "projects/base/random.h"
#include "projects/model/picture_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kClasses = projects::kDrawnClasses;

struct Point {
    double x = 0;
    double y = 0;
};

using Colour = std::array<double, 3>;

enum class Kind { Disc, Ring, Square, Triangle, Cross, Count };

/// A part of a picture. Lengths are in pixels.
struct Part {
    Kind kind = Kind::Disc;
    Point centre;
    double radius = 0;
    double turn = 0; ///< radians
    Colour colour{};
};

/// Returns the two kinds of a class.
std::pair<Kind, Kind> kindsOf(std::int64_t label)
{
    constexpr int kKinds = static_cast<int>(Kind::Count);
    static_assert(kClasses == kKinds * (kKinds - 1) / 2);
    for (int first = 0; first < kKinds; ++first) {
        const int pairs = kKinds - 1 - first;
        if (label < pairs) {
            return {static_cast<Kind>(first), static_cast<Kind>(first + 1 + label)};
        }
        label -= pairs;
    }
    return {};
}

/// Returns the distance of a point from the edge of a shape of radius `r` around the origin; negative inside.
double distanceTo(Kind kind, Point p, double r)
{
    const double x = std::abs(p.x);
    const double y = std::abs(p.y);
    switch (kind) {
    case Kind::Disc:
        return std::hypot(x, y) - r;
    case Kind::Ring:
        return std::abs(std::hypot(x, y) - 0.75 * r) - 0.25 * r;
    case Kind::Square:
        return std::max(x, y) - 0.8 * r;
    case Kind::Triangle:
        return std::max(0.5 * std::numbers::sqrt3 * x + 0.5 * p.y, -p.y) - 0.5 * r;
    case Kind::Cross:
    case Kind::Count:
        break;
    }
    return std::min(std::max(x - r, y - 0.3 * r), std::max(y - r, x - 0.3 * r));
}

Part drawnPart(Kind kind, double size, RandomStream& random)
{
    Part part;
    part.kind = kind;
    part.radius = size * (0.13 + 0.07 * random.uniform());
    part.turn = 2 * std::numbers::pi * random.uniform();
    for (double& value : part.colour) {
        value = 0.5 + 0.5 * random.uniform();
    }
    const auto place = [&] { return part.radius + (size - 2 * part.radius) * random.uniform(); };
    part.centre.x = place();
    part.centre.y = place();
    return part;
}

/// Draws the second part until it is apart from the first.
Part drawnBeside(const Part& first, Kind kind, double size, RandomStream& random)
{
    Part part;
    do {
        part = drawnPart(kind, size, random);
    } while (std::hypot(part.centre.x - first.centre.x, part.centre.y - first.centre.y) < part.radius + first.radius);
    return part;
}

/// Returns how much of the pixel at (x, y) a part covers, 0 to 1.
double coverOf(const Part& part, double x, double y)
{
    const double cosine = std::cos(part.turn);
    const double sine = std::sin(part.turn);
    const Point at{x + 0.5 - part.centre.x, y + 0.5 - part.centre.y};
    const Point turned{cosine * at.x + sine * at.y, cosine * at.y - sine * at.x};
    return std::clamp(0.5 - distanceTo(part.kind, turned, part.radius), 0.0, 1.0);
}

} // namespace

std::vector<std::string> drawnClasses()
{
    constexpr std::array kNames{"disc", "ring", "square", "triangle", "cross"};
    static_assert(kNames.size() == static_cast<std::size_t>(Kind::Count));
    std::vector<std::string> classes;
    for (std::int64_t label = 0; label < kClasses; ++label) {
        const auto [first, second] = kindsOf(label);
        classes.push_back(std::string(kNames[static_cast<std::size_t>(first)]) + "+" +
                          kNames[static_cast<std::size_t>(second)]);
    }
    return classes;
}

std::int64_t drawnLabel(std::int64_t seed, std::uint64_t index)
{
    const std::uint64_t key = drawBits(static_cast<std::uint64_t>(seed), streamOf(Stream::Target), index / kClasses);
    return permuted(static_cast<std::int64_t>(index % kClasses), kClasses, key);
}

Picture drawPicture(const PictureDrawing& drawing, std::int64_t seed, std::uint64_t index)
{
    RandomStream random(drawBits(static_cast<std::uint64_t>(seed), streamOf(Stream::Inputs), index), index);
    const auto size = static_cast<double>(drawing.size);
    auto [one, other] = kindsOf(drawnLabel(seed, index));
    if (random.uniform() < 0.5) {
        std::swap(one, other);
    }
    const Part first = drawnPart(one, size, random);
    const std::array parts{first, drawnBeside(first, other, size, random)};
    Colour background{};
    for (double& value : background) {
        value = 0.35 * random.uniform();
    }
    Picture picture{{drawing.size, drawing.size, 3}, {}};
    picture.values.reserve(static_cast<std::size_t>(picture.form.values()));
    for (std::int64_t y = 0; y < drawing.size; ++y) {
        for (std::int64_t x = 0; x < drawing.size; ++x) {
            Colour colour = background;
            for (const Part& part : parts) {
                const double cover = coverOf(part, static_cast<double>(x), static_cast<double>(y));
                std::ranges::transform(colour, part.colour, colour.begin(),
                                       [&](double below, double above) { return below + cover * (above - below); });
            }
            for (const double value : colour) {
                const double noisy = std::clamp(value + drawing.noise * random.gaussian(), 0.0, 1.0);
                picture.values.push_back(static_cast<std::uint8_t>(std::lround(255 * noisy)));
            }
        }
    }
    return picture;
}

} // namespace residua::engine
