// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/store.h"

#include "projects/json.h"
#include "projects/json_document.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace residua::projects {

namespace fs = std::filesystem;

namespace {

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
    std::error_code ignored;
    // A link stays a link: what it points to is replaced.
    const fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
    struct stat old {};
    const bool exists = ::stat(target.c_str(), &old) == 0;

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

Result<std::string> readFile(const fs::path& path)
{
    const auto failed = [&](int code) { return Error{path.string(), "cannot be read: " + reason(code)}; };
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // a FIFO must not hang us
    if (file.get() < 0) {
        return failed(errno);
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        return failed(errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return Error{path.string(), S_ISDIR(status.st_mode) ? "is a folder; expected a file" : "is not a plain file"};
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
