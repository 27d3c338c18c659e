// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/model/topology.h"

#include <optional>
#include <string>
#include <string_view>

namespace residua::projects {

/// Private to projects: the short forms of small values, in the file and in what people read.

[[nodiscard]] std::string textOf(NodeId id);             ///< "3"
[[nodiscard]] std::string textOf(const Shortcut& value); ///< "2:5"
[[nodiscard]] std::string textOf(const Wire& value);     ///< "3.out > 5.in"

/// The same, read back exactly: what is not the form that textOf writes is nullopt.
[[nodiscard]] std::optional<NodeId> nodeIdFrom(std::string_view text);
[[nodiscard]] std::optional<Shortcut> shortcutFrom(std::string_view text);
[[nodiscard]] std::optional<Wire> wireFrom(std::string_view text);

/// Shortest decimal that reads back to the same bits, without a trailing ".0".
[[nodiscard]] std::string numberText(double value);

/// The candidate that is nearest to what was typed, where it is near enough to be meant; else empty.
template <class Candidates>
[[nodiscard]] std::string_view nearest(std::string_view typed, const Candidates& candidates);

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b);

template <class Candidates>
std::string_view nearest(std::string_view typed, const Candidates& candidates)
{
    constexpr std::size_t kLongestTyped = 64; // the distance is quadratic, and longer is no slip
    std::string_view best;
    std::size_t least = typed.size() > kLongestTyped ? 0 : typed.size() / 3 + 2;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = least == 0 ? 0 : editDistance(typed, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

} // namespace residua::projects
