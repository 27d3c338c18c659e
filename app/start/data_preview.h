// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/data_summary.h"
#include "projects/commands/new_project.h"

#include <QString>

namespace residua::app {

/// Returns the beginning of the training data: a text and its tokens, or a sample's numbers.
[[nodiscard]] QString previewText(const engine::DataPreview& preview);
/// Returns how the files are read, the amount of data, the epochs of the new project's training, and the notes.
[[nodiscard]] QString amountText(const engine::DataSummary& data, const projects::NewProject& project);

} // namespace residua::app
