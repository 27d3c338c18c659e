// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/run_files.h"

#include "engine/base/files/json_record.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "projects/studies/membership.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMembershipKey = "membership"; ///< null for a run outside sweeps
constexpr const char* kRemoteKey = "remote";         ///< written for a run on another machine
constexpr const char* kCommandKey = "command";       ///< of a remote run; written by earlier versions
constexpr const char* kReadingKey = "reading";       ///< ReadingVersion; earlier versions wrote none
/// In bytes. The names of classes can take more than kLongestRecord.
constexpr std::size_t kLongestRunFile = std::size_t{1} << 22;
constexpr char kBetweenHashes = ' '; ///< separates a data part's hash of blocks from that of every byte

// Locks of the open file description (Linux, POSIX 2024). They end with the process, however it dies. Two openings in
// one process exclude each other as two processes do.
struct flock wholeFile(short type)
{
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

RecordJson numberOrNull(double value)
{
    return std::isfinite(value) ? RecordJson(value) : RecordJson(nullptr);
}

Result<RunStatus> statusFrom(const std::string& text, const std::string& place)
{
    for (const RunStatus status : {RunStatus::Running, RunStatus::Paused, RunStatus::Finished, RunStatus::Stopped,
                                   RunStatus::Failed, RunStatus::Interrupted}) {
        if (text == textOf(status)) {
            return status;
        }
    }
    return Error{place, "status is \"" + text + "\", expected running, paused, finished, stopped or failed"};
}

std::optional<DataFingerprint> fingerprintFrom(RecordFields& fields)
{
    if (fields.find("data") == nullptr) {
        return std::nullopt;
    }
    DataFingerprint fingerprint;
    fields.eachOf("data", [&fingerprint](RecordFields& part) {
        DataPart& read = fingerprint.emplace_back(
            DataPart{part.text("name"), part.count("files"), part.count("bytes"), part.text("content"), {}});
        if (const std::size_t end = read.content.find(kBetweenHashes); read.files > 0 && end != std::string::npos) {
            read.everyByte = read.content.substr(end + 1);
            read.content.resize(end);
        }
    });
    if (fingerprint.empty()) {
        fields.fail("data", "is no list of what the examples come from");
    }
    return fingerprint;
}

RecordJson jsonOf(const DataFingerprint& fingerprint)
{
    RecordJson list = RecordJson::array();
    for (const DataPart& part : fingerprint) {
        const std::string content =
            part.everyByte.empty() ? part.content : part.content + kBetweenHashes + part.everyByte;
        list.push_back({{"name", part.name}, {"files", part.files}, {"bytes", part.bytes}, {"content", content}});
    }
    return list;
}

std::optional<projects::Membership> membershipOf(RecordFields& fields, const std::string& name)
{
    const RecordJson* const json = fields.find(kMembershipKey);
    if (json == nullptr) {
        // Earlier versions wrote none; a member was known by the name that the sweep gave its run.
        return projects::membershipFromName(name);
    }
    auto membership = projects::membershipFrom(json->dump(-1, ' ', false, RecordJson::error_handler_t::replace));
    if (!membership) {
        fields.fail(kMembershipKey, membership.error().text());
        return std::nullopt;
    }
    return *std::move(membership);
}

std::optional<RemoteRun> remoteFrom(RecordFields& fields, const std::string& place)
{
    const RecordJson* const json = fields.find(kRemoteKey);
    if (json == nullptr) {
        return std::nullopt;
    }
    if (!json->is_object()) {
        fields.fail(kRemoteKey, "is no place of a run");
        return std::nullopt;
    }
    RecordFields parts(place, *json);
    RemoteRun remote{parts.text("place"), parts.text("folder"), parts.text("directory")};
    if (parts.find(kCommandKey) != nullptr) {
        remote.formerCommand = parts.text(kCommandKey);
    }
    if (parts.error()) {
        fields.fail(kRemoteKey, parts.error()->message);
    }
    if (remote.directory.is_absolute() || std::ranges::find(remote.directory, "..") != remote.directory.end()) {
        fields.fail(kRemoteKey, "has the directory " + remote.directory.string() + ", which leads out of its folder");
    }
    return remote;
}

RecordJson jsonOf(const RemoteRun& remote)
{
    RecordJson json = {
        {"place", remote.place}, {"folder", remote.folder.string()}, {"directory", remote.directory.string()}};
    if (!remote.formerCommand.empty()) {
        json[kCommandKey] = remote.formerCommand;
    }
    return json;
}

/// Returns the last values of the metrics. Earlier versions wrote the two losses only.
std::map<std::string, double> valuesFrom(RecordFields& fields)
{
    std::map<std::string, double> values{{metric::kLoss, fields.number("loss")},
                                         {metric::kValidationLoss, fields.number("validationLoss")}};
    if (const RecordJson* const all = fields.find("values")) {
        for (const auto& [name, value] : all->items()) {
            values[name] = value.is_number() ? value.get<double>() : kNoLoss;
        }
    }
    std::erase_if(values, [](const auto& value) { return !std::isfinite(value.second); });
    return values;
}

/// Returns the version of the reading. Refuses a later one, which this program cannot repeat.
ReadingVersion readingFrom(RecordFields& fields)
{
    if (fields.find(kReadingKey) == nullptr) {
        return ReadingVersion::First;
    }
    const std::int64_t version = fields.count(kReadingKey);
    constexpr auto kNewest = static_cast<std::int64_t>(kNewestReading);
    if (version < 1 || version > kNewest) {
        fields.fail(kReadingKey, "is " + std::to_string(version) + ", expected at most " + std::to_string(kNewest) +
                                     ": the run's data are read by the rules of a later version of this program");
        return ReadingVersion::First;
    }
    return static_cast<ReadingVersion>(version);
}

/// Returns the run's path with links resolved.
fs::path placeOf(const fs::path& runDirectory)
{
    std::error_code code;
    const fs::path place = fs::weakly_canonical(fs::absolute(runDirectory, code), code);
    return code ? runDirectory : place;
}

Result<RunFile> readFields(const RecordJson& json, const fs::path& runDirectory, const std::string& place)
{
    RecordFields fields(place, json);
    RunFile file;
    RunInfo& info = file.info;
    info.directory = runDirectory.string();
    info.name = fields.text("name");
    info.created = fields.text("created");
    info.message = fields.text("message");
    info.device = fields.text("device");
    info.threads = fields.find("threads") == nullptr ? 0 : fields.count("threads"); // earlier versions wrote none
    info.step = fields.count("step");
    info.steps = fields.count("steps");
    info.values = valuesFrom(fields);
    if (fields.find("objective") != nullptr) { // earlier versions wrote none
        const std::string key = fields.text("objective");
        const auto* const found =
            std::ranges::find(projects::kObjectives, std::string_view(key), &projects::ObjectiveTraits::key);
        info.objective = found == std::end(projects::kObjectives) ? info.objective : found->objective;
    }
    const fs::path parent = fields.text("parent");
    info.parent = parent.is_relative() && !parent.empty() ? resolvedProjectDirectory(runDirectory, parent).string()
                                                          : parent.string();
    info.parentStep = fields.count("parentStep");
    info.tags = fields.texts("tags");
    info.notes = fields.text("notes");
    if (fields.find("classes") != nullptr) { // written if there are any
        info.classes = fields.texts("classes");
    }
    info.reading = readingFrom(fields);
    file.projectDirectory = fields.text("projectDirectory");
    file.data = fingerprintFrom(fields);
    if (fields.find("identity") != nullptr) {
        file.identity = fields.text("identity");
    }
    file.remote = remoteFrom(fields, place);
    info.place = file.remote ? file.remote->place : std::string();
    info.membership = membershipOf(fields, info.name);
    const std::string status = fields.text("status");
    if (fields.error()) {
        return *fields.error();
    }
    if (info.step == 0) {
        info.values.erase(metric::kLoss); // earlier versions wrote 0 before the first step
    }
    info.status = RESIDUA_TRY(statusFrom(status, place));
    return file;
}

} // namespace

Result<RunFile> readRunFile(const fs::path& runDirectory)
{
    const fs::path path = runDirectory / kRunFile;
    const auto text = readFile(path);
    if (!text) {
        const bool cutOff = isFolder(runDirectory) && !isThere(path);
        return cutOff ? Error{runDirectory.string(), "has no " + std::string(kRunFile) +
                                                         ": it is no run, or one that was cut off before it began"}
                      : text.error();
    }
    return runFileFrom(path, *text);
}

Result<RunFile> runFileFrom(const fs::path& path, const std::string& text)
{
    const auto json = parseRecord(path, text, kLongestRunFile);
    return json ? readFields(*json, path.parent_path(), path.string()) : Result<RunFile>(json.error());
}

std::string runFileText(const RunFile& file)
{
    const RunInfo& info = file.info;
    RecordJson json = {{"name", info.name},
                       {"created", info.created},
                       {"status", textOf(info.status)},
                       {"message", info.message},
                       {"device", info.device},
                       {"threads", info.threads},
                       {"step", info.step},
                       {"steps", info.steps},
                       {"loss", numberOrNull(info.loss())}, // for earlier versions, as the next
                       {"validationLoss", numberOrNull(info.validationLoss())},
                       {"values", info.values},
                       {"objective", std::string(projects::traitsOf(info.objective).key)},
                       {"parent", info.parent},
                       {"parentStep", info.parentStep},
                       {"tags", info.tags},
                       {"notes", info.notes},
                       {"projectDirectory", file.projectDirectory.string()},
                       {kReadingKey, static_cast<std::int64_t>(info.reading)},
                       {kMembershipKey, RecordJson::parse(projects::textOf(info.membership))}};
    if (!info.classes.empty()) {
        json["classes"] = info.classes;
    }
    if (!file.identity.empty()) {
        json["identity"] = file.identity;
    }
    if (file.remote) {
        json[kRemoteKey] = jsonOf(*file.remote);
    }
    if (file.data) {
        json["data"] = jsonOf(*file.data);
    }
    return json.dump(2, ' ', false, RecordJson::error_handler_t::replace) + "\n";
}

Status writeRunFile(const fs::path& runDirectory, const RunFile& file)
{
    RunFile kept = file;
    kept.info.parent = keptParent(runDirectory, file).string();
    return writeOwnFile(runDirectory / kRunFile, runFileText(kept));
}

fs::path keptParent(const fs::path& runDirectory, const RunFile& file)
{
    const fs::path& parent = file.info.parent;
    if (parent.empty()) {
        return {};
    }
    const fs::path run = placeOf(runDirectory);
    const fs::path place = placeOf(parent);
    const fs::path project = resolvedProjectDirectory(runDirectory, file.projectDirectory);
    const auto isInProject = [&](const fs::path& path) {
        const fs::path below = path.lexically_relative(project);
        return !below.empty() && *below.begin() != "..";
    };
    const bool together = place.parent_path() == run.parent_path() || (isInProject(run) && isInProject(place));
    return together ? place.lexically_relative(run) : place;
}

fs::path keptProjectDirectory(const fs::path& runDirectory, const fs::path& projectDirectory)
{
    const fs::path given = projectDirectory.empty() ? fs::path(".") : projectDirectory;
    const fs::path project = placeOf(given);
    const fs::path relative = project.lexically_relative(placeOf(runDirectory));
    const bool inside = !relative.empty() &&
                        std::ranges::all_of(relative, [](const fs::path& part) { return part == ".." || part == "."; });
    const bool bothRelative = runDirectory.is_relative() && given.is_relative() && !relative.empty();
    return inside || bothRelative ? relative : project;
}

fs::path resolvedProjectDirectory(const fs::path& runDirectory, const fs::path& kept)
{
    const fs::path directory = (placeOf(runDirectory) / kept).lexically_normal();
    return directory.has_filename() ? directory : directory.parent_path(); // "/a/b/../" is "/a/"
}

Result<FileDescriptor> guardRunFile(const fs::path& runDirectory, std::chrono::milliseconds patience)
{
    // Locks the directory itself, because run.json becomes another file with every replacement.
    FileDescriptor directory(::open(runDirectory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.isOpen()) {
        return systemError(runDirectory, "cannot open the run", errno);
    }
    constexpr std::chrono::milliseconds kTurn{5};
    const auto until = std::chrono::steady_clock::now() + patience;
    while (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR && errno != EWOULDBLOCK) {
            return systemError(runDirectory, "cannot lock the run", errno);
        }
        if (std::chrono::steady_clock::now() > until) {
            return Error{runDirectory.string(), "another process has locked this folder and does not let it go"};
        }
        std::this_thread::sleep_for(kTurn);
    }
    return directory;
}

Result<FileDescriptor> lockRun(const fs::path& runDirectory)
{
    const fs::path path = runDirectory / kLockFile;
    // Does not follow links, which may lead out of the run, and does not block on a FIFO.
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    if (!file.isOpen()) {
        return systemError(path, "cannot create the lock", errno);
    }
    struct stat opened {};
    if (::fstat(file.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) {
        return Error{path.string(), "is not a plain file: remove it"};
    }
    struct flock lock = wholeFile(F_WRLCK);
    if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
        if (errno == EAGAIN || errno == EACCES) {
            return Error{runDirectory.string(), "another process is training this run"};
        }
        return systemError(path, "cannot lock the run", errno);
    }
    struct stat now {};
    if (::lstat(path.c_str(), &now) != 0 || now.st_ino != opened.st_ino || now.st_dev != opened.st_dev) {
        return Error{runDirectory.string(), "another process has removed this run"};
    }
    return file;
}

bool isRunLocked(const fs::path& runDirectory)
{
    const FileDescriptor file(
        ::open((runDirectory / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct flock lock = wholeFile(F_WRLCK);
    return file.isOpen() && ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

} // namespace residua::engine
