// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace residua::app {

enum class GoOnKind {
    Resume,    ///< the run itself, from a checkpoint
    Fork,      ///< a copy of it up to a checkpoint
    Retrofit,  ///< a copy that is wired otherwise and computes the same at first
    Factorise, ///< a copy whose weights are products of two thin matrices near to what it has learned
};

/// How a run is to go on.
struct GoOnRequest {
    GoOnKind kind{};
    std::string run;       ///< its directory
    std::int64_t step = 0; ///< from this checkpoint
    std::int64_t steps = 0;
    engine::OtherData otherData = engine::OtherData::Refuse;
    projects::Topology topology = {}; ///< of a retrofit
    /// How the factors are made, where the kind is Factorise.
    double rankShare = projects::RankScale{}.scale;
    projects::LowRankMethod method = engine::FactoriseRequest{}.method;
    projects::LowRankInputs inputs = engine::FactoriseRequest{}.inputs;
    /// What a fork trains; nullopt: what the run trained.
    std::optional<projects::Project> project = {};
    std::filesystem::path projectDirectory = {}; ///< of the project whose run it is
};

} // namespace residua::app
