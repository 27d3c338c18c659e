// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/sha256.h"
#include "engine/runs/results/run_groups.h"
#include "projects/base/json_tree.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <algorithm>
#include <array>
#include <map>
#include <system_error>

namespace residua::engine {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 20;
constexpr const char* kColours = "colours";

using Colours = std::map<std::string, std::size_t>; ///< by a group's key

/// Skips entries that are invalid.
Colours readColours(const std::filesystem::path& file)
{
    Colours colours;
    const Result<std::string> text = readFile(file, kLargestFile);
    const auto json = text ? projects::parseJson(*text) : Result<projects::JsonValue>(text.error());
    const auto* const kept = json ? projects::findMember(*json, kColours) : nullptr;
    const auto* const entries = kept != nullptr ? std::get_if<projects::JsonObject>(&kept->data) : nullptr;
    for (const projects::JsonMember& entry : entries != nullptr ? *entries : projects::JsonObject()) {
        const auto* const colour = std::get_if<std::int64_t>(&entry.value.data);
        if (colour != nullptr && *colour >= 0 && *colour < static_cast<std::int64_t>(kGroupColours) &&
            isSha256(entry.key)) {
            colours[entry.key] = static_cast<std::size_t>(*colour);
        }
    }
    return colours;
}

Status writeColours(const std::filesystem::path& file, const Colours& colours)
{
    projects::JsonObject entries;
    for (const auto& [key, colour] : colours) {
        entries.push_back({key, projects::JsonValue{static_cast<std::int64_t>(colour)}});
    }
    return writeOwnFile(file, projects::printJson({projects::JsonObject{{kColours, {std::move(entries)}}}}));
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

void keepColours(RunGroups& groups, const std::filesystem::path& folder)
{
    Colours kept = readColours(folder / kGroupsFile);
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
    if (kept != before) {
        static_cast<void>(writeColours(folder / kGroupsFile, kept)); // a folder that is read-only keeps no colours
    }
}

} // namespace residua::engine
