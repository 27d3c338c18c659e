// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <optional>

namespace residua::app {

enum class GoOnKind {
    Resume,    ///< continues the run itself from a checkpoint
    Fork,      ///< copies it up to a checkpoint
    Retrofit,  ///< makes a copy with another wiring that initially computes the same function
    Factorise, ///< makes a copy whose weights are products of two thin matrices that approximate the learned ones
};

/// The way in which a run is continued.
struct GoOnRequest {
    GoOnKind kind{};
    engine::RunRef of;
    std::int64_t steps = 0;
    projects::Topology topology = {}; ///< for a retrofit
    /// The method of the factors, for Factorise.
    double rankShare = projects::RankScale{}.scale;
    projects::LowRankMethod method = engine::FactoriseRequest{}.method;
    projects::LowRankInputs inputs = engine::FactoriseRequest{}.inputs;
    /// What a fork trains; nullopt: what the run trained.
    std::optional<projects::Project> project = {};
};

} // namespace residua::app
