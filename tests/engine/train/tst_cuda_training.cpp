// SPDX-License-Identifier: GPL-3.0-or-later
// Training on a GPU against the same training on the CPU. Skipped without a device.
#include "tests/engine/session/run_harness.h"

#include "engine/api/environment.h"
#include "engine/runtime/device.h"
#include "engine/train/precision.h"
#include "engine/train/trainer.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr int kSteps = 10;
constexpr const char* kGpu = "cuda:0";

/// A language model under `topology`, made of the transformer block with the ports that it feeds; without dropout,
/// whose draws differ between devices.
projects::Project onTheBlockOf(const projects::TopologyPreset& topology)
{
    const projects::BlockPreset& block = blockPresetFor(topology.wiring);
    projects::Project project = tests::quickLanguage(kSteps);
    project.network.blocks = {{block.name, block.name, block.graph}};
    project.network.stack = {{block.name, project.network.depth()}};
    project.topology = {topology.name, topology.wiring};
    for (projects::Node& node : project.network.blocks.front().graph.nodes) {
        node.params.erase("dropout");
        if (node.kind == "attention") {
            node.params["heads"] = std::int64_t{2};
        } else if (node.kind == "dropout") {
            node.params["rate"] = 0.0;
        }
    }
    return project;
}

std::vector<double> lossesOn(const std::string& device, const projects::Project& project)
{
    Result<TrainerParts> parts = openParts(project, {}, device);
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    applyDeterminism(projects::Determinism::Deterministic);
    Trainer trainer(std::move(*parts));
    for (int i = 0; i < kSteps; ++i) {
        if (const Status stepped = trainer.step(); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
    }
    std::vector<double> losses;
    for (const StepRecord& record : trainer.takeRecords()) {
        losses.push_back(record.loss);
    }
    return losses;
}

double distance(const std::vector<double>& a, const std::vector<double>& b)
{
    double largest = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    return a.size() == b.size() && std::isfinite(largest) ? largest : HUGE_VAL;
}

} // namespace

class TestCudaTraining : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { prepareEnvironment(); } // without it LibTorch's products promise no bits

    void init()
    {
        const std::vector<DeviceInfo> devices = listDevices();
        const auto gpu = std::ranges::find(devices, kGpu, &DeviceInfo::key);
        if (gpu == devices.end() || !gpu->usable) {
            const std::string why = gpu == devices.end() ? "there is no GPU" : gpu->reason;
            QSKIP(why.c_str());
        }
        if (*RESIDUA_CUDA_KERNELS != '\0') { // built; without them LibTorch's operators compute the same
            std::string why;
            QVERIFY2(cudaKernels(why) != nullptr, why.c_str());
        }
    }

    void trainsAsTheCpuDoes_data()
    {
        QTest::addColumn<QString>("topology");
        const std::int64_t depth = tests::quickLanguage(1).network.depth();
        for (const projects::TopologyPreset& preset : projects::topologyPresets(depth)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    void trainsAsTheCpuDoes()
    {
        QFETCH(QString, topology);
        const std::int64_t depth = tests::quickLanguage(1).network.depth();
        projects::Project project;
        for (const projects::TopologyPreset& preset : projects::topologyPresets(depth)) {
            if (preset.name == topology.toStdString()) {
                project = onTheBlockOf(preset);
            }
        }
        const std::vector<double> onCpu = lossesOn("cpu", project);
        const std::vector<double> onGpu = lossesOn(kGpu, project);
        QVERIFY2(distance(onCpu, onGpu) < 1e-3, std::to_string(distance(onCpu, onGpu)).c_str());
        QVERIFY2(distance(onGpu, lossesOn(kGpu, project)) == 0, "another run gives other bits");
        project.training.precision = projects::Precision::Bf16;
        const std::vector<double> inBf16 = lossesOn(kGpu, project);
        QVERIFY2(distance(onCpu, inBf16) < 0.1, std::to_string(distance(onCpu, inBf16)).c_str());
    }
};

RESIDUA_TEST(TestCudaTraining)
#include "tst_cuda_training.moc"
