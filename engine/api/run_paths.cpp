// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/run_reader.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <ctime>

namespace residua::engine {
namespace {

/// Letters, digits, '-' and '_' stay; every run of others becomes one '-'.
std::string asFileName(const std::string& name)
{
    std::string result;
    for (const char character : name) {
        const bool plain = std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
        if (plain) {
            result += character;
        } else if (!result.empty() && result.back() != '-') {
            result += '-';
        }
    }
    while (!result.empty() && result.back() == '-') {
        result.pop_back();
    }
    return result.empty() ? "run" : result;
}

} // namespace

std::filesystem::path newRunDirectory(const std::filesystem::path& folder, const std::string& projectName)
{
    const std::time_t now = std::time(nullptr);
    std::tm utc = {};
    ::gmtime_r(&now, &utc);
    std::array<char, 32> stamp{};
    std::strftime(stamp.data(), stamp.size(), "%Y%m%dT%H%M%SZ", &utc);
    const std::string name = std::string(stamp.data()) + "-" + asFileName(projectName);
    std::filesystem::path directory = folder / name;
    std::error_code code;
    for (int number = 2; std::filesystem::exists(directory, code); ++number) {
        directory = folder / (name + "-" + std::to_string(number));
    }
    return directory;
}

std::filesystem::path checkpointDirectory(const std::filesystem::path& runDirectory, std::int64_t step)
{
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "step-%08lld", static_cast<long long>(step));
    return runDirectory / "checkpoints" / name.data();
}

std::string toString(RunStatus status)
{
    switch (status) {
    case RunStatus::Running:
        return "running";
    case RunStatus::Paused:
        return "paused";
    case RunStatus::Finished:
        return "finished";
    case RunStatus::Stopped:
        return "stopped";
    case RunStatus::Failed:
        return "failed";
    case RunStatus::Interrupted:
        return "interrupted";
    }
    return {};
}

} // namespace residua::engine
