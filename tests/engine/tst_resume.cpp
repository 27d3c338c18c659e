// SPDX-License-Identifier: GPL-3.0-or-later
// A run that was killed goes on as if it had not been.
#include "run_harness.h"

#include "engine/api/run_reader.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace residua;
using namespace residua::engine;
using residua::tests::quickLanguage;
using residua::tests::SessionProbe;

namespace {

constexpr RunId kRun{1};
constexpr std::int64_t kSteps = 30;

projects::Project project()
{
    projects::Project made = quickLanguage(kSteps);
    made.training.checkpointEvery = 8;
    made.training.validateEvery = 10;
    made.training.accumulate = 2;
    return made;
}

StartRun start(const std::filesystem::path& runDirectory)
{
    StartRun command;
    command.run = kRun;
    command.project = project();
    command.runDirectory = runDirectory;
    return command;
}

ResumeRun resume(const std::filesystem::path& runDirectory)
{
    ResumeRun command;
    command.run = kRun;
    command.runDirectory = runDirectory;
    return command;
}

/// What the killed process does: trains past a checkpoint, says so, and waits for its end.
int trainUntilKilled(const char* runDirectory)
{
    SessionProbe probe;
    StartRun command = start(runDirectory);
    command.pauseAfter = 21; // checkpoints of 8 and 16 are there, five more steps are not in any
    probe.post(command);
    probe.waitFor<RunPaused>();
    std::puts("ready");
    std::fflush(stdout);
    while (true) {
        pause();
    }
}

class TestResume : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_whole = tests::lossesOf(project(), directory("whole"));
        QCOMPARE(m_whole.size(), std::size_t{kSteps});
    }

    void isBitEqualAfterKill()
    {
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(),
                    {"--train", QString::fromStdString(directory("killed").string())});
        QVERIFY(child.waitForReadyRead(60'000));
        QCOMPARE(child.readLine().trimmed(), QByteArray("ready"));
        QCOMPARE(::kill(static_cast<pid_t>(child.processId()), SIGKILL), 0);
        QVERIFY(child.waitForFinished());
        QCOMPARE(child.exitStatus(), QProcess::CrashExit);
        QVERIFY(RunReader::open(directory("killed"))->info()->status == RunStatus::Interrupted);

        SessionProbe probe;
        probe.post(resume(directory("killed")));
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY2(probe.all<RunEnded>()[0].status == RunStatus::Finished, probe.all<RunEnded>()[0].error.text().c_str());
        QCOMPARE(probe.all<RunStarted>().at(0).firstStep, 16);
        const auto resumed = probe.losses(kRun);
        QCOMPARE(resumed.begin()->first, 17);
        for (const auto& [step, loss] : resumed) {
            QVERIFY2(m_whole.at(step) == loss, qPrintable(QString("step %1").arg(step)));
        }
        QCOMPARE(resumed.rbegin()->first, kSteps);
        // The record has every step once, as if nothing had happened, validation included.
        QCOMPARE(tests::recordedLosses(directory("killed")), tests::recordedLosses(directory("whole")));
        QCOMPARE(validation("killed"), validation("whole"));
        QCOMPARE(validation("whole").size(), std::size_t{3});
    }

    void isBitEqualAfterStop()
    {
        {
            SessionProbe probe;
            StartRun command = start(directory("stopped"));
            command.pauseAfter = 11;
            probe.post(command);
            QVERIFY(probe.waitFor<RunPaused>());
            probe.post(Stop{kRun});
            QVERIFY(probe.waitFor<RunEnded>());
        }
        SessionProbe probe;
        probe.post(resume(directory("stopped")));
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(probe.all<RunStarted>().at(0).firstStep, 11);
        QCOMPARE(tests::recordedLosses(directory("stopped")), m_whole);
    }

    /// Which layers a step drops is drawn from the step's number, not from what was drawn before it.
    void stochasticDepthIsBitEqualToo()
    {
        projects::Project dropping = project();
        dropping.training.steps = 12;
        dropping.network.stack.front().repeat = 4;
        for (projects::Node& node : dropping.network.blocks.front().graph.nodes) {
            node.params.erase("dropout"); // so that layers alone are drawn
        }
        dropping.topology.preset = "stochastic-depth";
        dropping.topology.wiring =
            projects::BranchGate{.kind = projects::BranchGateKind::StochasticDepth, .keepProbability = 0.3};
        const auto whole = tests::lossesOf(dropping, directory("dropping"));
        QCOMPARE(whole.size(), std::size_t{12});
        {
            SessionProbe probe;
            StartRun command = start(directory("dropping-stopped"));
            command.project = dropping;
            command.pauseAfter = 5; // after a checkpoint by Stop, none of the plan's
            probe.post(command);
            QVERIFY(probe.waitFor<RunPaused>());
            probe.post(Stop{kRun});
            QVERIFY(probe.waitFor<RunEnded>());
        }
        SessionProbe probe;
        probe.post(resume(directory("dropping-stopped")));
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(probe.all<RunStarted>().at(0).firstStep, 5);
        QCOMPARE(tests::recordedLosses(directory("dropping-stopped")), whole);
        // They are dropped, and by their own seed.
        dropping.seeds.stages += 1;
        const auto other = tests::lossesOf(dropping, directory("dropping-otherwise"));
        QVERIFY(other != whole);
    }

    void beginsAgainWithoutACheckpoint()
    {
        const std::filesystem::path run = copyOfWhole("cut-off");
        std::filesystem::remove_all(run / "checkpoints");
        {
            SessionProbe probe;
            probe.post(resume(run));
            QVERIFY(probe.waitFor<RunEnded>());
            QVERIFY(probe.all<RunEnded>()[0].status == RunStatus::Failed); // a finished run is not trained anew
            QCOMPARE(tests::recordedLosses(run), m_whole);
        }
        replaceIn(run / "run.json", "\"finished\"", "\"running\"");
        SessionProbe probe;
        probe.post(resume(run));
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY2(probe.all<RunEnded>()[0].status == RunStatus::Finished, probe.all<RunEnded>()[0].error.text().c_str());
        QCOMPARE(probe.all<RunStarted>().at(0).firstStep, 0);
        QVERIFY(probe.all<Notice>().at(0).text.find("begins again") != std::string::npos);
        QCOMPARE(tests::recordedLosses(run), m_whole);
    }

    void goesBackToAnIntactCheckpoint()
    {
        const std::filesystem::path run = copyOfWhole("broken");
        const std::filesystem::path last = checkpointDirectory(run, kSteps) / "model.safetensors";
        std::filesystem::resize_file(last, std::filesystem::file_size(last) / 2);
        SessionProbe probe;
        probe.post(resume(run));
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY2(probe.all<RunEnded>()[0].status == RunStatus::Finished, probe.all<RunEnded>()[0].error.text().c_str());
        QCOMPARE(probe.all<RunStarted>().at(0).firstStep, 24);
        QVERIFY(probe.all<Notice>().at(0).text.find("model.safetensors") != std::string::npos);
        QCOMPARE(tests::recordedLosses(run), m_whole);
    }

    void goesOnFromAnEarlierStepAndFurther()
    {
        const std::filesystem::path run = copyOfWhole("further");
        SessionProbe probe;
        ResumeRun command = resume(run);
        command.step = 16;
        command.steps = kSteps + 10;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(probe.all<RunEnded>()[0].step, kSteps + 10);
        const auto recorded = tests::recordedLosses(run);
        QCOMPARE(recorded.size(), std::size_t{kSteps + 10});
        QCOMPARE(recorded.at(17), m_whole.at(17)); // its update alone saw the new total
        QCOMPARE(RunReader::open(run)->info()->steps, kSteps + 10);
    }

    void refuses_data()
    {
        QTest::addColumn<int>("what");
        QTest::addColumn<QString>("said");
        QTest::newRow("a run that is done") << 0 << "all 30 steps are done";
        QTest::newRow("a checkpoint that is not there") << 1 << "5";
        QTest::newRow("no run") << 2 << "nowhere";
        QTest::newRow("another network's checkpoint") << 3 << "embed";
    }
    void refuses()
    {
        QFETCH(int, what);
        QFETCH(QString, said);
        const std::filesystem::path run = copyOfWhole("refused-" + std::to_string(what));
        ResumeRun command = resume(what == 2 ? directory("nowhere") : run);
        if (what == 1) {
            command.step = 5;
        } else if (what == 3) {
            command.step = 16;
            replaceInProject(run, "\"width\": 16", "\"width\": 32");
        }
        SessionProbe probe;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>()[0];
        QVERIFY(ended.status == RunStatus::Failed);
        QVERIFY2(QString::fromStdString(ended.error.text()).contains(said), ended.error.text().c_str());
        QVERIFY(probe.all<RunStarted>().empty());
        if (what != 2) {
            QCOMPARE(tests::recordedLosses(run).size(), std::size_t{kSteps}); // nothing was dropped
        }
    }

private:
    std::filesystem::path directory(const std::string& name) const
    {
        return std::filesystem::path(m_folder.path().toStdString()) / name;
    }
    std::vector<MetricPoint> validation(const std::string& run) const
    {
        return RunReader::open(directory(run))->metric(metric::kValidationLoss);
    }
    std::filesystem::path copyOfWhole(const std::string& name) const
    {
        std::filesystem::copy(directory("whole"), directory(name), std::filesystem::copy_options::recursive);
        return directory(name);
    }
    static void replaceInProject(const std::filesystem::path& run, const std::string& from, const std::string& to)
    {
        replaceIn(run / "project" / "project.json", from, to);
    }
    static void replaceIn(const std::filesystem::path& path, const std::string& from, const std::string& to)
    {
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        std::string changed = text.str();
        const std::size_t at = changed.find(from);
        QVERIFY(at != std::string::npos);
        std::ofstream(path) << changed.replace(at, from.size(), to);
    }

    QTemporaryDir m_folder;
    std::map<std::int64_t, double> m_whole; ///< losses of the run that nothing disturbed
};

} // namespace

int main(int argc, char** argv)
{
    if (argc == 3 && std::string(argv[1]) == "--train") {
        return trainUntilKilled(argv[2]);
    }
    const QCoreApplication application(argc, argv);
    TestResume test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_resume.moc"
