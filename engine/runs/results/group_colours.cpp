// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/content_hash.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/study_page.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/json_tree.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

constexpr const char* kColours = "colours";
constexpr const char* kNotes = "notes";
constexpr std::chrono::milliseconds kPatience{200}; ///< with another program that changes the file

using Colours = std::map<std::string, std::size_t>; ///< by a group's key

/// The content of kGroupsFile.
struct KeptGroups {
    Colours colours;
    std::map<std::string, std::string> notes; ///< by a group's key
};

/// Skips entries that are invalid.
KeptGroups readGroups(const std::filesystem::path& file)
{
    const Result<std::string> text = readFile(file, kLargestPage);
    const auto json = text ? projects::parseJson(*text) : Result<projects::JsonValue>(text.error());
    KeptGroups kept;
    const auto eachOf = [&](const char* key, const auto& take) {
        const auto* const member = json ? projects::findMember(*json, key) : nullptr;
        const auto* const entries = member != nullptr ? std::get_if<projects::JsonObject>(&member->data) : nullptr;
        for (const projects::JsonMember& entry : entries != nullptr ? *entries : projects::JsonObject()) {
            if (isSha256(entry.key)) {
                take(entry.key, entry.value.data);
            }
        }
    };
    eachOf(kColours, [&](const std::string& key, const auto& value) {
        const auto* const colour = std::get_if<std::int64_t>(&value);
        if (colour != nullptr && *colour >= 0 && *colour < static_cast<std::int64_t>(kGroupColours)) {
            kept.colours[key] = static_cast<std::size_t>(*colour);
        }
    });
    eachOf(kNotes, [&](const std::string& key, const auto& value) {
        if (const auto* const note = std::get_if<std::string>(&value);
            note != nullptr && note->size() <= kLongestNote) {
            kept.notes[key] = *note;
        }
    });
    return kept;
}

Status writeGroups(const std::filesystem::path& file, const KeptGroups& kept)
{
    projects::JsonObject colours;
    for (const auto& [key, colour] : kept.colours) {
        colours.push_back({key, projects::JsonValue{static_cast<std::int64_t>(colour)}});
    }
    projects::JsonObject notes;
    for (const auto& [key, note] : kept.notes) {
        notes.push_back({key, projects::JsonValue{note}});
    }
    projects::JsonObject all{{kColours, {std::move(colours)}}};
    if (!notes.empty()) {
        all.push_back({kNotes, {std::move(notes)}});
    }
    const std::string text = projects::printJson({std::move(all)});
    if (text.size() > kLargestPage) {
        return Error{file.string(), "would be too large; expected shorter notes of groups"};
    }
    return writeOwnFile(file, text);
}

/// Moves entries under the keys of earlier versions to the keys of now. Returns true if there are any.
bool renameKeys(KeptGroups& kept, const RunGroups& groups, std::span<const TrainedRun> runs)
{
    const auto isKnown = [&](const RunGroup& group) { return kept.colours.contains(group.key); };
    const auto isOfNow = [&](const auto& note) {
        return std::ranges::find(groups.groups, note.first, &RunGroup::key) != groups.groups.end();
    };
    const bool coloursAreOfNow = kept.colours.empty() || std::ranges::all_of(groups.groups, isKnown);
    if (coloursAreOfNow && std::ranges::all_of(kept.notes, isOfNow)) { // a bundle may bring notes of earlier versions
        return false;                                                  // because older keys take time
    }
    bool any = false;
    const std::vector<std::string> earlier = earlierKeys(groups, runs);
    for (std::size_t i = 0; i < earlier.size(); ++i) {
        const auto rename = [&](auto& entries) {
            if (auto entry = entries.extract(earlier[i])) {
                entry.key() = groups.groups[i].key;
                entries.insert(std::move(entry));
                any = true;
            }
        };
        rename(kept.colours);
        rename(kept.notes);
    }
    return any;
}

/// Returns the first unused colour. If all are used, returns the one with the fewest groups in `present`; of several,
/// the one with the fewest groups in `kept`.
std::size_t freeColour(const Colours& kept, const Colours& present)
{
    std::array<std::size_t, kGroupColours> uses{};
    for (const auto& [key, colour] : kept) {
        ++uses[colour];
    }
    for (const auto& [key, colour] : present) {
        uses[colour] += kept.size() + 1;
    }
    return static_cast<std::size_t>(std::ranges::min_element(uses) - uses.begin());
}

} // namespace

std::optional<std::filesystem::path> groupsFolderOf(const std::filesystem::path& folder)
{
    constexpr int kDeepest = 3; // a run in a sweep's folder
    std::error_code ignored;
    std::filesystem::path at = std::filesystem::absolute(folder / "", ignored).lexically_normal().parent_path();
    for (int depth = 0; depth < kDeepest; ++depth, at = at.parent_path()) {
        if (at.filename() == projects::kRunsFolder &&
            std::filesystem::exists(at.parent_path() / projects::kProjectFile, ignored)) {
            return at;
        }
    }
    return std::nullopt;
}

void keepColours(RunGroups& groups, std::span<const TrainedRun> runs, const std::filesystem::path& folder)
{
    const auto guard = guardRunFile(folder, kPatience); // without it the file may miss the other program's change
    KeptGroups file = readGroups(folder / kGroupsFile);
    const bool renamed = renameKeys(file, groups, runs);
    Colours& kept = file.colours;
    const Colours before = kept;
    Colours present;
    std::vector<RunGroup*> fresh;
    for (RunGroup& group : groups.groups) {
        if (const auto found = kept.find(group.key); found != kept.end()) {
            group.colour = found->second;
            present.insert(*found);
        } else {
            fresh.push_back(&group);
        }
    }
    std::ranges::stable_sort(fresh, {}, &RunGroup::colour); // as they began
    for (RunGroup* const group : fresh) {
        group->colour = freeColour(kept, present);
        std::erase_if(
            kept, [&](const auto& entry) { return entry.second == group->colour && !present.contains(entry.first); });
        kept[group->key] = present[group->key] = group->colour;
    }
    if (renamed || kept != before) {
        static_cast<void>(writeGroups(folder / kGroupsFile, file)); // a folder that is read-only keeps no colours
    }
}

std::map<std::string, std::string> groupNotes(const std::filesystem::path& folder)
{
    return readGroups(folder / kGroupsFile).notes;
}

Status noteGroup(const std::filesystem::path& folder, const std::string& key, const std::string& note)
{
    if (note.size() > kLongestNote) {
        return Error{"note",
                     "has " + std::to_string(note.size()) + " bytes; expected at most " + std::to_string(kLongestNote)};
    }
    const FileDescriptor guard = RESIDUA_TRY(guardRunFile(folder));
    KeptGroups kept = readGroups(folder / kGroupsFile);
    if (note.empty()) {
        kept.notes.erase(key);
    } else {
        kept.notes[key] = note;
    }
    return writeGroups(folder / kGroupsFile, kept);
}

Status joinGroups(const std::filesystem::path& folder, const std::filesystem::path& other)
{
    const KeptGroups arriving = readGroups(other / kGroupsFile);
    if (arriving.colours.empty() && arriving.notes.empty()) {
        return Done{};
    }
    const FileDescriptor guard = RESIDUA_TRY(guardRunFile(folder));
    KeptGroups kept = readGroups(folder / kGroupsFile);
    kept.notes.insert(arriving.notes.begin(), arriving.notes.end());
    for (const auto& arrived : arriving.colours) {
        const auto isTaken = [&](const auto& entry) { return entry.second == arrived.second; };
        if (std::ranges::none_of(kept.colours, isTaken)) {
            kept.colours.insert(arrived);
        }
    }
    return writeGroups(folder / kGroupsFile, kept);
}

} // namespace residua::engine
