// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

namespace residua::projects {

/// Private to projects: whole files as trees. The journal contains two of them.
[[nodiscard]] JsonValue treeOf(const Project& project);
[[nodiscard]] JsonValue treeOf(const Layout& layout);
[[nodiscard]] JsonValue treeOf(const FieldValue& value);
[[nodiscard]] Result<Project> projectFromTree(JsonValue tree);
[[nodiscard]] Result<Layout> layoutFromTree(JsonValue tree);

/// Migrates a project's tree from `schema` to kSchemaVersion step by step.
[[nodiscard]] Status migrateProject(JsonValue& tree, int schema);
/// Migrates the tree of a block file.
void migrateBlock(JsonValue& tree, int schema);

} // namespace residua::projects
