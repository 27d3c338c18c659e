// SPDX-License-Identifier: GPL-3.0-or-later
// The bfloat16 copies of parameters that products read: equal to a conversion at every use, whatever changes the
// parameters.
#include "stage_harness.h"
#include "tests/engine/compute/network/network_harness.h"
#include "wiring_cases.h"

#include "engine/compute/ops/fused.h"
#include "engine/compute/ops/joined_linear.h"
#include "engine/compute/runtime/host_path.h"
#include "engine/compute/runtime/rounded_weights.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>

#include <QtTest>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Project;

namespace {

constexpr int kStepsFollowed = 12;

Compute bfloat16()
{
    Compute compute;
    compute.activationType = at::kBFloat16;
    compute.rounded = std::make_shared<RoundedWeights>();
    return compute;
}

at::Tensor floats(at::IntArrayRef shape, std::uint64_t seed)
{
    return tests::randomTensor(shape, seed).to(at::kFloat).requires_grad_(true);
}

/// A view of a parameter, as some operator reads it.
struct View {
    const char* name;
    std::vector<std::int64_t> shape; ///< of the parameter
    at::Tensor (*of)(const at::Tensor& parameter);
};

const View kViews[] = {
    {"whole", {6, 8}, [](const at::Tensor& w) { return w; }},
    {"vector", {6}, [](const at::Tensor& w) { return w; }},
    {"rows", {6, 8}, [](const at::Tensor& w) { return w.narrow(0, 2, 3); }},
    {"columns", {6, 8}, [](const at::Tensor& w) { return w.narrow(1, 4, 2); }},
    {"kernel by side",
     {6, 5},
     [](const at::Tensor& w) {
         return w.unflatten(0, {-1, 3}).transpose(1, 2).unsqueeze(3);
     }},
    {"own numbers", {6, 8}, [](const at::Tensor& w) { return w * 2; }},
};

Project plain()
{
    Project project = tests::quickLanguage(kStepsFollowed);
    project.stack().segments.front().repeat = 4;
    project.stack().topology = tests::topologyNamed("plain", project.network);
    project.training.precision = projects::Precision::Bf16;
    return project;
}

Project under(const projects::Optimiser& optimiser)
{
    Project project = plain();
    project.training.optimiser = optimiser;
    return project;
}

Project scheduled(const char* text)
{
    Project project = plain();
    project.stack().schedule = *projects::scheduleFrom(text, project.network.depth(), kStepsFollowed);
    return project;
}

Project wired(const char* topology)
{
    const Project project = plain();
    return *projects::rewired(project, tests::topologyNamed(topology, project.network));
}

template <class Value>
Project with(Value projects::TrainingPlan::*field, Value value)
{
    Project project = plain();
    project.training.*field = value;
    return project;
}

Project factored()
{
    Project project = plain();
    project.network.rank = projects::FixedRank{4};
    return project;
}

Project tied()
{
    Project project = plain();
    project.network.tieHead = true;
    return project;
}

Project pictures()
{
    Project project = tests::familyUnder("small-vit", "plain");
    project.training.precision = projects::Precision::Bf16;
    return project;
}

struct Case {
    const char* name;
    Project (*project)();
};

const Case kCases[] = {
    {"AdamW", plain},
    {"SGD", [] { return under(projects::Sgd{.momentum = 0.9}); }},
    {"Adafactor", [] { return under(projects::Adafactor{}); }},
    {"GaLore", [] { return under(projects::Galore{.rank = 4, .gap = 3}); }},
    {"Muon", [] { return under(projects::Muon{}); }},
    {"Lion", [] { return under(projects::Lion{}); }},
    {"factored weights", factored},
    {"tied head", tied},
    {"accumulation", [] { return with(&projects::TrainingPlan::accumulate, std::int64_t{3}); }},
    {"recomputed layers", [] { return with(&projects::TrainingPlan::activations, projects::Activations::Recompute); }},
    {"growing stack", [] { return scheduled("stacking 2-4"); }},
    {"layers that a step draws", [] { return scheduled("stochastic-depth 3-4"); }},
    {"heads that a step draws", [] { return scheduled("raptr-heads"); }},
    {"dca", [] { return wired("dca"); }},
    {"concatenation", [] { return wired("densenet"); }},
    {"pictures", pictures},
};

/// Returns the loss of the network on a batch, and the gradients of its parameters.
std::vector<at::Tensor> gradientsOf(CompiledNetwork& network, const DeviceBatch& batch, const Pass& pass)
{
    const at::Tensor loss = network.loss(batch, pass);
    loss.backward();
    std::vector<at::Tensor> results{loss.detach()};
    for (NamedParameter& parameter : network.parameters()) {
        results.push_back(std::exchange(parameter.tensor.mutable_grad(), {}));
    }
    return results;
}

void compare(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b)
{
    QCOMPARE(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        QCOMPARE(a[i].defined(), b[i].defined());
        QVERIFY2(!a[i].defined() || at::equal(a[i], b[i]), qPrintable(QString("tensor %1").arg(i)));
    }
}

/// Returns a network with the values of `of`, whose copies are all new.
std::unique_ptr<CompiledNetwork> twin(const Project& project, CompiledNetwork& of)
{
    std::unique_ptr<CompiledNetwork> made = tests::compiled(project);
    const at::NoGradGuard noGrad;
    for (std::size_t i = 0; i < made->parameters().size(); ++i) {
        made->parameters()[i].tensor.copy_(of.parameters()[i].tensor);
    }
    return made;
}

} // namespace

class TestRoundedWeights : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void convertsAsLibTorchDoes_data()
    {
        QTest::addColumn<int>("number");
        for (std::size_t i = 0; i < std::size(kViews); ++i) {
            QTest::newRow(kViews[i].name) << static_cast<int>(i);
        }
    }
    void convertsAsLibTorchDoes()
    {
        QFETCH(int, number);
        const View& view = kViews[number];
        const Compute compute = bfloat16();
        const at::Tensor own = floats(view.shape, 1);
        const at::Tensor expected = own.detach().clone().requires_grad_(true);
        compute.rounded->add(own);
        const at::Tensor got = rounded(compute, view.of(own));
        const at::Tensor converted = view.of(expected).to(at::kBFloat16);
        QVERIFY(at::equal(got, converted));
        QCOMPARE(got.strides(), converted.strides());
        const at::Tensor gradient = tests::randomTensor(got.sizes(), 2).to(at::kBFloat16);
        got.backward(gradient);
        converted.backward(gradient);
        QVERIFY(own.grad().scalar_type() == at::kFloat);
        QVERIFY(at::equal(own.grad(), expected.grad()));
        const at::NoGradGuard noGrad;
        QVERIFY(at::equal(rounded(compute, view.of(own)), converted));
    }

    void keepsItsAddress()
    {
        const at::NoGradGuard noGrad;
        const Compute compute = bfloat16();
        std::vector<at::Tensor> parts{floats({4, 8}, 1), floats({2, 8}, 2)};
        const at::Tensor joined = joinRows(parts);
        for (const at::Tensor& part : parts) {
            compute.rounded->add(part);
            QVERIFY(!compute.rounded->copy(part).defined());
        }
        const at::Tensor copy = rounded(compute, joined);
        const auto isCurrent = [&] {
            const at::Tensor again = rounded(compute, joined);
            return again.const_data_ptr() == copy.const_data_ptr() && at::equal(again, joined.to(at::kBFloat16));
        };
        QVERIFY(isCurrent());
        QVERIFY(at::equal(compute.rounded->copy(parts[1]), copy.narrow(0, 4, 2)));
        parts[1].mul_(3);
        QVERIFY(isCurrent());
        parts[0].mutable_data_ptr<float>()[3] = 17;
        noteWrite(parts[0]);
        QVERIFY(isCurrent());
        parts[0].add_(1);
        compute.rounded->refresh();
        QVERIFY(at::equal(copy, joined.to(at::kBFloat16)));
        // As a kernel writes both.
        parts[1].mutable_data_ptr<float>()[0] = 5;
        compute.rounded->copy(parts[1]).mutable_data_ptr<at::BFloat16>()[0] = 6;
        QCOMPARE(rounded(compute, joined)[4][0].item<float>(), 6.0F);
    }

    void followsEveryStep_data()
    {
        QTest::addColumn<int>("number");
        QTest::addColumn<bool>("onGpu");
        for (std::size_t i = 0; i < std::size(kCases); ++i) {
            QTest::addRow("%s", kCases[i].name) << static_cast<int>(i) << false;
            QTest::addRow("%s on a GPU", kCases[i].name) << static_cast<int>(i) << true;
        }
    }
    void followsEveryStep()
    {
        QFETCH(int, number);
        QFETCH(bool, onGpu);
        std::optional<GpuPathsOnHost> paths;
        if (onGpu) {
            paths.emplace();
        }
        const Project project = kCases[number].project();
        Trainer trainer = tests::trainerOf(project);
        const DeviceBatch batch = tests::randomBatch(project, 2, 8, 5);
        for (int step = 1; step <= kStepsFollowed; ++step) {
            tests::train(trainer, 1);
            Pass pass = tests::kTraining;
            pass.step = step;
            pass.random = RandomStreams(project.seeds.stages, step);
            const std::unique_ptr<CompiledNetwork> fresh = twin(project, trainer.network());
            seedGenerators(at::kCPU, 1);
            const std::vector<at::Tensor> own = gradientsOf(trainer.network(), batch, pass);
            seedGenerators(at::kCPU, 1);
            compare(own, gradientsOf(*fresh, batch, pass));
            if (QTest::currentTestFailed()) {
                return;
            }
        }
    }

    /// A recorded step reads the copies without a look at the parameters.
    void isCurrentBeforeARecordedPass()
    {
        const std::unique_ptr<CompiledNetwork> network = tests::compiled(plain());
        const at::NoGradGuard noGrad;
        static_cast<void>(network->loss(tests::randomBatch(plain(), 2, 8, 5), tests::kEvaluation));
        const RoundedWeights& copies = *network->initPlan().compute().rounded;
        std::size_t count = 0;
        for (NamedParameter& parameter : network->parameters()) {
            parameter.tensor.add_(1);
        }
        network->noteTraining(tests::kTraining);
        for (const NamedParameter& parameter : network->parameters()) {
            if (const at::Tensor copy = copies.copy(parameter.tensor); copy.defined()) {
                QVERIFY2(at::equal(copy, parameter.tensor.to(at::kBFloat16)), parameter.name.c_str());
                ++count;
            }
        }
        QVERIFY(count >= 4 * 7); // the matrices of the layers
    }
};

RESIDUA_TEST(TestRoundedWeights)
#include "tst_rounded_weights.moc"
