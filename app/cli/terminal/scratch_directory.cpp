// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/process.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace residua::cli {

Result<ScratchFolder> scratchDirectory(const std::string& prefix)
{
    std::error_code code;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(code);
    if (code) {
        const char* const named = std::getenv("TMPDIR");
        return Error{named != nullptr ? named : "/tmp",
                     "is no folder for temporary files: " + code.message() + "; set TMPDIR to one, or unset it"};
    }
    constexpr std::uint32_t kForUs = 0700;
    auto scratch = ScratchFolder::make(folder, prefix, kForUs);
    return scratch ? std::move(scratch)
                   : Error{folder.string(), scratch.error().message + "; set TMPDIR to another folder"};
}

} // namespace residua::cli
