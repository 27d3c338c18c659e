// SPDX-License-Identifier: GPL-3.0-or-later
// A run that was killed goes on as if it had not been.
#include "run_harness.h"

#include "engine/base/api/environment.h"
#include "engine/base/api/session.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_writer.h"
#include "projects/library/schedule_presets.h"

#include "tests/support/refusal.h"
#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <future>
#include <sstream>
#include <tuple>
#include <variant>

using namespace residua;
using namespace residua::engine;
using residua::tests::kRun;
using residua::tests::quickLanguage;
using residua::tests::SessionProbe;

namespace {

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
    command.of.runDirectory = runDirectory;
    return command;
}

/// Trains past a checkpoint in the process to be killed, prints that, and waits for its end.
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
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString(directory("cache").string()));
        m_whole = tests::lossesOf(project(), directory("whole"));
        QCOMPARE(m_whole.size(), std::size_t{kSteps});
    }

    /// A rung of a sweep ends there.
    void stopsAfterTheStepThatTheCommandNames()
    {
        StartRun first = start(directory("rungs"));
        first.stopAfter = 5;
        ResumeRun second = resume(directory("rungs"));
        second.stopAfter = 12;
        for (const auto& [command, end] : {std::pair<Command, std::int64_t>{first, 5}, {second, 12}}) {
            SessionProbe probe;
            probe.post(command);
            QVERIFY(probe.waitFor<RunEnded>());
            QVERIFY(probe.all<RunEnded>().at(0).status == RunStatus::Stopped);
            QCOMPARE(probe.all<RunEnded>().at(0).step, end);
            QCOMPARE(RunReader::open(directory("rungs"))->checkpoints().back(), end);
        }
        QCOMPARE(tests::resumeToEnd(directory("rungs")), std::string());
        QCOMPARE(tests::recordedLosses(directory("rungs")), m_whole);
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
        QVERIFY(tests::trainTo(project(), directory("stopped"), 11));
        SessionProbe probe;
        probe.post(resume(directory("stopped")));
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(probe.all<RunStarted>().at(0).firstStep, 11);
        QCOMPARE(tests::recordedLosses(directory("stopped")), m_whole);
    }

    /// Who hears that the run goes on finds its new total in its file: a stop at a step is answered from there.
    void itsFileSaysTheNewTotalBeforeItIsAnnounced()
    {
        projects::Project quick = project();
        quick.training.steps = 3;
        QCOMPARE(tests::lossesOf(quick, directory("longer")).size(), std::size_t{3});
        std::promise<std::int64_t> planned;
        Session session([&](const Event& event) {
            if (std::holds_alternative<RunStarted>(event)) {
                planned.set_value(RunReader::open(directory("longer"))->info()->steps);
            }
        });
        ResumeRun command = resume(directory("longer"));
        command.steps = 5;
        session.post(command);
        std::future<std::int64_t> found = planned.get_future();
        QVERIFY(found.wait_for(std::chrono::minutes(1)) == std::future_status::ready);
        QCOMPARE(found.get(), 5);
    }

    /// Which layers a step drops is drawn from the step's number, not from what was drawn before it.
    void stochasticDepthIsBitEqualToo()
    {
        projects::Project dropping = project();
        dropping.training.steps = 12;
        dropping.network.stack().segments.front().repeat = 4;
        for (projects::Node& node : dropping.network.blocks.front().graph.nodes) {
            node.params.erase("dropout"); // so that layers alone are drawn
        }
        dropping.stack().schedule = *projects::scheduleFrom("stochastic-depth", 4, 12);
        dropping.stack().schedule.stages.front().averageLength = 2.25; // the last layer stays with 0.3
        const auto whole = tests::lossesOf(dropping, directory("dropping"));
        QCOMPARE(whole.size(), std::size_t{12});
        QVERIFY(tests::trainTo(dropping, directory("dropping-stopped"),
                               5)); // after a checkpoint by Stop, none of the plan's
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

    /// Which text an example is of is drawn from the step's number too.
    void aMixtureIsBitEqualToo()
    {
        projects::MixtureData texts;
        for (const auto& [name, words, weight] :
             {std::tuple{"a.txt", "once upon a time ", 3.0}, {"b.txt", "0123456789 ", 1.0}}) {
            std::ofstream file(directory(name));
            for (int i = 0; i < 200; ++i) {
                file << words << i;
            }
            texts.parts.push_back({.path = directory(name).string(), .weight = weight});
        }
        projects::Project mixed = project();
        mixed.training.steps = 12;
        mixed.data.source = texts;
        const auto whole = tests::lossesOf(mixed, directory("mixed"));
        QCOMPARE(whole.size(), std::size_t{12});
        {
            SessionProbe probe;
            StartRun command = start(directory("mixed-stopped"));
            command.project = mixed;
            command.pauseAfter = 5;
            probe.post(command);
            QVERIFY(probe.waitFor<RunPaused>());
            const auto notices = probe.all<Notice>();
            QVERIFY(std::ranges::any_of(notices, [](const Notice& notice) {
                return notice.text.find("part 1 (") == 0 &&
                       notice.text.find("75 % of the examples") != std::string::npos;
            }));
            probe.post(Stop{kRun});
            QVERIFY(probe.waitFor<RunEnded>());
        }
        SessionProbe probe;
        probe.post(resume(directory("mixed-stopped")));
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(probe.all<RunStarted>().at(0).firstStep, 5);
        QCOMPARE(tests::recordedLosses(directory("mixed-stopped")), whole);
        QCOMPARE(validation("mixed-stopped"), validation("mixed"));
        // The weights decide what is fed.
        std::get<projects::MixtureData>(mixed.data.source).parts[1].weight = 3;
        QVERIFY(tests::lossesOf(mixed, directory("mixed-otherwise")) != whole);
    }

    /// Factors that are fitted at the start, to the data, and decay by their product.
    void factoredWeightsAreBitEqualToo()
    {
        projects::Project fitted = project();
        fitted.training.steps = 12;
        fitted.network.rank = projects::RankScale{0.5};
        fitted.initialisation.lowRank = projects::LowRankMethod::Exact;
        fitted.initialisation.lowRankInputs = projects::LowRankInputs::Data;
        fitted.training.factorDecay = projects::FactorDecay::Product;
        const auto whole = tests::lossesOf(fitted, directory("fitted"));
        QCOMPARE(whole.size(), std::size_t{12});
        QVERIFY(std::filesystem::exists(directory("cache") / "residua" / "fits"));
        QVERIFY(tests::trainTo(fitted, directory("fitted-stopped"), 5)); // from the fits of the first
        QCOMPARE(tests::resumeToEnd(directory("fitted-stopped")), std::string());
        QCOMPARE(tests::recordedLosses(directory("fitted-stopped")), whole);
        // Without what the first has kept, as after a kill in the fitting.
        std::filesystem::remove_all(directory("cache"));
        QCOMPARE(tests::lossesOf(fitted, directory("fitted-again")), whole);
        fitted.initialisation.lowRank = projects::LowRankMethod::Spectral;
        QVERIFY(tests::lossesOf(fitted, directory("fitted-otherwise")) != whole);
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

    /// Whoever uses a checkpoint says which it was, and why not a newer one.
    void queriesTellWhichCheckpointTheyUse()
    {
        const std::filesystem::path run = copyOfWhole("queried");
        const std::filesystem::path last = checkpointDirectory(run, kSteps) / "model.safetensors";
        SessionProbe probe;
        EvaluateRequest evaluate;
        evaluate.of.runDirectory = run;
        SampleRequest sample;
        sample.of.runDirectory = run;
        sample.tokens = 3;
        probe.post(evaluate);
        probe.post(sample);
        QVERIFY(probe.waitFor<EvaluationReady>() && probe.waitFor<SampleReady>());
        QCOMPARE(probe.all<EvaluationReady>()[0].step, kSteps);
        QCOMPARE(probe.all<SampleReady>()[0].step, kSteps);
        QVERIFY(probe.all<EvaluationReady>()[0].notes.empty() && probe.all<SampleReady>()[0].notes.empty());
        std::filesystem::resize_file(last, std::filesystem::file_size(last) / 2);
        SessionProbe after;
        after.post(evaluate);
        after.post(sample);
        QVERIFY(after.waitFor<EvaluationReady>() && after.waitFor<SampleReady>());
        const EvaluationReady evaluated = after.all<EvaluationReady>()[0];
        const SampleReady sampled = after.all<SampleReady>()[0];
        QCOMPARE(evaluated.step, 24);
        QCOMPARE(sampled.step, 24);
        for (const auto& notes : {evaluated.notes, sampled.notes}) {
            QCOMPARE(notes.size(), std::size_t{1});
            QVERIFY2(notes[0].find("step-00000030 skipped") != std::string::npos, notes[0].c_str());
        }
        // Asked for by its step, it is refused.
        evaluate.of.step = kSteps;
        evaluate.tag = QueryTag{2};
        after.post(evaluate);
        QVERIFY(after.waitFor<QueryFailed>());
    }

    void aRunWithoutAStoreGoesOn_data()
    {
        QTest::addColumn<bool>("lost");
        QTest::newRow("lost") << true;
        QTest::newRow("damaged") << false;
    }
    void aRunWithoutAStoreGoesOn()
    {
        QFETCH(bool, lost);
        const std::filesystem::path run = copyOfWhole(lost ? "lost" : "damaged");
        if (lost) {
            std::filesystem::remove(run / "store.sqlite");
        } else {
            std::ofstream(run / "store.sqlite", std::ios::trunc) << std::string(20'000, 'x');
        }
        SessionProbe probe;
        ResumeRun command = resume(run);
        command.of.step = 16;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY2(probe.all<RunEnded>()[0].status == RunStatus::Finished, probe.all<RunEnded>()[0].error.text().c_str());
        QVERIFY(anyNotice(probe, "a fresh one takes its place"));
        std::map<std::int64_t, double> expected = m_whole;
        expected.erase(expected.begin(), expected.find(17));
        QCOMPARE(tests::recordedLosses(run), expected);
        QCOMPARE(std::filesystem::exists(run / "store.sqlite.damaged"), !lost);
    }

    void aStoreThatAnotherHoldsDelaysTheRecord()
    {
        SessionProbe probe;
        StartRun command = start(directory("held"));
        command.pauseAfter = 2;
        probe.post(command);
        QVERIFY(probe.waitFor<RunPaused>());
        auto other = Database::openForWriting(directory("held") / "store.sqlite");
        QVERIFY(other->execute("BEGIN EXCLUSIVE").ok());
        probe.post(Continue{kRun});
        QVERIFY(probe.waitUntil([](const Event& event) {
            const auto* notice = std::get_if<Notice>(&event);
            return notice != nullptr && notice->text.find("another process holds") != std::string::npos;
        }));
        QVERIFY(probe.all<RunEnded>().empty());
        QVERIFY(other->execute("COMMIT").ok());
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY2(probe.all<RunEnded>()[0].status == RunStatus::Finished, probe.all<RunEnded>()[0].error.text().c_str());
        QCOMPARE(tests::recordedLosses(directory("held")), m_whole);
    }

    /// Before anything is read of it: who holds it may be about to write a newer checkpoint.
    void aRunThatIsTrainedIsNotResumed()
    {
        const std::filesystem::path run = copyOfWhole("trained");
        const auto held = RunWriter::hold(run);
        QVERIFY(held.ok());
        std::filesystem::remove(run / "project" / "project.json");
        SessionProbe probe;
        probe.post(resume(run));
        QVERIFY(probe.waitFor<RunEnded>());
        const Error refused = probe.all<RunEnded>()[0].error;
        QVERIFY2(tests::isRefusedAt(refused, run.string(), "another process"), refused.text().c_str());
    }

    void goesOnFromAnEarlierStepAndFurther()
    {
        const std::filesystem::path run = copyOfWhole("further");
        SessionProbe probe;
        ResumeRun command = resume(run);
        command.of.step = 16;
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
            command.of.step = 5;
        } else if (what == 3) {
            command.of.step = 16;
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
    static bool anyNotice(SessionProbe& probe, const std::string& part)
    {
        const auto notices = probe.all<Notice>();
        return std::ranges::any_of(notices,
                                   [&](const Notice& notice) { return notice.text.find(part) != std::string::npos; });
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
