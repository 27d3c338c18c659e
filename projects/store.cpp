// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/store.h"

#include "projects/json.h"
#include "projects/json_document.h"
#include "projects/regular_file.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace residua::projects {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kLargestText = std::int64_t{64} << 20; // far beyond any project, and no harm to memory

std::string reason(int code)
{
    return std::generic_category().message(code);
}

/// Closes on the way out; close() tells what a failing disk kept for last.
class Descriptor {
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int get() const { return m_fd; }
    int close()
    {
        const int fd = std::exchange(m_fd, -1);
        return fd < 0 ? 0 : ::close(fd);
    }

private:
    int m_fd;
};

bool writeAll(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// A reader that goes away is an error of the write (EPIPE), not the end of the process.
class BrokenPipesAreErrors {
public:
    BrokenPipesAreErrors()
    {
        ::sigemptyset(&m_pipe);
        ::sigaddset(&m_pipe, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &m_pipe, &m_before);
    }
    ~BrokenPipesAreErrors()
    {
        const timespec now = {};
        if (::sigismember(&m_before, SIGPIPE) == 0) {
            ::sigtimedwait(&m_pipe, nullptr, &now); // what came meanwhile
        }
        ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    BrokenPipesAreErrors(const BrokenPipesAreErrors&) = delete;
    BrokenPipesAreErrors& operator=(const BrokenPipesAreErrors&) = delete;

private:
    sigset_t m_pipe = {};
    sigset_t m_before = {};
};

/// The error of what is there and holds no bytes of its own.
Error notPlain(const fs::path& path, mode_t mode)
{
    const char* what = S_ISDIR(mode)    ? "is a folder"
                       : S_ISFIFO(mode) ? "is a FIFO"
                       : S_ISSOCK(mode) ? "is a socket"
                                        : "is a device";
    return {path.string(), std::string(what) + "; expected a file"};
}

/// A name beside `path` that no other writer uses, in this process or another.
fs::path temporaryBeside(const fs::path& path)
{
    static std::atomic<unsigned> counter{0};
    fs::path temporary = path;
    temporary += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    return temporary;
}

/// Whether `name` is a temporary file for one of a project's, whose process has died. Another machine's process writes
/// for less than a minute.
bool isLeftover(const fs::directory_entry& entry)
{
    const std::string name = entry.path().filename().string();
    for (const char* of : {kProjectFile, kLayoutFile, kJournalFile}) {
        const std::string prefix = std::string(of) + ".tmp-";
        if (!name.starts_with(prefix)) {
            continue;
        }
        int process = 0;
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), process);
        std::error_code error;
        const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
        const bool dead = process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
        return dead && !error && age > std::chrono::minutes(1) && fs::is_regular_file(entry.symlink_status(error));
    }
    return false;
}

void removeLeftovers(const fs::path& directory)
{
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
        if (isLeftover(*entry)) {
            std::error_code ignored;
            fs::remove(entry->path(), ignored);
        }
    }
}

/// Writes `bytes` to a new file with the mode of the one that it will replace, or the user's default; 0 or the
/// errno of what failed.
int writeNewFile(const fs::path& path, std::string_view bytes, std::optional<mode_t> mode)
{
    constexpr mode_t kDefaultMode = 0666; // less the user's umask
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode.value_or(kDefaultMode)));
    if (file.get() < 0 || (mode && ::fchmod(file.get(), *mode) != 0) || !writeAll(file.get(), bytes) ||
        ::fsync(file.get()) != 0 || file.close() != 0) {
        return errno;
    }
    return 0;
}

/// Makes a rename last through a power cut. File systems that cannot sync a directory say EINVAL: no loss.
void syncDirectory(const fs::path& directory)
{
    const Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() >= 0) {
        ::fsync(folder.get());
    }
}

Status makeDirectory(const fs::path& directory)
{
    std::error_code error;
    fs::create_directories(directory, error);
    if (error) {
        return Error{directory.string(), "cannot make this folder: " + error.message()};
    }
    return Done{};
}

/// A file's error with the file before the place within it.
Error inFile(const fs::path& file, const Error& error)
{
    return {file.string() + " · " + error.place, error.message};
}

template <class T>
Result<T> readWith(Result<T> (*parse)(std::string_view), const fs::path& file)
{
    const auto bytes = readFile(file);
    if (!bytes) {
        return bytes.error();
    }
    auto value = parse(*bytes);
    return value ? std::move(value) : Result<T>(inFile(file, value.error()));
}

/// Positions of nodes that are gone (a project merged or edited by hand) are dropped, so that a layout speaks
/// of nothing but the project's nodes.
Document withoutStrays(Document document)
{
    for (auto& [ref, positions] : document.layout.positions) {
        const Graph* graph = findGraph(document.project, ref);
        std::erase_if(positions,
                      [&](const auto& node) { return graph == nullptr || graph->find(node.first) == nullptr; });
    }
    std::erase_if(document.layout.positions, [](const auto& entry) { return entry.second.empty(); });
    return document;
}

} // namespace

Status writeFileAtomically(const fs::path& path, std::string_view bytes)
{
    // A link stays a link: what it points to is replaced.
    std::error_code broken;
    const fs::path target =
        fs::is_symlink(fs::symlink_status(path, broken)) ? fs::weakly_canonical(path, broken) : path;
    struct stat old {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    if (target.empty()) {
        return Error{path.string(), "cannot be written: " + broken.message()};
    }
    if (exists && !S_ISREG(old.st_mode)) {
        return notPlain(path, old.st_mode);
    }

    const fs::path temporary = temporaryBeside(target);
    int failure = writeNewFile(temporary, bytes, exists ? std::optional<mode_t>(old.st_mode & 07777) : std::nullopt);
    if (failure == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) {
        failure = errno;
    }
    if (failure != 0) {
        ::unlink(temporary.c_str());
        return Error{path.string(),
                     "cannot be written: " + reason(failure) + (exists ? "; its earlier content is kept" : "")};
    }
    syncDirectory(target.has_parent_path() ? target.parent_path() : fs::path("."));
    return Done{};
}

Status writeOutput(const fs::path& path, std::string_view bytes)
{
    struct stat there {};
    const bool stream = ::stat(path.c_str(), &there) == 0 && (S_ISCHR(there.st_mode) || S_ISFIFO(there.st_mode));
    if (!stream) {
        return writeFileAtomically(path, bytes);
    }
    const BrokenPipesAreErrors quiet;
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (file.get() < 0 || !writeAll(file.get(), bytes) || file.close() != 0) {
        return Error{path.string(), "cannot be written: " + reason(errno)};
    }
    return Done{};
}

Result<std::string> readFile(const fs::path& path)
{
    const auto failed = [&](int code) { return Error{path.string(), "cannot be read: " + reason(code)}; };
    const auto opened = openRegularFile(path);
    if (!opened) {
        return opened.error();
    }
    const Descriptor file(*opened);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        return failed(errno);
    }
    if (status.st_size > kLargestText) {
        return Error{path.string(), "is " + std::to_string(status.st_size) + " bytes long; expected at most " +
                                        std::to_string(kLargestText)};
    }
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return failed(errno);
        }
        if (got == 0) {
            break; // it was cut while we read
        }
        filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
}

Result<Document> loadProject(const fs::path& path)
{
    std::error_code ignored;
    const bool isFile = fs::is_regular_file(path, ignored);
    if (!isFile && !fs::is_directory(path, ignored)) {
        return Error{path.string(), "does not exist; expected a project's folder or its project.json"};
    }
    const fs::path file = isFile ? path : path / kProjectFile;
    if (!fs::exists(file, ignored)) {
        return Error{path.string(), "is no project: it has no " + std::string(kProjectFile)};
    }
    auto project = readWith(projectFromJson, file);
    if (!project) {
        return project.error();
    }
    Document document{*std::move(project), {}};
    const fs::path layoutFile = file.parent_path() / kLayoutFile;
    if (fs::exists(layoutFile, ignored)) {
        auto layout = readWith(layoutFromJson, layoutFile);
        if (!layout) {
            return layout.error();
        }
        document.layout = *std::move(layout);
    }
    return withoutStrays(std::move(document));
}

Status saveProject(const fs::path& directory, const Document& document)
{
    if (Status made = makeDirectory(directory); !made) {
        return made;
    }
    removeLeftovers(directory);
    if (Status written = writeFileAtomically(directory / kProjectFile, toJson(document.project)); !written) {
        return written;
    }
    return writeFileAtomically(directory / kLayoutFile, toJson(document.layout));
}

Status writeJournal(const fs::path& directory, const Document& document)
{
    if (Status made = makeDirectory(directory); !made) {
        return made;
    }
    // One file, so that project and layout are of the same moment.
    JsonObject both{{"project", treeOf(document.project)}, {"layout", treeOf(document.layout)}};
    return writeFileAtomically(directory / kJournalFile, printJson({std::move(both)}));
}

Result<std::optional<Document>> readJournal(const fs::path& directory)
{
    const fs::path file = directory / kJournalFile;
    std::error_code ignored;
    if (!fs::exists(file, ignored)) {
        return std::optional<Document>{};
    }
    auto tree = readWith(parseJson, file);
    if (!tree) {
        return tree.error();
    }
    auto project = projectFromTree(takeMember(*tree, "project"));
    if (!project) {
        return inFile(file, project.error());
    }
    auto layout = layoutFromTree(takeMember(*tree, "layout"));
    if (!layout) {
        return inFile(file, layout.error());
    }
    Document unsaved = withoutStrays({*std::move(project), *std::move(layout)});
    if (const auto saved = loadProject(directory); saved && *saved == unsaved) {
        return std::optional<Document>{};
    }
    return std::optional(std::move(unsaved));
}

Status removeJournal(const fs::path& directory)
{
    const fs::path file = directory / kJournalFile;
    std::error_code error;
    fs::remove(file, error);
    if (error) {
        return Error{file.string(), "cannot be removed: " + error.message()};
    }
    return Done{};
}

} // namespace residua::projects
