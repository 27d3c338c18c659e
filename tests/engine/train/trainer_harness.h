// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/train/trainer.h"

#include <stdexcept>
#include <utility>

namespace residua::tests {

/// A trainer of the project on the CPU, at its first step; throws what went wrong.
inline engine::Trainer trainerOf(const projects::Project& project)
{
    Result<engine::TrainerParts> parts = engine::openParts(project, {}, "cpu");
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    return engine::Trainer(std::move(*parts));
}

} // namespace residua::tests
