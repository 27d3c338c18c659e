// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/run_upkeep.h"

#include "engine/base/api/commands.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/diff/diff.h"

#include <algorithm>
#include <span>
#include <vector>

namespace residua::engine {
namespace {

constexpr const char* kDivider = ", ";
constexpr std::size_t kCompared = 20; ///< the maximum number of runs compared, which bounds the time
constexpr std::size_t kFewWords = 2;  ///< the maximum number of words, if they distinguish the name from all others

struct Neighbour {
    std::string name;
    bool differs = false; ///< true if it trains something different
    projects::Project project;
};

/// Returns the runs outside sweeps whose project has this name: the newest ones, and at the end the oldest.
std::vector<Neighbour> neighboursOf(const std::filesystem::path& folder, const projects::Project& project)
{
    std::vector<Neighbour> neighbours;
    const std::vector<RunInfo> runs = listRuns(folder); // newest first
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const bool isLast = i + 1 == runs.size();
        if (runs[i].membership || (neighbours.size() >= kCompared && !isLast)) {
            continue;
        }
        auto trained = readRunProject(runs[i].directory);
        if (trained && trained->name == project.name) {
            const bool differs = !projects::differingWords(*trained, project).empty();
            neighbours.push_back({runs[i].name, differs, std::move(*trained)});
        }
    }
    return neighbours;
}

/// Returns the project's own name. A name that is a preset's title is replaced by the wiring's, because the wiring may
/// differ. Sets `tellsWiring` if the result names the wiring.
std::string ownName(const projects::Project& project, const std::string& wiring, bool& tellsWiring)
{
    if (projects::isPresetTitle(project.name, project.network)) {
        tellsWiring = true;
        return wiring;
    }
    tellsWiring = !projects::isPresetTitle(wiring, project.network);
    return tellsWiring ? project.name + kDivider + wiring : project.name;
}

} // namespace

std::string nameForRun(const std::filesystem::path& folder, const projects::Project& project)
{
    const std::vector<Neighbour> neighbours = neighboursOf(folder, project);
    const auto isTaken = [&neighbours](const std::string& name) {
        return std::ranges::any_of(neighbours,
                                   [&](const Neighbour& each) { return each.differs && each.name == name; });
    };
    const std::string wiring = projects::wiringName(project.stack().topology, project.network);
    bool tellsWiring = false;
    const std::string own = withWords(ownName(project, wiring, tellsWiring), methodWords(project));
    std::vector<std::string> words =
        neighbours.empty() ? std::vector<std::string>() : projects::differingWords(neighbours.back().project, project);
    std::erase_if(words, [&](const std::string& word) {
        return (tellsWiring && word == wiring) || own.find(word) != std::string::npos;
    });
    std::string name = own;
    for (std::size_t count = std::clamp<std::size_t>(words.size(), 1, kFewWords);
         isTaken(name) && count <= words.size(); ++count) {
        name = own + kDivider + joinedText(std::span(words).first(count), kDivider);
    }
    return freeName(name, isTaken, " ");
}

std::string nameForRun(const StartRun& command)
{
    if (command.membership || command.runDirectory.empty()) {
        return command.membership ? command.project.name : nameForRun(command.runFolder, command.project);
    }
    const std::filesystem::path directory = std::filesystem::absolute(command.runDirectory).lexically_normal();
    return (directory.has_filename() ? directory : directory.parent_path()).filename().string();
}

} // namespace residua::engine
