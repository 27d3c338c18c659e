// SPDX-License-Identifier: GPL-3.0-or-later
// Steps that are recorded once and launched afterwards give the bits of steps that are computed directly. The CPU takes
// the GPU's paths here, and a stand-in takes the place of CUDA's graphs: it repeats the recorded function.
#include "stage_harness.h"
#include "tests/engine/compute/network/network_harness.h"
#include "wiring_cases.h"

#include "engine/compute/depth/layer_magnitudes.h"
#include "engine/compute/runtime/host_path.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/shipped/recipes.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/variable.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Project;

namespace {

constexpr int kSteps = 24;

Project plain()
{
    Project project = tests::quickLanguage(kSteps);
    project.stack().segments.front().repeat = 4;
    return project;
}

Project scheduled(const char* text, std::int64_t steps = kSteps)
{
    Project project = plain();
    project.training.steps = steps;
    project.stack().schedule = *projects::scheduleFrom(text, project.network.depth(), steps);
    return project;
}

/// Random sets of layers in the first half of the steps, all layers in the second.
Project subnetworks()
{
    return scheduled("raptr 3-4", 80);
}

struct Case {
    const char* name;
    Project (*project)();
    double share; ///< of the steps that run as graphs at least
};

const Case kCases[] = {
    {"language with dropout", plain, 0.8},
    {"dca", [] { return *projects::rewired(plain(), tests::topologyNamed("dca", plain().network)); }, 0.8},
    {"accumulation",
     [] {
         Project project = plain();
         project.training.accumulate = 3;
         return project;
     },
     0.8},
    {"bf16",
     [] {
         Project project = plain();
         project.training.precision = projects::Precision::Bf16;
         return project;
     },
     0.8},
    {"stages", [] { return scheduled("stacking 2-4"); }, 0.8},
    {"layers that a step draws", [] { return scheduled("stochastic-depth 3-4"); }, 0.4},
    {"heads that a step draws", [] { return scheduled("raptr-heads"); }, 0.2},
    {"sets of layers", subnetworks, 0.85},
    {"sets of layers, dca and accumulation",
     [] {
         Project project = *projects::rewired(subnetworks(), tests::topologyNamed("dca", plain().network));
         project.training.accumulate = 2;
         return project;
     },
     0.85},
    {"sets of layers, absent weights untouched",
     [] {
         Project project = subnetworks();
         project.stack().schedule.absentWeights = projects::AbsentWeights::Untouched;
         return project;
     },
     0.85},
    {"all vectors in each step", [] { return tests::quickVectors(kSteps); }, 0.8},
    {"pictures", [] { return tests::familyUnder("small-vit", "plain"); }, 0.8},
    {"hidden tokens", [] { return tests::familyUnder("small-bert", "dca"); }, 0.8},
};

struct Trained {
    std::vector<double> losses;
    std::vector<at::Tensor> weights;
    std::vector<Matrix> coefficients;
    std::size_t graphs = 0; ///< at the end
    double share = 0;       ///< of the steps that ran as graphs
    std::string why;
};

/// Steps whose magnitudes are collected are computed directly.
enum class Steps { Recorded, Direct };

void take(Trainer& trainer, std::int64_t count, Steps steps)
{
    LayerMagnitudes magnitudes;
    for (std::int64_t step = 0; step < count; ++step) {
        if (const auto border = trainer.beginStage(); !border) {
            throw std::runtime_error(border.error().text());
        }
        if (const Status done = trainer.step(steps == Steps::Direct ? &magnitudes : nullptr); !done) {
            throw std::runtime_error(done.error().text());
        }
    }
}

Trained trainedBy(Trainer& trainer)
{
    Trained result;
    for (const StepRecord& record : trainer.takeRecords()) {
        result.losses.push_back(record.loss);
    }
    for (const NamedParameter& parameter : trainer.network().parameters()) {
        result.weights.push_back(parameter.tensor.detach().clone());
    }
    result.coefficients = trainer.network().coefficients(trainer.stepsDone());
    result.graphs = trainer.graphs().recorded();
    result.share = static_cast<double>(trainer.graphs().launched()) / static_cast<double>(trainer.stepsDone());
    result.why = trainer.graphs().why();
    return result;
}

/// The examples' own number of steps is larger.
std::int64_t stepsOf(const Project& project)
{
    return std::min<std::int64_t>(project.training.steps, 80);
}

Trained trained(const Project& project, Steps steps)
{
    Trainer trainer = tests::trainerOf(project);
    take(trainer, stepsOf(project), steps);
    return trainedBy(trainer);
}

/// A network without width to speak of that has the depth and the schedule.
Project drawnBy(std::int64_t depth, const char* schedule, std::int64_t steps)
{
    Project project = tests::tinyLanguage("mlp", "plain", depth);
    project.training.steps = steps;
    project.stack().schedule = *projects::scheduleFrom(schedule, depth, steps);
    return project;
}

Pass trainingAt(const Project& project, CompiledNetwork& network, std::int64_t step)
{
    Pass pass = tests::kTraining;
    pass.step = step;
    pass.random = RandomStreams(project.seeds.stages, step);
    pass.layers = network.layersOf(pass);
    return pass;
}

/// A schedule, and the share of its steps that run as graphs.
struct Schedule {
    const char* name;
    Project (*project)();
    double least;
    double most;
};

const Schedule kSchedules[] = {
    {"small BERT, RaPTr", [] { return drawnBy(8, "raptr 4-5-7-8", 2632); }, 0.85, 0.95},
    {"12 layers, 400 steps", [] { return drawnBy(12, "raptr 6-8-10-12", 400); }, 0.2, 0.35},
    {"12 layers, 20,000 steps", [] { return drawnBy(12, "raptr 6-8-10-12", 20'000); }, 0.65, 0.75},
    {"12 layers, 4,000 steps of a fixed number",
     [] {
         Project project = drawnBy(12, "raptr 6-8-10-12", 4000);
         project.stack().schedule.sampling = projects::DropSampling::FixedSize;
         return project;
     },
     0.55, 0.65},
    {"12 layers, stochastic depth", [] { return drawnBy(12, "stochastic-depth", 20'000); }, 0.75, 0.9},
    {"24 layers", [] { return drawnBy(24, "raptr 12-18-24", 9000); }, 0.3, 0.4},
    {"heads", [] { return drawnBy(4, "raptr-heads 2-4", 2000); }, 0.45, 0.5},
};

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
        QVERIFY2(recorded.share >= kCases[number].share, qPrintable(QString::number(recorded.share)));
        QVERIFY(recorded.graphs >= 1);
        compare(recorded, direct);
    }

    /// The stage of random sets ends before the checkpoint, or after it.
    void aResumedRunIsTheSame_data()
    {
        QTest::addColumn<int>("step");
        QTest::newRow("random sets") << 30;
        QTest::newRow("border") << 40;
        QTest::newRow("all layers") << 50;
    }
    void aResumedRunIsTheSame()
    {
        QFETCH(int, step);
        const GpuPathsOnHost gpuPaths;
        const Project project = subnetworks();
        QTemporaryDir folder;
        Trainer first = tests::trainerOf(project);
        take(first, step, Steps::Recorded);
        QVERIFY(first.writeCheckpoint(folder.path().toStdString()).ok());
        const Result<CheckpointFiles> checkpoint = findCheckpoint(folder.path().toStdString(), step, nullptr);
        QVERIFY2(checkpoint.ok(), checkpoint ? "" : checkpoint.error().text().c_str());
        Trainer second = tests::trainerOf(project);
        QVERIFY(second.restore(*checkpoint).ok());
        take(second, project.training.steps - step, Steps::Recorded);
        Trained resumed = trainedBy(second);
        const Trained direct = trained(project, Steps::Direct);
        resumed.losses.insert(resumed.losses.begin(), direct.losses.begin(), direct.losses.begin() + step);
        compare(resumed, direct);
        QVERIFY(second.graphs().launched() > 0);
    }

    void recordsSetsThatRepeat_data()
    {
        QTest::addColumn<int>("number");
        for (std::size_t i = 0; i < std::size(kSchedules); ++i) {
            QTest::newRow(kSchedules[i].name) << static_cast<int>(i);
        }
    }
    /// Steps are drawn and not computed.
    void recordsSetsThatRepeat()
    {
        QFETCH(int, number);
        const GpuPathsOnHost gpuPaths;
        const Project project = kSchedules[number].project();
        const auto network = tests::compiled(project);
        const StageCourse course(project);
        StepGraphs graphs(at::kCPU, *network);
        double asGraphs = 0;
        for (std::int64_t step = 1; step <= project.training.steps; ++step) {
            if (step > 1 && course.after(step - 1)) {
                graphs.clear();
            }
            const Pass pass = trainingAt(project, *network, step);
            asGraphs += graphs.forStep(pass.layers, course.expectedRepeats(pass)) != nullptr ? 1 : 0;
        }
        const double share = asGraphs / static_cast<double>(project.training.steps);
        QVERIFY2(share >= kSchedules[number].least && share <= kSchedules[number].most,
                 qPrintable(QString::number(share)));
    }

    void expectsAsManyRepeatsAsThereAre_data()
    {
        QTest::addColumn<QString>("schedule");
        QTest::addColumn<bool>("fixed");
        QTest::addColumn<int>("draw"); // of a loop's visits; -1: no loop
        QTest::newRow("each by itself") << "raptr 4-6" << false << -1;
        QTest::newRow("a fixed number") << "raptr 4-6" << true << -1;
        QTest::newRow("the deeper the seldomer") << "stochastic-depth 4-6" << false << -1;
        QTest::newRow("a growing network") << "stacking 4-6" << false << -1;
        QTest::newRow("no schedule") << "none" << false << -1;
        const auto drawn = [](projects::VisitDraw draw) { return static_cast<int>(draw); };
        QTest::newRow("all visits") << "none" << false << drawn(projects::VisitDraw::All);
        QTest::newRow("uniform visits") << "none" << false << drawn(projects::VisitDraw::Uniform);
        QTest::newRow("Poisson") << "none" << false << drawn(projects::VisitDraw::Poisson);
        QTest::newRow("log-normal Poisson") << "none" << false << drawn(projects::VisitDraw::LogNormalPoisson);
        QTest::newRow("rising visits") << "none" << false << drawn(projects::VisitDraw::Rising);
        QTest::newRow("visits of drawn layers") << "raptr 4-6" << false << drawn(projects::VisitDraw::Poisson);
        QTest::newRow("whole visits") << "raptr 5-6 visits" << false << drawn(projects::VisitDraw::All);
        QTest::newRow("whole visits of a fixed number")
            << "raptr 5-6 visits" << true << drawn(projects::VisitDraw::All);
        QTest::newRow("visits of a fixed number") << "raptr 4-6" << true << drawn(projects::VisitDraw::Uniform);
    }
    void expectsAsManyRepeatsAsThereAre()
    {
        QFETCH(QString, schedule);
        QFETCH(bool, fixed);
        QFETCH(int, draw);
        const std::string ofLayers = draw < 0 ? schedule.toStdString() : "none";
        Project project = drawnBy(draw < 0 ? 6 : 4, ofLayers.c_str(), 8000);
        if (draw >= 0) { // 1 2@1 2@2 2@3 3 4
            project.stack().loops = {{.first = 2, .last = 2, .visits = 3}};
            project.stack().loops.front().draw = static_cast<projects::VisitDraw>(draw);
            project.stack().loops.front().mean = 1.7;
            project.stack().schedule = *projects::scheduleFrom(schedule.toStdString(), 6, 8000);
        }
        if (fixed) {
            project.stack().schedule.sampling = projects::DropSampling::FixedSize;
        }
        const auto network = tests::compiled(project);
        const StageCourse course(project);
        const bool staged = !projects::trainsAll(project.stack().schedule);
        const std::int64_t end = staged ? 4000 : 8000;
        for (const std::int64_t step : {1, 2, 1000}) {
            const Pass pass = trainingAt(project, *network, step);
            const double expected = course.expectedRepeats(pass);
            double repeats = 0;
            for (std::int64_t later = step + 1; later <= end; ++later) {
                repeats += trainingAt(project, *network, later).layers == pass.layers ? 1 : 0;
            }
            const double deviation = std::sqrt(expected * (1 - expected / static_cast<double>(end - step)));
            QVERIFY2(std::abs(repeats - expected) <= 5 * deviation,
                     qPrintable(QString("%1 for %2").arg(repeats).arg(expected)));
        }
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

    void worldsAreNotRecorded()
    {
        const GpuPathsOnHost gpuPaths;
        Project maze =
            projects::contrastiveLearning({.path = {}, .environments = 2, .prefill = 40, .replay = 60}, 1, 8);
        maze.training.steps = 6;
        maze.training.batch = 4;
        const Trained direct = trained(maze, Steps::Recorded);
        QCOMPARE(direct.graphs, std::size_t{0});
        QCOMPARE(direct.why, std::string("steps are not recorded as CUDA graphs: the first tower acts in a world "
                                         "between them"));
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
