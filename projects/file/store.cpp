// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/file/store.h"

#include "projects/base/files.h"
#include "projects/base/whole_file.h"
#include "projects/file/json.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

namespace residua::projects {

namespace fs = std::filesystem;

namespace {

/// True if the file is a temporary file for one of the project's files and its process has died. A process of another
/// machine needs less than a minute to write.
bool isLeftover(const fs::directory_entry& entry)
{
    const std::string name = entry.path().filename().string();
    for (const std::string_view of : {kProjectFile, kLayoutFile, kJournalFile}) {
        const std::optional<int> writer = writerOfTemporary(name, of);
        if (!writer) {
            continue;
        }
        std::error_code error;
        const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
        const bool dead = ::kill(*writer, 0) != 0 && errno == ESRCH;
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

Status makeDirectory(const fs::path& directory)
{
    std::error_code error;
    fs::create_directories(directory, error);
    if (error) {
        return Error{directory.string(), "cannot make this folder: " + error.message()};
    }
    return Done{};
}

/// Prefixes the place of an error with the file.
Error inFile(const fs::path& file, const Error& error)
{
    return {file.string() + " · " + error.place, error.message};
}

template <class T>
Result<T> readWith(Result<T> (*parse)(std::string_view), const fs::path& file)
{
    const auto bytes = RESIDUA_TRY(readFile(file));
    auto value = parse(bytes);
    return value ? std::move(value) : Result<T>(inFile(file, value.error()));
}

/// Removes positions of missing nodes (a project merged or edited by hand), so that a layout refers only to the
/// project's nodes.
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

Result<Document> loadProject(const fs::path& path)
{
    const bool isNamed = isFile(path);
    if (!isNamed && !isFolder(path)) {
        return Error{path.string(), "does not exist; expected a project's folder or its project.json"};
    }
    const fs::path file = isNamed ? path : path / kProjectFile;
    if (!isThere(file)) {
        return Error{path.string(), "is no project: it has no " + std::string(kProjectFile)};
    }
    auto project = RESIDUA_TRY(readWith(projectFromJson, file));
    Document document{std::move(project), {}};
    const fs::path layoutFile = file.parent_path() / kLayoutFile;
    if (isThere(layoutFile)) {
        document.layout = RESIDUA_TRY(readWith(layoutFromJson, layoutFile));
    }
    return withoutStrays(std::move(document));
}

Status saveProject(const fs::path& directory, const Document& document)
{
    RESIDUA_TRY(makeDirectory(directory));
    removeLeftovers(directory);
    RESIDUA_TRY(writeFileAtomically(directory / kProjectFile, toJson(document.project)));
    return writeFileAtomically(directory / kLayoutFile, toJson(document.layout));
}

Status writeJournal(const fs::path& directory, const Document& document)
{
    RESIDUA_TRY(makeDirectory(directory));
    // A single file, so that project and layout are from the same moment.
    JsonObject both{{"project", treeOf(document.project)}, {"layout", treeOf(document.layout)}};
    return writeFileAtomically(directory / kJournalFile, printJson({std::move(both)}));
}

Result<std::optional<Document>> readJournal(const fs::path& directory)
{
    const fs::path file = directory / kJournalFile;
    if (!isThere(file)) {
        return std::optional<Document>{};
    }
    auto tree = RESIDUA_TRY(readWith(parseJson, file));
    auto project = projectFromTree(takeMember(tree, "project"));
    if (!project) {
        return inFile(file, project.error());
    }
    auto layout = layoutFromTree(takeMember(tree, "layout"));
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
