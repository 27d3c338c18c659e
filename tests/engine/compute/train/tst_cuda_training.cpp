// SPDX-License-Identifier: GPL-3.0-or-later
// Training on a GPU against the same training on the CPU, against itself, and gone on with from a checkpoint. Skipped
// without a device (tests/README.md).
#include "stage_harness.h"
#include "test_device.h"
#include "tests/engine/compute/network/network_harness.h"
#include "wiring_cases.h"

#include "engine/base/api/environment.h"
#include "engine/compute/depth/layer_magnitudes.h"
#include "engine/compute/runtime/device.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/check/validate.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Determinism;
using projects::Precision;
using projects::Project;

namespace {

constexpr int kCourseSteps = 10;
constexpr int kLongCourseSteps = 60;

/// Four layers of width 16 without dropout, whose draws differ between devices.
Project wired(const std::string& topology, Precision precision = Precision::Fp32)
{
    Project project = tests::quickLanguage(kCourseSteps);
    project.stack().segments.front().repeat = 4;
    project.training.precision = precision;
    tests::setAttention(project, "dropout", 0.0);
    return *projects::rewired(project, tests::topologyNamed(topology, project.network));
}

/// How the losses of a course compare with those on the CPU.
enum class OnCpu {
    Close,
    Roughly, ///< close as far as bf16 goes, or Muon's iterations, which amplify the rounding of products
    Other    ///< the device draws other numbers, the weights start from what it computes, or the course is long
};

/// A way of training, as a change of the plain project.
struct Course {
    const char* name;
    OnCpu onCpu;
    void (*change)(Project& project);
    int steps = kCourseSteps;
};

void scheduleAs(Project& project, const char* text)
{
    project.stack().schedule = *projects::scheduleFrom(text, project.network.depth(), project.training.steps);
}

/// A schedule with stages that are long enough for graphs of each of their sets of layers.
void longStages(Project& project, const char* text)
{
    project.training.steps = kLongCourseSteps;
    scheduleAs(project, text);
}

void halfRank(Project& project, projects::LowRankMethod method)
{
    project.network.rank = projects::RankScale{0.5};
    project.initialisation.lowRank = method;
}

const Course kCourses[] = {
    {"plain", OnCpu::Close, [](Project&) {}},
    {"dca", OnCpu::Close, [](Project& project) { project = wired("dca"); }},
    {"dca, bf16", OnCpu::Roughly, [](Project& project) { project = wired("dca", Precision::Bf16); }},
    {"dca, bf16, entries too", OnCpu::Roughly,
     [](Project& project) {
         project = wired("dca", Precision::Bf16);
         project.training.entryPrecision = projects::EntryPrecision::Branch;
     }},
    {"raptr", OnCpu::Close, [](Project& project) { scheduleAs(project, "raptr 2-3-4"); }},
    {"raptr, long stages", OnCpu::Other, [](Project& project) { longStages(project, "raptr 3-4"); }, kLongCourseSteps},
    {"raptr, long stages, dca, bf16", OnCpu::Other,
     [](Project& project) {
         project = wired("dca", Precision::Bf16);
         longStages(project, "raptr 3-4");
     },
     kLongCourseSteps},
    {"stacking, long stages", OnCpu::Other, [](Project& project) { longStages(project, "stacking 2-4"); },
     kLongCourseSteps},
    {"stacking", OnCpu::Close, [](Project& project) { scheduleAs(project, "stacking 2-3-4"); }},
    {"accumulation", OnCpu::Close, [](Project& project) { project.training.accumulate = 3; }},
    {"recompute, dropout", OnCpu::Other,
     [](Project& project) {
         project.training.activations = projects::Activations::Recompute;
         tests::setAttention(project, "dropout", 0.1);
     }},
    {"low rank", OnCpu::Close, [](Project& project) { halfRank(project, projects::LowRankMethod::Baseline); }},
    {"low rank, fitted", OnCpu::Close,
     [](Project& project) {
         halfRank(project, projects::LowRankMethod::Spectral);
         project.training.factorDecay = projects::FactorDecay::Product;
     }},
    {"low rank, fitted to the data", OnCpu::Other,
     [](Project& project) {
         halfRank(project, projects::LowRankMethod::Exact);
         project.initialisation.lowRankInputs = projects::LowRankInputs::Data;
     }},
    {"k-dca", OnCpu::Close, [](Project& project) { project = wired("k-dca"); }},
    {"ancre-ingoing", OnCpu::Close, [](Project& project) { project = wired("ancre-ingoing"); }},
    {"ancre-outgoing, bf16 throughout", OnCpu::Roughly,
     [](Project& project) {
         project = wired("ancre-outgoing", Precision::Bf16);
         project.training.residualPrecision = projects::ResidualPrecision::Bf16;
     }},
    {"mudd", OnCpu::Close, [](Project& project) { project = wired("mudd"); }},
    {"mhc", OnCpu::Close, [](Project& project) { project = wired("mhc"); }},
    {"hyper-dynamic", OnCpu::Close, [](Project& project) { project = wired("hyper-dynamic"); }},
    {"frac-dynamic", OnCpu::Close, [](Project& project) { project = wired("frac-dynamic"); }},
    {"attention-residuals", OnCpu::Close, [](Project& project) { project = wired("attention-residuals"); }},
    {"value-residual", OnCpu::Close, [](Project& project) { project = wired("value-residual"); }},
    {"bf16", OnCpu::Roughly, [](Project& project) { project.training.precision = Precision::Bf16; }},
    {"fp8", OnCpu::Roughly, [](Project& project) { project.training.precision = Precision::Fp8; }},
    {"raptr, absent weights untouched", OnCpu::Close,
     [](Project& project) {
         scheduleAs(project, "raptr-mlp");
         project.stack().schedule.absentWeights = projects::AbsentWeights::Untouched;
     }},
    {"raptr-heads", OnCpu::Close, [](Project& project) { scheduleAs(project, "raptr-heads"); }},
    {"pld", OnCpu::Close, [](Project& project) { scheduleAs(project, "pld"); }},
    {"stochastic-depth", OnCpu::Close, [](Project& project) { scheduleAs(project, "stochastic-depth 3-4"); }},
    {"lemon", OnCpu::Close, [](Project& project) { scheduleAs(project, "lemon 2-3-4"); }},
    {"msg", OnCpu::Close, [](Project& project) { scheduleAs(project, "msg 2-3-4"); }},
    {"msg-mlp", OnCpu::Close, [](Project& project) { scheduleAs(project, "msg-mlp"); }},
    {"gradient descent", OnCpu::Close,
     [](Project& project) { project.training.optimiser = projects::Sgd{.momentum = 0.9, .weightDecay = 0.01}; }},
    {"adafactor", OnCpu::Close,
     [](Project& project) { project.training.optimiser = projects::Adafactor{.factoredFrom = 8}; }},
    {"muon", OnCpu::Roughly, [](Project& project) { project.training.optimiser = projects::Muon{}; }},
    {"lion", OnCpu::Close, [](Project& project) { project.training.optimiser = projects::Lion{}; }},
    {"pictures", OnCpu::Close, [](Project& project) { project = tests::familyUnder("small-vit", "plain"); }},
    {"pictures, dca", OnCpu::Close, [](Project& project) { project = tests::familyUnder("small-vit", "dca"); }},
    {"hidden tokens", OnCpu::Close, [](Project& project) { project = tests::familyUnder("small-bert", "plain"); }},
    {"hidden tokens, mhc, bf16", OnCpu::Roughly,
     [](Project& project) {
         project = tests::familyUnder("small-bert", "mhc");
         project.training.precision = Precision::Bf16;
     }},
    {"vectors, all of them in each step", OnCpu::Close,
     [](Project& project) { project = tests::quickVectors(kCourseSteps); }},
};

/// The result of a training.
struct Trained {
    std::vector<double> losses;
    std::vector<at::Tensor> weights; ///< on the CPU
    double validation = 0;           ///< 0 if the data have no validation split
};

void goOn(Trainer& trainer, int steps, Trained& trained)
{
    tests::train(trainer, steps);
    for (const StepRecord& record : trainer.takeRecords()) {
        trained.losses.push_back(record.loss);
    }
}

void finish(Trainer& trainer, Trained& trained)
{
    const double validation = tests::measured(trainer, metric::kValidationLoss);
    trained.validation = std::isnan(validation) ? 0 : validation;
    for (const NamedParameter& parameter : trainer.network().parameters()) {
        trained.weights.push_back(parameter.tensor.detach().to(at::kCPU, /*non_blocking=*/false, /*copy=*/true));
    }
}

Trained trainedOn(const std::string& device, const Project& project, int steps = kCourseSteps)
{
    Trainer trainer = tests::trainerOf(project, device);
    Trained trained;
    goOn(trainer, steps, trained);
    finish(trainer, trained);
    return trained;
}

double lossDistance(const std::vector<double>& a, const std::vector<double>& b)
{
    double largest = a.size() == b.size() ? 0 : HUGE_VAL;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const double apart = std::abs(a[i] - b[i]);
        largest = apart <= largest ? largest : apart;
    }
    return largest;
}

constexpr int kUpdates = 10;
/// Slices of the second and third parameter, at the beginning, in the middle and at the end of a dimension.
const std::vector<HeldSlice> kKeptSlices{{1, 0, 16, 8}, {1, 0, 40, 4}, {2, 1, 0, 24}, {2, 1, 56, 8}};

/// Parameters on `device` with a decay and without, with held elements, and of odd sizes.
std::vector<NamedParameter> updatedParameters(const c10::Device& device)
{
    std::vector<NamedParameter> parameters;
    const auto add = [&](at::IntArrayRef sizes, Decay decay) -> NamedParameter& {
        const at::Tensor start = tests::randomTensor(sizes, 30 + parameters.size()).to(device, at::kFloat);
        const std::string name = "w" + std::to_string(parameters.size());
        parameters.push_back({name, start.detach().clone().requires_grad_(true), decay, {}, {}});
        return parameters.back();
    };
    add({257}, Decay::No);
    add({64, 100}, Decay::Yes);
    add({48, 64}, Decay::Yes);
    add({37, 5}, Decay::No).held = tests::randomTensor({5}, 40).gt(0).to(device);
    add({9000}, Decay::Yes);
    add({48, 64}, Decay::Yes); // of the shape of the third, with which it is updated
    return parameters;
}

/// Returns the parameters, then the states, after some updates with clipping: the second one without the
/// third parameter, the fourth one with gradients that are not finite.
std::vector<at::Tensor> updatedOn(const std::string& device, const projects::Optimiser& rule,
                                  const std::vector<HeldSlice>& slices)
{
    const c10::Device opened = *openDevice(device);
    std::vector<NamedParameter> parameters = updatedParameters(opened);
    projects::TrainingPlan plan;
    plan.optimiser = rule;
    plan.clipNorm = 2;
    Optimiser optimiser(plan, parameters);
    for (std::uint64_t step = 0; step < kUpdates; ++step) {
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const at::Tensor gradient = tests::randomTensor(parameters[i].tensor.sizes(), 100 * step + i);
            if (step != 1 || i != 2) {
                parameters[i].tensor.mutable_grad() =
                    (step == 3 && i == 4 ? gradient / 0.0 : gradient).to(opened, at::kFloat);
            }
        }
        optimiser.step(0.01, slices);
        optimiser.clearGradients();
    }
    std::vector<at::Tensor> values;
    for (const NamedParameter& parameter : parameters) {
        values.push_back(parameter.tensor.detach().to(at::kCPU));
    }
    const HostTensors state = optimiser.state();
    for (const auto& [name, stored] : state.stored()) {
        values.push_back(viewOf(stored).clone());
    }
    return values;
}

/// Returns the first difference of two trainings that should have the same bits; empty if there is none.
QString difference(const Trained& a, const Trained& b)
{
    for (std::size_t i = 0; i < std::max(a.losses.size(), b.losses.size()); ++i) {
        if (i >= a.losses.size() || i >= b.losses.size() || a.losses[i] != b.losses[i]) {
            return QString("the loss of step %1").arg(i + 1);
        }
    }
    if (a.validation != b.validation) {
        return "the validation loss";
    }
    const bool same = std::ranges::equal(a.weights, b.weights,
                                         [](const at::Tensor& x, const at::Tensor& y) { return at::equal(x, y); });
    return same ? "" : "a weight";
}

} // namespace

class TestCudaTraining : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        prepareEnvironment(); // without it LibTorch's products promise no bits
        if (const std::string problem = tests::deviceProblem(m_device); !problem.empty()) {
            QSKIP(problem.c_str());
        }
        QVERIFY(m_folder.isValid());
        qputenv("XDG_CACHE_HOME", m_folder.filePath("cache").toUtf8()); // where fits are kept
    }
    void cleanupTestCase() { m_distances.print(); }

    void kernelsAreUsed()
    {
        const std::string problem = tests::kernelProblem(m_device);
        QVERIFY2(problem.empty(), problem.c_str());
    }

    void trainsAsTheCpuDoes_data()
    {
        QTest::addColumn<int>("course");
        for (std::size_t i = 0; i < std::size(kCourses); ++i) {
            QTest::newRow(kCourses[i].name) << static_cast<int>(i);
        }
    }
    /// On the device twice, and once more from the checkpoint of half the steps.
    void trainsAsTheCpuDoes()
    {
        QFETCH(int, course);
        const Course& way = kCourses[course];
        Project project = wired("plain");
        way.change(project);
        for (const projects::Problem& problem : projects::validate(project)) {
            QVERIFY2(!projects::hasErrors({problem}), problem.text().c_str());
        }
        const int steps = way.steps;
        const int half = steps / 2;
        const Trained once = trainedOn(m_device, project, steps);
        QCOMPARE(once.losses.size(), static_cast<std::size_t>(steps));
        compareWithCpu(once, project, way);

        Trainer again = tests::trainerOf(project, m_device);
        Trained twice;
        goOn(again, half, twice);
        const std::filesystem::path run = m_folder.filePath(way.name).toStdString();
        QVERIFY(again.writeCheckpoint(run).ok());
        Trained resumed = twice;
        goOn(again, steps - half, twice);
        finish(again, twice);
        QCOMPARE(difference(twice, once), QString());

        const Result<CheckpointFiles> checkpoint = findCheckpoint(run, half, nullptr);
        QVERIFY2(checkpoint.ok(), checkpoint ? "" : checkpoint.error().text().c_str());
        Trainer fromThere = tests::trainerOf(project, m_device);
        const Status restored = fromThere.restore(*checkpoint);
        QVERIFY2(restored.ok(), restored ? "" : restored.error().text().c_str());
        goOn(fromThere, steps - half, resumed);
        finish(fromThere, resumed);
        QCOMPARE(difference(resumed, once), QString());
    }

    /// Steps as graphs against steps that are computed directly, which those with magnitudes are.
    void recordedStepsAreTheDirectOnes_data()
    {
        QTest::addColumn<int>("course");
        for (std::size_t i = 0; i < std::size(kCourses); ++i) {
            QTest::newRow(kCourses[i].name) << static_cast<int>(i);
        }
    }
    void recordedStepsAreTheDirectOnes()
    {
        QFETCH(int, course);
        Project project = wired("plain");
        kCourses[course].change(project);
        Trainer recording = tests::trainerOf(project, m_device);
        Trained recorded;
        const int steps = kCourses[course].steps;
        goOn(recording, steps, recorded);
        finish(recording, recorded);
        QVERIFY2(recording.graphs().why().empty(), recording.graphs().why().c_str());
        if (recordsSteps() && (projects::trainsAll(project.stack().schedule) || steps > kCourseSteps)) {
            QCOMPARE(recording.graphs().recorded(), std::size_t{1}); // the last stage's
            QVERIFY(recording.graphs().launched() > steps / 2);
        }

        Trainer computing = tests::trainerOf(project, m_device);
        LayerMagnitudes magnitudes;
        Trained direct;
        for (int step = 0; step < steps; ++step) {
            QVERIFY(computing.beginStage().ok());
            QVERIFY(computing.step(&magnitudes).ok());
        }
        for (const StepRecord& record : computing.takeRecords()) {
            direct.losses.push_back(record.loss);
        }
        finish(computing, direct);
        QCOMPARE(computing.graphs().recorded(), std::size_t{0});
        QCOMPARE(difference(recorded, direct), QString());
    }
    void updatesAsTheCpuDoes_data()
    {
        QTest::addColumn<projects::Optimiser>("rule");
        QTest::addColumn<double>("tolerance");
        QTest::newRow("adamw") << projects::Optimiser(
                                      projects::AdamW{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-6, .weightDecay = 0.1})
                               << 5e-6;
        QTest::newRow("lion") << projects::Optimiser(projects::Lion{}) << 5e-6;
        QTest::newRow("adafactor") << projects::Optimiser(projects::Adafactor{.factoredFrom = 8}) << 5e-5;
        // Its iterations amplify the rounding of the products.
        QTest::newRow("muon") << projects::Optimiser(projects::Muon{}) << 5e-4;
    }
    void updatesAsTheCpuDoes()
    {
        QFETCH(projects::Optimiser, rule);
        QFETCH(double, tolerance);
        // Adafactor's states have no slices: a document that needs them is refused (projects::keepsShapes).
        const std::vector<HeldSlice> slices = projects::keepsShapes(rule) ? kKeptSlices : std::vector<HeldSlice>();
        const std::vector<at::Tensor> expected = updatedOn("cpu", rule, slices);
        const std::vector<at::Tensor> got = updatedOn(m_device, rule, slices);
        QCOMPARE(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double apart = ((got[i] - expected[i]) / (1 + expected[i].abs())).abs().max().item<double>();
            m_distances.add("updates", apart, std::to_string(i));
            QVERIFY2(apart < tolerance, qPrintable(QString("tensor %1: %2").arg(i).arg(apart)));
        }
        const std::vector<NamedParameter> start = updatedParameters(at::kCPU);
        for (const HeldSlice& slice : slices) {
            const auto part = [&](const at::Tensor& whole) {
                return whole.narrow(slice.dimension, slice.begin, slice.length);
            };
            QVERIFY(at::equal(part(got[slice.parameter]), part(start[slice.parameter].tensor)));
        }
        const at::Tensor held = start[3].held.expand({37, 5});
        QVERIFY(at::equal(got[3].masked_select(held), start[3].tensor.masked_select(held)));
        QVERIFY(!at::equal(got[3], start[3].tensor));
    }

    /// Fast mode promises no bits, but the same losses.
    void fastTrainsAsTheCpuDoes_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("bf16");
        for (const char* const topology : {"plain", "dca", "ancre-ingoing", "mudd"}) {
            QTest::addRow("%s, fp32", topology) << topology << false;
            QTest::addRow("%s, bf16, heads of 64", topology) << topology << true;
        }
    }
    void fastTrainsAsTheCpuDoes()
    {
        QFETCH(QString, topology);
        QFETCH(bool, bf16);
        Project project = wired(topology.toStdString());
        if (bf16) {
            project.training.precision = Precision::Bf16;
            project.stack().width = 64;
            tests::setAttention(project, "heads", std::int64_t{1});
        }
        Project fast = project;
        fast.training.determinism = Determinism::Fast;
        compare(trainedOn(m_device, fast), trainedOn("cpu", project), bf16 ? 0.1 : 1e-3,
                bf16 ? "losses in bf16, Fast" : "losses in fp32, Fast");
    }

    /// The measures of a run beside its losses.
    void measuresAsTheCpuDoes_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "dca", "ancre-ingoing", "mudd", "mhc"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void measuresAsTheCpuDoes()
    {
        QFETCH(QString, topology);
        const Project project = wired(topology.toStdString());
        const std::vector<Matrix> expected = measuredOn("cpu", project);
        const std::vector<Matrix> got = measuredOn(m_device, project);
        QCOMPARE(got.size(), expected.size());
        QVERIFY(!got.empty());
        for (std::size_t i = 0; i < got.size(); ++i) {
            QCOMPARE(got[i].name, expected[i].name);
            QCOMPARE(got[i].values.size(), expected[i].values.size());
            double largest = 0;
            for (std::size_t k = 0; k < got[i].values.size(); ++k) {
                const double a = got[i].values[k];
                const double b = expected[i].values[k];
                const double apart =
                    std::isnan(b) ? (std::isnan(a) ? 0 : HUGE_VAL) : std::abs(a - b) / (1 + std::abs(b));
                largest = apart <= largest ? largest : apart;
            }
            m_distances.add("measures", largest, topology.toStdString() + ", " + got[i].name.text());
            QVERIFY2(largest < 5e-3, qPrintable(QString("%1: %2").arg(got[i].name.text().c_str()).arg(largest)));
        }
    }

private:
    [[nodiscard]] bool recordsSteps() const { return m_device != "cpu" && qgetenv("RESIDUA_CUDA_GRAPH") != "0"; }

    void compareWithCpu(const Trained& trained, const Project& project, const Course& way)
    {
        if (way.onCpu != OnCpu::Other) {
            const bool rough = way.onCpu == OnCpu::Roughly;
            compare(trained, trainedOn("cpu", project), rough ? 0.1 : 1e-3,
                    rough ? "losses in bf16 or by Muon" : "losses in fp32");
        }
    }

    void compare(const Trained& trained, const Trained& expected, double most, const std::string& group)
    {
        const double losses = lossDistance(trained.losses, expected.losses);
        m_distances.add(group, losses, QTest::currentDataTag());
        QVERIFY2(losses < most, qPrintable(QString("losses differ by %1").arg(losses)));
        const double validation = lossDistance({trained.validation}, {expected.validation});
        m_distances.add("validation, " + group, validation, QTest::currentDataTag());
        QVERIFY2(validation < most, qPrintable(QString("validation losses differ by %1").arg(validation)));
    }

    /// The magnitudes of the third step, the coefficients after it and what each layer does alone.
    static std::vector<Matrix> measuredOn(const std::string& device, const Project& project)
    {
        Trainer trainer = tests::trainerOf(project, device);
        tests::train(trainer, 2);
        LayerMagnitudes magnitudes(LayerMagnitudes::Ranks::Taken);
        if (const Status stepped = trainer.step(&magnitudes); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
        std::vector<Matrix> matrices = magnitudes.matrices(3);
        std::ranges::move(trainer.network().coefficients(3), std::back_inserter(matrices));
        std::ranges::move(trainer.measure(tests::measureOf(matrix::kStability))->matrices,
                          std::back_inserter(matrices));
        return matrices;
    }

    const std::string m_device = tests::testDevice();
    QTemporaryDir m_folder;
    tests::LargestDistances m_distances;
};

RESIDUA_TEST(TestCudaTraining)
#include "tst_cuda_training.moc"
