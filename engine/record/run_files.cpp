// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/record/run_files.h"

#include "engine/api/run_reader.h"
#include "projects/store.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cmath>
#include <limits>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Locks of the open file description (Linux, POSIX 2024): they end with the process however it dies, and two
// openings within one process exclude each other as those of two processes do.
struct flock wholeFile(short type)
{
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

Json numberOrNull(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

double numberOrNan(const Json& value)
{
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Result<RunStatus> statusFrom(const std::string& text, const std::string& place)
{
    for (const RunStatus status : {RunStatus::Running, RunStatus::Paused, RunStatus::Finished, RunStatus::Stopped,
                                   RunStatus::Failed, RunStatus::Interrupted}) {
        if (text == toString(status)) {
            return status;
        }
    }
    return Error{place, "status is \"" + text + "\", expected running, paused, finished, stopped or failed"};
}

RunFile runFileFrom(const Json& json)
{
    RunFile file;
    RunInfo& info = file.info;
    json.at("name").get_to(info.name);
    json.at("created").get_to(info.created);
    json.at("message").get_to(info.message);
    json.at("device").get_to(info.device);
    json.at("step").get_to(info.step);
    json.at("steps").get_to(info.steps);
    info.loss = numberOrNan(json.at("loss"));
    info.validationLoss = numberOrNan(json.at("validationLoss"));
    json.at("parent").get_to(info.parent);
    json.at("parentStep").get_to(info.parentStep);
    json.at("tags").get_to(info.tags);
    json.at("notes").get_to(info.notes);
    file.projectDirectory = json.at("projectDirectory").get<std::string>();
    return file;
}

} // namespace

Result<RunFile> readRunFile(const fs::path& runDirectory)
{
    const fs::path path = runDirectory / kRunFile;
    const auto text = projects::readFile(path);
    if (!text) {
        return text.error();
    }
    const Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object()) {
        return Error{path.string(), "is not a JSON object"};
    }
    try {
        RunFile file = runFileFrom(json);
        const auto status = statusFrom(json.at("status").get<std::string>(), path.string());
        if (!status) {
            return status.error();
        }
        file.info.status = *status;
        file.info.directory = runDirectory.string();
        return file;
    } catch (const Json::exception& exception) {
        return Error{path.string(), exception.what()};
    }
}

Status writeRunFile(const fs::path& runDirectory, const RunFile& file)
{
    const RunInfo& info = file.info;
    const Json json = {{"name", info.name},
                       {"created", info.created},
                       {"status", toString(info.status)},
                       {"message", info.message},
                       {"device", info.device},
                       {"step", info.step},
                       {"steps", info.steps},
                       {"loss", numberOrNull(info.loss)},
                       {"validationLoss", numberOrNull(info.validationLoss)},
                       {"parent", info.parent},
                       {"parentStep", info.parentStep},
                       {"tags", info.tags},
                       {"notes", info.notes},
                       {"projectDirectory", file.projectDirectory.string()}};
    return projects::writeFileAtomically(runDirectory / kRunFile,
                                         json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<FileDescriptor> guardRunFile(const fs::path& runDirectory)
{
    // The directory itself: run.json is another file after every replacement.
    FileDescriptor directory(::open(runDirectory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.isOpen()) {
        return systemError(runDirectory, "cannot open the run", errno);
    }
    while (::flock(directory.get(), LOCK_EX) != 0) {
        if (errno != EINTR) {
            return systemError(runDirectory, "cannot lock the run", errno);
        }
    }
    return directory;
}

Result<FileDescriptor> lockRun(const fs::path& runDirectory)
{
    const fs::path path = runDirectory / kLockFile;
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file.isOpen()) {
        return systemError(path, "cannot create the lock", errno);
    }
    struct flock lock = wholeFile(F_WRLCK);
    if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
        if (errno == EAGAIN || errno == EACCES) {
            return Error{runDirectory.string(), "another process is training this run"};
        }
        return systemError(path, "cannot lock the run", errno);
    }
    return file;
}

bool isRunLocked(const fs::path& runDirectory)
{
    const FileDescriptor file(::open((runDirectory / kLockFile).c_str(), O_RDONLY | O_CLOEXEC));
    struct flock lock = wholeFile(F_WRLCK);
    return file.isOpen() && ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

} // namespace residua::engine
