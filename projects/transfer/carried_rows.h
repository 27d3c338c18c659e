// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// The source of a parameter that another document's parameter gives its values to, whole or by rows.
struct CarriedRows {
    std::string from;               ///< the other document's parameter
    std::vector<std::int64_t> rows; ///< its index along `dimension` of each own one; −1: none. Empty: the whole tensor
    std::int64_t dimension = 0;

    bool operator==(const CarriedRows&) const = default;
};

/// Returns the sources of the parameters of `after`'s wiring in the network of `before`, by name. A row of a shortcut
/// comes from the same shortcut, that of a module from the same module, where new layer l is the old layer layers[l −
/// 1], and a row of a visit from the same visit of the loop that the layers were in. Parameters without a source are
/// absent, and so are all except those of loops if the wirings are of different kinds or act at different sites. Shapes
/// may differ in other dimensions.
[[nodiscard]] std::map<std::string, CarriedRows> carriedRows(const Project& before, const Project& after,
                                                             const std::vector<std::int64_t>& layers);

} // namespace residua::projects
