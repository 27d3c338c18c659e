// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/folder_files.h"

#include "engine/data/text/data_files.h"
#include "projects/base/files.h"
#include "projects/base/text.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// A file or folder, whatever path leads to it.
using Node = std::pair<std::uint64_t, std::uint64_t>; // device and inode

std::optional<Node> nodeOf(const fs::path& path)
{
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? std::optional(Node{found.st_dev, found.st_ino}) : std::nullopt;
}

/// Lists folders, each once.
class Walk {
public:
    /// Returns false if the folder was entered already.
    bool enters(const fs::path& folder)
    {
        const std::optional<Node> node = nodeOf(folder);
        return !node || m_entered.insert(*node).second;
    }

    /// Adds what a folder holds. Collects links to folders in `links`, so that folders are entered without them first.
    Status list(const fs::path& folder, FolderFiles& found, std::vector<fs::path>& links)
    {
        std::vector<fs::path> folders;
        std::error_code code;
        fs::directory_iterator entry(folder, code);
        for (const fs::directory_iterator end; !code && entry != end; entry.increment(code)) {
            std::error_code ignored;
            if (isHiddenEntry(entry->path())) {
                found.hidden.push_back(entry->path());
            } else if (entry->is_directory(ignored)) {
                (entry->is_symlink(ignored) ? links : folders).push_back(entry->path());
            } else if (entry->is_regular_file(ignored) || entry->is_symlink(ignored)) {
                found.files.push_back(entry->path());
            }
        }
        if (code) {
            return systemError(folder, "cannot list the folder", code.value());
        }
        std::ranges::sort(folders);
        for (const fs::path& below : folders) {
            if (enters(below)) {
                RESIDUA_TRY(list(below, found, links));
            }
        }
        return Done{};
    }

    /// Adds what the links lead to, and the links that those folders have.
    Status follow(FolderFiles& found, std::vector<fs::path> links)
    {
        while (!links.empty()) {
            std::ranges::sort(links);
            std::vector<fs::path> further;
            for (const fs::path& link : links) {
                if (!enters(link)) {
                    found.again.push_back(link);
                } else if (Status listed = list(link, found, further); !listed) {
                    return listed;
                }
            }
            links = std::move(further);
        }
        return Done{};
    }

private:
    std::set<Node> m_entered;
};

enum class Part { Training, Validation, Test };

std::optional<Part> partOf(const std::string& word)
{
    static const std::map<std::string_view, Part> kWords{
        {"train", Part::Training},   {"training", Part::Training}, {"val", Part::Validation},
        {"valid", Part::Validation}, {"dev", Part::Validation},    {"validation", Part::Validation},
        {"test", Part::Test},        {"testing", Part::Test},      {"t10k", Part::Test},
    };
    const auto found = kWords.find(word);
    return found == kWords.end() ? std::nullopt : std::optional(found->second);
}

/// A name without the word of its part.
struct PartName {
    Part part = Part::Training;
    std::string rest;
};

/// Returns the part that a name tells; nullopt if it has no such word, or several.
std::optional<PartName> partNameOf(std::string name)
{
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    constexpr std::string_view kCifar = "data_batch";
    if (name.starts_with(kCifar)) { // beside test_batch
        name.replace(0, kCifar.size(), "train_batch");
    }
    const auto separates = [](char c) { return c == '_' || c == '-' || c == '.' || c == ' '; };
    std::optional<PartName> found;
    std::string rest;
    for (auto at = name.begin(); at != name.end();) {
        const auto end = std::find_if(at, name.end(), separates);
        const std::string word(at, end);
        at = end == name.end() ? end : end + 1;
        if (const auto part = partOf(word)) {
            if (found) {
                return std::nullopt;
            }
            found = PartName{*part, {}};
        } else if (word != "of" && word.find_first_not_of("0123456789") != std::string::npos) {
            rest += word + "-";
        }
    }
    if (found) {
        found->rest = rest;
    }
    return found;
}

/// Returns the name of a folder, or that of a data file without its endings; empty for other entries.
std::string nameOf(const fs::directory_entry& entry)
{
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (isHiddenEntry(name) || entry.is_directory(ignored)) {
        return isHiddenEntry(name) ? std::string() : name;
    }
    const std::string plain(projects::withoutCompression(name));
    const bool isTwin = plain != name && fs::exists(entry.path().parent_path() / plain, ignored);
    const bool isData =
        projects::endsIn(plain, projects::kDataEndings) || projects::endsIn(plain, projects::kPictureRecordEndings);
    return isData && !isTwin ? fs::path(plain).stem().string() : std::string();
}

} // namespace

Result<std::vector<FolderFiles>> filesBelow(std::span<const fs::path> folders, const fs::path& root,
                                            LinkedFolders linked)
{
    Walk walk;
    if (!root.empty()) {
        (void)walk.enters(root);
    }
    for (auto folder = folders.begin(); folder != folders.end(); ++folder) {
        if (!walk.enters(*folder)) {
            const auto same = std::find_if(folders.begin(), folder,
                                           [&](const fs::path& other) { return nodeOf(other) == nodeOf(*folder); });
            return Error{folder->string(), "is the same folder as " + (same == folder ? root : *same).string() +
                                               ": expected another, or remove the link"};
        }
    }
    std::vector<FolderFiles> found(folders.size());
    std::vector<std::vector<fs::path>> links(folders.size());
    Status status = Done{};
    for (std::size_t i = 0; status && i < folders.size(); ++i) {
        status = walk.list(folders[i], found[i], links[i]);
    }
    for (std::size_t i = 0; status && i < folders.size(); ++i) {
        status = linked == LinkedFolders::Entered ? walk.follow(found[i], std::move(links[i])) : Status(Done{});
        for (auto* const list : {&found[i].files, &found[i].hidden, &found[i].again}) {
            std::ranges::sort(*list);
        }
    }
    return status ? Result<std::vector<FolderFiles>>(std::move(found)) : status.error();
}

Status refuseShared(const std::vector<fs::path>& training, const std::vector<fs::path>& heldOut)
{
    std::set<Node> known;
    for (const fs::path& file : training) {
        if (const auto node = nodeOf(file)) {
            known.insert(*node);
        }
    }
    for (const fs::path& file : heldOut) {
        const auto node = nodeOf(file);
        if (node && known.contains(*node)) {
            return Error{file.string(), "is held out for validation and is trained on too, so nothing is held out: "
                                        "expected other data, or an empty validation_path"};
        }
    }
    return Done{};
}

std::string NamedParts::text() const
{
    std::vector<std::string> names;
    for (const auto* const part : {&training, &validation, &test}) {
        if (!part->empty()) {
            names.push_back(part->front().filename().string());
        }
    }
    const std::string last = names.back();
    names.pop_back();
    return joinedText(names) + " and " + last;
}

std::vector<NamedParts> partsIn(const fs::path& folder)
{
    std::map<std::string, NamedParts> sets;
    std::error_code code;
    fs::directory_iterator entry(folder, code);
    for (const fs::directory_iterator end; !code && entry != end; entry.increment(code)) {
        if (const auto name = partNameOf(nameOf(*entry))) {
            NamedParts& set = sets[name->rest];
            (name->part == Part::Training     ? set.training
             : name->part == Part::Validation ? set.validation
                                              : set.test)
                .push_back(entry->path());
        }
    }
    std::vector<NamedParts> found;
    for (auto& [rest, set] : sets) {
        if (!set.training.empty() && !set.heldOut().empty()) {
            for (auto* const part : {&set.training, &set.validation, &set.test}) {
                std::ranges::sort(*part);
            }
            found.push_back(std::move(set));
        }
    }
    return found;
}

std::vector<fs::path> heldOutBeside(const fs::path& path)
{
    const fs::path part = path.has_filename() ? path : path.parent_path();
    const fs::path folder = part.has_parent_path() ? part.parent_path() : fs::path(".");
    const std::string name(projects::withoutCompression(part.filename().native()));
    for (const NamedParts& parts : partsIn(folder)) {
        const auto isPart = [&](const fs::path& training) {
            return projects::withoutCompression(training.filename().native()) == name;
        };
        if (std::ranges::any_of(parts.training, isPart)) {
            return parts.heldOut();
        }
    }
    return {};
}

bool isTrainingPart(const fs::path& path)
{
    const auto name = partNameOf(path.filename().string());
    return name && name->part == Part::Training;
}

Status refuseParts(const fs::path& path, const std::string& wayOn)
{
    const std::vector<NamedParts> sets = partsIn(path);
    return sets.empty() ? Status(Done{})
                        : Error{path.string(), "has the parts " + sets.front().text() +
                                                   " of a data set, which are not trained on together: " + wayOn};
}

} // namespace residua::engine
