// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/result_file.h"

#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace residua::cli {
namespace {

Status writeStandardOutput(const std::string& bytes)
{
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0) {
        return Error{"standard output", "cannot be written: " + std::generic_category().message(errno)};
    }
    return Done{};
}

} // namespace

bool isStandardOutput(const std::filesystem::path& path)
{
    struct stat out {};
    struct stat file {};
    return path == "-" || (::fstat(STDOUT_FILENO, &out) == 0 && ::stat(path.c_str(), &file) == 0 &&
                           out.st_dev == file.st_dev && out.st_ino == file.st_ino && !S_ISCHR(file.st_mode));
}

Exit deliver(const ResultFile& file, const std::string& said, const nlohmann::json& told, const Console& console)
{
    const bool standard = isStandardOutput(file.path);
    if (standard && console.json()) {
        console.value({{file.member, file.bytes}});
        return Exit::Ok;
    }
    const Status written = standard ? writeStandardOutput(file.bytes) : writeOutput(file.path, file.bytes);
    if (!written) {
        return console.fail(Exit::Usage, written.error());
    }
    if (!standard) {
        console.line(said);
        console.value(told);
    }
    return Exit::Ok;
}

} // namespace residua::cli
