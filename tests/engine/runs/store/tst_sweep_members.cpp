// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a project's runs tell how far a member of its sweep is.
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/results/sweep_members.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/shipped/examples.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <optional>
#include <vector>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

class TestSweepMembers : public QObject {
    Q_OBJECT

private slots:
    /// A run.json from before it held a membership: the guess from its name takes "a" for the project, and stays what
    /// it is when the run is renamed.
    void aRenamedRunOfAnEarlierVersionStaysItsProjectsMember()
    {
        projects::Project project = projects::findExample("linear-ancre")->project;
        project.name = "a · b";
        const auto grid = projects::expand(project, {"seeds", {{"/seeds/init", {}, {{{}, {"5"}}, {{}, {"6"}}}}}});
        QVERIFY(grid.ok());
        const projects::SweepMember& member = grid->front();
        const QTemporaryDir folder;
        const fs::path run = fs::path(folder.path().toStdString()) / "run";
        RunInfo info = infoOf(member);
        info.status = RunStatus::Stopped;
        QVERIFY(RunWriter::create(run, info, member.project, run.parent_path()));
        std::string text = contentOf(run / kRunFile);
        const std::string key = ",\n  \"membership\": null";
        const std::size_t at = text.find(key);
        QVERIFY2(at != std::string::npos, text.c_str());
        write(run / kRunFile, text.erase(at, key.size()));
        QVERIFY(renameRun(run, "the best"));

        const auto renamed = RunReader::open(run)->info();
        QVERIFY(renamed.ok());
        QCOMPARE(renamed->name, std::string("the best"));
        QVERIFY(renamed->membership->label() != member.label);
        QVERIFY(std::holds_alternative<member::CutOff>(memberStatusAmong({*renamed}, member)));
        QVERIFY(std::holds_alternative<member::Pending>(memberStatusAmong({*renamed}, grid->back())));
    }

    /// Steps do not tell projects apart here, so a run of a sweep over steps may train what a member of a sweep over
    /// the batch does, with a value of the same label.
    void aRunAtAPointOfAnotherFieldIsNotTheMembers()
    {
        projects::Project project = projects::findExample("linear-ancre")->project;
        project.training.batching = projects::BatchKind::Random;
        project.training.batch = 6;
        const auto overSteps = projects::expand(project, {"a", {{"/training/steps", {}, {{{}, {"6"}}}}}});
        const auto overBatch = projects::expand(project, {"b", {{"/training/batch", {}, {{{}, {"6"}}}}}});
        QVERIFY(overSteps.ok() && overBatch.ok());
        const projects::SweepMember& trained = overSteps->front();
        const QTemporaryDir folder;
        const fs::path run = fs::path(folder.path().toStdString()) / "run";
        RunInfo info = infoOf(trained);
        info.membership = trained.membership;
        info.status = RunStatus::Stopped;
        QVERIFY(RunWriter::create(run, info, trained.project, run.parent_path()));
        const auto read = RunReader::open(run)->info();
        QVERIFY(read.ok());
        QVERIFY(std::holds_alternative<member::CutOff>(memberStatusAmong({*read}, trained)));
        QVERIFY(std::holds_alternative<member::Pending>(memberStatusAmong({*read}, overBatch->front())));
        // The same point of a sweep that was renamed since.
        const auto renamed = projects::expand(project, {"c", {{"/training/steps", "length", {{{}, {"6"}}}}}});
        QVERIFY(renamed.ok());
        QVERIFY(std::holds_alternative<member::CutOff>(memberStatusAmong({*read}, renamed->front())));
    }

    /// A fork is a member too, and the newer one. It stands for the member once it is finished itself.
    void aFinishedMemberThatIsForkedStaysFinished()
    {
        const projects::Project project = projects::findExample("linear-ancre")->project;
        const auto grid = projects::expand(project, {"seeds", {{"/seeds/init", {}, {{{}, {"5"}}}}}});
        QVERIFY(grid.ok());
        const projects::SweepMember& member = grid->front();
        const QTemporaryDir folder;
        const fs::path run = fs::path(folder.path().toStdString()) / "run";
        RunInfo info = infoOf(member);
        info.membership = member.membership;
        info.created = "2026-01-01T00:00:00Z";
        {
            auto writer = RunWriter::create(run, info, member.project, run.parent_path());
            QVERIFY(writer);
            QVERIFY(writeCheckpoint(run, {1, 8, 0.1, {}, {}}, {}, {}, {}).ok());
            info.step = info.steps;
            info.values[metric::kLoss] = 0.5;
            info.status = RunStatus::Finished;
            QVERIFY(writer->update(info));
        }
        const auto fork = forkRun(run, 1);
        QVERIFY2(fork.ok(), fork ? "" : fork.error().text().c_str());
        std::vector<RunInfo> runs{*RunReader::open(run)->info(), *RunReader::open(*fork)->info()};
        QVERIFY(runs.back().created > runs.front().created);
        const auto lossAmong = [&] { return finalValue(memberStatusAmong(runs, member)); };
        QCOMPARE(lossAmong(), std::optional(0.5));
        std::ranges::reverse(runs);
        QCOMPARE(lossAmong(), std::optional(0.5));
        {
            auto writer = RunWriter::reopen(*fork, 1);
            QVERIFY(writer);
            RunInfo ended = writer->info();
            ended.step = ended.steps;
            ended.values[metric::kLoss] = 0.25;
            ended.status = RunStatus::Finished;
            QVERIFY(writer->update(ended));
        }
        runs.front() = *RunReader::open(*fork)->info();
        QCOMPARE(lossAmong(), std::optional(0.25));
        runs.pop_back(); // without what it was forked from
        QCOMPARE(lossAmong(), std::optional(0.25));
    }

private:
    /// Returns the run.json of a run of the member that knows nothing of the sweep.
    static RunInfo infoOf(const projects::SweepMember& member)
    {
        RunInfo info = exampleInfo();
        info.name = member.project.name;
        info.steps = member.project.training.steps;
        return info;
    }
};

RESIDUA_TEST(TestSweepMembers)
#include "tst_sweep_members.moc"
