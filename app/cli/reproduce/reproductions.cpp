// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/reproduce/reproductions.h"

#include "projects/base/ranges.h"
#include "resources/reproductions.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>

namespace residua::cli {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<Coverage, std::string_view>, 4> kCoverages{{{Coverage::Whole, "whole"},
                                                                           {Coverage::Small, "smaller"},
                                                                           {Coverage::Part, "part"},
                                                                           {Coverage::Drawing, "drawing"}}};
constexpr const char* kUsualMetric = "loss/validation";

struct Table {
    std::vector<Paper> papers;
    std::vector<Reproduction> rows;
    std::vector<Recording> recordings;
};

std::vector<std::string> textsOf(const json& object, const char* key)
{
    return object.value(key, std::vector<std::string>());
}

std::optional<double> numberOf(const json& object, const char* key)
{
    return object.contains(key) ? std::optional(object.at(key).get<double>()) : std::nullopt;
}

std::optional<std::int64_t> integerOf(const json& object, const char* key)
{
    return object.contains(key) ? std::optional(object.at(key).get<std::int64_t>()) : std::nullopt;
}

std::optional<Coverage> coverageFrom(const std::string& text)
{
    const auto found = std::ranges::find(kCoverages, text, &std::pair<Coverage, std::string_view>::second);
    return found == kCoverages.end() ? std::nullopt : std::optional(found->first);
}

Comparison comparisonOf(const json& object)
{
    const json paper = object.value("paper", json::object());
    const std::string metric = object.value("metric", kUsualMetric);
    Comparison comparison;
    comparison.a = {object.at("a"), metric, numberOf(paper, "a")};
    comparison.b = {object.at("b"), object.value("metric_b", metric), numberOf(paper, "b")};
    comparison.direction = object.at("a_is") == "below" ? projects::Direction::Below : projects::Direction::Above;
    comparison.paperMetric = paper.value("metric", "");
    comparison.step = integerOf(object, "step");
    comparison.sweep = object.value("sweep", std::size_t{0});
    return comparison;
}

double meanOf(const std::vector<double>& values)
{
    double sum = sumOf(values);
    return sum / static_cast<double>(values.size());
}

RecordedMember memberOf(const json& object)
{
    RecordedMember member{object.at("member"),
                          object.value("metric", kUsualMetric),
                          integerOf(object, "step"),
                          object.value("values", std::vector<double>()),
                          0,
                          numberOf(object, "deviation")};
    member.mean = member.values.empty() ? object.at("mean").get<double>() : meanOf(member.values);
    return member;
}

std::optional<projects::Verdict> verdictFrom(const std::string& text)
{
    using projects::Verdict;
    for (const Verdict verdict : {Verdict::Agrees, Verdict::Differs, Verdict::CannotTell}) {
        if (text == projects::textOf(verdict)) {
            return verdict;
        }
    }
    return std::nullopt;
}

Recording recordingOf(const json& object)
{
    Recording recording;
    recording.rows = textsOf(object, "rows");
    recording.command = object.at("command");
    recording.commit = object.at("commit");
    recording.device = object.at("device");
    recording.threads = integerOf(object, "threads");
    recording.secondsPerRun = numberOf(object, "seconds_per_run");
    recording.seeds = textsOf(object, "seeds");
    for (const json& member : object.value("members", json::array())) {
        recording.members.push_back(memberOf(member));
    }
    if (object.contains("deviations")) {
        recording.deviations = object.at("deviations").get<std::pair<double, double>>();
    }
    recording.text = object.value("text", "");
    recording.verdict = verdictFrom(object.value("verdict", ""));
    return recording;
}

Reproduction rowOf(const json& object)
{
    Reproduction row;
    row.paper = object.at("paper");
    row.item = object.at("item");
    row.about = object.at("about");
    row.coverage = coverageFrom(object.at("coverage")).value();
    row.size = object.at("size");
    row.commands = textsOf(object, "commands");
    row.seeds = textsOf(object, "seeds");
    row.wider = textsOf(object, "wider");
    row.paperSays = object.value("paper_says", "");
    for (const json& comparison : object.value("comparisons", json::array())) {
        row.comparisons.push_back(comparisonOf(comparison));
    }
    row.needs = object.value("needs", "");
    return row;
}

const Table& table()
{
    static const Table read = [] {
        const json file = json::parse(resources::reproductionsJson());
        Table made;
        for (const json& paper : file.at("papers")) {
            made.papers.push_back({paper.at("key"), paper.at("title")});
        }
        std::ranges::transform(file.at("rows"), std::back_inserter(made.rows), &rowOf);
        std::ranges::transform(file.at("recordings"), std::back_inserter(made.recordings), &recordingOf);
        return made;
    }();
    return read;
}

} // namespace

bool namesMember(std::string_view member, std::string_view label)
{
    constexpr std::string_view kAny = ", *";
    if (!member.ends_with(kAny)) {
        return member == label;
    }
    const std::string_view before = member.substr(0, member.size() - 1);
    return label.starts_with(before) && label.find(", ", before.size()) == label.npos;
}

const std::vector<Paper>& papers()
{
    return table().papers;
}

const std::vector<Reproduction>& reproductions()
{
    return table().rows;
}

const std::vector<Recording>& recordings()
{
    return table().recordings;
}

const Reproduction* findReproduction(std::string_view paper, std::string_view item)
{
    const auto found = std::ranges::find_if(
        reproductions(), [&](const Reproduction& row) { return row.paper == paper && row.item == item; });
    return found == reproductions().end() ? nullptr : &*found;
}

std::vector<const Recording*> recordingsOf(const Reproduction& row)
{
    return mapped<std::vector<const Recording*>>(recordings() | std::views::filter([&](const Recording& recording) {
                                                     return std::ranges::find(recording.rows, row.name()) !=
                                                            recording.rows.end();
                                                 }),
                                                 [&](const Recording& recording) { return &recording; });
}

bool lacksThreads(const Recording& recording)
{
    const bool isTraining = recording.command.starts_with("train ") || recording.command.starts_with("sweep ");
    return isTraining && recording.device.find("CPU") != std::string::npos && !recording.threads;
}

std::string_view nameOf(Coverage coverage)
{
    return std::ranges::find(kCoverages, coverage, &std::pair<Coverage, std::string_view>::first)->second;
}

std::vector<std::string> commandWords(std::string_view line, const std::string& out, const std::string& seed)
{
    std::vector<std::string> words;
    std::string word;
    bool quoted = false;
    const auto end = [&] {
        if (const std::size_t at = word.find(kSeedPlaceholder); at != std::string::npos) {
            word.replace(at, kSeedPlaceholder.size(), seed);
        }
        if (!word.empty()) {
            const bool inFolder = word == kOutPlaceholder || word.starts_with(std::string(kOutPlaceholder) + "/");
            words.push_back(inFolder ? out + word.substr(kOutPlaceholder.size()) : word);
        }
        word.clear();
    };
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ' ' && !quoted) {
            end();
        } else {
            word += c;
        }
    }
    end();
    return words;
}

std::vector<std::vector<std::string>> commandsOf(const Reproduction& row, const std::string& out)
{
    std::vector<std::vector<std::string>> all;
    for (const std::string& line : row.commands) {
        if (line.find(kSeedPlaceholder) == std::string::npos) {
            all.push_back(commandWords(line, out, {}));
            continue;
        }
        for (const std::string& seed : row.seeds) {
            all.push_back(commandWords(line, out, seed));
        }
    }
    return all;
}

} // namespace residua::cli
