// SPDX-License-Identifier: GPL-3.0-or-later
// The table of the papers' tables and figures against what ships: every command line is one that the program takes.
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "projects/library/examples.h"
#include "projects/studies/sweep_grid.h"
#include "resources/reproductions.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <map>
#include <set>

using namespace residua;
using namespace residua::cli;
using resources::Coverage;
using resources::Reproduction;

namespace {

/// The words of a command line of the table: what stands in double quotes is one.
std::vector<std::string> wordsOf(std::string_view line)
{
    std::vector<std::string> words(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ' ' && !quoted) {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

/// The shipped example that a command's word names in the form that no folder of the user's can stand in for; null for
/// any other word.
const projects::Example* exampleOf(const std::string& word)
{
    return word.starts_with(kExamplePrefix) ? projects::findExample(word.substr(kExamplePrefix.size())) : nullptr;
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
                QVERIFY2(resources::findReproduction(paper, "figure-" + std::to_string(figure)), paper.c_str());
            }
            for (int table = 1; table <= count.second; ++table) {
                QVERIFY2(resources::findReproduction(paper, "table-" + std::to_string(table)), paper.c_str());
            }
            rows += static_cast<std::size_t>(count.first + count.second);
        }
        QCOMPARE(resources::reproductions().size(), rows);
        QCOMPARE(resources::papers().size(), counts.size());
    }

    void rowsSayWhatRuns()
    {
        for (const Reproduction& row : resources::reproductions()) {
            const std::string name = std::string(row.paper) + " " + std::string(row.item);
            const bool runs = row.coverage != Coverage::Missing && row.coverage != Coverage::Drawing;
            QVERIFY2(runs != row.commands.empty(), name.c_str());
            QVERIFY2(!row.about.empty() && !row.size.empty(), name.c_str());
            QVERIFY2(row.coverage == Coverage::Drawing || !row.paperSays.empty(), name.c_str());
            QVERIFY2(runs != row.cameOut.empty(), name.c_str());
        }
    }

    /// Each command is one of the program with options that it takes, and each sweep one that its example ships, all of
    /// whose members can be trained.
    void commandsAreSound()
    {
        const std::vector<Command> commands = allCommands();
        std::set<std::pair<std::string, std::string>> checked;
        for (const Reproduction& row : resources::reproductions()) {
            for (const std::string_view line : row.commands) {
                const std::vector<std::string> words = wordsOf(line);
                const auto command = std::ranges::find(commands, words[0], &Command::name);
                QVERIFY2(command != commands.end(), words[0].c_str());
                const auto parsed = Arguments::parse(command->syntax, std::span(words).subspan(1));
                QVERIFY2(parsed.ok(), parsed ? "" : (std::string(line) + ": " + parsed.error().text()).c_str());
                if (words[0] == "train" || words[0] == "bench" || words[0] == "sweep") {
                    QVERIFY2(exampleOf(words[1]) != nullptr, words[1].c_str());
                }
                if (words[0] != "sweep" || !checked.insert({words[1], words[2]}).second) {
                    continue;
                }
                const projects::Project& project = exampleOf(words[1])->project;
                const projects::Sweep* const sweep = projects::findSweep(project.sweeps, words[2]);
                QVERIFY2(sweep != nullptr, words[2].c_str());
                const auto members = projects::expand(project, *sweep);
                QVERIFY2(members.ok(), members ? "" : members.error().text().c_str());
                for (const projects::SweepMember& member : *members) {
                    QVERIFY2(!member.error, member.error ? member.error->text().c_str() : "");
                }
            }
        }
    }

    /// Every study that ships with an example of a paper stands in the table, but for the ones that are wider views of
    /// what does.
    void everyStudyIsListed()
    {
        const std::set<std::string> wider{
            "figure 2, the paper's size", "equal steps", "topologies", "depths", "section 4", "precision"};
        for (const projects::Example& example : projects::examples()) {
            for (const projects::Sweep& sweep : example.project.sweeps) {
                const bool listed = std::ranges::any_of(resources::reproductions(), [&](const Reproduction& row) {
                    return std::ranges::any_of(row.commands, [&](std::string_view line) {
                        const std::vector<std::string> words = wordsOf(line);
                        return words[0] == "sweep" && exampleOf(words[1]) == &example && words[2] == sweep.name;
                    });
                });
                const bool exempt = wider.contains(sweep.name);
                QVERIFY2(listed != exempt, (example.name + ": " + sweep.name).c_str());
            }
        }
    }

    void listsAndRuns()
    {
        const QTemporaryDir folder;
        const auto run = [&](const QStringList& words) { return runProcess(QStringList{"reproduce"} + words); };
        const Ran all = run({});
        QCOMPARE(all.code, 0);
        QVERIFY(all.output.contains("figure-10") && all.output.contains("missing"));
        QVERIFY(!run({"nlra"}).output.contains("figure-10"));
        const Ran told = run({"raptr", "table-1", "--list"});
        QVERIFY(told.output.contains("sweep small-bert") && told.output.contains("paper: loss"));
        const Ran missing = run({"raptr", "table-3"});
        QCOMPARE(missing.code, 1);
        QVERIFY(missing.errors.contains("does not run here"));
        QVERIFY(run({"dcb", "table-8"}).errors.contains("no paper \"dcb\""));
        QVERIFY(run({"dca", "tabel-8"}).errors.contains("table-8"));
        const QString out = folder.filePath("drawn");
        const Ran drawn = run({"nlra", "figure-3", "-o", out});
        QVERIFY2(drawn.code == 0, qPrintable(drawn.errors));
        QVERIFY(QFile::exists(out + "/figure-3.svg"));
        QVERIFY(drawn.output.contains("paper: "));
    }
};

RESIDUA_TEST(TestReproduce)
#include "tst_reproduce.moc"
