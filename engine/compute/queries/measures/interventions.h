// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to effect_queries.cpp: the runs that a request for interventions needs.

#include "engine/base/api/commands.h"
#include "engine/base/api/events.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/alteration.h"

#include <cstddef>
#include <vector>

namespace residua::engine {

/// One intervention with a routing.
struct Intervention {
    InterventionRow row; ///< without what is measured
    projects::Alteration alteration;
    /// The interventions from which InterventionRow::derived follows: of a rescue the one without it, of a pair those
    /// of its streams.
    std::vector<std::size_t> of = {};
};

/// Returns the interventions that are asked for: each with the routing recomputed, then frozen. Returns an error that
/// names the field and what was expected if the wiring has no parallel streams, or lacks a stream, module or pair.
[[nodiscard]] Result<std::vector<Intervention>> interventionsFor(const projects::Project& project,
                                                                 const InterventionRequest& request);

/// Returns the rows with their derived values. The rows have what was measured; `noise` is InterventionReady's.
[[nodiscard]] std::vector<InterventionRow> derivedRows(const std::vector<Intervention>& interventions, double noise);

} // namespace residua::engine
