// SPDX-License-Identifier: GPL-3.0-or-later
// A run whose disk is full waits where it is asked to, goes on once there is room, and loses nothing.
#include "run_harness.h"

#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "tests/support/full_disk.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace residua;
using namespace residua::engine;
using residua::tests::kRun;

class TestFullDisk : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aCheckpointIsWrittenOnceThereIsRoom()
    {
        const auto expected = tests::lossesOf(project(), folder() / "undisturbed");
        tests::SessionProbe probe;
        std::unique_ptr<tests::FullDisk> full = begin(probe);
        QVERIFY(full);
        QVERIFY(probe.waitUntil(heldUpAt(2)));
        probe.post(Continue{kRun}); // there still is none
        QVERIFY(probe.waitUntil([count = 0](const Event& event) mutable {
            const auto* paused = std::get_if<RunPaused>(&event);
            return paused != nullptr && !paused->error.message.empty() && ++count == 2;
        }));
        QVERIFY(probe.all<CheckpointWritten>().empty());
        full.reset();
        probe.post(Continue{kRun});
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY(probe.all<RunEnded>()[0].status == RunStatus::Finished);
        QCOMPARE(probe.all<CheckpointWritten>()[0].step, std::int64_t(2));
        QCOMPARE(probe.losses(kRun), expected);
        QCOMPARE(tests::recordedLosses(run()), expected);
        const std::vector<RunEvent> events = RunReader::open(run())->events();
        QVERIFY(std::ranges::any_of(events, [](const RunEvent& event) {
            return event.kind == RunEventKind::Paused && event.step == 2 && !event.text.empty();
        }));
    }

    /// The last checkpoint is held up like any other, and the run ends once.
    void theEndWaitsToo()
    {
        tests::SessionProbe probe;
        std::unique_ptr<tests::FullDisk> full = begin(probe, 2);
        QVERIFY(probe.waitUntil(heldUpAt(2)));
        full.reset();
        probe.post(Continue{kRun});
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY(probe.all<RunEnded>()[0].status == RunStatus::Finished);
        QVERIFY(loadCheckpoint(run(), 2, nullptr).ok());
        QCOMPARE(std::ranges::count(RunReader::open(run())->events(), RunEventKind::Finished, &RunEvent::kind), 1);
    }

    /// Without the checkpoint, from an earlier one the run goes on.
    void itCanBeEnded()
    {
        tests::SessionProbe probe;
        std::unique_ptr<tests::FullDisk> full = begin(probe);
        QVERIFY(probe.waitUntil(heldUpAt(2)));
        probe.post(Stop{kRun});
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY(probe.all<RunEnded>()[0].status == RunStatus::Failed);
        full.reset();
        probe.close();
        QCOMPARE(tests::resumeToEnd(run()), std::string());
    }

    /// Who cannot go on with it is told at once.
    void itFailsWhereNobodyWaits()
    {
        tests::SessionProbe probe;
        std::unique_ptr<tests::FullDisk> full = begin(probe, 6, false);
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY(probe.all<RunEnded>()[0].status == RunStatus::Failed);
    }

private:
    static constexpr rlim_t kRoom = 300'000; ///< bytes

    static projects::Project project(std::int64_t steps = 6)
    {
        projects::Project made = tests::quickLanguage(steps);
        made.training.checkpointEvery = 2;
        made.network.stack().width = 64; // so that a checkpoint does not fit where the records do
        return made;
    }
    std::filesystem::path folder() const { return m_folder->path().toStdString(); }
    std::filesystem::path run() const { return folder() / "run-1"; }

    /// Trains one step and goes on with a full disk.
    std::unique_ptr<tests::FullDisk> begin(tests::SessionProbe& probe, std::int64_t steps = 6, bool waits = true)
    {
        StartRun command = tests::startIn(folder(), kRun, project(steps));
        command.pauseAfter = 1;
        command.waitsForDisk = waits;
        probe.post(command);
        if (!probe.waitFor<RunPaused>()) {
            return nullptr;
        }
        auto full = std::make_unique<tests::FullDisk>(kRoom);
        probe.post(Continue{kRun});
        return full;
    }

    static std::function<bool(const Event&)> heldUpAt(std::int64_t step)
    {
        return [step](const Event& event) {
            const auto* paused = std::get_if<RunPaused>(&event);
            return paused != nullptr && paused->step == step && !paused->error.message.empty();
        };
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

RESIDUA_TEST(TestFullDisk)
#include "tst_full_disk.moc"
