// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/parameter_name.h"
#include "projects/model/stack.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

// The products U·V that a visit of a loop adds to the matrices [out, in] of its layers (Loop::adapterRank). U is
// [out, r], and V is [r, in].

/// The visit to a layer and the rank r of what it adds; 0: nothing.
struct VisitAdapters {
    std::int64_t visit = 1;
    std::int64_t rank = 0;
};
[[nodiscard]] inline VisitAdapters adaptersAt(const Stack& stack, const LayerVisit& at)
{
    const Loop* const loop = stack.loopOf(at.layer);
    return {at.visit, loop == nullptr ? 0 : loop->adapterRank};
}

/// True if visits add to a weight of this shape that can be of lower rank; a kernel of a convolution stays.
[[nodiscard]] inline bool isAdapted(const std::vector<std::int64_t>& shape)
{
    return shape.size() == 2;
}

inline constexpr std::string_view kAdapterU = "u";
inline constexpr std::string_view kAdapterV = "v";

/// A factor that a visit adds to a weight.
struct AdapterName {
    std::string weight; ///< "layers.3.up.weight"
    std::int64_t visit = 1;
    bool isU = true; ///< else V
};
/// Returns nullopt for the name of another parameter; the inverse of adapterOf().
[[nodiscard]] std::optional<AdapterName> adapterFrom(std::string_view name);
/// Returns the numbers of the executed layers that use a layer's parameter: all visits, or the one that adds it.
[[nodiscard]] std::vector<std::int64_t> usersOf(const Stack& stack, const ParameterName& name);
/// Returns the name of a factor that a visit adds to a weight: "layers.3.up.visit.2.u" for "layers.3.up.weight".
[[nodiscard]] inline std::string adapterOf(std::string_view weight, std::int64_t visit, std::string_view factor)
{
    return siblingOf(weight, "visit." + std::to_string(visit) + "." + std::string(factor));
}

} // namespace residua::projects
