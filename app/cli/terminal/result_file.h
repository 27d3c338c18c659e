// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal/console.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

namespace residua::cli {

/// True if a command's output file is standard output: "-", or a name of it such as /dev/stdout.
[[nodiscard]] bool isStandardOutput(const std::filesystem::path& path);

/// An output file of a command.
struct ResultFile {
    std::filesystem::path path;
    std::string bytes;
    std::string member; ///< name of `bytes` in JSON on standard output
};

/// Writes the file and reports it, with `said` as text or `told` as JSON. On standard output, the file is the only
/// content; in JSON mode it is `member` of an object, so that every line is JSON.
[[nodiscard]] Exit deliver(const ResultFile& file, const std::string& said, const nlohmann::json& told,
                           const Console& console);

} // namespace residua::cli
