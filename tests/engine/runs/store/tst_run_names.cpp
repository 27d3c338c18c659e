// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/commands.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/run_writer.h"
#include "projects/diff/diff.h"
#include "projects/shipped/examples.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

class TestRunNames : public RunFilesHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    /// After what differs from the runs that are there, but for members of a sweep: those are named by the sweep.
    void runsAreNamedAfterWhatDiffers()
    {
        projects::Project project = exampleProject();
        const std::string name = project.name;
        const auto begin = [&] {
            RunInfo info = exampleInfo();
            info.name = nameForRun(m_folder, project);
            return RunWriter::createIn(m_folder, info, project, ".") ? info.name : std::string();
        };
        QCOMPARE(begin(), name);
        QCOMPARE(begin(), name); // the same again
        project.stack().width *= 2;
        const std::string wide = begin();
        QCOMPARE(wide, name + ", width " + std::to_string(project.stack().width) + " features");
        project.training.learningRate.peak = 0.5;
        QCOMPARE(begin(), wide + ", peak 0.5");
        project.training.learningRate.peak = exampleProject().training.learningRate.peak;
        QCOMPARE(begin(), wide);
        project = exampleProject();
        QCOMPARE(begin(), name);
        project.name += " · 0:2"; // a person's own name, which makes no member
        QCOMPARE(begin(), project.name);
        project.stack().width *= 4;
        QCOMPARE(begin(), project.name + ", width " + std::to_string(project.stack().width) + " features");
        RunInfo member = exampleInfo();
        member.name = project.name = "study";
        member.membership = projects::Membership{"study", "widths", {{"/network/width", "width", "8"}}};
        QVERIFY(RunWriter::createIn(m_folder, member, project, "."));
        project.stack().width *= 2;
        QCOMPARE(begin(), project.name);
    }

    /// The one with stages is called so, whichever is trained first.
    void stagesAndRanksAreNamed()
    {
        projects::Project project = projects::findExample("plain-language")->project;
        project.name = "mine";
        const auto begin = [&] {
            RunInfo info = exampleInfo();
            info.name = nameForRun(m_folder, project);
            return RunWriter::createIn(m_folder, info, project, ".") ? info.name : std::string();
        };
        project.stack().schedule.stages = {{0, 3, {}}, {10, 4, {}}};
        QCOMPARE(begin(), std::string("mine, stages 3-4"));
        project.stack().schedule.stages.clear();
        QCOMPARE(begin(), std::string("mine"));
        project.network.rank = projects::FixedRank{8};
        QCOMPARE(begin(), std::string("mine, rank 8"));
    }

    void aGivenDirectoryNamesItsRun()
    {
        StartRun command;
        command.project = exampleProject();
        for (const char* const given : {"runs/first", "runs/first/", "./first/", "first/."}) {
            command.runDirectory = given;
            QCOMPARE(nameForRun(command), std::string("first"));
        }
        command.membership = projects::Membership{"study", "widths", {{"/network/width", "width", "8"}}};
        QCOMPARE(nameForRun(command), command.project.name);
        command.membership.reset();
        command.runDirectory.clear();
        command.runFolder = m_folder;
        QCOMPARE(nameForRun(command), nameForRun(m_folder, command.project));
    }

    /// A project that is called as a preset, as examples are, does not lend its name to another wiring.
    void aDrawnWiringHasItsOwnName()
    {
        projects::Project project = projects::findExample("plain-language")->project;
        const std::string preset = projects::wiringName(project.stack().topology, project.network);
        const auto begin = [&] {
            RunInfo info = exampleInfo();
            info.name = nameForRun(m_folder, project);
            return RunWriter::createIn(m_folder, info, project, ".") ? info.name : std::string();
        };
        project.name = preset;
        auto& states = std::get<projects::DepthMix>(project.stack().topology.wiring).states;
        states = {{{2, 7}, projects::ShortcutState::Learned}};
        QCOMPARE(begin(), preset + " + 2:7");
        states = {{{1, 6}, projects::ShortcutState::Learned}};
        QCOMPARE(begin(), preset + " + 1:6");
        project.training.steps *= 2;
        QCOMPARE(begin(), preset + " + 1:6, " + std::to_string(project.training.steps) + " steps");
        states.clear();
        project.training.steps /= 2;
        QCOMPARE(begin(), preset);
        project.name = "mine";
        QCOMPARE(begin(), std::string("mine"));
        states = {{{2, 7}, projects::ShortcutState::Learned}};
        QCOMPARE(begin(), "mine, " + preset + " + 2:7");
    }
};

RESIDUA_TEST(TestRunNames)
#include "tst_run_names.moc"
