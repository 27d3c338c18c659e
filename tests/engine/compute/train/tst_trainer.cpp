// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/compute/network/network_double.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/session/run_harness.h"
#include "trainer_harness.h"

#include "engine/base/api/matrix_name.h"
#include "engine/base/files/safetensors.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/train/observer.h"
#include "engine/compute/train/optimiser.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/runs/store/recorder.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <QTemporaryDir>
#include <QtTest>

#include <array>
#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

using namespace residua;
using namespace residua::engine;
using residua::tests::quickLanguage;
using residua::tests::quickVectors;
using residua::tests::trainerOf;

namespace {

std::vector<double> stepLosses(Trainer& trainer, int steps)
{
    for (int i = 0; i < steps; ++i) {
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

/// Returns the alternative `index` of Optimiser, with weight decay.
template <std::size_t I = 0>
projects::Optimiser optimiserAt(std::size_t index)
{
    if constexpr (I < std::variant_size_v<projects::Optimiser>) {
        if (index != I) {
            return optimiserAt<I + 1>(index);
        }
        std::variant_alternative_t<I, projects::Optimiser> made;
        made.weightDecay = 0.5;
        if constexpr (requires { made.rest.weightDecay; }) {
            made.rest.weightDecay = 0.5;
        }
        return made;
    }
    return {};
}

std::vector<NamedParameter> oneParameter(std::vector<double> values, Decay decay = Decay::Yes)
{
    return {{"w", at::tensor(values, at::kDouble).requires_grad_(true), decay, {}, {}}};
}

void setGradient(std::vector<NamedParameter>& parameters, const std::vector<double>& gradient)
{
    parameters[0].tensor.mutable_grad() = at::tensor(gradient, at::kDouble);
}

double valueAt(const std::vector<NamedParameter>& parameters, std::int64_t index)
{
    return parameters[0].tensor.detach()[index].item<double>();
}

class TestTrainer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// The coefficient of a frozen shortcut, whatever decays and whatever moments it has.
    void frozenWeightsDoNotMove_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<std::size_t>("optimiser");
        for (std::size_t i = 0; i < std::variant_size_v<projects::Optimiser>; ++i) {
            QTest::addRow("one number, optimiser %zu", i) << "ancre-none" << i;
            QTest::addRow("of a sum, optimiser %zu", i) << "plain" << i;
        }
        const std::size_t adam = projects::Optimiser(projects::AdamW{}).index();
        QTest::newRow("under a softmax") << "ancre-ingoing" << adam;
        QTest::newRow("per feature") << "grn-v2" << adam;
        QTest::newRow("with gates") << "grn-v3" << adam;
    }
    void frozenWeightsDoNotMove()
    {
        QFETCH(QString, topology);
        QFETCH(std::size_t, optimiser);
        projects::Project project = quickVectors(30);
        const auto presets = projects::topologyPresets(project.network.depth());
        project.stack().topology.wiring =
            std::ranges::find(presets, topology.toStdString(), &projects::TopologyPreset::name)->wiring;
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        mix.weightDecay = true;
        const double held = 0.640625;
        mix.states[{0, 1}] = projects::ShortcutState::frozenAt(held); // the first term
        if (topology == "plain") {
            mix.states[{0, 2}] = projects::ShortcutState::Learned;
        }
        project.training.optimiser = optimiserAt(optimiser);
        project.training.learningRate = {0.05, 0, projects::RateCurve::Constant, 1};
        Trainer trainer = trainerOf(project);
        auto& parameters = trainer.network().parameters();
        const at::Tensor coefficient =
            std::ranges::find(parameters, std::string("topology.coefficient"), &NamedParameter::name)->tensor;
        const at::Tensor start = coefficient.detach().clone();
        QCOMPARE((start[0] - held).abs().max().item<double>(), 0.0);
        stepLosses(trainer, 30);
        const at::Tensor moved = (coefficient.detach() - start).abs();
        QCOMPARE(moved[0].max().item<double>(), 0.0);
        QVERIFY(moved.max().item<double>() > 0);
    }

    void adamFollowsItsFormula_data()
    {
        QTest::addColumn<bool>("decays");
        QTest::newRow("decayed") << true;
        QTest::newRow("kept out of decay") << false;
    }
    void adamFollowsItsFormula()
    {
        QFETCH(bool, decays);
        const projects::AdamW adam{.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .weightDecay = 0.25};
        projects::TrainingPlan plan;
        plan.optimiser = adam;
        plan.clipNorm = 2.0;
        std::vector<NamedParameter> parameters = oneParameter({1.0, -2.0}, decays ? Decay::Yes : Decay::No);
        Optimiser optimiser(plan, parameters);
        std::array<double, 2> w{1.0, -2.0};
        std::array<double, 2> mean{};
        std::array<double, 2> square{};
        const std::vector<std::vector<double>> gradients{{3.0, 4.0}, {0.3, -0.4}, {-6.0, 8.0}};
        for (std::size_t step = 0; step < gradients.size(); ++step) {
            const double rate = 0.1 / static_cast<double>(step + 1);
            const double norm = std::hypot(gradients[step][0], gradients[step][1]);
            setGradient(parameters, gradients[step]);
            QCOMPARE(optimiser.step(rate).item<double>(), norm);
            for (std::size_t i = 0; i < 2; ++i) {
                const double g = gradients[step][i] / std::max(1.0, norm / 2.0);
                const double count = static_cast<double>(step + 1);
                w[i] *= decays ? 1 - rate * adam.weightDecay : 1;
                mean[i] = adam.beta1 * mean[i] + (1 - adam.beta1) * g;
                square[i] = adam.beta2 * square[i] + (1 - adam.beta2) * g * g;
                const double corrected = std::sqrt(square[i] / (1 - std::pow(adam.beta2, count)));
                w[i] -= rate * mean[i] / (1 - std::pow(adam.beta1, count)) / (corrected + adam.epsilon);
                QVERIFY(std::abs(valueAt(parameters, static_cast<std::int64_t>(i)) - w[i]) < 1e-12);
            }
        }
    }

    void momentumFollowsItsFormula()
    {
        projects::TrainingPlan plan;
        plan.optimiser = projects::Sgd{.momentum = 0.9, .weightDecay = 0.5};
        plan.clipNorm = 0;
        std::vector<NamedParameter> parameters = oneParameter({2.0});
        Optimiser optimiser(plan, parameters);
        double w = 2;
        double momentum = 0;
        for (const double gradient : {1.0, -3.0, 0.5}) {
            setGradient(parameters, {gradient});
            optimiser.step(0.1);
            momentum = 0.9 * momentum + gradient + 0.5 * w;
            w -= 0.1 * momentum;
            QVERIFY(std::abs(valueAt(parameters, 0) - w) < 1e-12);
        }
    }

    void plainDescentHasNoState()
    {
        projects::TrainingPlan plan;
        plan.optimiser = projects::Sgd{};
        plan.clipNorm = 0;
        std::vector<NamedParameter> parameters = oneParameter({1.0});
        Optimiser optimiser(plan, parameters);
        setGradient(parameters, {4.0});
        optimiser.step(0.25);
        QCOMPARE(valueAt(parameters, 0), 0.0);
        QVERIFY(optimiser.state().stored().empty());
    }

    void aGradientThatIsNotFiniteChangesNothing_data()
    {
        QTest::addColumn<bool>("adam");
        QTest::addColumn<double>("bad");
        for (const bool adam : {true, false}) {
            QTest::newRow(adam ? "adam, NaN" : "descent, NaN") << adam << std::nan("");
            QTest::newRow(adam ? "adam, infinite" : "descent, infinite") << adam << HUGE_VAL;
        }
    }
    void aGradientThatIsNotFiniteChangesNothing()
    {
        QFETCH(bool, adam);
        QFETCH(double, bad);
        projects::TrainingPlan plan;
        if (!adam) {
            plan.optimiser = projects::Sgd{};
        }
        std::vector<NamedParameter> parameters = oneParameter({1.0, 2.0});
        Optimiser optimiser(plan, parameters);
        setGradient(parameters, {1.0, bad});
        QVERIFY(!std::isfinite(optimiser.step(0.1).item<double>()));
        QCOMPARE(valueAt(parameters, 0), 1.0);
        QCOMPARE(valueAt(parameters, 1), 2.0);
    }

    void aParameterWithoutGradientStays()
    {
        std::vector<NamedParameter> parameters = oneParameter({1.0});
        parameters.push_back({"idle", at::full({1}, 5.0, at::kDouble).requires_grad_(true), Decay::Yes, {}, {}});
        Optimiser optimiser({}, parameters);
        setGradient(parameters, {1.0});
        optimiser.step(0.1);
        QCOMPARE(parameters[1].tensor.item<double>(), 5.0);
        QVERIFY(valueAt(parameters, 0) != 1.0);
    }

    void checkpointsOfAnotherNetworkAreRefused()
    {
        std::vector<NamedParameter> parameters = oneParameter({1.0, 2.0});
        const QTemporaryDir folder;
        const auto loadedFrom = [&](const HostTensors& tensors) {
            const auto path = std::filesystem::path(folder.path().toStdString()) / "t.safetensors";
            const Status written = writeSafetensors(path, tensors.stored(), {});
            const auto files = written ? TensorFiles::openFile(path) : Result<TensorFiles>(written.error());
            return files ? loadParameters(*files, parameters) : Status(files.error());
        };
        HostTensors tensors;
        QVERIFY(loadedFrom(tensors).error().text().find("w is missing") != std::string::npos);
        tensors.add("w", at::zeros({3}, at::kDouble));
        const std::string shape = loadedFrom(tensors).error().text();
        QVERIFY2(shape.find("got F64 [3], expected F64 [2]") != std::string::npos, shape.c_str());
        HostTensors more;
        more.add("w", at::full({2}, 9.0, at::kDouble));
        more.add("x", at::zeros({1}));
        QVERIFY(loadedFrom(more).error().text().find("x is not part") != std::string::npos);
        HostTensors right;
        right.add("w", at::full({2}, 9.0, at::kDouble));
        QVERIFY(loadedFrom(right).ok());
        QCOMPARE(valueAt(parameters, 1), 9.0);
    }

    void theLossFalls()
    {
        projects::Project project = quickLanguage(60);
        project.training.learningRate.peak = 1e-2;
        Trainer trainer = trainerOf(project);
        const std::vector<double> losses = stepLosses(trainer, 60);
        QCOMPARE(losses.size(), std::size_t{60});
        QVERIFY(std::abs(losses.front() - std::log(24)) < 0.5); // near uniform at first
        QVERIFY(losses.back() < losses.front() - 0.2);
    }

    /// Where only layers have parameters, their gradient norms, before clipping, combine to the recorded norm.
    void gradientsAreToldByLayer()
    {
        projects::Project project = quickVectors(3);
        project.stack().topology = {"plain", projects::DepthMix{}};
        project.training.clipNorm = 1e-3;
        Trainer trainer = trainerOf(project);
        for (int step = 1; step <= 2; ++step) {
            LayerMagnitudes magnitudes(LayerMagnitudes::Ranks::Taken);
            QVERIFY(trainer.step(&magnitudes).ok());
            const std::vector<Matrix> told = magnitudes.matrices(step);
            QCOMPARE(told.size(), std::size_t{3});
            QCOMPARE(told[2].name.text(), std::string(matrix::kLayerGradients));
            QCOMPARE(told[2].columns, project.network.depth());
            double squares = 0;
            for (const float gradient : told[2].values) {
                QVERIFY(gradient > 0);
                squares += double{gradient} * gradient;
            }
            const double recorded = trainer.takeRecords().back().gradientNorm;
            QVERIFY(recorded > project.training.clipNorm);
            QVERIFY(std::abs(std::sqrt(squares) - recorded) < 1e-5 * recorded);
        }
    }

    void fullBatchDescentNeverRises()
    {
        Trainer trainer = trainerOf(quickVectors(50));
        const std::vector<double> losses = stepLosses(trainer, 50);
        for (std::size_t i = 1; i < losses.size(); ++i) {
            QVERIFY2(losses[i] <= losses[i - 1], qPrintable(QString("step %1").arg(i + 1)));
        }
        QVERIFY(losses.back() < losses.front());
        QCOMPARE(trainer.unitsPerStep(), 16);
    }

    void microBatchesAddUpToTheBatch()
    {
        projects::Project whole = quickLanguage(6);
        withoutDropout(whole);
        projects::Project parts = whole;
        parts.training.batch = 2;
        parts.training.accumulate = 2;
        Trainer first = trainerOf(whole);
        Trainer second = trainerOf(parts);
        QCOMPARE(first.unitsPerStep(), second.unitsPerStep());
        const std::vector<double> a = stepLosses(first, 6);
        const std::vector<double> b = stepLosses(second, 6);
        for (std::size_t i = 0; i < a.size(); ++i) {
            QVERIFY2(std::abs(a[i] - b[i]) < 1e-4,
                     qPrintable(QString("step %1: %2 %3").arg(i + 1).arg(a[i]).arg(b[i])));
        }
    }

    /// A run of an earlier version resumes with its order of sums.
    void theReadingSaysHowResidualsAdd()
    {
        projects::Project project = quickLanguage(2);
        project.stack().topology = tests::topologyNamed("plain", project.network);
        const DeviceBatch batch = tests::randomBatch(project, 2, 5, 3);
        const auto outputUnder = [&](ReadingVersion version) {
            const auto parts = openParts(project, {}, "cpu", FirstWeights::Initialised, {}, {version, {}});
            return parts->network->forward(batch.input, tests::kEvaluation);
        };
        const at::Tensor byBranch =
            tests::compiled(project, SumOrder::ByBranch)->forward(batch.input, tests::kEvaluation);
        const at::Tensor byHalf = tests::compiled(project)->forward(batch.input, tests::kEvaluation);
        QVERIFY(!at::equal(byBranch, byHalf));
        QVERIFY(at::equal(outputUnder(ReadingVersion::First), byBranch));
        QVERIFY(at::equal(outputUnder(ReadingVersion::Second), byBranch));
        QVERIFY(at::equal(outputUnder(kNewestReading), byHalf));
    }

    void validationDisturbsNothing()
    {
        Trainer plain = trainerOf(quickLanguage(10));
        Trainer watched = trainerOf(quickLanguage(10));
        std::vector<double> losses;
        for (int i = 0; i < 10; ++i) {
            losses.push_back(stepLosses(watched, 1).front());
            QVERIFY(tests::measured(watched, metric::kValidationLoss) > 0);
        }
        QCOMPARE(stepLosses(plain, 10), losses);
        QCOMPARE(tests::measured(watched, metric::kValidationLoss), tests::measured(watched, metric::kValidationLoss));
    }

    void aRestoredTrainerIsBitEqual_data()
    {
        QTest::addColumn<projects::Precision>("precision");
        QTest::newRow("fp32") << projects::Precision::Fp32;
        QTest::newRow("bf16") << projects::Precision::Bf16;
        QTest::newRow("fp8") << projects::Precision::Fp8;
    }
    void aRestoredTrainerIsBitEqual()
    {
        QFETCH(projects::Precision, precision);
        const QTemporaryDir folder;
        const std::filesystem::path directory = folder.path().toStdString();
        projects::Project project = quickLanguage(20);
        project.training.precision = precision;
        Trainer whole = trainerOf(project);
        stepLosses(whole, 7);
        QVERIFY(whole.writeCheckpoint(directory).ok());
        const std::vector<double> expected = stepLosses(whole, 8);

        const Result<CheckpointFiles> checkpoint = findCheckpoint(directory, std::nullopt, nullptr);
        QVERIFY2(checkpoint.ok(), checkpoint ? "" : checkpoint.error().text().c_str());
        Trainer resumed = trainerOf(project);
        stepLosses(resumed, 3); // whatever it did before is gone
        const Status restored = resumed.restore(*checkpoint);
        QVERIFY2(restored.ok(), restored ? "" : restored.error().text().c_str());
        QCOMPARE(resumed.stepsDone(), 7);
        QCOMPARE(stepLosses(resumed, 8), expected);
        for (std::size_t i = 0; i < whole.network().parameters().size(); ++i) {
            QVERIFY(at::equal(whole.network().parameters()[i].tensor, resumed.network().parameters()[i].tensor));
        }
    }

    /// A text that only begins with a number is refused too.
    void aCursorThatIsNoNumberIsRefused()
    {
        const QTemporaryDir folder;
        Trainer trainer = trainerOf(quickLanguage(5));
        stepLosses(trainer, 1);
        QVERIFY(trainer.writeCheckpoint(folder.path().toStdString()).ok());
        auto checkpoint = findCheckpoint(folder.path().toStdString(), std::nullopt, nullptr);
        QVERIFY(checkpoint.ok());
        QVERIFY(checkpoint->state.cursors.contains("draws"));
        for (const char* const text : {"12abc", "-1", "99999999999999999999"}) {
            checkpoint->state.cursors["draws"] = text;
            const Status restored = trainer.restore(*checkpoint);
            QVERIFY2(!restored.ok(), text);
            QVERIFY2(restored.error().message.find(text) != std::string::npos, restored.error().message.c_str());
        }
        checkpoint->state.cursors.erase("draws");
        const Status restored = trainer.restore(*checkpoint);
        QVERIFY(!restored.ok() && restored.error().message.find("missing") != std::string::npos);
        QCOMPARE(trainer.stepsDone(), 1); // untouched
    }

    void anotherOptimisersStateIsRefused()
    {
        const QTemporaryDir folder;
        projects::Project project = quickLanguage(5);
        project.training.optimiser = projects::Sgd{};
        Trainer descent = trainerOf(project);
        stepLosses(descent, 1);
        QVERIFY(descent.writeCheckpoint(folder.path().toStdString()).ok());
        const auto checkpoint = findCheckpoint(folder.path().toStdString(), std::nullopt, nullptr);
        QVERIFY(checkpoint.ok());
        Trainer adam = trainerOf(quickLanguage(5));
        QVERIFY(!adam.restore(*checkpoint).ok());
    }

    /// cuDNN's attention does not repeat its bits. In Fast mode it may take part, and LibTorch tries it first where it
    /// is faster. A trainer of another project may have chosen before.
    void fastModeAloneHasCudnnsAttention()
    {
        const at::Context& context = at::globalContext();
        for (const projects::Determinism chosen :
             {projects::Determinism::Fast, projects::Determinism::Deterministic, projects::Determinism::Fast}) {
            applyDeterminism(chosen);
            const bool fast = chosen == projects::Determinism::Fast;
            QCOMPARE(context.userEnabledCuDNNSDP(), fast);
            QCOMPARE(context.deterministicAlgorithms(), !fast);
            QVERIFY(context.userEnabledFlashSDP() && context.userEnabledMemEfficientSDP());
        }
        projects::Project project = quickLanguage(1);
        project.training.determinism = projects::Determinism::Deterministic;
        Trainer trainer = trainerOf(project);
        stepLosses(trainer, 1);
        QVERIFY(!context.userEnabledCuDNNSDP());
    }

    void throughputIsOverTheLastSeconds()
    {
        Throughput throughput;
        QCOMPARE(throughput.unitsPerSecond(), 0.0);
        for (int step = 1; step <= 10; ++step) {
            throughput.add({.step = step, .tokens = step * 100, .seconds = step * 1.0});
        }
        QCOMPARE(throughput.unitsPerSecond(), 100.0);
        for (int step = 11; step <= 20; ++step) {
            throughput.add({.step = step, .tokens = 1000 + (step - 10) * 300, .seconds = step * 1.0});
        }
        QCOMPARE(throughput.unitsPerSecond(), 300.0);
    }

    void writingTakesAHundredthOfTheTime()
    {
        FlushPace pace;
        QVERIFY(pace.due(100));
        pace.flushed(100, 100.001);
        QVERIFY(!pace.due(101));
        QVERIFY(pace.due(101.002));
        pace.flushed(200, 200.1); // a slow disk
        QVERIFY(!pace.due(209));
        QVERIFY(pace.due(210.2));
        pace.flushed(300, 310); // a stalled one
        QVERIFY(pace.due(341));
    }

    void exceptionsBecomeOneLine()
    {
        QVERIFY(!attempt([] {}));
        const auto other = attempt([] { TORCH_CHECK(false, "first line\nsecond"); });
        QCOMPARE(other->text, std::string("LibTorch failed: first line"));
        QVERIFY(other->kind == Failure::Kind::Other);
        const auto memory = attempt([] { const at::Tensor huge = at::empty({std::int64_t{1} << 58}); });
        QVERIFY2(memory->kind == Failure::Kind::OutOfMemory, memory->text.c_str());
        QCOMPARE(memory->text, std::string("there is no memory for 1.07e+09 GiB more"));
        const auto onGpu =
            attempt([] { TORCH_CHECK(false, "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0"); });
        QVERIFY(onGpu->kind == Failure::Kind::OutOfMemory);
        QCOMPARE(onGpu->text, std::string("there is no memory for 0.0195 GiB more"));
        QVERIFY(attempt([] { throw std::bad_alloc(); })->kind == Failure::Kind::OutOfMemory);
        QVERIFY(attempt([] { std::vector<int>().reserve(std::size_t{1} << 62); })->kind == Failure::Kind::OutOfMemory);
        QCOMPARE(attempt([] { throw std::runtime_error("plain"); })->text, std::string("the engine failed: plain"));
        const auto thread = attempt(
            [] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again), "thread"); });
        QVERIFY(thread->text.starts_with("the system starts no further thread"));
        QVERIFY(attempt([] { throw 1; }));
    }

private:
    static void withoutDropout(projects::Project& project)
    {
        for (projects::Node& node : project.network.blocks.front().graph.nodes) {
            node.params.erase("dropout");
        }
    }
};

} // namespace

RESIDUA_TEST(TestTrainer)
#include "tst_trainer.moc"
