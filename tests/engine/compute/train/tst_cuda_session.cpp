// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of a session on a GPU: resumed, out of memory, on the second device. Skipped without a device (tests/README.md).
#include "test_device.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/session/run_harness.h"
#include "wiring_cases.h"

#include "engine/base/api/environment.h"
#include "engine/compute/runtime/device.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/check/validate.h"
#include "projects/library/presets.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/address_space_limit.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using namespace residua;
using namespace residua::engine;
using projects::Project;
using tests::kRun;
using tests::SessionProbe;

namespace {

constexpr int kRunSteps = 10;
/// The memory that the process may allocate on the CPU in the test of a lack of memory.
constexpr std::int64_t kHostLimit = std::int64_t{2} << 30;

/// With dropout, and with all that a run measures.
Project watched(const std::string& topology)
{
    Project project = tests::quickLanguage(kRunSteps);
    project = *projects::rewired(project, tests::topologyNamed(topology, project.network));
    project.training.observeEvery = 2;
    project.training.validateEvery = 5;
    project.training.stabilityEvery = 5;
    project.training.checkpointEvery = 4;
    project.training.accumulate = 2;
    return project;
}

constexpr std::int64_t kBorder = 4; ///< the last step before the wide layer

/// Two narrow layers, and from step kBorder on a third that is so wide that one of its activations is twice `bytes`.
/// Weights and all else stay small, so the first large allocation is the one that fails.
Project growsBeyond(std::int64_t bytes)
{
    Project project = tests::quickLanguage(2 * kBorder);
    const auto tokensWanted =
        static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes) / 8)); // a quarter of `hidden`
    project.training.batch = tokensWanted / project.training.sequenceLength;
    project.training.checkpointEvery = 2;
    project.training.validationBatches = 1;
    project.stack().width = 8;
    const std::int64_t tokens = project.training.batch * project.training.sequenceLength;
    const std::int64_t hidden = 2 * bytes / (tokens * static_cast<std::int64_t>(sizeof(float)));
    const auto& presets = projects::blockPresets();
    projects::Graph wide = std::ranges::find(presets, "mlp", &projects::BlockPreset::name)->graph;
    for (projects::Node& node : wide.nodes) {
        if (node.name == "up") {
            node.params["out"] = std::to_string(hidden);
        }
    }
    project.network.blocks.push_back({"wide", "wide", wide});
    project.stack().segments.push_back({"wide", 1});
    project.stack().topology = tests::topologyNamed("plain", project.network);
    project.stack().schedule.stages = {{0, 2, {}}, {kBorder, 3, {}}};
    project.stack().schedule.sampling = projects::DropSampling::First;
    project.stack().schedule.scaling = projects::DropScaling::None;
    return project;
}

} // namespace

class TestCudaSession : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        prepareEnvironment(); // without it LibTorch's products promise no bits
        if (const std::string problem = tests::deviceProblem(m_device); !problem.empty()) {
            QSKIP(problem.c_str());
        }
        QVERIFY(m_folder.isValid());
    }

    /// A run that stops after half its steps and goes on in another session has the losses, the measures and the
    /// weights of one that never stopped.
    void resumesBitEqual_data()
    {
        QTest::addColumn<bool>("bf16");
        for (const char* const topology : {"plain", "dca", "ancre-ingoing"}) {
            QTest::addRow("%s, fp32", topology) << false;
            QTest::addRow("%s, bf16", topology) << true;
        }
    }
    void resumesBitEqual()
    {
        QFETCH(bool, bf16);
        const std::string row = QTest::currentDataTag();
        Project project = watched(row.substr(0, row.find(',')));
        project.training.precision = bf16 ? projects::Precision::Bf16 : projects::Precision::Fp32;
        const std::filesystem::path whole = directory(row + ", whole");
        const std::filesystem::path stopped = directory(row + ", stopped");
        const auto losses = tests::lossesOf(project, whole, m_device);
        QCOMPARE(losses.size(), std::size_t{kRunSteps});
        QVERIFY(tests::trainTo(project, stopped, kRunSteps / 2, m_device));
        QCOMPARE(tests::resumeToEnd(stopped, m_device), std::string());
        QCOMPARE(tests::recordedLosses(stopped), losses);
        for (const char* const name : {metric::kValidationLoss, metric::kGradientNorm}) {
            QVERIFY2(pointsOf(stopped, name) == pointsOf(whole, name), name);
        }
        QVERIFY(weightsOf(stopped) == weightsOf(whole));
    }

    /// A run that needs more memory than the device has fails with a remedy. Its last checkpoint is intact, and the
    /// session trains the next run as if nothing had happened.
    void outOfMemoryAndTheNextRun()
    {
        if (tests::kSanitized && m_device == "cpu") {
            QSKIP(tests::kSanitizedMemory);
        }
        const Project small = watched("dca");
        const auto expected = tests::lossesOf(small, directory("before"), m_device);
        const std::filesystem::path large = directory("large");
        SessionProbe probe;
        {
            std::optional<tests::AddressSpaceLimit> limit;
            if (m_device == "cpu") {
                limit.emplace(kHostLimit);
                QVERIFY(limit->isSet());
            }
            const Result<c10::Device> device = openDevice(m_device);
            const Project project = growsBeyond(limit ? kHostLimit : memoryOf(*device).totalBytes);
            for (const projects::Problem& problem : projects::validate(project)) {
                QVERIFY2(!projects::hasErrors({problem}), problem.text().c_str());
            }
            probe.post(startOf(project, kRun, large));
            QVERIFY(probe.waitFor<RunEnded>());
        }
        const RunEnded ended = probe.all<RunEnded>()[0];
        QVERIFY(ended.status == RunStatus::Failed);
        for (const char* const part : {"out of memory: predicted ", "make the micro-batch, the sequence or the network "
                                                                    "smaller, or accumulate"}) {
            QVERIFY2(ended.error.text().find(part) != std::string::npos, ended.error.text().c_str());
        }
        const auto checkpoint = loadCheckpoint(large, std::nullopt, nullptr);
        QVERIFY2(checkpoint.ok(), checkpoint ? "" : checkpoint.error().text().c_str());
        QCOMPARE(checkpoint->state.step, kBorder);
        QCOMPARE(tests::recordedLosses(large).size(), static_cast<std::size_t>(kBorder));

        constexpr RunId kNext{2};
        probe.post(startOf(small, kNext, directory("after")));
        QVERIFY(probe.waitUntil([&](const Event& event) {
            const auto* const end = std::get_if<RunEnded>(&event);
            return end != nullptr && end->run == kNext;
        }));
        const RunEnded next = probe.all<RunEnded>().back();
        QVERIFY2(next.status == RunStatus::Finished, next.error.text().c_str());
        QCOMPARE(probe.losses(kNext), expected);
    }

    void trainsOnTheSecondDevice()
    {
        const std::string second = tests::secondDevice();
        if (const std::string problem = tests::deviceProblem(second); !problem.empty()) {
            QSKIP(problem.c_str());
        }
        Project project = watched("dca");
        tests::setAttention(project, "dropout", 0.0); // so that the devices compute the same
        const auto expected = tests::lossesOf(project, directory("cpu"), "cpu");
        const auto losses = tests::lossesOf(project, directory("second"), second);
        QCOMPARE(losses.size(), std::size_t{kRunSteps});
        for (const auto& [step, loss] : losses) {
            QVERIFY2(std::abs(loss - expected.at(step)) < 1e-3, qPrintable(QString("step %1").arg(step)));
        }
        QCOMPARE(tests::lossesOf(project, directory("second again"), second), losses);
    }

private:
    [[nodiscard]] StartRun startOf(const Project& project, RunId run, const std::filesystem::path& runDirectory) const
    {
        StartRun start;
        start.run = run;
        start.project = project;
        start.runDirectory = runDirectory;
        start.device = m_device;
        return start;
    }

    [[nodiscard]] std::filesystem::path directory(const std::string& name) const
    {
        return m_folder.filePath(QString::fromStdString(name)).toStdString();
    }

    static std::vector<std::pair<std::int64_t, double>> pointsOf(const std::filesystem::path& run, const char* name)
    {
        std::vector<std::pair<std::int64_t, double>> points;
        for (const MetricPoint& point : RunReader::open(run)->metric(name)) {
            points.emplace_back(point.step, point.value);
        }
        return points;
    }

    /// The bytes of every weight of the last checkpoint, by name.
    static std::map<std::string, std::vector<std::byte>> weightsOf(const std::filesystem::path& run)
    {
        std::map<std::string, std::vector<std::byte>> weights;
        const auto checkpoint = loadCheckpoint(run, kRunSteps, nullptr);
        for (const auto& [name, tensor] : checkpoint->model.tensors()) {
            weights[name] = {tensor.bytes.begin(), tensor.bytes.end()};
        }
        return weights;
    }

    const std::string m_device = tests::testDevice();
    QTemporaryDir m_folder;
};

RESIDUA_TEST(TestCudaSession)
#include "tst_cuda_session.moc"
