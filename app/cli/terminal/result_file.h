// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal/console.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

namespace residua::cli {

/// Whether a command's output file is standard output: "-", or a name of it such as /dev/stdout.
[[nodiscard]] bool isStandardOutput(const std::filesystem::path& path);

/// A file that a command has made.
struct ResultFile {
    std::filesystem::path path;
    std::string bytes;
    std::string member; ///< what `bytes` are called in JSON on standard output
};

/// Writes it where it goes and says so, with `said` as text or `told` as JSON. On standard output it is all that stands
/// there: in JSON mode as `member` of an object, so that every line stays JSON.
[[nodiscard]] Exit deliver(const ResultFile& file, const std::string& said, const nlohmann::json& told,
                           const Console& console);

} // namespace residua::cli
