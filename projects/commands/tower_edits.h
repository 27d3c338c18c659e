// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/edit/edit.h"

#include <cstddef>
#include <string>
#include <vector>

namespace residua::projects {

/// An edit of the whole document, and the tower to show after it.
struct TowerChange {
    Edit edit;
    std::size_t shown = 0;
};

// The commands on towers and losses. `shown` is the index of the shown tower (projects/nodes/towers.h), which exists.

/// Whether the copy of a tower keeps its own loss.
enum class CopiedLoss { None, Own };
/// Adds a copy of the shown tower under a free name, and shows it.
[[nodiscard]] TowerChange copyTower(const Document& document, std::size_t shown, CopiedLoss loss);
/// Removes the shown tower. Returns an error for the first one, and for a tower that others, losses or the training
/// name.
[[nodiscard]] Result<TowerChange> removeTower(const Project& project, std::size_t shown);
/// Joins a further stack after the shown tower: a new tower has its stem and its stack and passes their output on; the
/// shown one reads that through a linear joint to its width, and keeps its name, its stack and its head.
[[nodiscard]] TowerChange joinStack(const Document& document, std::size_t shown);
/// Renames the first tower of a view, also where towers and losses read its values or name it.
[[nodiscard]] Edit renameTower(const Project& view, const std::string& name);
/// Returns a network with another name, whose graphs read its own values by that name.
[[nodiscard]] Network renamed(Network network, const std::string& name);
/// Adds a loss between the output of the shown tower and a value of the same shape, if there is one, else the examples'
/// target.
[[nodiscard]] Edit addLoss(const Project& project, std::size_t shown);
/// Removes the loss at `index`. Returns an error if there is no such loss.
[[nodiscard]] Result<Edit> removeLoss(const Project& project, std::size_t index);

/// Returns what the input of the first tower may read by name: the values of the towers that can run before it.
[[nodiscard]] std::vector<std::string> readableValues(const Project& project);

/// How a student learns from a teacher.
struct Teaching {
    std::string name = "teacher"; ///< of the new tower; the loss is called after it
    double weight = 0.5;          ///< of the loss of soft targets, beside the student's own
    double temperature = 2;       ///< T ≥ 0 of the soft targets
};

/// Returns the student's document with the teacher's network as a frozen tower, and a loss between their outputs.
/// Returns an error if the teacher has several towers, reads other examples, or answers with outputs of another shape.
[[nodiscard]] Result<Project> withTeacher(Project student, const Project& teacher, const Teaching& teaching);

} // namespace residua::projects
