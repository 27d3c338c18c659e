// SPDX-License-Identifier: GPL-3.0-or-later
// The groups of runs that differ in their seeds alone: what belongs together, labels, and colours that stay.
#include "engine/runs/results/run_groups.h"

#include "engine/runs/results/study_page.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

/// Runs that are listed, the newest first, with what they train.
struct Listed {
    std::vector<RunInfo> infos;
    std::vector<projects::Project> projects;

    void add(const std::string& name, projects::Project project, std::int64_t seed)
    {
        project.seeds.init = seed;
        RunInfo info;
        info.name = name;
        info.directory = "/runs/" + std::to_string(infos.size());
        info.created = "2026-01-01T00:00:" + std::to_string(10 + infos.size()) + "Z";
        infos.insert(infos.begin(), info);
        projects.insert(projects.begin(), std::move(project));
    }
    void addMember(const std::string& label, projects::Project project, std::int64_t seed)
    {
        add("study · " + label + ", " + std::to_string(seed), std::move(project), seed);
        infos.front().membership = projects::Membership{
            "study", "sweep", {{"/topology", "topology", label}, {"/seeds/init", "init", std::to_string(seed)}}};
    }
    [[nodiscard]] std::vector<TrainedRun> trained() const
    {
        std::vector<TrainedRun> runs;
        for (std::size_t i = 0; i < infos.size(); ++i) {
            runs.push_back({&infos[i], &projects[i]});
        }
        return runs;
    }
    [[nodiscard]] RunGroups groups() const { return groupsOf(trained()); }
    [[nodiscard]] QStringList labels() const
    {
        QStringList labels;
        for (const RunGroup& group : groups().groups) {
            labels.prepend(QString::fromStdString(group.label));
        }
        return labels; // the oldest first
    }
};

projects::Project plain(std::int64_t steps = 100)
{
    projects::Project project = projects::findExample("plain-language")->project;
    project.training.steps = steps;
    return project;
}

projects::Project wide(std::int64_t width)
{
    projects::Project project = plain();
    project.stack().width = width;
    return project;
}

projects::Project staged()
{
    projects::Project project = plain();
    const auto lengths = projects::stageLengthsFrom("3-4-5-6");
    project.stack().schedule =
        *projects::makeStages(project.stack().schedule, *lengths, projects::StageSplit::Equal, project.network.depth(),
                              project.training.steps, 0, projects::StageEnds::Kept);
    return project;
}

} // namespace

class TestRunGroups : public QObject {
    Q_OBJECT

private slots:
    void seedsAloneMakeAGroup()
    {
        Listed listed;
        for (const std::int64_t seed : {1, 2, 3}) {
            listed.addMember("plain", plain(), seed);
            listed.addMember("wide", wide(96), seed);
        }
        const RunGroups groups = listed.groups();
        QCOMPARE(groups.groups.size(), std::size_t{2});
        QCOMPARE(listed.labels(), (QStringList{"plain", "wide"}));
        QCOMPARE(groups.labels.back(), std::string("plain, seed 1"));
        QCOMPARE(groups.groupOf(5).runs, (std::vector<std::size_t>{1, 3, 5}));
        QCOMPARE(groups.groupOf(5).colour, std::size_t{0}); // began first
        QCOMPARE(groups.groupOf(4).colour, std::size_t{1});
        QCOMPARE(groups.seeds[0], groups.seeds[1]);
        QVERIFY(groups.seeds[0] != groups.seeds[2]);
    }

    /// Names say what differs, by what is trained where names do not.
    void labelsSayWhatDiffers_data()
    {
        QTest::addColumn<QStringList>("labels");
        QTest::addColumn<Listed>("listed");
        const auto row = [](const char* name, const QStringList& labels, const std::function<void(Listed&)>& fill) {
            Listed listed;
            fill(listed);
            QTest::newRow(name) << labels << listed;
        };
        row("one group keeps its name", {"Compare"}, [](Listed& runs) {
            runs.add("Compare", plain(), 1);
            runs.add("Compare", plain(), 2);
        });
        row("the shared project is left out", {"ANCRe", "DCA"}, [](Listed& runs) {
            runs.add("Compare, ANCRe", plain(), 1);
            runs.add("Compare, DCA", wide(96), 1);
        });
        row("a run of the project keeps its name", {"Compare", "ANCRe", "DCA"}, [](Listed& runs) {
            runs.add("Compare", plain(), 1);
            runs.add("Compare, ANCRe", wide(96), 1);
            runs.add("Compare, DCA", wide(48), 1);
        });
        row("a member of a sweep names a group that a run of the project is in", {"ANCRe", "DCA"}, [](Listed& runs) {
            runs.add("My own", plain(), 4);
            runs.addMember("ANCRe", plain(), 1);
            runs.addMember("DCA", wide(96), 1);
        });
        row("shared ends are left out", {"ANCRe", "DCA"}, [](Listed& runs) {
            runs.add("Compare, ANCRe, 3000 steps", plain(), 1);
            runs.add("Compare, DCA, 3000 steps", wide(96), 1);
        });
        row("stages are named", {"stages 3-4-5-6", "plain"}, [](Listed& runs) {
            runs.add("Compare", staged(), 1);
            runs.add("Compare, plain", plain(), 1);
        });
        row("equal names are told apart", {"Compare, width 96 features", "Compare, width 48 features"},
            [](Listed& runs) {
                runs.add("Compare", wide(96), 1);
                runs.add("Compare", wide(48), 1);
            });
        row("factors are named", {"Compare", "Compare, rank 8"}, [](Listed& runs) {
            projects::Project factored = plain();
            factored.network.rank = projects::FixedRank{8};
            runs.add("Compare", plain(), 1);
            runs.add("Compare", factored, 1);
            runs.infos.back().name = "Compare";
        });
        row("forks are named", {"Compare", "Compare, from step 50"}, [](Listed& runs) {
            runs.add("Compare", plain(), 1);
            runs.add("Compare", plain(), 1);
            runs.infos.front().parent = "/elsewhere/0";
            runs.infos.front().parentStep = 50;
        });
    }
    void labelsSayWhatDiffers()
    {
        QFETCH(QStringList, labels);
        QFETCH(Listed, listed);
        QCOMPARE(listed.labels(), labels);
    }

    /// Forks of one step of runs of one configuration are repeats of each other, of another step they are not.
    void forksAreGroupedByTheirStart()
    {
        Listed listed;
        for (const std::int64_t seed : {1, 2}) {
            listed.add("Compare", plain(), seed);
        }
        for (const std::int64_t step : {50, 50, 60}) {
            const std::int64_t seed = step == 50 ? static_cast<std::int64_t>(listed.infos.size()) - 1 : 1;
            listed.add("Compare", plain(), seed);
            listed.infos.front().parent = "/moved/" + std::to_string(seed - 1);
            listed.infos.front().parentStep = step;
        }
        const RunGroups groups = listed.groups();
        QCOMPARE(groups.groups.size(), std::size_t{3});
        QCOMPARE(groups.of[1], groups.of[2]);
        QVERIFY(groups.of[0] != groups.of[1]);
        QCOMPARE(groups.of[3], groups.of[4]);
    }

    void forksThatAreTheirOwnParentsEnd()
    {
        Listed listed;
        listed.add("a", plain(), 1);
        listed.add("b", plain(), 1);
        listed.infos[0].parent = listed.infos[1].directory;
        listed.infos[1].parent = listed.infos[0].directory;
        QCOMPARE(listed.groups().of.size(), std::size_t{2});
    }

    /// A group keeps its colour when others come and go, and 24 groups have one each.
    void coloursStay()
    {
        QTemporaryDir folder;
        const fs::path runs = fs::path(folder.path().toStdString()) / "runs";
        fs::create_directories(runs);
        Listed listed;
        for (int i = 0; i < 24; ++i) {
            listed.add("run", wide(16 + 4 * i), 1);
        }
        RunGroups all = listed.groups();
        keepColours(all, listed.trained(), runs);
        std::set<std::size_t> colours;
        std::ranges::transform(all.groups, std::inserter(colours, colours.end()), &RunGroup::colour);
        QCOMPARE(colours.size(), kGroupColours);
        QCOMPARE(*colours.rbegin(), kGroupColours - 1);

        Listed few; // one that is known, and one that is new while all colours are kept
        few.add("known", wide(16 + 4 * 7), 2);
        few.add("new", wide(500), 1);
        RunGroups part = few.groups();
        keepColours(part, few.trained(), runs);
        QCOMPARE(part.groups[1].colour, std::size_t{7});
        QVERIFY(part.groups[0].colour != std::size_t{7});
        RunGroups again = few.groups();
        keepColours(again, few.trained(), runs);
        QCOMPARE(again.groups[0].colour, part.groups[0].colour);
    }

    void aDamagedFileOfColoursIsReplaced_data()
    {
        QTest::addColumn<QByteArray>("text");
        const QByteArray key(64, 'a');
        QTest::newRow("no JSON") << QByteArray("{");
        QTest::newRow("a list") << QByteArray("[1]");
        QTest::newRow("a colour that is none") << QByteArray("{\"colours\": {\"" + key + "\": -1}}");
        QTest::newRow("a text") << QByteArray("{\"colours\": {\"" + key + "\": \"red\"}}");
        QTest::newRow("no key") << QByteArray("{\"colours\": {\"../x\": 1}}");
    }
    void aDamagedFileOfColoursIsReplaced()
    {
        QFETCH(QByteArray, text);
        QTemporaryDir folder;
        const fs::path runs = folder.path().toStdString();
        QVERIFY(writeOwnFile(runs / kGroupsFile, text.toStdString()).ok());
        Listed listed;
        listed.add("run", plain(), 1);
        RunGroups groups = listed.groups();
        keepColours(groups, listed.trained(), runs);
        QCOMPARE(groups.groups[0].colour, std::size_t{0});
        const auto kept = readFile(runs / kGroupsFile);
        QVERIFY(kept && kept->find(groups.groups[0].key) != std::string::npos);
    }

    /// Notes and colours are in one file, and neither change loses the other.
    void groupsKeepNotes()
    {
        QTemporaryDir folder;
        const fs::path runs = folder.path().toStdString();
        Listed listed;
        listed.add("run", plain(), 1);
        RunGroups groups = listed.groups();
        const std::string key = groups.groups[0].key;
        QVERIFY(noteGroup(runs, key, "the *first*\n").ok());
        keepColours(groups, listed.trained(), runs);
        QCOMPARE(groupNotes(runs).at(key), std::string("the *first*\n"));
        QVERIFY(noteGroup(runs, key, "again").ok());
        listed.add("wide", wide(96), 1);
        RunGroups both = listed.groups();
        keepColours(both, listed.trained(), runs);
        QCOMPARE(groupNotes(runs), (std::map<std::string, std::string>{{key, "again"}}));
        QVERIFY(!noteGroup(runs, key, std::string(kLongestNote + 1, 'x')).ok());
        QCOMPARE(groupNotes(runs).at(key), std::string("again"));
        QVERIFY(noteGroup(runs, key, "").ok());
        QVERIFY(groupNotes(runs).empty());
        const nlohmann::json received = {{"notes", {{key, std::string(kLongestNote + 1, 'x')}}}};
        QVERIFY(writeFileAtomically(runs / kGroupsFile, received.dump()).ok());
        QVERIFY(groupNotes(runs).empty());
    }

    /// Colours and notes that an earlier version has kept belong to the same groups.
    void earlierKeysAreFound()
    {
        QTemporaryDir folder;
        const fs::path runs = folder.path().toStdString();
        Listed listed;
        listed.add("plain", plain(), 1);
        listed.add("wide", wide(96), 1);
        listed.add("fork", plain(), 1);
        listed.infos.front().parent = listed.infos.back().directory;
        RunGroups groups = listed.groups();
        const std::vector<std::string> earlier = earlierKeys(groups, listed.trained());
        nlohmann::json file;
        for (std::size_t i = 0; i < earlier.size(); ++i) {
            QVERIFY(earlier[i] != groups.groups[i].key);
            file["colours"][earlier[i]] = 20 + i;
        }
        file["notes"][earlier[0]] = "of the *fork*";
        file["notes"][std::string(64, 'a')] = "of another";
        QVERIFY(writeFileAtomically(runs / kGroupsFile, file.dump()).ok());
        keepColours(groups, listed.trained(), runs);
        for (std::size_t i = 0; i < earlier.size(); ++i) {
            QCOMPARE(groups.groups[i].colour, 20 + i);
        }
        QCOMPARE(groupNotes(runs), (std::map<std::string, std::string>{{groups.groups[0].key, "of the *fork*"},
                                                                       {std::string(64, 'a'), "of another"}}));

        QVERIFY(noteGroup(runs, earlier[1], "brought by a bundle").ok()); // where the colours are those of now
        keepColours(groups, listed.trained(), runs);
        QCOMPARE(groupNotes(runs).at(groups.groups[1].key), std::string("brought by a bundle"));
    }

    void aProjectsRunsHaveOneFolder()
    {
        QTemporaryDir folder;
        const fs::path project = folder.path().toStdString();
        fs::create_directories(project / "runs" / "sweep" / "a");
        QVERIFY(!groupsFolderOf(project / "runs"));
        QVERIFY(writeOwnFile(project / projects::kProjectFile, "{}").ok());
        for (const char* const at : {"runs", "runs/", "runs/sweep", "runs/sweep/a"}) {
            QCOMPARE(groupsFolderOf(project / at).value_or(""), project / "runs");
        }
        QVERIFY(!groupsFolderOf(project));
    }

    void valuesHaveTheirSeeds()
    {
        Listed listed;
        for (const std::int64_t seed : {1, 2, 3}) {
            listed.addMember("plain", plain(), seed);
            listed.addMember("wide", wide(96), seed);
        }
        const RunGroups groups = listed.groups();
        const double losses[] = {3.2, 2.2, 3.1, 2.0, 3.0, 1.9}; // wide, plain, from the newest seed on
        const auto lossesOf = [&](std::size_t group) {
            const auto metric = [&](std::size_t run) { return std::vector<MetricPoint>{{7, losses[run]}}; };
            return seededSeries(groups, groups.groups[group], metric);
        };
        const auto difference = projects::differencesByStep(lossesOf(0), lossesOf(1)).at(7);
        QCOMPARE(difference.pairs, std::size_t{3});
        QVERIFY(std::abs(difference.mean - 3.2 / 3) < 1e-12);
        QVERIFY(difference.halfWidth < 0.2);
    }
};

RESIDUA_TEST(TestRunGroups)
#include "tst_run_groups.moc"
