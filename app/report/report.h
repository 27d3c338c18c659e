// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/results/run_reader.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::report {

/// Returns a run as one self-contained HTML page: summary, losses, mixing coefficients with a step slider, throughput,
/// events and the document. Needs no display. Returns an error if the run cannot be read.
[[nodiscard]] Result<std::string> reportHtml(const engine::RunReader& run);

/// Writes the report to `path` (writeOutput).
[[nodiscard]] Status writeReport(const std::filesystem::path& runDirectory, const std::filesystem::path& path);

} // namespace residua::report
