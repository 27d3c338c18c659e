// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"

#include <cstdint>

namespace residua::projects {

/// How the coefficient starts with which reader j weighs entry i: as a number, and as exported code says it.
struct StartLaw {
    double (*number)(const DepthReader& reader, std::int64_t source);
    const char* python;   ///< an expression of j, i and SOURCES[j], the entries that j weighs
    bool ofReader = true; ///< it names j
    bool ofSource = true; ///< it names i
};
[[nodiscard]] const StartLaw& startLaw(MixInit init);

} // namespace residua::projects
