// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a project's runs tell how far a member of its sweep is.
#include "engine/results/run_reader.h"
#include "engine/results/sweep_members.h"
#include "engine/runs/run_files.h"
#include "projects/library/examples.h"
#include "tests/engine/runs/run_files_harness.h"
#include "tests/support/test_program.h"

#include <QTest>

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
        RunInfo info = exampleInfo();
        info.name = member.project.name;
        info.steps = member.project.training.steps;
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
        RunInfo info = exampleInfo();
        info.name = trained.project.name;
        info.membership = trained.membership;
        info.steps = trained.project.training.steps;
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
};

RESIDUA_TEST(TestSweepMembers)
#include "tst_sweep_members.moc"
