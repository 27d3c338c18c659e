// SPDX-License-Identifier: GPL-3.0-or-later
// A run that grows, taken up in the middle: forked, retrofitted, and with a shortcut to a layer that comes later.
#include "tests/engine/compute/session/run_harness.h"

#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace residua;
using namespace residua::engine;
using tests::SessionProbe;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kGrown = 12;
constexpr std::int64_t kMiddle = 6; ///< in the second stage, of 3 layers of 4

projects::Topology topologyOfFour(const std::string& name)
{
    const auto presets = projects::topologyPresets(4);
    return {name, std::ranges::find(presets, name, &projects::TopologyPreset::name)->wiring};
}

/// Four layers in double precision that come in three stages of four steps.
projects::Project growing(const std::string& schedule)
{
    projects::Project project = tests::quickLanguage(kGrown);
    project.stack().segments.front().repeat = 4;
    project.stack().topology = topologyOfFour("plain");
    project.training.precision = projects::Precision::Fp64;
    project.stack().schedule = *projects::scheduleFrom(schedule + " 2-3-4", 4, kGrown);
    return project;
}

Result<RetrofitReady> retrofit(const fs::path& run, const projects::Topology& topology, const fs::path& newRun)
{
    SessionProbe probe;
    RetrofitRequest request;
    request.tag = QueryTag{1};
    request.of.runDirectory = run;
    request.topology = topology;
    request.newRun = newRun;
    probe.post(request);
    probe.waitUntil([](const Event& event) {
        return std::holds_alternative<RetrofitReady>(event) || std::holds_alternative<QueryFailed>(event);
    });
    const auto ready = probe.all<RetrofitReady>();
    return ready.empty() ? Result<RetrofitReady>(probe.all<QueryFailed>().at(0).error) : ready.front();
}

double lossOf(const fs::path& run)
{
    SessionProbe probe;
    EvaluateRequest request;
    request.tag = QueryTag{1};
    request.of.runDirectory = run;
    probe.post(request);
    probe.waitFor<EvaluationReady>();
    const auto ready = probe.all<EvaluationReady>();
    return ready.empty() ? std::nan("") : ready.front().means.at("loss");
}

std::vector<float> numbersOf(const fs::path& run, std::int64_t step, const std::string& name)
{
    const auto checkpoint = loadCheckpoint(run, step, nullptr);
    const StoredTensor& tensor = checkpoint->model.tensors().at(name);
    std::vector<double> wide(tensor.bytes.size() / sizeof(double));
    std::memcpy(wide.data(), tensor.bytes.data(), tensor.bytes.size());
    return {wide.begin(), wide.end()};
}

} // namespace

class TestGrowth : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        QVERIFY(tests::trainTo(growing("stacking"), directory("half"), kMiddle));
    }

    /// The fork goes on to the very losses of a run that was never stopped, over the border that lies ahead.
    void aForkGoesOnGrowing()
    {
        const auto whole = tests::lossesOf(growing("stacking"), directory("whole"));
        QCOMPARE(whole.size(), static_cast<std::size_t>(kGrown));
        const auto made = forkRun(directory("half"), kMiddle, directory("fork"));
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QCOMPARE(tests::resumeToEnd(directory("fork")), std::string());
        QCOMPARE(tests::recordedLosses(directory("fork")), whole);
    }

    /// A loop and the layer after it come as a whole. New layers write nothing at first, so the loss stays at a border.
    void aLoopComesAsAWhole()
    {
        projects::Project project = growing("stacking");
        project.stack().loops = {{.first = 2, .last = 3, .visits = 2}}; // 1 2@1 3@1 2@2 3@2 4
        project.initialisation.scaleResidualByDepth = false;
        projects::StageSchedule& schedule = project.stack().schedule;
        schedule = {};
        schedule.stages = {{0, 1, {}}, {4, 5, {}}, {8, 6, {}}};
        schedule.sampling = projects::DropSampling::First;
        schedule.growthWrites = projects::GrowthWrites::Zero;
        const auto losses = tests::lossesOf(project, directory("loop"));
        QCOMPARE(losses.size(), static_cast<std::size_t>(kGrown));
        // Up to the border, and in the first step after it, the network computes what a single layer does.
        projects::Project single = project;
        single.stack().segments.front().repeat = 1;
        single.stack().loops.clear();
        single.stack().schedule = {};
        const auto alone = tests::lossesOf(single, directory("single"));
        for (std::int64_t step = 1; step <= 5; ++step) {
            QVERIFY(std::abs(losses.at(step) - alone.at(step)) < 1e-9);
        }
        QVERIFY(std::abs(losses.at(7) - alone.at(7)) > 1e-9);
        const auto weights = numbersOf(directory("loop"), kGrown, "layers.3.down.weight");
        QVERIFY(std::ranges::any_of(weights, [](float value) { return value != 0; }));
    }

    /// The network is compared as it has grown so far, and the new run continues to grow.
    void aRetrofitKeepsWhatIsGrown_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name : {"grn-v2", "dca", "ancre-none"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    void aRetrofitKeepsWhatIsGrown()
    {
        QFETCH(QString, topology);
        const fs::path made = directory(("retrofit-" + topology).toStdString());
        projects::Topology wanted = topologyOfFour(topology.toStdString());
        std::get<projects::DepthMix>(wanted.wiring).sites = projects::MixSites::Mhsa;
        const auto ready = retrofit(directory("half"), wanted, made);
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QVERIFY(ready->differenceInDouble < 1e-12);
        QCOMPARE(ready->step, kMiddle);
        const double before = lossOf(directory("half"));
        QVERIFY(std::abs(lossOf(made) - before) < 1e-10 * before);
        QCOMPARE(tests::resumeToEnd(made), std::string());
        QCOMPARE(tests::recordedLosses(made).size(), static_cast<std::size_t>(kGrown));
    }

    /// Refused in words, as it is for a run that has all of its layers.
    void aRetrofitToAnotherFunctionIsRefused()
    {
        const auto ready = retrofit(directory("half"), topologyOfFour("highway"), directory("refused"));
        QVERIFY(!ready.ok());
        QVERIFY2(QString::fromStdString(ready.error().text()).contains("the input and the branch"),
                 ready.error().text().c_str());
    }

    /// A shortcut arrives with its layer: its weight waits, untouched, and learns once the layer is there.
    void aShortcutArrivesWithItsLayer()
    {
        projects::Project project = growing("stacking");
        std::get<projects::DepthMix>(project.stack().topology.wiring).states = {
            {{0, 4}, projects::ShortcutState::Learned}};
        project.training.checkpointEvery = 1;
        project.training.keepCheckpoints = 0;
        const auto losses = tests::lossesOf(project, directory("shortcut"));
        const auto without = tests::lossesOf(growing("stacking"), directory("no-shortcut"));
        QCOMPARE(losses.size(), static_cast<std::size_t>(kGrown));
        const auto weightAfter = [&](std::int64_t step) {
            return numbersOf(directory("shortcut"), step, "topology.coefficient");
        };
        QCOMPARE(weightAfter(8), (std::vector<float>{1})); // as many steps as there is no layer 4
        QVERIFY(weightAfter(9) != weightAfter(8));
        for (const auto& [step, loss] : losses) {
            QCOMPARE(loss == without.at(step), step <= 9); // its own first step begins from the same function
        }
    }

private:
    [[nodiscard]] fs::path directory(const std::string& name) const
    {
        return fs::path(m_folder.path().toStdString()) / name;
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestGrowth)
#include "tst_growth.moc"
