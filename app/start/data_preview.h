// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/data_summary.h"
#include "projects/commands/new_project.h"

#include <QString>

namespace residua::app {

/// The beginning of what training is fed: a text and its tokens, or a sample's numbers.
[[nodiscard]] QString previewText(const engine::DataPreview& preview);
/// How the files are read, how much data there is, how often the new project's training goes through it, and the notes.
[[nodiscard]] QString amountText(const engine::DataSummary& data, const projects::NewProject& project);

} // namespace residua::app
