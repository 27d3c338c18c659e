// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/engine/engine_bridge.h"
#include "app/records/run_loader.h"
#include "engine/base/api/run_progress.h"
#include "projects/shipped/examples.h"
#include "tests/support/child_processes.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

using namespace residua;
using namespace residua::app;

namespace {

engine::Matrix matrix(const char* name, std::int64_t step)
{
    return {name, step, 1, 1, {0.5F}};
}

projects::Project tinyProject(std::int64_t steps)
{
    projects::Project project = projects::findExample("linear-ancre")->project;
    project.training.steps = steps;
    return project;
}

/// Returns the rows by name and step, without those that the recorder writes at its own pace.
std::vector<engine::MetricRow> measured(const engine::Progress& progress)
{
    std::vector<engine::MetricRow> rows = progress.rows;
    std::erase_if(rows, [](const engine::MetricRow& row) {
        return row.name == engine::metric::kThroughput || row.name == engine::metric::kPeakBytes;
    });
    std::ranges::sort(rows, {}, [](const engine::MetricRow& row) { return std::pair(row.name, row.step); });
    return rows;
}

void fail(const engine::QueryFailed& failed)
{
    QFAIL(failed.error.text().c_str());
}

} // namespace

class TestEngineBridge : public QObject {
    Q_OBJECT

private slots:
    void neighbouringProgressReadsAsOne()
    {
        engine::Progress progress;
        progress.steps = {{.step = 1, .loss = 3}};
        progress.matrices = {matrix("mix", 1), matrix("coefficient", 1)};
        progress.peakBytes = 10;
        engine::Progress next;
        next.steps = {{.step = 2, .loss = 2}};
        next.matrices = {matrix("mix", 2)};
        next.rows = {{"loss/validation", 2, 2.5}};
        next.unitsPerSecond = 7;
        next.peakBytes = 5;
        merge(progress, next);
        QCOMPARE(progress.steps.size(), std::size_t(2));
        QCOMPARE(progress.steps.back().step, std::int64_t(2));
        QCOMPARE(progress.matrices.size(), std::size_t(3)); // each is a frame of the heatmap
        QCOMPARE(progress.matrices.back().step, std::int64_t(2));
        QCOMPARE(progress.rows.size(), std::size_t(1));
        QCOMPARE(progress.unitsPerSecond, 7.0);
        QCOMPARE(progress.peakBytes, std::int64_t(10));
    }

    void aRunIsToldInOrderAndWholeAsItIsRecorded()
    {
        QTemporaryDir folder;
        EngineBridge bridge;
        QStringList order;
        engine::Progress told;
        connect(&bridge, &EngineBridge::runTold, this, [&](const engine::Event& event) {
            if (std::holds_alternative<engine::RunStarted>(event)) {
                order << "started";
            } else if (const auto* const progress = std::get_if<engine::Progress>(&event)) {
                engine::merge(told, *progress);
            } else if (const auto* const ended = std::get_if<engine::RunEnded>(&event)) {
                QCOMPARE(ended->status, engine::RunStatus::Finished);
                order << "ended";
            }
        });
        engine::StartRun command;
        command.project = tinyProject(20);
        command.projectDirectory = folder.path().toStdString();
        command.runDirectory = folder.filePath("run").toStdString();
        bridge.begin(command);
        QTRY_COMPARE(order.size(), 2);
        QCOMPARE(order, QStringList({"started", "ended"}));
        QCOMPARE(told.steps.size(), std::size_t(20));
        for (std::size_t i = 0; i < told.steps.size(); ++i) {
            QCOMPARE(told.steps[i].step, static_cast<std::int64_t>(i) + 1);
        }
        const auto recorded = loadRunRecord(command.runDirectory.string(), Matrices::All);
        QVERIFY(recorded.ok());
        QVERIFY(recorded->numbers.steps == told.steps);
        QVERIFY(measured(recorded->numbers) == measured(told));
        QCOMPARE(recorded->numbers.matrices.size(), told.matrices.size());
    }

    void eventsOfAnEarlierRunAreDropped()
    {
        QTemporaryDir folder;
        EngineBridge bridge;
        std::vector<engine::RunId> told;
        std::vector<engine::RunId> ended;
        connect(&bridge, &EngineBridge::runTold, this, [&](const engine::Event& event) {
            told.push_back(*engine::runIdOf(event));
            if (std::holds_alternative<engine::RunEnded>(event)) {
                ended.push_back(told.back());
            }
        });
        engine::StartRun first;
        first.project = tinyProject(5);
        first.projectDirectory = folder.path().toStdString();
        first.runDirectory = folder.filePath("first").toStdString();
        bridge.begin(first);
        engine::StartRun second = first; // posted before anything of the first was told: it is what is followed now
        second.runDirectory = folder.filePath("second").toStdString();
        const engine::RunId followed = bridge.begin(second);
        QTRY_COMPARE(ended.size(), std::size_t{1});
        QVERIFY(std::ranges::all_of(told, [&](engine::RunId run) { return run == followed; }));
    }

    /// Each background engine calls the run that it had before kFoundRun.
    void lateEventsOfAnEarlierPlaceAreDropped()
    {
        WaitingEvents events;
        const std::uint64_t earlier = events.beginSession();
        QVERIFY(events.add(engine::RunStarted{engine::kFoundRun, "waiting", 0, 9, 0, "cpu", 0}, earlier));
        QVERIFY(!events.add(engine::QueryFailed{engine::QueryTag{1}, {}}, earlier));
        const std::uint64_t later = events.beginSession();
        QVERIFY(!events.add(engine::RunStarted{engine::kFoundRun, "late", 0, 9, 0, "cpu", 0}, earlier));
        QVERIFY(!events.add(engine::QueryFailed{engine::QueryTag{2}, {}}, earlier)); // somebody waits for it
        QVERIFY(!events.add(engine::RunStarted{engine::kFoundRun, "own", 0, 9, 0, "cpu", 0}, later));
        const std::vector<engine::Event> left = events.take();
        QCOMPARE(left.size(), std::size_t{3});
        QCOMPARE(std::get<engine::QueryFailed>(left[0]).tag, engine::QueryTag{1});
        QCOMPARE(std::get<engine::QueryFailed>(left[1]).tag, engine::QueryTag{2});
        QCOMPARE(std::get<engine::RunStarted>(left[2]).runDirectory, std::filesystem::path("own"));
        QVERIFY(events.take().empty());
    }

    void devicesHoldAUsableOne()
    {
        EngineBridge bridge;
        std::vector<engine::DeviceInfo> devices;
        bridge.ask(
            engine::ListDevices{}, this, [&](const engine::DevicesListed& listed) { devices = listed.devices; }, fail);
        QTRY_VERIFY(!devices.empty());
        QVERIFY(std::any_of(devices.begin(), devices.end(), [](const auto& device) { return device.usable; }));
    }

    /// The engine is not needed: its events are made here.
    void answersReachWhoAskedForThem()
    {
        EngineBridge bridge;
        QObject owner;
        auto other = std::make_unique<QObject>();
        QStringList heard;
        const auto asks = [&](QObject* by, const QString& name) {
            return bridge.ask(
                engine::SampleRequest{}, by,
                [&heard, name](const engine::SampleReady& ready) {
                    heard << name + QString::fromStdString(": " + ready.text);
                },
                [&heard, name](const engine::QueryFailed&) { heard << name + ": failed"; },
                [&heard, name](const engine::QueryProgress& progress) {
                    heard << name + ": " + QString::number(progress.share);
                });
        };
        const auto answers = [&](engine::QueryTag tag, const std::string& text) {
            engine::SampleReady ready;
            ready.tag = tag;
            ready.text = text;
            bridge.dispatch(ready);
            return std::exchange(heard, {});
        };
        const engine::QueryTag first = asks(&owner, "first");
        const engine::QueryTag others = asks(other.get(), "other");
        bridge.dispatch(engine::QueryProgress{first, 0.5});
        QCOMPARE(answers(first, "a"), QStringList({"first: 0.5", "first: a"}));
        QCOMPARE(answers(first, "again"), QStringList());
        bridge.dispatch(engine::QueryFailed{others, {}});
        QCOMPARE(answers(others, "late"), QStringList({"other: failed"}));

        const engine::QueryTag second = asks(&owner, "second");
        const engine::QueryTag kept = asks(other.get(), "kept");
        const engine::QueryTag third = asks(&owner, "third"); // in place of the second
        QCOMPARE(answers(second, "b"), QStringList());
        QCOMPARE(answers(third, "c"), QStringList({"third: c"}));
        QCOMPARE(answers(kept, "d"), QStringList({"kept: d"}));

        const engine::QueryTag dropped = asks(&owner, "dropped");
        bridge.drop(dropped);
        const engine::QueryTag orphan = asks(other.get(), "orphan");
        other.reset();
        QCOMPARE(answers(dropped, "e") + answers(orphan, "f"), QStringList());

        const engine::QueryTag givenUp = asks(&owner, "given up");
        bridge.giveUp(givenUp);
        QCOMPARE(answers(givenUp, "g"), QStringList({"given up: g"})); // it was complete before
    }

    /// A listener may drop its query, or ask the next one, while it is called.
    void aListenerMayAskAndDrop()
    {
        EngineBridge bridge;
        int called = 0;
        engine::QueryTag tag{};
        const auto onFailed = [&](const engine::QueryFailed&) { ++called; };
        tag = bridge.ask(
            engine::SampleRequest{}, this, [](const engine::SampleReady&) {}, onFailed,
            [&](const engine::QueryProgress&) {
                bridge.drop(tag);
                tag = bridge.ask(
                    engine::SampleRequest{}, this, [](const engine::SampleReady&) {}, onFailed);
            });
        const engine::QueryTag before = tag;
        bridge.dispatch(engine::QueryProgress{tag, 0.1});
        QVERIFY(tag != before);
        bridge.dispatch(engine::QueryFailed{before, {}});
        QCOMPARE(called, 0);
        bridge.dispatch(engine::QueryFailed{tag, {}});
        QCOMPARE(called, 1);
    }

    void anOwnerMayEndInItsOwnHandler_data()
    {
        QTest::addColumn<engine::Event>("event");
        QTest::newRow("answer") << engine::Event{engine::SampleReady{}};
        QTest::newRow("failure") << engine::Event{engine::QueryFailed{}};
        QTest::newRow("progress") << engine::Event{engine::QueryProgress{}};
    }
    /// Its other handlers are not called after it. The values that the handler holds live until it returns.
    void anOwnerMayEndInItsOwnHandler()
    {
        QFETCH(engine::Event, event);
        EngineBridge bridge;
        QStringList heard;
        auto owner = std::make_unique<QObject>();
        const auto held = std::make_shared<QString>("value");
        const auto endsBy = [&heard, &owner, held](const char* name) {
            return [&heard, &owner, held, name](const auto&) {
                owner.reset();
                heard << name + (": " + *held);
            };
        };
        const engine::QueryTag asked =
            bridge.ask(engine::SampleRequest{}, owner.get(), endsBy("answer"), endsBy("failure"), endsBy("progress"));
        const engine::QueryTag other = bridge.ask(
            engine::ListDevices{}, owner.get(), [](const engine::DevicesListed&) { QFAIL("its owner has ended"); },
            [](const engine::QueryFailed&) { QFAIL("its owner has ended"); });
        std::visit(
            [asked](auto& value) {
                if constexpr (requires { value.tag; }) {
                    value.tag = asked;
                }
            },
            event);
        bridge.dispatch(event);
        QVERIFY(!owner);
        QCOMPARE(heard, QStringList({QString(QTest::currentDataTag()) + ": value"}));
        bridge.dispatch(engine::QueryFailed{asked, {}});
        bridge.dispatch(engine::QueryFailed{other, {}});
        QCOMPARE(heard.size(), 1);
    }

    /// This holds for a query without handlers too.
    void textsOfAQueryAreNoticed()
    {
        EngineBridge bridge;
        QSignalSpy noticed(&bridge, &EngineBridge::noticed);
        bridge.dispatch(engine::QueryProgress{.tag = engine::QueryTag{7}, .text = "sends the project"});
        QCOMPARE(noticed.count(), 1);
        QCOMPARE(noticed.front().front().value<engine::Notice>().text, std::string("sends the project"));
    }

    void aPlaceThatNeverAnswersHoldsUpNothing_data()
    {
        QTest::addColumn<bool>("closes");
        QTest::newRow("the window closes") << true;
        QTest::newRow("another place is chosen") << false;
    }
    /// A remembered place is contacted as soon as the window is shown.
    void aPlaceThatNeverAnswersHoldsUpNothing()
    {
        QFETCH(bool, closes);
        qputenv("RESIDUA_GREETING_SECONDS", "0");
        {
            EngineBridge bridge;
            engine::EngineRemote place;
            place.name = "gpu1";
            place.kind = engine::EngineRemote::Kind::CommandLine;
            place.command = "sed s/x/y/ | true";
            bridge.setPlace(place);
            QObject owner;
            int failed = 0;
            bridge.ask(
                engine::ListDevices{}, &owner, [](const engine::DevicesListed&) { QFAIL("there is no engine"); },
                [&](const engine::QueryFailed&) { ++failed; });
            QTRY_VERIFY(!tests::childProcesses().empty());
            if (!closes) {
                int listed = 0;
                bridge.setPlace({});
                bridge.ask(
                    engine::ListDevices{}, this, [&](const engine::DevicesListed&) { ++listed; }, fail);
                QTRY_COMPARE(listed, 1);
                QTRY_COMPARE(failed, 1); // the query at the place before
            }
        }
        QVERIFY(tests::childProcesses().empty());
        qunsetenv("RESIDUA_GREETING_SECONDS");
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestEngineBridge)
#include "tst_engine_bridge.moc"
