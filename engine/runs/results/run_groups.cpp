// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/run_groups.h"

#include "engine/base/files/content_hash.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/files.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/diff/diff.h"
#include "projects/nodes/node_kinds.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/studies/sweep_grid.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kComma = ", ";
constexpr std::string_view kDot = " · ";
constexpr std::size_t kLabelWords = 3; ///< the maximum number of differing words in a label
constexpr int kLongestDescent = 1000;  ///< of forks; a longer chain has a circle that someone wrote by hand

bool hasPart(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// Splits a name at its dividers: "study · ANCRe, 2" has three words.
Words partsOfName(std::string_view name)
{
    Words words;
    while (true) {
        const std::size_t comma = name.find(kComma);
        const std::size_t dot = name.find(kDot);
        const std::size_t end = std::min(comma, dot);
        if (end == std::string_view::npos) {
            words.emplace_back(name);
            return words;
        }
        words.emplace_back(name.substr(0, end));
        name.remove_prefix(end + (dot < comma ? kDot : kComma).size());
    }
}

/// Makes the groups' keys. A fork's key has that of its parent, which is known by its folder's name, because the
/// project may have moved since.
class Configurations {
public:
    explicit Configurations(std::span<const TrainedRun> runs, projects::InFiles defaults = projects::InFiles::IfSet)
        : m_runs(runs), m_defaults(defaults), m_keys(runs.size())
    {
        for (std::size_t run = 0; run < runs.size(); ++run) {
            m_byFolder.emplace(std::filesystem::path(runs[run].info->directory).filename().string(), run);
        }
    }

    const std::string& keyOf(std::size_t run, int generation = 0)
    {
        if (m_keys[run].empty()) {
            std::string text = projects::textApartFromSeeds(*m_runs[run].project, m_defaults);
            if (const RunInfo& info = *m_runs[run].info; !info.parent.empty()) {
                const std::string folder = std::filesystem::path(info.parent).filename().string();
                const auto parent = m_byFolder.find(folder);
                const bool known = parent != m_byFolder.end() && generation < kLongestDescent;
                text += "\n" + std::to_string(info.parentStep) + " " +
                        (known ? keyOf(parent->second, generation + 1) : folder);
            }
            Sha256 hash;
            hash.add(asBytes(text));
            m_keys[run] = hash.text();
        }
        return m_keys[run];
    }

private:
    std::span<const TrainedRun> m_runs;
    projects::InFiles m_defaults; ///< whether keys are about fields at their defaults too
    std::vector<std::string> m_keys;
    std::map<std::string, std::size_t> m_byFolder;
};

/// Returns the words of a run's name; of a member of a sweep, those of its project and of its values without seeds.
Words wordsOf(const RunInfo& run)
{
    const auto& membership = run.membership;
    if (!membership || membership->isGuessed()) {
        return partsOfName(run.name);
    }
    Words words{membership->project};
    const std::string label = membership->labelApartFromSeeds();
    std::ranges::move(label.empty() ? Words() : partsOfName(label), std::back_inserter(words));
    return words;
}

/// Returns the words that are in the names of all runs of a group. Without such words, returns those of its members of
/// sweeps, because people name runs of a project as they like.
Words ownWords(std::span<const TrainedRun> runs, const RunGroup& group)
{
    const auto commonOf = [&](auto counts) {
        std::optional<Words> common;
        for (const std::size_t run : group.runs) {
            if (counts(*runs[run].info)) {
                const Words words = wordsOf(*runs[run].info);
                common = common ? Words(common->begin(), std::ranges::mismatch(*common, words).in1) : words;
            }
        }
        return common.value_or(Words());
    };
    Words common = commonOf([](const RunInfo& /*any*/) { return true; });
    if (common.empty()) {
        common = commonOf([](const RunInfo& run) { return run.membership && !run.membership->isGuessed(); });
    }
    if (common.empty()) { // names that people gave to repeats
        Words names;
        for (const std::size_t run : group.runs) {
            if (names.size() < kLabelWords && std::ranges::find(names, runs[run].info->name) == names.end()) {
                names.push_back(runs[run].info->name);
            }
        }
        common.push_back(joinedText(names, " / "));
    }
    return common;
}

/// Removes the words that all of the names begin or end with. Each keeps a word, unless it has marks: a name that is
/// such a word alone stays, as that of a run of the project beside those of its sweep.
void leaveOutShared(std::vector<Words>& names, const std::vector<Words>& marks)
{
    const auto isSpent = [&](std::size_t i) { return names[i].size() <= (marks[i].empty() ? 1U : 0U); };
    const auto share = [&](auto end) {
        std::size_t longer = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i].empty() || end(names[i]) != end(names.front())) {
                return false;
            }
            longer += isSpent(i) ? 0 : 1;
        }
        return longer > 1;
    };
    const auto leaveOut = [&](auto remove) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (!isSpent(i)) {
                remove(names[i]);
            }
        }
    };
    while (share([](const Words& words) { return words.front(); })) {
        leaveOut([](Words& words) { words.erase(words.begin()); });
    }
    while (share([](const Words& words) { return words.back(); })) {
        leaveOut([](Words& words) { words.pop_back(); });
    }
}

/// Appends to labels that are equal the words in which their projects differ, and else a number.
void tellApart(std::span<const TrainedRun> runs, std::vector<RunGroup>& groups)
{
    std::map<std::string, std::vector<RunGroup*>> equal;
    for (RunGroup& group : groups) {
        equal[group.label].push_back(&group);
    }
    std::set<std::string> taken;
    for (auto& [label, members] : equal) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            const auto projectOf = [&](std::size_t member) -> const projects::Project& {
                return *runs[members[member]->runs.front()].project;
            };
            Words words =
                members.size() > 1 ? projects::differingWords(projectOf(i == 0 ? 1 : 0), projectOf(i)) : Words();
            words.resize(std::min(words.size(), kLabelWords));
            words.insert(words.begin(), label);
            const auto isTaken = [&](const std::string& text) { return taken.contains(text); };
            members[i]->label = freeName(joinedText(words), isTaken, " ");
            taken.insert(members[i]->label);
        }
    }
}

void labelGroups(std::span<const TrainedRun> runs, std::vector<RunGroup>& groups)
{
    std::vector<Words> names;
    std::vector<Words> marks;
    for (const RunGroup& group : groups) {
        const TrainedRun& first = runs[group.runs.front()];
        names.push_back(ownWords(runs, group));
        marks.push_back(methodWords(*first.project));
        if (!first.info->parent.empty()) {
            marks.back().push_back("from step " + groupedText(first.info->parentStep));
        }
    }
    if (std::ranges::all_of(marks, [&](const Words& words) { return words == marks.front(); }) && groups.size() > 1) {
        marks.assign(groups.size(), {}); // they tell nothing apart
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::erase_if(marks[i], [&](const std::string& mark) { return hasPart(joinedText(names[i]), mark); });
    }
    leaveOutShared(names, marks);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::ranges::move(marks[i], std::back_inserter(names[i]));
        groups[i].label = joinedText(names[i]);
    }
    tellApart(runs, groups);
}

/// Returns the seeds of a run that are not equal in all runs of its group: "2", or "2-3" of two seeds.
std::string seedText(std::span<const TrainedRun> runs, const RunGroup& group, std::size_t run)
{
    using projects::Seeds;
    std::vector<std::string> different;
    for (const auto seed : {&Seeds::data, &Seeds::init, &Seeds::order, &Seeds::stages}) {
        const std::int64_t own = runs[run].project->seeds.*seed;
        const bool differs =
            std::ranges::any_of(group.runs, [&](std::size_t other) { return runs[other].project->seeds.*seed != own; });
        if (const std::string text = std::to_string(own);
            differs && std::ranges::find(different, text) == different.end()) {
            different.push_back(text);
        }
    }
    return joinedText(different, "-");
}

void labelRuns(std::span<const TrainedRun> runs, RunGroups& groups)
{
    groups.labels.resize(runs.size());
    std::set<std::string> taken;
    for (const RunGroup& group : groups.groups) {
        if (group.runs.size() > 1) {
            taken.insert(group.label); // else two rows of a list could be called the same
        }
        for (auto run = group.runs.rbegin(); run != group.runs.rend(); ++run) { // lists begin with the newest
            const std::string seed = group.runs.size() > 1 ? seedText(runs, group, *run) : std::string();
            const auto isNamesake = [&](std::size_t other) { return runs[other].info->name == runs[*run].info->name; };
            const bool isNamed = seed.empty() && std::ranges::count_if(group.runs, isNamesake) == 1;
            const std::string base = isNamed && group.runs.size() > 1 ? nameOf(*runs[*run].info)
                                     : seed.empty()                   ? group.label
                                                                      : group.label + ", seed " + seed;
            std::string text = base;
            for (int number = base == group.label ? 1 : 2; !taken.insert(text).second; ++number) {
                text = base + " (" + std::to_string(number) + ")";
            }
            groups.labels[*run] = text;
        }
    }
}

/// Counts the colours in the order in which the groups began, which is the same in every program.
void countColours(std::span<const TrainedRun> runs, std::vector<RunGroup>& groups)
{
    using Start = std::pair<std::string, std::string>;
    std::map<Start, RunGroup*> ordered;
    for (RunGroup& group : groups) {
        Start oldest{runs[group.runs.front()].info->created, runs[group.runs.front()].info->directory};
        for (const std::size_t run : group.runs) {
            oldest = std::min(oldest, Start{runs[run].info->created, runs[run].info->directory});
        }
        ordered.emplace(std::move(oldest), &group);
    }
    std::size_t colour = 0;
    for (const auto& [start, group] : ordered) {
        group->colour = colour++ % kGroupColours;
    }
}

} // namespace

RunGroups groupsOf(std::span<const TrainedRun> runs)
{
    RunGroups found;
    Configurations configurations(runs);
    std::map<std::string, std::size_t> places;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        const std::string& key = configurations.keyOf(run);
        const auto [place, isNew] = places.emplace(key, found.groups.size());
        if (isNew) {
            found.groups.push_back({.key = key, .label = {}, .runs = {}});
        }
        found.groups[place->second].runs.push_back(run);
        found.of.push_back(place->second);
        const projects::Seeds& seeds = runs[run].project->seeds;
        found.seeds.push_back(joinedText(std::vector{seeds.data, seeds.init, seeds.order, seeds.stages}, "/",
                                         [](std::int64_t seed) { return std::to_string(seed); }));
    }
    labelGroups(runs, found.groups);
    labelRuns(runs, found);
    countColours(runs, found.groups);
    return found;
}

std::vector<std::string> earlierKeys(const RunGroups& groups, std::span<const TrainedRun> runs)
{
    Configurations configurations(runs, projects::InFiles::Always);
    return mapped(groups.groups, [&](const RunGroup& group) { return configurations.keyOf(group.runs.front()); });
}

RunGroup aloneIn(const RunGroups& groups, std::size_t run)
{
    const RunGroup& of = groups.groupOf(run);
    return of.runs.size() == 1 ? of : RunGroup{{}, groups.labels[run], of.colour, {run}};
}

Result<RunGroup> groupNamed(const RunGroups& groups, std::span<const TrainedRun> runs, const std::string& name,
                            const std::string& place)
{
    Words labels;
    for (const RunGroup& group : groups.groups) {
        if (group.label == name) {
            return group;
        }
        labels.push_back(group.label);
    }
    std::vector<std::size_t> meant;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        const RunInfo& info = *runs[run].info;
        const std::filesystem::path directory = info.directory;
        if (groups.labels[run] == name || info.name == name || directory.filename() == name || directory == name) {
            meant.push_back(run);
        }
    }
    if (meant.size() == 1) {
        return aloneIn(groups, meant.front());
    }
    return Error{place, (meant.empty() ? "no run or group is called \"" : "several runs are called \"") + name +
                            "\"; expected one of: " + joinedText(labels) + meantHint(name, labels)};
}

GroupValues valuesOf(const RunGroups& groups, const RunGroup& group, std::span<const TrainedRun> runs,
                     std::int64_t steps)
{
    GroupValues values;
    for (const std::size_t run : group.runs) {
        const RunInfo& info = *runs[run].info;
        const std::optional<double> judged = finalValue(info);
        if (!judged) {
            continue;
        }
        values.judged.push_back({groups.seeds[run], *judged});
        if (const std::optional<double> loss = lastTrainingLoss(info.directory, steps)) {
            values.training.push_back({groups.seeds[run], *loss});
        }
    }
    return values;
}

projects::SeededSeries seededSeries(const RunGroups& groups, const RunGroup& group,
                                    const std::function<std::vector<MetricPoint>(std::size_t run)>& metricOf)
{
    projects::SeededSeries series;
    for (const std::size_t run : group.runs) {
        for (const MetricPoint& point : metricOf(run)) {
            series[point.step].push_back({groups.seeds[run], point.value});
        }
    }
    return series;
}

std::vector<std::string> methodWords(const projects::Project& project)
{
    Words words;
    const projects::StageSchedule& schedule = project.stack().schedule;
    if (const std::string stages = projects::stageLengthsText(schedule); !stages.empty()) {
        words.push_back("stages " + stages);
    } else if (!projects::trainsAll(schedule)) {
        words.emplace_back("staged");
    }
    const bool ownRanks = std::ranges::any_of(project.network.blocks, [](const projects::Block& block) {
        return std::ranges::any_of(block.graph.nodes, projects::hasOwnRank);
    });
    if (const auto* const fixed = std::get_if<projects::FixedRank>(&project.network.rank)) {
        words.push_back("rank " + std::to_string(fixed->rank));
    } else if (const auto* const share = std::get_if<projects::RankScale>(&project.network.rank)) {
        words.push_back("rank scale " + numberText(share->scale));
    } else if (ownRanks) {
        words.emplace_back("in factors");
    }
    for (const std::string& word : partsOfName(projects::wiringName(project.stack().topology, project.network))) {
        if (word.ends_with(" pruned")) {
            words.push_back(word);
        }
    }
    return words;
}

std::string withWords(std::string name, const std::vector<std::string>& words)
{
    for (const std::string& word : words) {
        if (!hasPart(name, word)) {
            name += std::string(kComma) + word;
        }
    }
    return name;
}

std::string nameOf(const RunInfo& info)
{
    return info.parent.empty() ? info.name : info.name + ", from step " + std::to_string(info.parentStep);
}

std::int64_t lastSteps(std::int64_t steps)
{
    constexpr std::int64_t kShare = 10;
    constexpr std::int64_t kMost = 100;
    return std::clamp<std::int64_t>(steps / kShare, 1, kMost);
}

std::optional<double> lastTrainingLoss(const std::filesystem::path& runDirectory, std::int64_t steps)
{
    const auto reader = RunReader::open(runDirectory);
    const auto info = reader ? reader->info() : Result<RunInfo>(reader.error());
    if (!info) {
        return std::nullopt;
    }
    std::vector<double> values;
    std::ranges::transform(reader->metric(metric::kLoss, info->step - steps), std::back_inserter(values),
                           &MetricPoint::value);
    const projects::MeanOfSeveral mean = projects::meanOf(values);
    return mean.count > 0 ? std::optional(mean.mean) : std::nullopt;
}

} // namespace residua::engine
