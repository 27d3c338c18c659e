// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/matrix_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

namespace residua::engine {
namespace {

constexpr std::array<std::string_view, 4> kOfShortcuts{matrix::kMix, matrix::kCoefficient, matrix::kSpread,
                                                       matrix::kFeature};

std::ptrdiff_t placeOf(const std::string& kind)
{
    return std::ranges::find(kOfShortcuts, kind) - kOfShortcuts.begin();
}

} // namespace

MatrixName MatrixName::from(std::string_view text)
{
    const std::size_t slash = text.rfind('/');
    const auto port = slash == std::string_view::npos || slash + 1 == text.size()
                          ? std::nullopt
                          : projects::mixPortFrom(text.substr(slash + 1));
    // "mix/input" is no name: the port Input has no suffix
    const bool named = port && *port != projects::MixPort::Input;
    return named ? MatrixName(std::string(text.substr(0, slash)), *port) : MatrixName(std::string(text));
}

std::string MatrixName::text() const
{
    return port == projects::MixPort::Input ? kind : kind + "/" + std::string(nameOf(port));
}

bool MatrixName::isOfShortcuts() const
{
    return std::ranges::find(kOfShortcuts, kind) != kOfShortcuts.end();
}

projects::WeightQuantity MatrixName::quantity() const
{
    const bool isMagnitude = kind == matrix::kSpread || kind == matrix::kActive || isOfOutputs(); // not negative
    return isMagnitude                    ? projects::WeightQuantity::Spread
           : kind == matrix::kCoefficient ? projects::WeightQuantity::Coefficient
                                          : projects::WeightQuantity::Weight;
}

std::strong_ordering operator<=>(const MatrixName& a, const MatrixName& b)
{
    const auto places = std::pair(placeOf(a.kind), placeOf(b.kind));
    return std::tie(places.first, a.kind, a.port) <=> std::tie(places.second, b.kind, b.port);
}

} // namespace residua::engine
