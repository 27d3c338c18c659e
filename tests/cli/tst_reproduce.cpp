// SPDX-License-Identifier: GPL-3.0-or-later
// The table of the papers' tables and figures against what ships: every command line is one that the program takes, and
// every recorded result has the members, seeds and sizes of its command.
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/reproduce/comparisons.h"
#include "app/cli/reproduce/reproductions.h"
#include "app/cli/reproduce/row_commands.h"
#include "engine/base/api/values.h"
#include "projects/base/text.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QRegularExpression>
#include <QtTest>

#include <algorithm>
#include <map>
#include <set>

using namespace residua;
using namespace residua::cli;

namespace {

/// The shipped example that a command's word names in the form that no folder of the user's can stand in for; null for
/// any other word.
const projects::Example* exampleOf(const std::string& word)
{
    return word.starts_with(kExamplePrefix) ? projects::findExample(word.substr(kExamplePrefix.size())) : nullptr;
}

bool trains(const std::string& command)
{
    return command == "train" || command == "sweep";
}

/// All command lines of a row, those that are not run with it too.
std::vector<std::string> linesOf(const Reproduction& row)
{
    std::vector<std::string> lines = row.commands;
    lines.insert(lines.end(), row.wider.begin(), row.wider.end());
    return lines;
}

Trained trainedBy(const Reproduction& row, const std::string& line)
{
    return cli::trainedBy(row, line, Console(Output::Json));
}

bool hasLabel(const Trained& trained, const std::string& member)
{
    return std::ranges::any_of(trained.labels, [&](const std::string& label) { return namesMember(member, label); });
}

std::set<std::string> seedsOf(const std::vector<projects::Project>& trained)
{
    std::set<std::string> seeds;
    for (const projects::Project& project : trained) {
        seeds.insert(std::to_string(project.seeds.init));
    }
    return seeds;
}

/// Returns the first count of layers or steps in `text` that no project has; empty if there is none.
QString wrongCount(const std::string& text, const std::vector<projects::Project>& trained)
{
    static const QRegularExpression counts(R"(([\d,]+) (layers|steps))");
    auto found = counts.globalMatch(QString::fromStdString(text));
    while (found.hasNext()) {
        const QRegularExpressionMatch match = found.next();
        const std::int64_t stated = match.captured(1).remove(',').toLongLong();
        const bool layers = match.captured(2) == "layers";
        const bool has = std::ranges::any_of(trained, [&](const projects::Project& project) {
            return stated == (layers ? project.network.depth() : project.training.steps);
        });
        if (!has) {
            return match.captured(0);
        }
    }
    return {};
}

/// Returns the count of a text such as "three seeds"; nullopt if it names none.
std::optional<std::size_t> statedSeeds(const std::string& text)
{
    static const QRegularExpression seeds(R"((\w+) seeds\b)");
    static const QStringList words{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight"};
    const QRegularExpressionMatch match = seeds.match(QString::fromStdString(text));
    const qsizetype index = words.indexOf(match.captured(1));
    return match.hasMatch() && index >= 0 ? std::optional(static_cast<std::size_t>(index)) : std::nullopt;
}

/// Returns the recording's members that its text names, in the order of the text.
std::vector<std::string> membersNamedIn(const Recording& recording)
{
    std::map<qsizetype, std::string> found;
    const QString text = QString::fromStdString(recording.text);
    for (const RecordedMember& member : recording.members) {
        const QString name = QRegularExpression::escape(QString::fromStdString(member.name));
        const qsizetype at = text.indexOf(QRegularExpression("(?<!\\w)" + name + "(?!\\w)"));
        if (at >= 0) {
            found[at] = member.name;
        }
    }
    std::vector<std::string> names;
    for (const auto& [at, name] : found) {
        names.push_back(name);
    }
    return names;
}

/// True if the text of a recording of members states an order that no interval of theirs shows. The subject is the
/// member that the text names first, and the others are those that it is above or below.
bool statesAnUnprovedOrder(const Recording& recording)
{
    static const QRegularExpression order(
        R"(\b(ahead|behind|above|below|lower|lowest|higher|highest|better|best|worse|worst|beats?|wins?|sign)\b)");
    if (recording.members.empty() || !order.match(QString::fromStdString(recording.text)).hasMatch()) {
        return false;
    }
    const std::vector<std::string> named = membersNamedIn(recording);
    for (std::size_t i = 1; i < named.size(); ++i) {
        Comparison comparison;
        comparison.a = {named.front(), recording.members.front().metric, {}};
        comparison.b = {named[i], recording.members.front().metric, {}};
        const std::optional<Outcome> outcome = outcomeIn(recording, comparison);
        if (!outcome || outcome->verdict == projects::Verdict::CannotTell) {
            return true;
        }
    }
    return named.size() < 2;
}

QString lineOf(const Reproduction& row, const std::string& line)
{
    return QString::fromStdString(row.name() + ": " + line);
}

} // namespace

class TestReproduce : public QObject {
    Q_OBJECT

private slots:
    /// Every table and figure of the papers by number: none is left out.
    void everyItemIsListed()
    {
        const std::map<std::string, std::pair<int, int>> counts{// figures, tables
                                                                {"dca", {10, 9}},
                                                                {"ancre", {8, 8}},
                                                                {"raptr", {7, 12}},
                                                                {"nlra", {4, 8}}};
        std::size_t rows = 0;
        for (const auto& [paper, count] : counts) {
            for (int figure = 1; figure <= count.first; ++figure) {
                QVERIFY2(findReproduction(paper, "figure-" + std::to_string(figure)), paper.c_str());
            }
            for (int table = 1; table <= count.second; ++table) {
                QVERIFY2(findReproduction(paper, "table-" + std::to_string(table)), paper.c_str());
            }
            rows += static_cast<std::size_t>(count.first + count.second);
        }
        const auto ownStudies = std::ranges::count(reproductions(), "own", &Reproduction::paper);
        QCOMPARE(reproductions().size(), rows + static_cast<std::size_t>(ownStudies));
        QCOMPARE(papers().size(), counts.size() + 1);
    }

    void rowsSayWhatRuns()
    {
        for (const Reproduction& row : reproductions()) {
            const bool runs = row.coverage != Coverage::Drawing; // each table can be repeated in some form
            QVERIFY2(runs != row.commands.empty(), row.name().c_str());
            QVERIFY2(!row.about.empty() && !row.size.empty(), row.name().c_str());
            QVERIFY2(row.coverage == Coverage::Drawing || !row.paperSays.empty(), row.name().c_str());
            QVERIFY2(runs || recordingsOf(row).empty(), row.name().c_str());
            // An open row tells what would decide it. The number of pairs is counted, not written.
            const std::vector<Outcome> outcomes = recordedOutcomes(row);
            const std::vector<TrainedRuns> trained = trainedRuns(row, Console(Output::Json));
            const std::vector<Need> needs = needsOf(row, outcomes, trained);
            for (const Need& need : needs) { // runs, steps and time, unless nothing is trained
                const bool isCounted = need.text != row.needs && trained.front().steps > 0;
                QVERIFY2(!isCounted || need.text.find(" steps take roughly ") != std::string::npos, need.text.c_str());
            }
            const std::optional<projects::Verdict> verdict = recordedVerdict(row);
            const bool isOpen = runs && row.paper != "own" && (!verdict || verdict == projects::Verdict::CannotTell);
            QVERIFY2(!isOpen || !needs.empty(), row.name().c_str());
            const auto open = std::ranges::count(outcomes, projects::Verdict::CannotTell, &Outcome::verdict);
            const bool hasOneSeed =
                row.comparisons.empty() && verdict &&
                std::ranges::any_of(recordingsOf(row), [](const Recording* each) { return each->seeds.size() == 1; });
            QCOMPARE(std::ssize(needs), open + (row.needs.empty() ? 0 : 1) + (hasOneSeed ? 1 : 0));
            for (const char* const counted : {"pairs", "seeds"}) {
                QVERIFY2(row.needs.find(counted) == std::string::npos || row.needs.find("all seeds") != row.needs.npos,
                         row.name().c_str());
            }
            QCOMPARE(trained.size(), std::max<std::size_t>(row.comparisons.size(), 1));
        }
    }

    /// The needs of a comparison follow from its outcome and from the seeds that its command trains.
    void needsAreThoseOfTheOutcomes()
    {
        Reproduction row;
        row.comparisons.resize(3);
        row.comparisons[1].step = 1200;
        const Outcome unknown = outcomeOf(row.comparisons[0], {}, {});
        const std::vector<SeededValue> a{{"1", 0.5}, {"2", 2.5}, {"3", 1.5}};
        const std::vector<SeededValue> none{{"1", 0}, {"2", 0}, {"3", 0}};
        const Outcome pairs = outcomeOf(row.comparisons[1], a, none);
        const Outcome decided = outcomeOf(row.comparisons[2], a, {{"1", 9}, {"2", 11}, {"3", 10}});
        const std::vector<Need> needs = needsOf(row, {unknown, pairs, decided}, {{6}, {5, 2, 300, 2.4e9}, {4}});
        QCOMPARE(needs.size(), std::size_t{2});
        QCOMPARE(needs[0].text, std::string("needs paired seeds: its command trains 6"));
        QVERIFY2(needs[1].comparison.find("step 1,200") != std::string::npos, needs[1].comparison.c_str());
        const std::string stays = " pairs would be needed if the mean difference stays";
        QCOMPARE(needs[1].text, // mean 1.5, deviation 1
                 "about 5" + stays +
                     "; its command trains 5; 10 runs of 300 steps take roughly 3 s on one thread of a CPU");
        QCOMPARE(textOf(needs[1]), needs[1].comparison + ": " + needs[1].text);
        const Outcome tiny = outcomeOf(row.comparisons[1], {{"1", -1}, {"2", 1.01}}, none);
        Outcome ofMeans = pairs;
        ofMeans.difference = projects::differenceOfMeans({1, 0.5, 3}, {1.5, 0.5, 3});
        row.needs = "another machine";
        const std::vector<Need> further = needsOf(row, {tiny, ofMeans, decided}, {{}, {}, {}});
        QCOMPARE(further.size(), std::size_t{3});
        QCOMPARE(further[0].text, "more than 1,000" + stays);
        QVERIFY2(further[1].text.starts_with("about 11" + stays + " and the sides are independent"), // deviation 0.707
                 further[1].text.c_str());
        QCOMPARE(textOf(further[2]), row.needs);
    }

    /// The need of a recorded comparison is counted from its values, with the time that its runs took.
    void needsOfRecordedRows()
    {
        const auto needsText = [](const char* paper, const char* item) {
            const Reproduction& row = *findReproduction(paper, item);
            const std::vector<TrainedRuns> trained = trainedRuns(row, Console(Output::Json));
            return QString::fromStdString(joinedText(needsOf(row, recordedOutcomes(row), trained), "\n",
                                                     [](const Need& need) { return textOf(need); }));
        };
        // ANCRe against 0:2: mean 2.387e-08, deviation 2.903e-08 of 6 pairs, 0.53 s a run.
        const QString linear = needsText("ancre", "figure-2");
        QVERIFY2(linear.contains("about 9 pairs") && linear.contains("trains 6") &&
                     linear.contains("10 s on CPU, 1 thread"),
                 qPrintable(linear));
        const QString single = needsText("raptr", "figure-2");
        QVERIFY2(single.startsWith("needs several seeds: its command trains 1"), qPrintable(single));
        Reproduction unrecorded = *findReproduction("dca", "table-4");
        unrecorded.item = "table-0";
        const std::vector<TrainedRuns> trained = trainedRuns(unrecorded, Console(Output::Json));
        QCOMPARE(trained.size(), std::size_t{1});
        QCOMPARE(trained[0].runs, std::size_t{2});
        QCOMPARE(trained[0].steps, std::int64_t{300}); // with those after the retrofit
        const std::vector<Need> none = needsOf(unrecorded, recordedOutcomes(unrecorded), trained);
        QVERIFY2(none[0].text.starts_with("needs paired seeds: its command trains 5; 10 runs of 300 steps take "),
                 none[0].text.c_str());
    }

    /// Each command is one of the program with options that it takes. What trains is a shipped example in the form that
    /// no folder of the user's can stand in for, and every member of a sweep can be trained.
    void commandsAreSound()
    {
        const std::vector<Command> commands = allCommands();
        for (const Reproduction& row : reproductions()) {
            for (const std::string& line : linesOf(row)) {
                const std::vector<std::string> words = commandWords(line, "OUT", "1");
                const auto command = std::ranges::find(commands, words[0], &Command::name);
                QVERIFY2(command != commands.end(), words[0].c_str());
                const Call call = callOf(*command, std::span(words).subspan(1));
                const auto parsed = Arguments::parse(call.command.syntax, call.words);
                QVERIFY2(parsed.ok(), parsed ? "" : (line + ": " + parsed.error().text()).c_str());
                if (!trains(words[0])) {
                    continue;
                }
                QVERIFY2(exampleOf(words[1]) != nullptr, qPrintable(lineOf(row, line)));
                const Trained trained = trainedBy(row, line);
                QVERIFY2(!trained.projects.empty(), qPrintable(lineOf(row, line)));
                for (const projects::Project& project : trained.projects) {
                    QVERIFY2(project.network.depth() > 0, qPrintable(lineOf(row, line)));
                }
            }
        }
        const Reproduction* const bench = findReproduction("ancre", "table-6");
        for (const std::string& project :
             {commandWords(bench->commands[0], "OUT", "")[1], commandWords(bench->commands[0], "OUT", "")[2]}) {
            QVERIFY2(exampleOf(project) != nullptr, project.c_str());
        }
    }

    /// A comparison's sides are members of its sweep with paired seeds, or runs that the row's commands write.
    void comparisonsAreOfTheirCommands()
    {
        for (const Reproduction& row : reproductions()) {
            std::vector<std::string> sweeps;
            std::ranges::copy_if(row.commands, std::back_inserter(sweeps),
                                 [](const std::string& line) { return line.starts_with("sweep "); });
            for (const Comparison& comparison : row.comparisons) {
                for (const std::string& side : {comparison.a.member, comparison.b.member}) {
                    if (side.starts_with(kOutPlaceholder)) {
                        QVERIFY2(row.seeds.size() >= 3, row.name().c_str());
                        QVERIFY2(side.find(kSeedPlaceholder) != std::string::npos, side.c_str());
                        const bool written = std::ranges::any_of(row.commands, [&](const std::string& line) {
                            return line.find(side) != std::string::npos;
                        });
                        QVERIFY2(written, side.c_str());
                        continue;
                    }
                    QVERIFY2(comparison.sweep < sweeps.size(), row.name().c_str());
                    const Trained trained = trainedBy(row, sweeps[comparison.sweep]);
                    QVERIFY2(hasLabel(trained, side), (row.name() + ": " + side).c_str());
                    QVERIFY2(seedsOf(trained.projects).size() >= 3, row.name().c_str());
                }
                QVERIFY2(comparison.a.paper.has_value() == comparison.b.paper.has_value(), row.name().c_str());
                if (comparison.a.paper) {
                    QVERIFY2(!comparison.paperMetric.empty(), row.name().c_str());
                }
            }
        }
    }

    /// A side that ends with ", *" is the one with the lowest mean among the members with any value of the last axis.
    void sidesNameTheBestOfSeveral()
    {
        for (const auto& [label, fits] : std::map<std::string, bool>{{"plain, 0.002", true},
                                                                     {"plain, 0.02", true},
                                                                     {"plain", false},
                                                                     {"plain, looped, 0.002", false},
                                                                     {"plainer, 0.002", false}}) {
            QVERIFY2(namesMember("plain, *", label) == fits, label.c_str());
            QVERIFY(namesMember(label, label));
        }
        QVERIFY(!namesMember("plain", "plain, 0.002"));
    }

    /// A recorded result is of a command of its rows, with the command's members and seeds. Counts in texts are those
    /// of the projects.
    void recordedResultsAreOfTheirCommands()
    {
        static const QRegularExpression commit("^[0-9a-f]{8,40}$");
        for (const Recording& recording : recordings()) {
            QVERIFY2(commit.match(QString::fromStdString(recording.commit)).hasMatch(), recording.commit.c_str());
            QVERIFY2(!recording.device.empty() && !recording.rows.empty(), recording.command.c_str());
            QVERIFY2(!recording.threads || recording.device.starts_with("CPU"), recording.command.c_str());
            for (const std::string& name : recording.rows) {
                const auto row = std::ranges::find(reproductions(), name, &Reproduction::name);
                QVERIFY2(row != reproductions().end(), name.c_str());
                const std::vector<std::string> lines = linesOf(*row);
                QVERIFY2(std::ranges::find(lines, recording.command) != lines.end(),
                         qPrintable(lineOf(*row, recording.command)));
                const Trained trained = trainedBy(*row, recording.command);
                const std::set<std::string> seeds(recording.seeds.begin(), recording.seeds.end());
                QVERIFY2(seeds == seedsOf(trained.projects), qPrintable(lineOf(*row, recording.command)));
                for (const RecordedMember& member : recording.members) {
                    const bool isRun = member.name.starts_with(kOutPlaceholder);
                    QVERIFY2(isRun || hasLabel(trained, member.name), (name + ": " + member.name).c_str());
                    QVERIFY2(member.values.empty() || member.values.size() == recording.seeds.size(),
                             (name + ": " + member.name).c_str());
                }
                if (!trained.projects.empty()) {
                    const QString wrong = wrongCount(recording.text, trained.projects);
                    QVERIFY2(wrong.isEmpty(), qPrintable(lineOf(*row, recording.text) + ": " + wrong));
                }
                if (const std::optional<std::size_t> stated = statedSeeds(recording.text)) {
                    QVERIFY2(*stated == recording.seeds.size(), name.c_str());
                }
            }
        }
        for (const Reproduction& row : reproductions()) {
            std::vector<projects::Project> all;
            for (const std::string& line : row.commands) {
                std::ranges::move(trainedBy(row, line).projects, std::back_inserter(all));
            }
            const QString wrong = all.empty() ? QString() : wrongCount(row.size, all);
            QVERIFY2(wrong.isEmpty(), qPrintable(lineOf(row, row.size) + ": " + wrong));
            QVERIFY2(!statedSeeds(row.size) || *statedSeeds(row.size) == seedsOf(all).size(), row.name().c_str());
        }
    }

    /// A training on the CPU is recorded with its threads. The early recordings without them are listed by row: the
    /// list only gets shorter.
    void recordingsHaveTheirThreads()
    {
        const std::multiset<std::string> early{"dca figure-10",  "ancre figure-2", "ancre figure-2", "ancre figure-6",
                                               "raptr figure-2", "raptr figure-3", "raptr table-12", "nlra figure-2"};
        std::multiset<std::string> lacking;
        for (const Recording& recording : recordings()) {
            if (lacksThreads(recording)) {
                lacking.insert(recording.rows.front());
                QVERIFY(linesOf(recording)[1].find("threads not recorded") != std::string::npos);
            }
        }
        QCOMPARE(lacking, early);
        Recording recording;
        recording.command = "sweep example:plain-language";
        recording.device = "CPU";
        QVERIFY(lacksThreads(recording));
        recording.threads = 2;
        QVERIFY(!lacksThreads(recording));
        QVERIFY2(linesOf(recording)[1].find("CPU, 2 threads") != std::string::npos, linesOf(recording)[1].c_str());
        recording.threads.reset();
        recording.device = "NVIDIA H200";
        QVERIFY(!lacksThreads(recording));
        recording.device = "CPU";
        recording.command = "analyze theory --figure 1";
        QVERIFY(!lacksThreads(recording));
    }

    /// A text says that one member is above another only if the interval of their difference has no 0 in it.
    void ordersInTextsHaveIntervals()
    {
        for (const Recording& recording : recordings()) {
            QVERIFY2(!statesAnUnprovedOrder(recording), (recording.rows.front() + ": " + recording.text).c_str());
        }
        Recording recording;
        recording.seeds = {"1", "2", "3"};
        for (const auto& [name, values] : std::map<std::string, std::vector<double>>{
                 {"dca", {1, 2, 3}}, {"plain", {2, 3.1, 4.2}}, {"grn", {2, 1, 4}}}) {
            recording.members.push_back({name, engine::metric::kValidationLoss, {}, values, 0, {}});
        }
        for (const auto& [text, unproved] : std::map<std::string, bool>{{"dca is below plain", false},
                                                                        {"grn is below plain", true},
                                                                        {"plain is above dca and grn", true},
                                                                        {"dca is best", true},
                                                                        {"the lowest loss is in the middle", true},
                                                                        {"dca and grn are 8 layers deep", false}}) {
            recording.text = text;
            QVERIFY2(statesAnUnprovedOrder(recording) == unproved, text.c_str());
        }
    }

    /// A person's verdict on members is one on several seeds.
    void verdictsHaveTheirGrounds()
    {
        using projects::Verdict;
        for (const Recording& recording : recordings()) {
            const bool single = recording.seeds.size() == 1 || (!recording.members.empty() && recording.seeds.empty());
            QVERIFY2(!single || recording.verdict.value_or(Verdict::CannotTell) == Verdict::CannotTell,
                     recording.rows.front().c_str());
        }
        // A row with several sweeps has its outcome by the recording of the comparison's own.
        const Reproduction& linear = *findReproduction("ancre", "figure-2");
        QCOMPARE(recordedOutcome(linear, linear.comparisons[0]).difference.pairs, std::size_t{6});
        QCOMPARE(recordedVerdict(linear), std::optional(Verdict::CannotTell)); // ANCRe is not as fast as 0:2
        // The paper has one power for every tau, and the last one found is nearly twice as steep.
        QCOMPARE(recordedVerdict(*findReproduction("raptr", "figure-4")), std::optional(Verdict::Differs));
        const Reproduction& methods = *findReproduction("raptr", "table-2");
        const auto baseline = std::ranges::find(methods.comparisons, std::string("baseline"),
                                                [](const Comparison& comparison) { return comparison.b.member; });
        QVERIFY(baseline != methods.comparisons.end());
        QCOMPARE(recordedOutcome(methods, *baseline).verdict, Verdict::Agrees);
    }

    /// Every study that ships with an example of a paper stands in the table, but for the ones that are wider views of
    /// what does.
    void everyStudyIsListed()
    {
        const std::set<std::string> wider{"figure 2, the paper's size", "equal steps", "depths", "section 4"};
        const std::set<std::pair<std::string, std::string>> others{{"ancre-case-study", "topologies"}};
        for (const projects::Example& example : projects::examples()) {
            for (const projects::Sweep& sweep : example.project.sweeps) {
                const bool listed = std::ranges::any_of(reproductions(), [&](const Reproduction& row) {
                    return std::ranges::any_of(linesOf(row), [&](const std::string& line) {
                        const std::vector<std::string> words = commandWords(line, "OUT", "1");
                        return words[0] == "sweep" && exampleOf(words[1]) == &example && words[2] == sweep.name;
                    });
                });
                const bool exempt = wider.contains(sweep.name) || others.contains({example.name, sweep.name});
                QVERIFY2(listed != exempt, (example.name + ": " + sweep.name).c_str());
            }
        }
    }
};

RESIDUA_TEST(TestReproduce)
#include "tst_reproduce.moc"
