// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/engine/compute/session/run_harness.h"
#include "trainer_harness.h"

#include "projects/library/presets.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace residua::tests {

/// Four plain layers of quickLanguage in double precision.
inline projects::Project staged(std::int64_t steps, projects::StageSchedule schedule)
{
    projects::Project project = quickLanguage(steps);
    project.stack().segments.front().repeat = 4;
    for (const projects::TopologyPreset& preset : projects::topologyPresets(4)) {
        if (preset.name == "plain") {
            project.stack().topology = {preset.name, preset.wiring};
        }
    }
    project.training.precision = projects::Precision::Fp64;
    project.stack().schedule = std::move(schedule);
    return project;
}

inline projects::StageSchedule growing(projects::GrowthSource source,
                                       projects::GrowthWrites writes = projects::GrowthWrites::Copied,
                                       std::int64_t warmup = 0)
{
    projects::StageSchedule schedule;
    schedule.stages = {{0, 2, {}}, {4, 3, {}}, {8, 4, {}}};
    schedule.sampling = projects::DropSampling::First;
    schedule.growth = source;
    schedule.growthWrites = writes;
    schedule.growthWarmup = warmup;
    return schedule;
}

/// Does steps with the borders before them, and returns the stages that began.
inline std::vector<engine::StageRecord> train(engine::Trainer& trainer, int steps)
{
    std::vector<engine::StageRecord> stages;
    for (int i = 0; i < steps; ++i) {
        const Result<std::optional<engine::StageRecord>> stage = trainer.beginStage();
        if (!stage) {
            throw std::runtime_error(stage.error().text());
        }
        if (*stage) {
            stages.push_back(**stage);
        }
        if (const Status stepped = trainer.step(); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
    }
    return stages;
}

} // namespace residua::tests
