// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"

#include <cstdint>

namespace residua::projects {

/// The initial coefficient of entry i for reader j, as a number and as an expression in exported code.
struct StartLaw {
    double (*number)(const DepthReader& reader, std::int64_t source);
    const char* python;   ///< expression of j, i and SOURCES[j], the entries that reader j weights
    bool ofReader = true; ///< true if it uses j
    bool ofSource = true; ///< true if it uses i
};
[[nodiscard]] const StartLaw& startLaw(MixInit init);

} // namespace residua::projects
