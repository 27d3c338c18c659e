// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parameters of compiled networks start.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/graph/graph_program.h"
#include "engine/compute/graph/node_builder.h"
#include "projects/nodes/graph_builder.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using projects::GraphBuilder;
using projects::Project;

namespace {

std::map<std::string, at::Tensor> valuesOf(engine::CompiledNetwork& network)
{
    std::map<std::string, at::Tensor> values;
    for (const engine::NamedParameter& parameter : network.parameters()) {
        values[parameter.name] = parameter.tensor.detach().clone();
    }
    return values;
}

} // namespace

class TestInitialisation : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    /// Each parameter has numbers of its own, whatever else is declared and filled.
    void initialisationFillsWhatIsWanted()
    {
        const Result<engine::Compute> compute = engine::Compute::create("cpu", projects::Precision::Fp64);
        QVERIFY(compute.ok());
        engine::InitPlan plan(*compute, {}, 5, {.depth = 2});
        const at::Tensor matrix = plan.add("matrix", {3, 4}, engine::Role::Matrix);
        const at::Tensor number = plan.addConstant("number", {2}, 0.5, engine::Decay::No);
        const at::NoGradGuard noGrad;
        matrix.fill_(7);
        QVERIFY(plan.fill({}, [](const std::string& name) { return name == "number"; }));
        QVERIFY(at::equal(matrix, at::full({3, 4}, 7.0, at::kDouble)));
        QVERIFY(at::equal(number, at::full({2}, 0.5, at::kDouble)));

        double share = 0;
        QVERIFY(plan.fill([&](double done) {
            share = done;
            return true;
        }));
        QCOMPARE(share, 1.0);
        engine::InitPlan other(*compute, {}, 5, {.depth = 2});
        (void)other.add("before", {8, 8}, engine::Role::Matrix);
        const at::Tensor again = other.add("matrix", {3, 4}, engine::Role::Matrix);
        QVERIFY(other.fill());
        QVERIFY(at::equal(again, matrix));
    }
    void initialisationCanBeGivenUp()
    {
        const Result<engine::Compute> compute = engine::Compute::create("cpu", projects::Precision::Fp64);
        QVERIFY(compute.ok());
        engine::InitPlan plan(*compute, {}, 5, {.depth = 2});
        (void)plan.addConstant("first", {2}, 1, engine::Decay::No);
        const at::Tensor second = plan.addConstant("second", {2}, 1, engine::Decay::No);
        {
            const at::NoGradGuard noGrad;
            second.zero_();
        }
        const Status stopped = plan.fill([](double) { return false; });
        QCOMPARE(stopped.error().text(), std::string("[initialisation] was given up"));
        QCOMPARE(second.sum().item<double>(), 0.0);
    }
    /// For an initialisation that fits a matrix under the activation behind it.
    void matricesKnowWhatFollows_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<QString>("parameter");
        QTest::addColumn<QString>("activation");
        QTest::newRow("relu") << "mlp"
                              << "layers.1.up.weight"
                              << "relu";
        QTest::newRow("nothing") << "mlp"
                                 << "layers.1.down.weight"
                                 << "";
        QTest::newRow("the gate of a SwiGLU") << "transformer"
                                              << "layers.1.gate.weight"
                                              << "silu";
        QTest::newRow("what a SwiGLU's gate multiplies") << "transformer"
                                                         << "layers.1.up.weight"
                                                         << "";
    }
    void matricesKnowWhatFollows()
    {
        QFETCH(QString, block);
        QFETCH(QString, parameter);
        QFETCH(QString, activation);
        const Project project = tinyLanguage(block.toStdString(), "plain", 1);
        const Result<projects::Sizes> sizes = projects::sizesOf(project);
        const Result<engine::Compute> compute = engine::Compute::create("cpu", projects::Precision::Fp64);
        QVERIFY(sizes.ok() && compute.ok());
        engine::InitPlan plan(*compute, {}, 5, {.depth = 1});
        engine::RotaryTables tables;
        const engine::GraphSetting setting{.ref = projects::GraphRef::block(block.toStdString()),
                                           .prefix = "layers.1.",
                                           .sizes = *sizes,
                                           .entering = {{projects::kBatch, projects::kTime, project.stack().width}},
                                           .fedByPass = {},
                                           .residualWriters = {},
                                           .plan = plan,
                                           .rotaryTables = tables,
                                           .tiedNode = {},
                                           .tied = {}};
        QVERIFY(engine::GraphProgram::compile(project.network.blocks[0].graph, setting).ok());
        for (std::size_t i = 0; i < plan.all().size(); ++i) {
            if (plan.all()[i].name == parameter.toStdString()) {
                QCOMPARE(plan.starts()[i].follows, activation.toStdString());
                return;
            }
        }
        QFAIL("no such parameter");
    }

    void sameSeedGivesTheSameBits()
    {
        Project project = tinyLanguage("transformer", "grn-v1", 2);
        const auto first = valuesOf(*compiled(project));
        const auto second = valuesOf(*compiled(project));
        QCOMPARE(first.size(), second.size());
        for (const auto& [name, value] : first) {
            QVERIFY2(at::equal(value, second.at(name)), name.c_str());
        }
        ++project.seeds.init;
        QVERIFY(!at::equal(first.at("stem.embed.weight"), valuesOf(*compiled(project)).at("stem.embed.weight")));
        project.seeds.init = 2;
        project.training.precision = projects::Precision::Fp32;
        QVERIFY(at::equal(first.at("layers.1.gate.weight").to(at::kFloat),
                          valuesOf(*compiled(project)).at("layers.1.gate.weight")));
    }

    void aNodeMoreChangesNoOtherStart()
    {
        Project project = tinyLanguage("mlp", "plain", 2);
        const auto before = valuesOf(*compiled(project));
        projects::Graph& graph = project.network.blocks[0].graph;
        projects::GraphBuilder more;
        graph = more.node("input", "input")
                    .node("first", "linear")
                    .node("up", "linear", {{"out", std::string("4*d")}, {"bias", true}})
                    .node("down", "linear", {{"bias", true}})
                    .node("output", "output")
                    .wire("input", "first")
                    .wire("first", "up")
                    .wire("up", "down")
                    .wire("down", "output")
                    .build();
        const auto after = valuesOf(*compiled(project));
        QVERIFY(after.contains("layers.2.first.weight"));
        for (const auto& [name, value] : before) {
            QVERIFY2(at::equal(value, after.at(name)), name.c_str());
        }
    }

    void lawsHaveTheirScale_data()
    {
        using projects::InitLaw;
        QTest::addColumn<int>("law");
        QTest::addColumn<double>("deviation"); // of a matrix [256, 64], scale 0.5, not residual
        QTest::newRow("normal") << static_cast<int>(InitLaw::Normal) << 0.5;
        QTest::newRow("xavier") << static_cast<int>(InitLaw::XavierUniform) << 0.5 * std::sqrt(2.0 / (256 + 64));
        QTest::newRow("kaiming") << static_cast<int>(InitLaw::KaimingNormal) << 0.5 * std::sqrt(2.0 / 64);
        QTest::newRow("orthogonal") << static_cast<int>(InitLaw::Orthogonal) << 0.5 / std::sqrt(256.0);
    }
    void lawsHaveTheirScale()
    {
        QFETCH(int, law);
        QFETCH(double, deviation);
        Project project = tinyLanguage("mlp", "plain", 2);
        project.stack().width = 64;
        project.initialisation = {
            .law = static_cast<projects::InitLaw>(law), .scale = 0.5, .scaleResidualByDepth = true};
        const auto network = compiled(project);
        const auto rootMeanSquare = [&](const char* name) {
            return std::sqrt(at::pow(parameter(*network, name), 2).mean().item<double>());
        };
        QVERIFY(std::abs(rootMeanSquare("layers.1.up.weight") / deviation - 1) < 0.03);
        const double transposed =
            static_cast<projects::InitLaw>(law) == projects::InitLaw::KaimingNormal ? deviation / 2 : deviation;
        QVERIFY(std::abs(rootMeanSquare("layers.2.down.weight") / (transposed / 2) - 1) < 0.03); // √(2L) = 2
        if (static_cast<projects::InitLaw>(law) == projects::InitLaw::Orthogonal) {
            const at::Tensor w = parameter(*network, "layers.1.up.weight");
            const at::Tensor gram = at::matmul(w.t(), w) * 4;
            QVERIFY(distance(gram, at::eye(64, at::kDouble)) < 1e-12);
        }
        QCOMPARE(distance(parameter(*network, "layers.1.up.bias"), at::zeros({256})), 0.0);
    }

    /// Stem and head are added to nothing; a block that is cut in two starts as the whole one.
    void onlyBlocksWriteToTheResidual()
    {
        Project project = tinyLanguage("gpt", "ancre-ingoing", 2);
        project.stack().width = 64;
        project.network.stem = GraphBuilder()
                                   .node("input", "input")
                                   .node("embed", "token_embedding")
                                   .node("mapped", "linear")
                                   .node("output", "output")
                                   .wire("input", "embed")
                                   .wire("embed", "mapped")
                                   .wire("mapped", "output")
                                   .build();
        project.initialisation.scale = 0.5;
        const auto starts = valuesOf(*compiled(project));
        const auto startsAt = [&](const char* name, double deviation) {
            const at::Tensor& weight = starts.at(name);
            const double measured = std::sqrt(at::pow(weight, 2).mean().item<double>());
            const double tolerance = 4 / std::sqrt(2.0 * static_cast<double>(weight.numel())); // four deviations
            QVERIFY2(std::abs(measured / deviation - 1) < tolerance,
                     qPrintable(QString("%1: %2").arg(name).arg(measured)));
        };
        startsAt("stem.mapped.weight", 0.5);
        startsAt("head.logits.weight", 0.5);
        startsAt("layers.1.up.weight", 0.5);
        startsAt("layers.1.attention.out.weight", 0.25); // √(2L) = 2
        startsAt("layers.1.down.weight", 0.25);
        for (const projects::MixSites sites : {projects::MixSites::Ffn, projects::MixSites::Both}) {
            std::get<projects::DepthMix>(project.stack().topology.wiring).sites = sites;
            for (const auto& [name, value] : valuesOf(*compiled(project))) {
                QVERIFY2(name == "topology.coefficient" || at::equal(value, starts.at(name)), name.c_str());
            }
        }
    }
};

RESIDUA_TEST(TestInitialisation)
#include "tst_initialisation.moc"
