// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture_set.h"

#include "engine/data/text/data_files.h"
#include "engine/data/text/folder_files.h"
#include "projects/base/files.h"
#include "projects/base/text.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <map>
#include <memory>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// The entries of a folder, without hidden ones.
struct Entries {
    std::vector<fs::path> folders; ///< sorted
    std::int64_t files = 0;
};

Result<Entries> entriesOf(const fs::path& folder)
{
    Entries entries;
    std::error_code code;
    fs::directory_iterator entry(folder, code);
    for (const fs::directory_iterator end; !code && entry != end; entry.increment(code)) {
        std::error_code ignored;
        if (isHiddenEntry(entry->path())) {
            continue;
        }
        if (entry->is_directory(ignored)) {
            entries.folders.push_back(entry->path());
        } else {
            ++entries.files;
        }
    }
    if (code) {
        return systemError(folder, "cannot list the folder", code.value());
    }
    std::ranges::sort(entries.folders);
    return entries;
}

/// Refuses the parts of a data set as classes.
Status checkParts(const fs::path& path)
{
    for (const NamedParts& parts : partsIn(path)) {
        if (isFolder(parts.training.front())) {
            return refuseParts(path, "set path to " + parts.training.front().string() + " and validation_path to " +
                                         parts.heldOut().front().string());
        }
    }
    return Done{};
}

/// Counts files that are left out.
class LeftOut {
public:
    void add(const fs::path& file)
    {
        const std::string kind = pictureKindOf(file);
        ++m_kinds[kind.empty() ? "other files" : kind];
        ++m_count;
    }
    void addFiles(std::int64_t count)
    {
        if (count > 0) {
            m_kinds["other files"] += count;
            m_count += count;
        }
    }
    [[nodiscard]] std::int64_t count() const { return m_count; }
    [[nodiscard]] std::string text() const
    {
        return joinedText(m_kinds, ", ",
                          [](const auto& kind) { return std::to_string(kind.second) + " " + kind.first; });
    }

private:
    std::map<std::string, std::int64_t> m_kinds;
    std::int64_t m_count = 0;
};

} // namespace

Result<PictureSet> openClassFolders(const fs::path& path, const PictureRequest& request)
{
    if (request.reading != ReadingVersion::First) {
        RESIDUA_TRY(checkParts(path));
    }
    const Entries entries = RESIDUA_TRY(entriesOf(path));
    const std::vector<FolderFiles> below = RESIDUA_TRY(filesBelow(entries.folders, path));
    PictureSet set;
    LeftOut others;
    others.addFiles(entries.files);
    std::vector<fs::path> again;
    for (std::size_t i = 0; i < below.size(); ++i) {
        const std::size_t before = set.files.size();
        for (const fs::path& file : below[i].files) {
            if (projects::endsIn(file.native(), projects::kPictureEndings)) {
                set.files.push_back(file);
            } else {
                others.add(file);
            }
        }
        again.insert(again.end(), below[i].again.begin(), below[i].again.end());
        if (set.files.size() == before) {
            set.emptyClasses.push_back(entries.folders[i].string());
        }
        set.labels.resize(set.files.size(), std::ssize(set.classes));
        set.classes.push_back(entries.folders[i].filename().string());
    }
    if (set.files.empty()) {
        return Error{path.string(), "has no pictures, expected a folder of PNG, JPEG or WebP files for each class" +
                                        (others.count() > 0 ? "; has " + others.text() : std::string())};
    }
    if (others.count() > 0) {
        set.notes.push_back(
            path.string() + ": leaves out " + std::to_string(others.count()) +
            " files that are not in the folder of a class or not named as PNG, JPEG or WebP: " + others.text());
    }
    if (!again.empty()) {
        set.notes.push_back(path.string() + ": leaves out " + countText(again.size(), "link") +
                            " to folders that are read already: " + again.front().string() +
                            (again.size() > 1 ? " …" : ""));
    }
    set.read = [files = std::make_shared<const std::vector<fs::path>>(set.files),
                reading = request.reading](std::size_t index) { return readPicture(files->at(index), reading); };
    return set;
}

} // namespace residua::engine
