// SPDX-License-Identifier: GPL-3.0-or-later
// The table of the papers' tables and figures against what ships: every command line is one that the program takes, and
// every recorded result has the members, seeds and sizes of its command.
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/reproduce/comparisons.h"
#include "app/cli/reproduce/reproductions.h"
#include "engine/base/api/values.h"
#include "projects/shipped/examples.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
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

/// What a command trains: the projects, and the labels of a sweep's members without their seeds.
struct Trained {
    std::vector<projects::Project> projects;
    std::set<std::string> labels;
};

Trained trainedBy(const std::vector<std::string>& words)
{
    const Console console(Output::Json);
    const std::vector<Command> commands = allCommands();
    const auto command = std::ranges::find(commands, words[0], &Command::name);
    const Result<Arguments> parsed = Arguments::parse(command->syntax, std::span(words).subspan(1));
    Trained trained;
    if (!parsed || !trains(words[0])) {
        return trained;
    }
    if (words[0] == "train") {
        const auto named = openProject(*parsed, console);
        if (const auto* const made = std::get_if<NamedProject>(&named)) {
            trained.projects.push_back(made->document.project);
        }
        return trained;
    }
    const auto planned = planFrom(*parsed, console);
    if (const auto* const plan = std::get_if<SweepPlan>(&planned)) {
        for (const Planned& member : plan->members) {
            trained.projects.push_back(member.member.error ? projects::Project() : member.member.project);
            trained.labels.insert(labelApartFromSeeds(member.member.membership));
        }
    }
    return trained;
}

/// All command lines of a row, those that are not run with it too.
std::vector<std::string> linesOf(const Reproduction& row)
{
    std::vector<std::string> lines = row.commands;
    lines.insert(lines.end(), row.wider.begin(), row.wider.end());
    return lines;
}

/// What a line of the row trains, for all of the row's seeds.
Trained trainedBy(const Reproduction& row, const std::string& line)
{
    Trained all;
    const bool perSeed = line.find(kSeedPlaceholder) != std::string::npos;
    for (const std::string& seed : perSeed ? row.seeds : std::vector<std::string>{""}) {
        Trained one = trainedBy(commandWords(line, "OUT", seed));
        std::ranges::move(one.projects, std::back_inserter(all.projects));
        all.labels.merge(one.labels);
    }
    return all;
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
            const bool runs = row.coverage != Coverage::Missing && row.coverage != Coverage::Drawing;
            QVERIFY2(runs != row.commands.empty(), row.name().c_str());
            QVERIFY2(!row.about.empty() && !row.size.empty(), row.name().c_str());
            QVERIFY2(row.coverage == Coverage::Drawing || !row.paperSays.empty(), row.name().c_str());
            QVERIFY2(runs || recordingsOf(row).empty(), row.name().c_str());
            // An open row tells what would decide it. The number of pairs is counted, not written.
            const std::vector<Outcome> outcomes = recordedOutcomes(row);
            const std::vector<std::string> needs = needsOf(row, outcomes);
            const std::optional<projects::Verdict> verdict = recordedVerdict(row);
            const bool isOpen = runs && row.paper != "own" && (!verdict || verdict == projects::Verdict::CannotTell);
            QVERIFY2(!isOpen || !needs.empty(), row.name().c_str());
            const auto open = std::ranges::count(outcomes, projects::Verdict::CannotTell, &Outcome::verdict);
            QCOMPARE(std::ssize(needs), open + (row.needs.empty() ? 0 : 1));
            QVERIFY2(row.needs.find("pairs") == std::string::npos, row.name().c_str());
        }
    }

    /// The needs of a comparison follow from its outcome.
    void needsAreThoseOfTheOutcomes()
    {
        Reproduction row;
        row.comparisons.resize(3);
        row.comparisons[1].step = 1200;
        const Outcome unknown = outcomeOf(row.comparisons[0], {}, {});
        const std::vector<SeededValue> a{{"1", 0.5}, {"2", 2.5}, {"3", 1.5}};
        const Outcome pairs = outcomeOf(row.comparisons[1], a, {{"1", 0}, {"2", 0}, {"3", 0}});
        const Outcome decided = outcomeOf(row.comparisons[2], a, {{"1", 9}, {"2", 11}, {"3", 10}});
        const std::vector<std::string> needs = needsOf(row, {unknown, pairs, decided});
        QCOMPARE(needs.size(), std::size_t{2});
        QVERIFY2(QString::fromStdString(needs[0]).contains("the command trains them"), needs[0].c_str());
        QVERIFY2(QString::fromStdString(needs[1]).contains("step 1,200"), needs[1].c_str());
        QVERIFY2(QString::fromStdString(needs[1]).contains("about 5 pairs"), needs[1].c_str()); // mean 1.5, deviation 1
        Outcome ofMeans = pairs;
        ofMeans.difference.pairs = 0;
        row.needs = "another machine";
        const std::vector<std::string> further = needsOf(row, {decided, ofMeans, decided});
        QCOMPARE(further.size(), std::size_t{2});
        QVERIFY2(QString::fromStdString(further[0]).contains("only means"), further[0].c_str());
        QCOMPARE(further[1], row.needs);
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
                    QVERIFY2(trained.labels.contains(side), (row.name() + ": " + side).c_str());
                    QVERIFY2(seedsOf(trained.projects).size() >= 3, row.name().c_str());
                }
                QVERIFY2(comparison.a.paper.has_value() == comparison.b.paper.has_value(), row.name().c_str());
                if (comparison.a.paper) {
                    QVERIFY2(!comparison.paperMetric.empty(), row.name().c_str());
                }
            }
        }
    }

    /// A recorded result is of a command of its rows, with the command's members and seeds. Counts in texts are those
    /// of the projects.
    void recordedResultsAreOfTheirCommands()
    {
        static const QRegularExpression commit("^[0-9a-f]{8,40}$");
        for (const Recording& recording : recordings()) {
            QVERIFY2(commit.match(QString::fromStdString(recording.commit)).hasMatch(), recording.commit.c_str());
            QVERIFY2(!recording.device.empty() && !recording.rows.empty(), recording.command.c_str());
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
                    QVERIFY2(isRun || trained.labels.contains(member.name), (name + ": " + member.name).c_str());
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

    /// Sides are paired by seed, whatever their order, and a seed that one side lacks is left out.
    void sidesArePairedBySeed()
    {
        Comparison comparison;
        comparison.direction = projects::Direction::Below;
        const std::vector<SeededValue> a{{"1", 2.0}, {"2", 2.2}, {"3", 2.1}, {"9", 7.0}};
        const std::vector<SeededValue> b{{"3", 2.2}, {"2", 2.31}, {"1", 2.1}};
        const Outcome outcome = outcomeOf(comparison, a, b);
        QCOMPARE(outcome.difference.pairs, std::size_t{3});
        QVERIFY(std::abs(outcome.difference.mean + 0.31 / 3) < 1e-12);
        QCOMPARE(outcome.verdict, projects::Verdict::Agrees);
        comparison.direction = projects::Direction::Above;
        QCOMPARE(outcomeOf(comparison, a, b).verdict, projects::Verdict::Differs);
        QCOMPARE(outcomeOf(comparison, a, {}).verdict, projects::Verdict::CannotTell);
    }

    /// A recording has the seeds that every member has a value for, whichever is first, and says at which step they
    /// are.
    void recordingsHaveTheSeedsOfAllMembers()
    {
        const Side dca{"dca", "loss/validation", {}};
        const Side plain{"plain", "loss/validation", {}};
        const std::vector<SeededValue> all{{"1", 1.0}, {"2", 2.0}, {"3", 3.0}};
        const std::vector<SeededValue> some{{"3", 30.0}, {"1", 10.0}, {"4", 40.0}};
        const nlohmann::json values = nlohmann::json::array({1.0, 3.0});
        const nlohmann::json first = recordableOf({{dca, {}, all}, {plain, 200, some}});
        QCOMPARE(first["seeds"], nlohmann::json::array({"1", "3"}));
        QCOMPARE(first["members"][0]["values"], values);
        QVERIFY(!first["members"][0].contains("step"));
        QCOMPARE(first["members"][1]["values"], nlohmann::json::array({10.0, 30.0}));
        QCOMPARE(first["members"][1]["step"], nlohmann::json(200));
        const nlohmann::json second = recordableOf({{plain, {}, some}, {dca, {}, all}});
        QCOMPARE(second["seeds"], nlohmann::json::array({"3", "1"}));
        QCOMPARE(second["members"][1]["values"], nlohmann::json::array({3.0, 1.0}));
        const nlohmann::json third = recordableOf({{plain, {}, {}}, {dca, {}, all}}); // all runs of plain failed
        QCOMPARE(third["members"].size(), std::size_t{1});
        QCOMPARE(third["seeds"].size(), std::size_t{3});
        QVERIFY(recordableOf({{plain, {}, {}}})["seeds"].empty());
        Recording recording;
        recording.members = {{"dca", "loss/validation", 1200, {}, 0, {}}, {"dca", "loss/validation", {}, {}, 0, {}}};
        const nlohmann::json told = jsonOf(recording);
        QCOMPARE(told["members"][0]["step"], nlohmann::json(1200));
        QVERIFY(told["members"][1]["step"].is_null());
    }

    /// A failed member of a sweep ends neither the commands after it nor the comparison, and is named.
    void failedMembersAreLeftOut()
    {
        const QTemporaryDir folder;
        const QStringList words{"reproduce", "ancre", "figure-2", "-o", "out", "--threads", "1", "--json"};
        const Ran trained = runProcess(
            {"sweep", "example:linear-ancre", "figure 2a", "-o", "out/runs/a", "--threads", "1"}, folder.path());
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        QFile file(folder.filePath("out/runs/a/4-layers-none/run.json"));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QByteArray run = file.readAll();
        QVERIFY(run.contains("\"status\": \"finished\""));
        run.replace("\"status\": \"finished\"", "\"status\": \"failed\"");
        QVERIFY(file.seek(0) && file.resize(0) && file.write(run) == run.size());
        file.close();
        const Ran ran = runProcess(words, folder.path());
        QCOMPARE(ran.code, static_cast<int>(Exit::RunFailed));
        QVERIFY(QFile::exists(folder.filePath("out/a.html")) && QFile::exists(folder.filePath("out/c.html")));
        const QJsonArray failed = ran.events().back()["failed"].toArray();
        QCOMPARE(failed, QJsonArray{"out/runs/a/4-layers-none"});
    }

    /// What a sweep has trained is compared member by member, and the verdict is that of the paper's direction.
    void trainedMembersAreCompared()
    {
        const QTemporaryDir folder;
        const std::string out = folder.filePath("runs").toStdString();
        const std::vector<std::string> words{"sweep",   "example:linear-ancre",
                                             "--vary",  "topology=none,0:2",
                                             "--vary",  "seeds.init=1,2,3",
                                             "--steps", "60",
                                             "-o",      out};
        QStringList typed;
        for (const std::string& word : words) {
            typed << QString::fromStdString(word);
        }
        const Ran trained = runProcess(typed, folder.path());
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        const std::vector<Command> commands = allCommands();
        const auto command = std::ranges::find(commands, words[0], &Command::name);
        const auto parsed = Arguments::parse(command->syntax, std::span(words).subspan(1));
        const auto planned = planFrom(*parsed, Console(Output::Json));
        const SweepPlan& plan = std::get<SweepPlan>(planned);
        Comparison comparison;
        comparison.a = {"0:2", engine::metric::kLoss, {}};
        comparison.b = {"none", engine::metric::kLoss, {}};
        const std::vector<SeededValue> a = valuesOf(plan, comparison.a, {});
        QCOMPARE(a.size(), std::size_t{3});
        const Outcome outcome = outcomeOf(comparison, a, valuesOf(plan, comparison.b, {}));
        QCOMPARE(outcome.difference.pairs, std::size_t{3});
        QCOMPARE(outcome.verdict, projects::Verdict::Agrees); // a shortcut to the last layer makes it converge at all
        QVERIFY(valuesOf(plan, {"0:1", engine::metric::kLoss, {}}, {}).empty());
        QVERIFY(valuesOf(plan, comparison.a, 59'999).empty());
    }

    /// A folder of the user's with an example's name is not trained in its place, and may be the output's.
    void foldersOfTheUserAreNotRun()
    {
        const QTemporaryDir folder;
        for (const QString name : {"dca-figure-1", "runs"}) {
            QVERIFY(QDir(folder.path()).mkpath("dca-figure-1"));
            const Ran ran = runProcess(
                {"reproduce", "dca", "figure-1", "-o", name, "--time-limit", "1s", "--threads", "1"}, folder.path());
            QVERIFY2(ran.code == static_cast<int>(Exit::TimeLimit), qPrintable(ran.errors));
            QVERIFY2(ran.output.contains("sweep example:dca-figure-1"), qPrintable(ran.output));
        }
        const Ran made = runProcess({"new", "plain-language", "--example", "plain-language"}, folder.path());
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        const auto widthOf = [&](const QString& project) {
            const Ran told = runProcess({"info", project, "--json"}, folder.path());
            return told.json().object()["cost"].toObject()["total"].toObject()["parameters"].toInteger();
        };
        const Ran set = runProcess({"set", "plain-language", "network.width=16"}, folder.path());
        QVERIFY2(set.code == 0, qPrintable(set.errors));
        QVERIFY(widthOf("plain-language") < widthOf("example:plain-language"));
        const Ran unknown = runProcess({"info", "example:plain-langage"}, folder.path());
        QCOMPARE(unknown.code, static_cast<int>(Exit::InvalidProject));
        QVERIFY2(unknown.errors.contains("plain-language"), qPrintable(unknown.errors));
    }

    void listsAndRuns()
    {
        const QTemporaryDir folder;
        const auto run = [&](const QStringList& words) {
            return runProcess(QStringList{"reproduce"} + words, folder.path());
        };
        const Ran all = run({});
        QCOMPARE(all.code, 0);
        QVERIFY(all.output.contains("figure-10") && all.output.contains("missing"));
        QVERIFY(all.output.contains("differs"));
        QVERIFY(!run({"nlra"}).output.contains("figure-10"));
        const Ran told = run({"raptr", "table-1", "--list"});
        QVERIFY(told.output.contains("sweep example:small-bert") && told.output.contains("paper: loss"));
        QVERIFY2(told.output.contains("trains 12 runs: 8 layers of width 128"), qPrintable(told.output));
        QVERIFY2(told.output.contains("A − B, mean") && told.output.contains("cannot tell"), qPrintable(told.output));
        const Ran missing = run({"raptr", "table-3"});
        QCOMPARE(missing.code, 1);
        QVERIFY(missing.errors.contains("does not run here"));
        QVERIFY(run({"dcb", "table-8"}).errors.contains("no paper \"dcb\""));
        QVERIFY(run({"dca", "tabel-8"}).errors.contains("table-8"));
        const QString out = folder.filePath("drawn");
        const Ran drawn = run({"nlra", "figure-3", "-o", out});
        QVERIFY2(drawn.code == 0, qPrintable(drawn.errors));
        QVERIFY(QFile::exists(out + "/figure-3.svg"));
        QVERIFY(drawn.output.contains("paper: ") && drawn.output.contains("recorded: "));
        const Ran odd = run({"nlra", "figure-3", "--output=--name"});
        QVERIFY2(odd.code == 0, qPrintable(odd.errors));
        QVERIFY(QFile::exists(folder.filePath("--name/figure-3.svg")));
    }
};

RESIDUA_TEST(TestReproduce)
#include "tst_reproduce.moc"
