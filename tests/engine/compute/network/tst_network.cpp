// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled networks against compositions of plain operators in double precision, written here on their own.
#include "network_harness.h"

#include "engine/compute/graph/graph_program.h"
#include "engine/compute/graph/node_builder.h"
#include "engine/compute/graph/operator.h"
#include "projects/cost/cost.h"
#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using projects::GraphBuilder;
using projects::Project;

namespace {

at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight)
{
    return x * at::rsqrt((x * x).mean(-1, true) + 1e-6) * weight;
}

/// Rotates features i and i + r/2 of [batch, time, heads, r] by time · 10000^(−2i/r).
at::Tensor rotated(const at::Tensor& x)
{
    const std::int64_t half = x.size(3) / 2;
    const at::Tensor frequencies = at::pow(10000.0, at::arange(half, at::kDouble) * (-1.0 / static_cast<double>(half)));
    const at::Tensor angle = (at::arange(x.size(1), at::kDouble).unsqueeze(1) * frequencies).unsqueeze(1);
    const at::Tensor a = x.narrow(3, 0, half);
    const at::Tensor b = x.narrow(3, half, half);
    return at::cat({a * at::cos(angle) - b * at::sin(angle), b * at::cos(angle) + a * at::sin(angle)}, 3);
}

at::Tensor attention(engine::CompiledNetwork& net, const std::string& prefix, const at::Tensor& x, std::int64_t heads)
{
    const auto split = [&](const char* name) {
        const at::Tensor y = at::matmul(x, parameter(net, prefix + name).t());
        return y.view({x.size(0), x.size(1), heads, y.size(2) / heads});
    };
    const at::Tensor q = rotated(split("q.weight")).transpose(1, 2);
    const at::Tensor k = rotated(split("k.weight")).transpose(1, 2);
    const at::Tensor v = split("v.weight").transpose(1, 2);
    at::Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
    scores = scores + at::full({x.size(1), x.size(1)}, -INFINITY, at::kDouble).triu(1);
    const at::Tensor mixed = at::matmul(at::softmax(scores, -1), v).transpose(1, 2).flatten(2);
    return at::matmul(mixed, parameter(net, prefix + "out.weight").t());
}

/// r(h) = a + FFN(norm(h + a)), a = Attn(norm(h)).
at::Tensor transformerBranch(engine::CompiledNetwork& net, std::int64_t layer, const at::Tensor& h)
{
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    const auto weight = [&](const char* name) { return parameter(net, prefix + name); };
    const at::Tensor a = attention(net, prefix + "attention.", rmsNorm(h, weight("norm_attention.weight")), 2);
    const at::Tensor x = rmsNorm(h + a, weight("norm_ffn.weight"));
    const at::Tensor gate = at::matmul(x, weight("gate.weight").t());
    const at::Tensor up = at::matmul(x, weight("up.weight").t());
    return a + at::matmul(gate * at::sigmoid(gate) * up, weight("down.weight").t());
}

at::Tensor transformerLogits(engine::CompiledNetwork& net, const at::Tensor& tokens, std::int64_t depth)
{
    at::Tensor h = parameter(net, "stem.embed.weight")
                       .index_select(0, tokens.flatten())
                       .view({tokens.size(0), tokens.size(1), -1});
    for (std::int64_t layer = 1; layer <= depth; ++layer) {
        h = h + transformerBranch(net, layer, h);
    }
    return at::matmul(rmsNorm(h, parameter(net, "head.norm.weight")), parameter(net, "head.logits.weight").t());
}

} // namespace

class TestNetwork : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// x·m leaves by one port and x + m by another; m enters with the pass. The same whether the inside is kept or not.
    void graphsHavePortsByName()
    {
        using Params = std::map<std::string, projects::ParamValue>;
        const projects::Graph graph = projects::GraphBuilder()
                                          .node("side", "output", Params{{"port", std::string("side")}})
                                          .node("mask", "input", Params{{"port", std::string("mask")}})
                                          .node("input", "input")
                                          .node("product", "expression", Params{{"formula", std::string("x*m")}})
                                          .node("sum", "expression", Params{{"formula", std::string("x+m")}})
                                          .node("output", "output")
                                          .wire("input", "product.x")
                                          .wire("mask", "product.m")
                                          .wire("input", "sum.x")
                                          .wire("mask", "sum.m")
                                          .wire("product", "output")
                                          .wire("sum", "side")
                                          .build();
        const projects::Shape shape{{projects::kBatch, 3}};
        const projects::Sizes sizes;
        const Result<engine::Compute> compute = engine::Compute::create("cpu", projects::Precision::Fp64);
        engine::InitPlan plan(*compute, {}, 5, {.depth = 1});
        engine::RotaryTables tables;
        auto program = engine::GraphProgram::compile(graph, {.ref = projects::GraphRef::block("ports"),
                                                             .prefix = "",
                                                             .sizes = sizes,
                                                             .entering = shape,
                                                             .fedByPass = {{"mask", shape}},
                                                             .residualWriters = {},
                                                             .plan = plan,
                                                             .rotaryTables = tables,
                                                             .tiedNode = {},
                                                             .tied = {}});
        QVERIFY2(program.ok(), program ? "" : program.error().text().c_str());
        QCOMPARE(program->inputPorts(), std::vector<std::string>{"input"});
        QCOMPARE(program->outputPorts(), (std::vector<std::string>{"output", "side"})); // not the document's order
        for (const auto activations : {projects::Activations::Keep, projects::Activations::Recompute}) {
            const at::Tensor x = randomTensor({2, 3}, 1).requires_grad_(true);
            engine::Pass pass = kTraining;
            QVERIFY_EXCEPTION_THROWN((void)program->runAll({&x, 1}, pass, activations), c10::Error);
            const at::Tensor m = randomTensor({2, 3}, 2).requires_grad_(true);
            pass.inputs["mask"] = m;
            const std::vector<at::Tensor> out = program->runAll({&x, 1}, pass, activations);
            QCOMPARE(out.size(), std::size_t{2});
            QVERIFY(at::equal(out[0], x * m) && at::equal(out[1], x + m));
            (out[0] * 2 + out[1] * 3).sum().backward();
            QVERIFY(distance(x.grad(), m * 2 + 3) < 1e-12);
            QVERIFY(distance(m.grad(), x * 2 + 3) < 1e-12);
            program->runAll({&x, 1}, pass, activations)[1].sum().backward(); // of one port alone
            QVERIFY(distance(x.grad(), m * 2 + 4) < 1e-12);
        }
    }

    /// A stream depends on the seed, the step and its name, and on nothing else.
    void randomStreamsAreNamed()
    {
        const auto first = [](std::int64_t seed, std::int64_t step, const char* name) {
            return engine::RandomStreams(seed, step).stream(name).at(0);
        };
        QVERIFY(first(1, 7, "layers") == first(1, 7, "layers"));
        QVERIFY(first(1, 7, "layers") != first(1, 7, "heads"));
        QVERIFY(first(1, 7, "layers") != first(1, 8, "layers"));
        QVERIFY(first(1, 7, "layers") != first(2, 7, "layers"));
        QVERIFY(engine::RandomStreams(1, 7).key() != engine::RandomStreams(1, 8).key());
    }

    // Tensors this small gain nothing from threads, and lose much where tests run side by side.
    void initTestCase() { at::set_num_threads(1); }

    void everyKindHasABuilder()
    {
        for (const projects::NodeKind& kind : projects::nodeKinds()) {
            const bool port = kind.key == "input" || kind.key == "output";
            QVERIFY2(port || engine::findNodeBuilder(kind.key), kind.key.c_str());
        }
    }

    /// And what factors are fitted under is what follows them, or differs little.
    void everyActivationHasAFunction()
    {
        const at::Tensor x = at::arange(-60, 61, at::kDouble) / 10;
        for (const projects::Activation& activation : projects::activations()) {
            const std::string name(activation.name);
            const engine::ActivationFunction apply = engine::activationFunction(activation.name);
            QVERIFY2(apply != nullptr, name.c_str());
            if (!activation.fittedAs.empty()) {
                const engine::ActivationFunction fitted = engine::activationFunction(activation.fittedAs);
                QVERIFY2(fitted != nullptr && distance(apply(x), fitted(x)) < 0.0005, name.c_str());
            }
        }
        QVERIFY(distance(engine::activationFunction("gelu_tanh")(x), engine::activationFunction("gelu")(x)) > 0);
        QVERIFY(engine::activationFunction("sine") == nullptr);
    }

    void examplesCompileWithTheCountedParameters()
    {
        for (const projects::Example& example : projects::examples()) {
            const auto network = compiled(example.project);
            const Result<projects::CostReport> cost = projects::costOf(example.project);
            QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
            QCOMPARE(parameterCount(*network), cost->total.parameters);
        }
    }

    void blocksCompileWithTheCountedParameters_data()
    {
        QTest::addColumn<QString>("block");
        for (const projects::BlockPreset& block : projects::blockPresets()) {
            if (block.name == projects::kFirstMuddBlock || block.readsImages) {
                continue; // is for layer 1 of one wiring alone, or for images
            }
            QTest::newRow(block.name.c_str()) << QString::fromStdString(block.name);
        }
    }
    void blocksCompileWithTheCountedParameters()
    {
        QFETCH(QString, block);
        const Project project = tinyLanguage(block.toStdString(), "plain", 2);
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 1);
        QVERIFY(std::isfinite(network->loss(batch, kTraining).item<double>()));
    }

    void transformerEqualsComposition()
    {
        const Project project = tinyLanguage("transformer", "plain", 3);
        const auto network = compiled(project);
        shake(*network, 0.2, 5);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        const at::NoGradGuard noGrad;
        const at::Tensor expected = transformerLogits(*network, batch.input, 3);
        QVERIFY(distance(network->forward(batch.input, kTraining), expected) < 1e-12);
        const at::Tensor picked = at::log_softmax(expected, -1).gather(2, batch.target.unsqueeze(2));
        QVERIFY(std::abs(network->loss(batch, kTraining).item<double>() + picked.mean().item<double>()) < 1e-12);
    }

    /// Attention's inner width is heads times the features per head, whatever the width.
    void innerWidthOfAttentionIsFree()
    {
        Project project = tinyLanguage("transformer", "plain", 3);
        for (projects::Node& node : project.network.blocks[0].graph.nodes) {
            if (node.kind == "attention") {
                node.params["head_dim"] = std::int64_t{6};
            }
        }
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        QCOMPARE(parameter(*network, "layers.1.attention.q.weight").size(0), std::int64_t{12}); // of width 8
        shake(*network, 0.2, 5);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        const at::Tensor expected = transformerLogits(*network, batch.input, 3);
        const at::Tensor got = network->forward(batch.input, kTraining);
        QVERIFY(distance(got, expected) < 1e-12);
        QVERIFY(gradientDistance(*network, got, expected) < 1e-10);
    }

    /// S[t, 2i] = sin(t/10000^(2i/d)), S[t, 2i + 1] the cosine.
    void sinusoidalPositionsAreAdded()
    {
        Project project = tinyLanguage("transformer", "plain", 1);
        const engine::DeviceBatch batch = randomBatch(project, 1, 5, 5);
        project.network.head = projects::GraphBuilder()
                                   .node("input", "input")
                                   .node("position", "sinusoidal_positions")
                                   .node("logits", "linear", {{"out", std::string("vocab")}})
                                   .node("output", "output")
                                   .wire("input", "position")
                                   .wire("position", "logits")
                                   .wire("logits", "output")
                                   .build();
        const auto with = compiled(project);
        project.network.head = projects::GraphBuilder()
                                   .node("input", "input")
                                   .node("logits", "linear", {{"out", std::string("vocab")}})
                                   .node("output", "output")
                                   .wire("input", "logits")
                                   .wire("logits", "output")
                                   .build();
        const auto without = compiled(project);
        const at::NoGradGuard noGrad;
        const at::Tensor difference =
            with->forward(batch.input, kTraining) - without->forward(batch.input, kTraining); // S·Wᵀ
        at::Tensor table = at::zeros({5, 8}, at::kDouble);
        for (std::int64_t t = 0; t < 5; ++t) {
            for (std::int64_t i = 0; i < 4; ++i) {
                const double angle = static_cast<double>(t) / std::pow(10000.0, static_cast<double>(2 * i) / 8);
                table[t][2 * i] = std::sin(angle);
                table[t][2 * i + 1] = std::cos(angle);
            }
        }
        const at::Tensor expected = at::matmul(table, parameter(*with, "head.logits.weight").t());
        QVERIFY(distance(difference[0], expected) < 1e-12);
    }

    void tiedHeadUsesTheTable()
    {
        Project project = tinyLanguage("transformer", "plain", 1);
        project.network.tieHead = true;
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        network->loss(batch, kTraining).backward();
        const at::NoGradGuard noGrad;
        const GradientCheck check = checkGradients(*network, batch, 20);
        QVERIFY2(check.worst < 1e-8, check.name.c_str());
    }

    void mlpEqualsComposition()
    {
        Project project = tinyVectors("mlp", "plain", 2);
        project.network.objective = projects::Objective::MeanSquaredError;
        const auto network = compiled(project);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 9);
        const at::NoGradGuard noGrad;
        at::Tensor x = batch.input;
        for (const std::string prefix : {"layers.1.", "layers.2."}) {
            const auto affine = [&](const at::Tensor& in, const std::string& name) {
                return at::matmul(in, parameter(*network, prefix + name + ".weight").t()) +
                       parameter(*network, prefix + name + ".bias");
            };
            x = x + affine(at::relu(affine(x, "up")), "down");
        }
        QVERIFY(distance(network->forward(batch.input, kTraining), x) < 1e-12);
        QVERIFY(std::abs(network->loss(batch, kTraining).item<double>() -
                         at::pow(x - batch.target, 2).mean().item<double>()) < 1e-12);
    }

    void linearNetworkUnderAncreEqualsComposition()
    {
        const Project project = tinyVectors("linear", "ancre-ingoing", 3);
        const double temperature = std::get<projects::DepthMix>(project.stack().topology.wiring).temperature;
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        const engine::DeviceBatch batch = randomBatch(project, 6, 1, 2);
        const at::NoGradGuard noGrad;
        const at::Tensor c = parameter(*network, "topology.coefficient"); // 0:1 | 0:2 1:2 | 0:3 1:3 2:3
        std::vector<at::Tensor> x{batch.input};
        std::int64_t first = 0;
        for (std::int64_t j = 1; j <= 3; ++j) {
            const at::Tensor p = at::softmax(c.narrow(0, first, j) / temperature, 0);
            at::Tensor sum =
                at::matmul(x.back(), parameter(*network, "layers." + std::to_string(j) + ".weight.weight").t());
            for (std::int64_t i = 0; i < j; ++i) {
                sum = sum + p[i] * x[static_cast<std::size_t>(i)];
            }
            x.push_back(sum);
            first += j;
        }
        QVERIFY(distance(network->forward(batch.input, kTraining), x.back()) < 1e-12);
        const double expected = 0.5 * at::pow(x.back() - batch.target, 2).sum().item<double>() / 6;
        QVERIFY(std::abs(network->loss(batch, kTraining).item<double>() - expected) < 1e-12);
    }

    void gradientsEqualDifferences_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<QString>("topology");
        const char* const cases[][2] = {{"transformer", "plain"},
                                        {"gpt", "grn-v1"},
                                        {"transformer", "ancre-ingoing"},
                                        {"mlp", "ancre-outgoing"},
                                        {"transformer-qkv", "dca"},
                                        {"bottleneck", "denseformer"},
                                        {"low-rank-linear", "grn-v2"},
                                        {"transformer-parallel", "ancre-ingoing"},
                                        {"transformer-norms-after", "grn-v2"}};
        for (const auto& [block, topology] : cases) {
            QTest::addRow("%s, %s", block, topology) << QString(block) << QString(topology);
        }
    }
    void gradientsEqualDifferences()
    {
        QFETCH(QString, block);
        QFETCH(QString, topology);
        const Project project = tinyLanguage(block.toStdString(), topology.toStdString(), 3);
        const auto network = compiled(project);
        shake(*network, 0.1, 11);
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 13);
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 3);
        QVERIFY2(check.worst < 1e-7, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    void everyArithmeticAndSequenceKindHasTheRightGradient()
    {
        Project project = tinyLanguage("transformer", "plain", 1);
        project.network.blocks[0].graph =
            projects::GraphBuilder()
                .node("input", "input")
                .node("position", "position_embedding")
                .node("conv", "conv1d", {{"kernel", std::int64_t{3}}})
                .node("gqa", "attention",
                      {{"heads", std::int64_t{4}},
                       {"kv_heads", std::int64_t{2}},
                       {"qk_norm", std::string("head")},
                       {"bias", std::string("all")}})
                .node("times", "multiply")
                .node("both", "concat")
                .node("down", "linear")
                .node("scale", "scale", {{"learned", std::string("per_feature")}})
                .node("formula", "expression",
                      {{"formula", std::string("x*sigmoid(gate) - mean(x^2)/2 + max(x, tanh(gate))")}})
                .node("drop", "dropout", {{"rate", 0.0}})
                .node("output", "output")
                .wire("input", "position")
                .wire("position", "conv")
                .wire("position", "gqa.q")
                .wire("position", "gqa.k")
                .wire("conv", "gqa.v")
                .wire("gqa", "times.in1")
                .wire("conv", "times.in2")
                .wire("times", "both.in1")
                .wire("gqa", "both.in2")
                .wire("both", "down")
                .wire("down", "scale")
                .wire("scale", "formula.x")
                .wire("conv", "formula.gate")
                .wire("formula", "drop")
                .wire("drop", "output")
                .build();
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.1, 11);
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 13);
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 4);
        QVERIFY2(check.worst < 1e-7, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    void causalTokensDoNotSeeTheFuture()
    {
        const Project project = tinyLanguage("transformer", "ancre-ingoing", 2);
        const auto network = compiled(project);
        shake(*network, 0.2, 1);
        const engine::DeviceBatch batch = randomBatch(project, 1, 5, 3);
        const at::NoGradGuard noGrad;
        const at::Tensor before = network->forward(batch.input, kTraining).narrow(1, 0, 4).clone();
        batch.input[0][4] = (batch.input[0][4] + 1) % 11;
        QVERIFY(at::equal(before, network->forward(batch.input, kTraining).narrow(1, 0, 4)));
    }

    void bf16IsCloseToDouble()
    {
        QCOMPARE(precisionFault(tinyLanguage("transformer", "ancre-ingoing", 2), 0.02), std::string());
    }

    void mistakesNameTheirPlace()
    {
        Project project = tinyLanguage("transformer", "plain", 2);
        project.stack().width = 9;
        QVERIFY(QString::fromStdString(compileError(project)).contains("block transformer · node attention"));
        project = tinyLanguage("transformer", "plain", 2);
        project.network.blocks[0].graph.wires.pop_back();
        QVERIFY(!compileError(project).empty());
        project = tinyLanguage("transformer", "dca", 2);
        QVERIFY(QString::fromStdString(compileError(project)).contains("has one input port, expected q, k and v"));
        project = tinyLanguage("transformer", "plain", 2);
        const auto unknown = engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "tpu:0");
        QVERIFY(!unknown.ok());
        const auto bigger = projects::ExampleSchema::nextToken(12);
        QVERIFY(!engine::CompiledNetwork::compile(project, bigger, "cpu").ok());
    }

    void decayLeavesOutNormsBiasesAndMixes()
    {
        const auto network = compiled(tinyLanguage("gpt", "grn-v1", 2));
        for (const engine::NamedParameter& parameter : network->parameters()) {
            const bool matrix = parameter.tensor.dim() == 2;
            QVERIFY2((parameter.decay == engine::Decay::Yes) == matrix, parameter.name.c_str());
        }
    }
};

RESIDUA_TEST(TestNetwork)
#include "tst_network.moc"
