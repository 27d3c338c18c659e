// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/runs/time_limit.h"
#include "engine/api/session.h"
#include "projects/base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace residua::cli {

/// The computing options that commands share.
struct Computing {
    int threads = 0;                      ///< of the processor; 0: all
    engine::EnginePlace place;            ///< a child of this process unless readPlace() says otherwise
    bool detach = false;                  ///< returns when the run has begun in the background
    std::shared_ptr<TimeLimit> timeLimit; ///< may be null; shared by everything that the command trains

    /// Reads the options. The time limit starts now.
    [[nodiscard]] static Computing from(const Arguments& arguments);
};

/// Reads --place, --folder and --detach.
[[nodiscard]] Status readPlace(Computing& computing, const Arguments& arguments);
/// Returns the path for the engine. The background engine has a working directory of its own.
[[nodiscard]] std::filesystem::path pathFor(const Computing& computing, const std::filesystem::path& path);

[[nodiscard]] OptionSpec placeOption();
[[nodiscard]] OptionSpec folderOption();
[[nodiscard]] OptionSpec detachOption();
[[nodiscard]] OptionSpec deviceOption();
[[nodiscard]] OptionSpec threadsOption();
[[nodiscard]] OptionSpec timeLimitOption();

} // namespace residua::cli
