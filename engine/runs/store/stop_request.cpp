// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/run_directory.h"

#include "projects/base/files.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"

#include <array>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace residua::engine {

namespace fs = std::filesystem;

Status writeStopRequest(const fs::path& runDirectory, std::int64_t step)
{
    return writeOwnFile(runDirectory / kStopFile, std::to_string(step) + "\n");
}

std::optional<std::int64_t> readStopRequest(const fs::path& runDirectory)
{
    const FileDescriptor file(
        ::open((runDirectory / kStopFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file.isOpen()) {
        return std::nullopt;
    }
    std::array<char, 32> text{};
    const ssize_t got = ::read(file.get(), text.data(), text.size());
    const std::string_view line(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    const auto step = numberFrom<std::int64_t>(line.substr(0, line.find('\n')));
    return step && *step >= 0 ? step : std::nullopt;
}

void clearStopRequest(const fs::path& runDirectory)
{
    std::error_code ignored;
    fs::remove(runDirectory / kStopFile, ignored);
}

} // namespace residua::engine
