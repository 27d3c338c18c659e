// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/train/trainer.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace residua::tests {

/// Returns a trainer of the project at its first step. Throws the error's text.
inline engine::Trainer trainerOf(const projects::Project& project, const std::string& device = "cpu")
{
    Result<engine::TrainerParts> parts = engine::openParts(project, {}, device);
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    return engine::Trainer(std::move(*parts));
}

} // namespace residua::tests
