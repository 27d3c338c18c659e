// SPDX-License-Identifier: GPL-3.0-or-later
// The paths that functions take on a GPU, run on the CPU: they compute what those of the CPU do.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/graph/fusion.h"
#include "engine/compute/ops/fused.h"
#include "engine/compute/ops/joined_linear.h"
#include "engine/compute/ops/norm.h"
#include "engine/compute/runtime/host_path.h"
#include "engine/compute/train/batches.h"
#include "projects/library/presets.h"
#include "projects/nodes/attention_features.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/node_kinds.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/silu.h>
#include <torch/csrc/autograd/autograd.h>

#include <QtTest>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::tests;
using projects::Project;

namespace {

constexpr std::int64_t kStackLayers = 3;
constexpr std::int64_t kOddHidden = 21;

Project withAttention(const projects::ParamMap& options)
{
    Project project = tinyLanguage("transformer", "plain", kStackLayers);
    for (projects::Node& node : project.network.blocks[0].graph.nodes) {
        if (node.kind == "attention") {
            for (const auto& [name, value] : options) {
                node.params[name] = value;
            }
        }
    }
    return project;
}

/// Returns a network whose gated MLPs have rows of unaligned length.
Project withOddMlp()
{
    Project project = tinyLanguage("transformer", "plain", kStackLayers);
    for (projects::Node& node : project.network.blocks[0].graph.nodes) {
        if (node.name == "gate" || node.name == "up") {
            node.params["out"] = kOddHidden;
        }
    }
    return project;
}

/// Language models that together take every path.
std::map<std::string, Project> projectsOfAllPaths()
{
    std::map<std::string, Project> projects;
    for (const projects::TopologyPreset& preset : projects::topologyPresets(kStackLayers)) {
        const std::string& block = blockPresetFor(preset.wiring).name;
        projects.emplace(preset.name, tinyLanguage(block, preset.name, kStackLayers));
    }
    for (const projects::Activation& activation : projects::activations()) {
        Project& project = projects["activation " + std::string(activation.name)];
        project = tinyLanguage("mlp", "plain", kStackLayers);
        project.network.blocks.front().graph =
            graphFrom("x input; l linear; a activation function=" + std::string(activation.name) +
                      "; y output; x > l; l > a; a > y");
    }
    projects["odd MLP"] = withOddMlp();
    projects["layer norms"] = tinyLanguage("gpt", "plain", kStackLayers);
    projects["biases"] = withAttention({{projects::kBiasParam, std::string(projects::kAllBiases)}});
    projects["shared heads"] = withAttention({{"kv_heads", std::int64_t{1}}});
    projects["norms of heads"] = withAttention({{projects::kQkNormParam, std::string(projects::kHeadNorm)}});
    projects["part of a head rotates"] = withAttention({{projects::kRotaryShareParam, 0.5}});
    projects["window"] = withAttention({{projects::kWindowParam, std::int64_t{3}}});
    projects["by features"] = withAttention({{projects::kWeightsParam, std::string(projects::kPerformerWeights)}});
    Project& convolution = projects["convolution"];
    convolution = tinyLanguage("mlp", "plain", kStackLayers);
    convolution.network.blocks.front().graph = graphFrom("x input; a conv1d; y output; x > a; a > y");
    return projects;
}

at::Tensor lossWithGradients(engine::CompiledNetwork& network, const engine::DeviceBatch& batch)
{
    const at::Tensor loss = network.loss(batch, kTraining);
    loss.backward();
    return loss.detach();
}

} // namespace

class TestGpuPaths : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void computeTheSame_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto& [name, project] : projectsOfAllPaths()) {
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
        }
    }
    void computeTheSame()
    {
        QFETCH(QString, name);
        Project project = projectsOfAllPaths().at(name.toStdString());
        for (projects::Node& node : project.network.blocks[0].graph.nodes) {
            node.params.erase("dropout"); // whose draws differ
            if (node.kind == "dropout") {
                node.params["rate"] = 0.0;
            }
        }
        engine::DeviceBatch batch = randomBatch(project, 2, 6, 5);
        const auto expected = compiled(project);
        shake(*expected, 0.1, 3);
        const at::Tensor expectedLoss = lossWithGradients(*expected, batch);
        const engine::GpuPathsOnHost paths;
        const auto network = compiled(project);
        shake(*network, 0.1, 3);
        batch = {batch.input.to(at::kInt), batch.target.to(at::kInt)};
        const at::Tensor loss = lossWithGradients(*network, batch);
        QVERIFY(distance(loss, expectedLoss) < 1e-12);
        for (std::size_t i = 0; i < network->parameters().size(); ++i) {
            const engine::NamedParameter& own = network->parameters()[i];
            const at::Tensor& gradient = expected->parameters()[i].tensor.grad();
            QCOMPARE(own.tensor.grad().defined(), gradient.defined());
            if (gradient.defined()) {
                const double apart = distance(own.tensor.grad(), gradient);
                QVERIFY2(apart < 1e-11, qPrintable(QString("%1: %2").arg(own.name.c_str()).arg(apart)));
            }
        }
    }

    /// A norm returns the activation type on a GPU if all its readers cast it, and nothing else reads it.
    void normsNarrow_data()
    {
        QTest::addColumn<bool>("onGpu");
        QTest::addColumn<bool>("leaves"); // the graph
        QTest::addColumn<bool>("gated");  // by an operator that does not cast
        QTest::addColumn<bool>("narrows");
        QTest::newRow("read by a linear") << true << false << false << true;
        QTest::newRow("leaves the graph") << true << true << false << false;
        QTest::newRow("read by a gate") << true << false << true << false;
        QTest::newRow("on the host") << false << false << false << false;
    }
    void normsNarrow()
    {
        QFETCH(bool, onGpu);
        QFETCH(bool, leaves);
        QFETCH(bool, gated);
        QFETCH(bool, narrows);
        std::optional<engine::GpuPathsOnHost> paths;
        if (onGpu) {
            paths.emplace();
        }
        engine::Compute compute;
        compute.activationType = at::kBFloat16;
        const at::Tensor gain = randomTensor({4}, 1).to(at::kFloat);
        const engine::Norm norm{kernels::NormKind::rms, gain, {}, 1e-6};
        std::vector<engine::ProgramStep> steps(gated ? 3 : 2);
        steps[0] = {std::make_unique<engine::NormOperator>(compute, norm), {0}, 1, {}};
        const engine::Weight weight{randomTensor({4, 4}, 2).to(at::kFloat), {}, {}};
        steps[1] = {std::make_unique<engine::LinearOperator>(compute, weight, at::Tensor()), {1}, 2, {}};
        if (gated) {
            steps[2] = {std::make_unique<engine::SwigluOperator>(), {1, 1}, 3, {}};
        }
        const std::vector<std::size_t> outputs =
            leaves ? std::vector<std::size_t>{1, 2} : std::vector<std::size_t>{steps.back().out, 2};
        engine::fuse(steps, outputs);
        const at::Tensor x = randomTensor({3, 4}, 3).to(at::kFloat);
        const std::vector<at::Tensor> slots = {x};
        const at::Tensor y = steps[0].run->run({slots, steps[0].in, engine::LayerUse()}, engine::Pass());
        const at::Tensor whole = engine::rmsNorm(x, gain, 1e-6);
        QVERIFY(y.equal(narrows ? whole.to(at::kBFloat16) : whole));
    }

    /// A norm computes a sum of two that no earlier step reads, and passes it on.
    void normsAbsorbSums_data()
    {
        QTest::addColumn<bool>("onGpu");
        QTest::addColumn<bool>("leaves"); // the sum leaves the graph
        QTest::addColumn<int>("terms");
        QTest::addColumn<bool>("kept"); // the sum must have a step of its own
        QTest::addColumn<bool>("absorbs");
        QTest::newRow("alone") << true << false << 2 << false << true;
        QTest::newRow("beside the graph's output") << true << true << 2 << false << true;
        QTest::newRow("of three") << true << false << 3 << false << false;
        QTest::newRow("of three, beside the output") << true << true << 3 << false << false;
        QTest::newRow("on the host") << false << true << 2 << false << true;
        QTest::newRow("a step of its own") << true << true << 2 << true << false;
    }
    void normsAbsorbSums()
    {
        QFETCH(bool, onGpu);
        QFETCH(bool, leaves);
        QFETCH(int, terms);
        QFETCH(bool, kept);
        QFETCH(bool, absorbs);
        std::optional<engine::GpuPathsOnHost> paths;
        if (onGpu) {
            paths.emplace();
        }
        const at::Tensor gain = randomTensor({4}, 1);
        const at::Tensor bias = randomTensor({4}, 2);
        std::vector<engine::ProgramStep> steps(2);
        const std::vector<std::size_t> read(static_cast<std::size_t>(terms), 0);
        steps[0] = {std::make_unique<engine::AddOperator>(), read, 1, {}};
        steps[1] = {std::make_unique<engine::NormOperator>(engine::Compute(),
                                                           engine::Norm{kernels::NormKind::layer, gain, bias, 1e-5}),
                    {1},
                    2,
                    {}};
        engine::fuse(steps, leaves ? std::vector<std::size_t>{1, 2} : std::vector<std::size_t>{2},
                     std::vector<std::size_t>(kept ? 1 : 0, 1));
        QCOMPARE(steps.size(), std::size_t{absorbs ? 1U : 2U});
        const at::Tensor x = randomTensor({3, 4}, 3);
        std::vector<at::Tensor> slots = {x, {}, {}};
        for (const engine::ProgramStep& step : steps) {
            const auto [first, second] = step.run->runBoth({slots, step.in, engine::LayerUse()}, engine::Pass());
            slots[step.out] = first;
            if (step.second) {
                slots[*step.second] = second;
            }
        }
        QCOMPARE(steps.back().second.has_value(), leaves);
        QVERIFY(!leaves || distance(slots[1], x * terms) < 1e-12);
        QVERIFY(distance(slots[2], at::layer_norm(x * terms, {4}, gain, bias, 1e-5)) < 1e-12);
    }

    /// No parameter covers the zeros, so gradients and updates do not change them.
    void oddMlpsArePaddedByZeros()
    {
        const Project project = withOddMlp();
        const std::int64_t parameters = parameterCount(*compiled(project));
        const engine::GpuPathsOnHost paths;
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), parameters);
        const at::Tensor gate = parameter(*network, "layers.1.gate.weight");
        const at::Tensor up = parameter(*network, "layers.1.up.weight");
        const std::int64_t width = gate.size(1);
        QCOMPARE(gate.size(0), kOddHidden);
        QCOMPARE(up.storage_offset() - gate.storage_offset(), 64 * width);
        QVERIFY(gate.is_contiguous() && up.is_contiguous());
        lossWithGradients(*network, randomBatch(project, 2, 6, 5));
        QCOMPARE(gate.grad().sizes(), gate.sizes());
        const at::NoGradGuard noGrad;
        for (const engine::NamedParameter& each : network->parameters()) {
            each.tensor.add_(each.tensor.grad().defined() ? each.tensor.grad() + 1 : each.tensor);
        }
        for (const at::Tensor& matrix : {gate, up}) {
            const at::Tensor zeros =
                matrix.as_strided({64 - kOddHidden, width}, {width, 1}, matrix.storage_offset() + kOddHidden * width);
            QCOMPARE(zeros.abs().max().item<double>(), 0.0);
        }
    }

    void paddedMatricesTakeParts()
    {
        std::vector<at::Tensor> own{leaf({kOddHidden, 4}, 1), leaf({kOddHidden, 4}, 2)};
        const std::vector<at::Tensor> apart{leaf({kOddHidden, 4}, 1), leaf({kOddHidden, 4}, 2)};
        const at::Tensor joined = engine::joinRows(own, 64);
        QCOMPARE(joined.size(0), std::int64_t{128});
        const at::Tensor x = randomTensor({5, 4}, 3);
        const at::Tensor all = at::silu(at::matmul(x, apart[0].t())) * at::matmul(x, apart[1].t());
        for (const std::vector<std::size_t>& parts :
             {std::vector<std::size_t>{0, 1, 2}, std::vector<std::size_t>{0, 2}}) {
            const engine::PartRuns kept(kOddHidden, 3, parts);
            const at::Tensor expected = kept.take(all, 1);
            const at::Tensor got = engine::gatedLinear(x, own[0], own[1], joined, engine::Products::Own, kept);
            const at::Tensor features = got.narrow(1, 0, expected.size(1));
            QCOMPARE(got.size(1), kept.all() ? std::int64_t{64} : expected.size(1));
            QVERIFY(distance(features, expected) < 1e-12);
            const at::Tensor probe = randomTensor(expected.sizes(), 4);
            const auto ofOwn = torch::autograd::grad({(features * probe).sum()}, own);
            const auto ofApart = torch::autograd::grad({(expected * probe).sum()}, apart, {}, true);
            for (std::size_t i = 0; i < own.size(); ++i) {
                QVERIFY(distance(ofOwn[i], ofApart[i]) < 1e-12);
            }
        }
    }

    void sumsAndTheirNormsHaveTheGradientsOfBoth_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("hasBranch");
        QTest::addColumn<bool>("readsSum");
        QTest::addColumn<bool>("readsNorm");
        for (const auto kind : {kernels::NormKind::rms, kernels::NormKind::layer}) {
            for (const bool hasBranch : {false, true}) {
                for (const auto& [sum, norm] :
                     {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
                    QTest::addRow("%d, branch %d, sum %d, norm %d", static_cast<int>(kind), hasBranch, sum, norm)
                        << static_cast<int>(kind) << hasBranch << sum << norm;
                }
            }
        }
    }
    void sumsAndTheirNormsHaveTheGradientsOfBoth()
    {
        QFETCH(int, kind);
        QFETCH(bool, hasBranch);
        QFETCH(bool, readsSum);
        QFETCH(bool, readsNorm);
        const engine::Norm norm{static_cast<kernels::NormKind>(kind), leaf({4}, 1), {}, 1e-5};
        const std::vector<at::Tensor> leaves = {leaf({3, 4}, 2), leaf({3, 4}, 3), norm.weight};
        const at::Tensor branch = hasBranch ? leaves[1] : at::Tensor();
        const at::Tensor sum = hasBranch ? leaves[0] + branch : leaves[0];
        const at::Tensor normed = engine::normalised(norm, sum, at::kDouble);
        const engine::NormalisedSum both = engine::normalisedSum(norm, leaves[0], branch, at::kDouble);
        QVERIFY(at::equal(both.sum, sum) && at::equal(both.normalised, normed));
        const at::Tensor probe = randomTensor({3, 4}, 4);
        const auto gradients = [&](const at::Tensor& a, const at::Tensor& b) {
            const at::Tensor loss =
                ((readsSum ? a * probe : at::Tensor(a.detach())) + (readsNorm ? b * b * probe : at::Tensor(b.detach())))
                    .sum();
            return torch::autograd::grad({loss}, leaves, {}, true, false, true);
        };
        const auto expected = gradients(sum, normed);
        const auto got = gradients(both.sum, both.normalised);
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            QCOMPARE(got[i].defined(), expected[i].defined());
            QVERIFY(!got[i].defined() || distance(got[i], expected[i]) < 1e-12);
        }
        const at::Tensor constant = randomTensor({3, 4}, 5);
        QVERIFY(!engine::normalisedSum(norm, constant, hasBranch ? constant : branch, at::kDouble).sum.requires_grad());
    }

    /// Angles in single precision, and one rounding: as if bf16 had been rotated in single precision.
    void rotationRoundsOnce()
    {
        engine::Compute compute;
        engine::RotaryTable table(compute, {.features = 6});
        const at::Tensor x = randomTensor({2, 300, 3, 8}, 1).to(at::kBFloat16);
        const auto rotated = [&](const at::Tensor& from) {
            const engine::GpuPathsOnHost paths;
            at::Tensor leaf = from.detach().clone().requires_grad_();
            const at::Tensor out = engine::rotary(leaf, table.upTo(300));
            out.backward(from);
            return std::pair(out.detach(), leaf.grad());
        };
        const auto [out, gradient] = rotated(x);
        const auto [exact, exactGradient] = rotated(x.to(at::kFloat));
        QVERIFY(out.scalar_type() == at::kBFloat16);
        QVERIFY(out.equal(exact.to(at::kBFloat16)));
        QVERIFY(gradient.equal(exactGradient.to(at::kBFloat16)));
        QVERIFY(out.narrow(3, 6, 2).equal(x.narrow(3, 6, 2)));
        QVERIFY(distance(exact, engine::rotary(x.to(at::kFloat), table.upTo(300))) < 1e-6); // the CPU's kernel
    }

    void batchesAreCopies()
    {
        engine::Batch batch;
        batch.batch = 2;
        batch.time = 3;
        batch.values<std::int64_t>(0) = {1, 2, 3, 4, 5, 6};
        batch.values<std::int64_t>(1) = {2, 3, 4, 5, 6, 7};
        const projects::ExampleSchema schema = projects::ExampleSchema::nextToken(8);
        const engine::DeviceBatch onHost = engine::upload(batch, schema, at::kCPU, at::kFloat);
        QVERIFY(onHost.input.const_data_ptr() == batch.values<std::int64_t>(0).data());
        const engine::GpuPathsOnHost paths;
        const engine::DeviceBatch sent = engine::upload(batch, schema, at::kCPU, at::kFloat);
        QVERIFY(sent.input.scalar_type() == at::kInt);
        QVERIFY(sent.input.to(at::kLong).equal(onHost.input));
        QVERIFY(sent.target.to(at::kLong).equal(onHost.target));
        batch.values<std::int64_t>(0).assign(6, 0); // filled again
        QCOMPARE(sent.input.sum().item<std::int64_t>(), std::int64_t{21});
    }
};

RESIDUA_TEST(TestGpuPaths)
#include "tst_gpu_paths.moc"
