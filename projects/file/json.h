// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <string>
#include <string_view>

namespace residua::projects {

/// Formats the document with a stable key order, one value per line if it can change alone, and a newline at the end.
/// toJson(fromJson(toJson(p))) has the same bytes.
[[nodiscard]] std::string toJson(const Project& project);
[[nodiscard]] std::string toJson(const Layout& layout);
/// Formats those fields of the document that differ from their defaults, without the number of the schema. Later
/// versions, which have more fields, give the same text.
[[nodiscard]] std::string changedFields(const Project& project);

/// Parse a document. The place of an error is a JSON pointer, or line and column of a syntax error; its message tells
/// the value got and the values expected. Unknown keys are errors, so that a misspelt key is never ignored. Older
/// schemas are migrated; newer ones are rejected. Never throw.
[[nodiscard]] Result<Project> projectFromJson(std::string_view text);
[[nodiscard]] Result<Layout> layoutFromJson(std::string_view text);

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
