// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace residua::projects {

/// The name of a network's parameter taken apart. Its views are of the text that it was read from.
struct ParameterName {
    std::string_view part;  ///< "stem", "layers", "head" or "topology"
    std::int64_t layer = 0; ///< of "layers", from 1; 0: of no layer
    std::string_view rest;  ///< "attention.q.weight"

    /// What `rest` begins with, the node whose parameter it is: "attention".
    [[nodiscard]] std::string_view node() const { return rest.substr(0, rest.find('.')); }
    bool operator==(const ParameterName&) const = default;
};

/// Reads "layers.3.attention.q.weight", or the beginning of such a name. A layer that is no number from 1 on is part of
/// `rest`.
[[nodiscard]] ParameterName parameterNameFrom(std::string_view text);
/// The same as text, the one form in which files, errors and figures have it.
[[nodiscard]] std::string textOf(const ParameterName& name);

} // namespace residua::projects
