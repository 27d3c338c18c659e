// SPDX-License-Identifier: GPL-3.0-or-later
// Steps that are recorded once and launched afterwards give the bits of steps that are computed directly. The CPU takes
// the GPU's paths here, and a stand-in takes the place of CUDA's graphs: it repeats the recorded function.
#include "stage_harness.h"
#include "tests/engine/network/network_harness.h"
#include "wiring_cases.h"

#include "engine/depth/layer_magnitudes.h"
#include "engine/runtime/host_path.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/variable.h>

#include <QtTest>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Project;

namespace {

constexpr int kSteps = 12;

Project plain()
{
    Project project = tests::quickLanguage(kSteps);
    project.stack().segments.front().repeat = 4;
    return project;
}

Project scheduled(const char* text)
{
    Project project = plain();
    project.stack().schedule = *projects::scheduleFrom(text, project.network.depth(), kSteps);
    return project;
}

struct Case {
    const char* name;
    Project (*project)();
    std::size_t graphs; ///< that are recorded at least after the last step
};

const Case kCases[] = {
    {"language with dropout", plain, 1},
    {"dca", [] { return *projects::rewired(plain(), tests::topologyNamed("dca", plain().network)); }, 1},
    {"accumulation",
     [] {
         Project project = plain();
         project.training.accumulate = 3;
         return project;
     },
     1},
    {"bf16",
     [] {
         Project project = plain();
         project.training.precision = projects::Precision::Bf16;
         return project;
     },
     1},
    {"stages", [] { return scheduled("stacking 2-4"); }, 1},
    {"layers that a step draws", [] { return scheduled("stochastic-depth 3-4"); }, 1},
    {"heads that a step draws", [] { return scheduled("raptr-heads"); }, 1},
    {"all vectors in each step", [] { return tests::quickVectors(kSteps); }, 1},
    {"pictures", [] { return tests::familyUnder("small-vit", "plain"); }, 1},
    {"hidden tokens", [] { return tests::familyUnder("small-bert", "dca"); }, 1},
};

struct Trained {
    std::vector<double> losses;
    std::vector<at::Tensor> weights;
    std::vector<Matrix> coefficients;
    std::size_t graphs = 0;
    std::string why;
};

/// Steps whose magnitudes are collected are computed directly.
enum class Steps { Recorded, Direct };

Trained trained(const Project& project, Steps steps)
{
    Trainer trainer = tests::trainerOf(project);
    Trained result;
    LayerMagnitudes magnitudes;
    for (int step = 0; step < kSteps; ++step) {
        if (const auto border = trainer.beginStage(); !border) {
            throw std::runtime_error(border.error().text());
        }
        if (const Status done = trainer.step(steps == Steps::Direct ? &magnitudes : nullptr); !done) {
            throw std::runtime_error(done.error().text());
        }
    }
    for (const StepRecord& record : trainer.takeRecords()) {
        result.losses.push_back(record.loss);
    }
    for (const NamedParameter& parameter : trainer.network().parameters()) {
        result.weights.push_back(parameter.tensor.detach().clone());
    }
    result.coefficients = trainer.network().coefficients(kSteps);
    result.graphs = trainer.graphs().recorded();
    result.why = trainer.graphs().why();
    return result;
}

void compare(const Trained& recorded, const Trained& direct)
{
    QCOMPARE(recorded.losses, direct.losses);
    QCOMPARE(recorded.weights.size(), direct.weights.size());
    for (std::size_t i = 0; i < direct.weights.size(); ++i) {
        QVERIFY2(at::equal(recorded.weights[i], direct.weights[i]), qPrintable(QString("parameter %1").arg(i)));
    }
    QCOMPARE(recorded.coefficients.size(), direct.coefficients.size());
    for (std::size_t i = 0; i < direct.coefficients.size(); ++i) {
        const std::vector<float>& values = direct.coefficients[i].values;
        QCOMPARE(recorded.coefficients[i].values.size(), values.size());
        QVERIFY(std::memcmp(recorded.coefficients[i].values.data(), values.data(), values.size() * sizeof(float)) == 0);
    }
}

} // namespace

class TestStepGraphs : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qputenv("RESIDUA_CUDA_GRAPH", RESIDUA_FAKE_GRAPH); }

    void trainsAsDirectStepsDo_data()
    {
        QTest::addColumn<int>("number");
        for (std::size_t i = 0; i < std::size(kCases); ++i) {
            QTest::newRow(kCases[i].name) << static_cast<int>(i);
        }
    }
    void trainsAsDirectStepsDo()
    {
        QFETCH(int, number);
        const GpuPathsOnHost gpuPaths;
        const Project project = kCases[number].project();
        const Trained direct = trained(project, Steps::Direct);
        QCOMPARE(direct.graphs, std::size_t{0});
        const Trained recorded = trained(project, Steps::Recorded);
        QCOMPARE(recorded.why, std::string());
        QVERIFY2(recorded.graphs >= kCases[number].graphs, qPrintable(QString::number(recorded.graphs)));
        compare(recorded, direct);
    }

    void goesOnDirectlyWhereRecordingFails()
    {
        const GpuPathsOnHost gpuPaths;
        const Trained direct = trained(plain(), Steps::Direct);
        qputenv("FAKE_GRAPH_PROBLEM", "operation not permitted when stream is capturing");
        const Trained recorded = trained(plain(), Steps::Recorded);
        qunsetenv("FAKE_GRAPH_PROBLEM");
        QCOMPARE(recorded.graphs, std::size_t{0});
        QCOMPARE(recorded.why, std::string("steps are not recorded as CUDA graphs: operation not permitted when stream "
                                           "is capturing"));
        compare(recorded, direct);
    }

    /// Nodes of gradients that outlive a step would tie a recording to the stream of that step.
    void anEvaluationEndsWhatAPassKeeps_data()
    {
        QTest::addColumn<QString>("topology");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(4)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    void anEvaluationEndsWhatAPassKeeps()
    {
        QFETCH(QString, topology);
        const projects::Wiring wiring = tests::topologyNamed(topology.toStdString(), 4).wiring;
        const Project project = tests::tinyLanguage(projects::blockPresetFor(wiring).name, topology.toStdString(), 4);
        Trainer trainer = tests::trainerOf(project);
        QVERIFY(trainer.step().ok());
        const at::Tensor tokens = at::zeros({1, 4}, at::kLong);
        {
            const at::NoGradGuard noGrad;
            static_cast<void>(trainer.network().forward(tokens, passAfter(1)));
        }
        for (const NamedParameter& parameter : trainer.network().parameters()) {
            QVERIFY2(torch::autograd::impl::try_get_grad_accumulator(parameter.tensor) == nullptr,
                     parameter.name.c_str());
        }
    }

    void theCpuRecordsNothing()
    {
        const Trained recorded = trained(plain(), Steps::Recorded);
        QCOMPARE(recorded.graphs, std::size_t{0});
        QCOMPARE(recorded.why, std::string());
    }
};

RESIDUA_TEST(TestStepGraphs)
#include "tst_step_graphs.moc"
