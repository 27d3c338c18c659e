// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/transfer/prune.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The measure by which a shortcut is weak.
enum class WeakBy {
    Weight, ///< the magnitude of its applied weight
    Effect, ///< the rise of the loss without it
    Flop,   ///< the rise of the loss without it, per FLOP of a forward pass that it costs
};
/// Returns the measure of this name: "weight", "effect", "flop".
[[nodiscard]] std::optional<WeakBy> weakByNamed(std::string_view name);

/// The measured figures of one shortcut; NaN if unknown.
struct ShortcutStrength {
    Shortcut shortcut;
    double weight = std::numeric_limits<double>::quiet_NaN(); ///< applied
    double rise = std::numeric_limits<double>::quiet_NaN();   ///< of the loss without it; below 0 if it does harm
};

/// Returns the `count` weakest shortcuts, from the weakest on, that can be left out together; equal ones in the
/// document's order. Leaves out a candidate without which the network would not be valid, such as the last source of a
/// softmax. Returns an error if fewer can be left out, or if the measure of none is known.
[[nodiscard]] Result<Pruning> weakest(const Project& project, const std::vector<ShortcutStrength>& strengths, WeakBy by,
                                      std::int64_t count);

} // namespace residua::projects
