// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/diff/diff.h"
#include "projects/edit/edit.h"

#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// A setting that differs between a document and another project, with the edit that gives the document the other's.
struct SettingChange {
    std::string pointer;         ///< "/training/learning_rate/peak"; "/network" for all that its graphs differ in
    std::vector<Change> changes; ///< from the document to the other project, at least one
    Edit edit;
};

/// What of `wanted` decides the training and is not so in the document: fields one by one, alternatives and lists as a
/// whole, all graphs together, the topology as a whole. Every edit is of the document as it is. All of them, in this
/// order, leave no difference that decides the training.
[[nodiscard]] std::vector<SettingChange> settingsThatDiffer(const Document& document, const Project& wanted);

/// These edits as one. `changes` is not empty.
[[nodiscard]] Edit editOf(std::string title, const std::vector<SettingChange>& changes);

/// True if a run can go on with this setting otherwise: its weights and the state of its optimiser keep their meaning.
[[nodiscard]] bool canChangeInRun(std::string_view pointer);

} // namespace residua::projects
