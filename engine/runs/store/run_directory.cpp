// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/run_directory.h"

#include "engine/base/api/environment.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <string_view>
#include <system_error>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStamp = "00000000T000000Z-"; ///< 0: any digit
constexpr int kMostTries = 100'000;
constexpr int kMostRefusals = 20;

/// Keeps letters, digits, '-' and '_'; replaces each sequence of other characters by one '-'.
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

std::string stampedName(const std::string& name)
{
    const std::time_t now = std::time(nullptr);
    std::tm utc = {};
    ::gmtime_r(&now, &utc);
    std::array<char, 32> stamp{};
    std::strftime(stamp.data(), stamp.size(), "%Y%m%dT%H%M%SZ-", &utc);
    constexpr std::size_t kLongest = 100; // file systems allow 255 bytes
    return stamp.data() + asFileName(name).substr(0, kLongest);
}

bool isStamped(const std::string& name)
{
    return name.size() > kStamp.size() &&
           std::equal(kStamp.begin(), kStamp.end(), name.begin(), [](char expected, char got) {
               return expected == '0' ? std::isdigit(static_cast<unsigned char>(got)) != 0 : got == expected;
           });
}

bool isPlainFile(const fs::directory_entry& entry)
{
    std::error_code code;
    return fs::is_regular_file(entry.symlink_status(code)); // false for a link
}

/// True if every entry of the folder passes; false if the folder cannot be listed.
template <class Passes>
bool allOf(const fs::path& folder, Passes&& passes)
{
    std::error_code code;
    fs::directory_iterator entry(folder, code);
    for (const fs::directory_iterator end; !code && entry != end; entry.increment(code)) {
        if (!passes(*entry, entry->path().filename().string())) {
            return false;
        }
    }
    return !code;
}

bool isFrozenDebris(const fs::directory_entry& entry, const std::string& name)
{
    return isPlainFile(entry) && (name == projects::kProjectFile || isTemporaryOf(name, projects::kProjectFile));
}

/// True for the files that RunWriter::create makes before run.json.
bool isDebris(const fs::directory_entry& entry, const std::string& name)
{
    if (name == kFrozenProject) {
        std::error_code code;
        return fs::is_directory(entry.symlink_status(code)) && allOf(entry.path(), &isFrozenDebris);
    }
    const bool ours = name == kLockFile || name.starts_with(kStoreFile) || name.starts_with("events.out.tfevents.") ||
                      isTemporaryOf(name, kRunFile);
    return ours && isPlainFile(entry);
}

/// True if the store has recorded steps, as that of a run whose run.json was lost.
bool hasRecordedSteps(const fs::path& store)
{
    if (!isThere(store)) {
        return false;
    }
    const auto database = Database::openForReading(store);
    auto recorded = database ? database->prepare("SELECT 1 FROM metrics LIMIT 1") : Result<SqlStatement>(Error{});
    return recorded && recorded->next();
}

/// Removes everything except the lock, which is held.
void clearDebris(const fs::path& directory)
{
    std::error_code code;
    for (fs::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code)) {
        if (entry->path().filename() != kLockFile) {
            discard(entry->path());
        }
    }
}

/// Removes the entries of `folder` whose names satisfy `isDoomed`.
template <class IsDoomed>
void removeIn(const fs::path& folder, IsDoomed&& isDoomed)
{
    std::error_code code;
    if (!fs::is_directory(fs::symlink_status(folder, code))) {
        return; // nothing is removed through a link
    }
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        if (isDoomed(entry->path().filename().string())) {
            discard(entry->path());
        }
    }
}

} // namespace

bool holdsDebrisAlone(const fs::path& directory)
{
    std::error_code code;
    return fs::is_directory(fs::symlink_status(directory, code)) && allOf(directory, &isDebris) &&
           !hasRecordedSteps(directory / kStoreFile);
}

Result<HeldDirectory> claimRunDirectory(const fs::path& given)
{
    std::error_code code;
    const fs::path path = fs::absolute(given, code).lexically_normal();
    const fs::path directory = path.has_filename() ? path : path.parent_path();
    fs::create_directories(directory.parent_path(), code);
    const bool created = !code && fs::create_directory(directory, code);
    if (code) {
        return systemError(directory, "cannot create the run's directory", code.value());
    }
    if (!created && !holdsDebrisAlone(directory)) {
        return Error{directory.string(), "exists already; a new run needs a new or an empty directory"};
    }
    auto lock = lockRun(directory);
    if (!lock) {
        return created ? lock.error() : Error{directory.string(), "another process begins a run there"};
    }
    // Checked again, because a process that held it until now may have made it a run.
    if (!created && !holdsDebrisAlone(directory)) {
        return Error{directory.string(), "exists already; a new run needs a new or an empty directory"};
    }
    clearDebris(directory);
    return HeldDirectory{directory, std::move(*lock)};
}

Result<HeldDirectory> claimRunDirectoryIn(const fs::path& given, const std::string& name)
{
    std::error_code code;
    const fs::path folder = fs::absolute(given, code).lexically_normal();
    fs::create_directories(folder, code);
    if (code) {
        return systemError(folder, "cannot create the folder of the run", code.value());
    }
    const std::string base = stampedName(name);
    int refused = 0;
    for (int number = 1; number < kMostTries; ++number) {
        const fs::path directory = folder / (number == 1 ? base : base + "-" + std::to_string(number));
        const bool created = fs::create_directory(directory, code); // if several processes try, one of them creates it
        if (code) {
            return systemError(directory, "cannot create the run's directory", code.value());
        }
        if (!created) {
            continue;
        }
        auto lock = lockRun(directory);
        if (lock) {
            return HeldDirectory{directory, std::move(*lock)};
        }
        if (++refused == kMostRefusals) { // a sweep of leftovers may hold the new directory briefly, but not every time
            return lock.error();
        }
    }
    return Error{folder.string(), "has no free name for a run that begins with " + base};
}

void sweepRuns(const fs::path& folder)
{
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        const fs::path directory = entry->path();
        if (!isStamped(directory.filename().string()) || !holdsDebrisAlone(directory)) {
            continue;
        }
        if (const auto lock = lockRun(directory); lock && holdsDebrisAlone(directory)) {
            discard(directory);
        }
    }
}

void sweepRun(const fs::path& runDirectory)
{
    {
        const auto guard = guardRunFile(runDirectory, std::chrono::milliseconds(0)); // no other process replaces it now
        if (guard) {
            removeIn(runDirectory, [](const std::string& name) { return isTemporaryOf(name, kRunFile); });
        }
    }
    removeIn(runDirectory / kFrozenProject,
             [](const std::string& name) { return isTemporaryOf(name, projects::kProjectFile); });
    removeIn(checkpointsFolder(runDirectory), [](const std::string& name) {
        return name.starts_with("." + std::string(kCheckpointPrefix)) &&
               (name.ends_with(".tmp") || name.ends_with(".old"));
    });
}

std::string effectsPrefix(std::int64_t step)
{
    return checkpointDirectory({}, step).filename().string() + "-";
}

void removeEffectsAfter(const fs::path& runDirectory, std::int64_t step)
{
    const std::string_view prefix = kCheckpointPrefix;
    removeIn(runDirectory / kEffectsFolder, [&](const std::string& name) {
        std::int64_t of = 0;
        return name.starts_with(prefix) &&
               std::from_chars(name.data() + prefix.size(), name.data() + name.size(), of).ec == std::errc() &&
               of > step;
    });
}

} // namespace residua::engine
