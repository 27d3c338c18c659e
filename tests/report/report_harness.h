// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/shipped/examples.h"

#include <QString>
#include <QTemporaryDir>

#include <filesystem>
#include <string>
#include <vector>

namespace residua::tests {

/// A recorded run of 40 steps with two stages and a matrix, in a folder of `dir`.
[[nodiscard]] std::filesystem::path
writeRun(const QTemporaryDir& dir, const std::string& name,
         const projects::Project& project = projects::findExample("ancre-language")->project);
/// The comparison of all runs in a folder.
[[nodiscard]] Result<std::string> comparisonOf(const std::filesystem::path& folder);
/// Every <svg> of a page, which must be well-formed on its own.
[[nodiscard]] std::vector<QString> svgsOf(const QString& html);

} // namespace residua::tests
