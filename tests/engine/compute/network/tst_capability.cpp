// SPDX-License-Identifier: GPL-3.0-or-later
// Every topology of the library can be trained, and costs what the document says.
#include "network_harness.h"
#include "projects/check/validate.h"
#include "projects/cost/cost.h"
#include "projects/library/presets.h"
#include "projects/nodes/expression.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>

#include <QTest>

#include <cmath>
#include <map>

using namespace residua;
using namespace residua::tests;
using projects::DepthMix;
using projects::MixPorts;
using projects::Project;

namespace {

constexpr std::int64_t kDepth = 6;

/// The transformer block with the ports that the topology feeds.
Project onItsBlock(const std::string& topology)
{
    return tinyLanguage(blockPresetFor(topologyNamed(topology, kDepth).wiring).name, topology, kDepth);
}

} // namespace

class TestCapability : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void topologies_data()
    {
        QTest::addColumn<QString>("topology");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kDepth)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    void topologies()
    {
        QFETCH(QString, topology);
        const Project project = onItsBlock(topology.toStdString());
        QVERIFY(projects::unsupported(project).empty());
        QCOMPARE(compileError(project), std::string());
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.1, 3);
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 5);
        network->loss(batch, kEvaluation).backward();
        const GradientCheck check = checkGradients(*network, batch, 2, kEvaluation);
        QVERIFY2(check.worst < 2e-6, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    /// Every kind stands in a block of some document that is sound and trains.
    void nodeKinds_data()
    {
        QTest::addColumn<QString>("language"); // a block of a language model; empty: one of vectors
        QTest::addColumn<QString>("vectors");
        const std::map<std::string, const char*> language{
            {"attention", "x input; a attention heads=2; y output; x > a.q; x > a.k; x > a.v; a > y"},
            {"conv1d", "x input; a conv1d; y output; x > a; a > y"},
            {"position_embedding", "x input; a position_embedding; y output; x > a; a > y"},
            {"segment_embedding", "x input; a segment_embedding; y output; x > a; a > y"},
            {"sinusoidal_positions", "x input; l linear; a sinusoidal_positions; y output; x > l; l > a; a > y"},
            {"token_embedding", "x input; a linear; y output; x > a; a > y"}, // in the stem
            {"step_embedding", "x input; a linear; y output; x > a; a > y"},  // in the stem, see tst_diffusion.cpp
        };
        const char* const image = "x input; i image channels=1 height=2 width=3; c conv2d out=1; f flatten; y output; "
                                  "x > i; i > c; c > f; f > y";
        const char* const last = "x input; i image channels=3 height=2 width=1; l features_last; p pool2d "
                                 "kernel=2 padding=1 stride=1 layout=features_last; c conv2d out=1 kernel=1 "
                                 "padding=0 layout=features_last; f flatten; y output; x > i; i > l; l > p; p > c; "
                                 "c > f; f > y";
        const char* const classed = "x input; i image channels=6 height=1 width=1; p patchify patch=1; c class_token; "
                                    "f first_token; y output; x > i; i > p; p > c; c > f; f > y";
        const char* const patches = "x input; i image channels=6 height=1 width=1; p patchify patch=1; m mean_pool; "
                                    "y output; x > i; i > p; p > m; m > y";
        const char* const unpatched = "x input; i image channels=6 height=1 width=1; p patchify patch=1; u unpatchify "
                                      "patch=1 columns=1; y output; x > i; i > p; p > u; u > y";
        const std::map<std::string, const char*> vectors{
            {"unpatchify", unpatched},
            {"one_position", "x input; l linear; o one_position; m mean_pool; y output; x > l; l > o; o > m; m > y"},
            {"slice", "x input; l linear; a slice count=4; b slice first=4 count=2; c concat; y output; x > l; l > a; "
                      "l > b; b > c.in1; a > c.in2; c > y"},
            {"add", "x input; a linear; s add; y output; x > a; x > s.in1; a > s.in2; s > y"},
            {"multiply", "x input; a linear; s multiply; y output; x > a; x > s.in1; a > s.in2; s > y"},
            {"concat", "x input; s concat; a linear; y output; x > s.in1; x > s.in2; s > a; a > y"},
            {"expression", "x input; a linear; e expression; y output; x > a; x > e.x; a > e.y; e > y"},
            {"parameter", "x input; a linear; g parameter features=d start=normal; e expression "
                          "formula=a*g; s add; k parameter; y output; x > a; a > e.a; g > e.g; e > s.in1; k > s.in2; "
                          "s > y"},
            {"noise", "x input; a linear; n noise; s add; y output; x > a; a > n; a > s.in1; n > s.in2; s > y"},
            {"swiglu", "x input; a linear; s swiglu; y output; x > a; a > s.gate; x > s.up; s > y"},
            {"image", image},
            {"conv2d", image},
            {"flatten", image},
            {"features_last", last},
            {"pool2d", last},
            {"patchify", patches},
            {"mean_pool", patches},
            {"class_token", classed},
            {"first_token", classed},
        };
        for (const projects::NodeKind& kind : projects::nodeKinds()) {
            const auto sequence = language.find(kind.key);
            const auto other = vectors.find(kind.key);
            const QString usual = QStringLiteral("x input; l linear; a %1; y output; x > l; l > a; a > y")
                                      .arg(kind.traits.role == projects::NodeRole::GraphInput ||
                                                   kind.traits.role == projects::NodeRole::GraphOutput
                                               ? QStringLiteral("linear")
                                               : QString::fromStdString(kind.key));
            QTest::newRow(kind.key.c_str()) << QString(sequence == language.end() ? "" : sequence->second)
                                            << (other == vectors.end() ? usual : QString(other->second));
        }
    }
    void nodeKinds()
    {
        QFETCH(QString, language);
        QFETCH(QString, vectors);
        Project project = language.isEmpty() ? tinyVectors("linear", "plain", 2) : tinyLanguage("mlp", "plain", 2);
        project.network.blocks.front().graph = graphFrom((language.isEmpty() ? vectors : language).toStdString());
        for (const projects::Problem& problem : projects::validate(project)) {
            QVERIFY2(!projects::hasErrors({problem}), problem.text().c_str());
        }
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, 3, 4, 5);
        network->loss(batch, kEvaluation).backward();
        const GradientCheck check = checkGradients(*network, batch, 2, kEvaluation);
        QVERIFY2(check.worst < 1e-6, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    /// Every function that a formula can call computes for tensors what it does for numbers.
    void functionsOfFormulas_data()
    {
        QTest::addColumn<QString>("function");
        for (const std::string& name : projects::formulaFunctions()) {
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
        }
    }
    void functionsOfFormulas()
    {
        QFETCH(QString, function);
        // Beside 0*x a mean has the width of the sum that it is added to.
        const std::string formula = function.toStdString() + "(x) + 0*x";
        Project project = tinyVectors("linear", "plain", 1);
        project.network.blocks.front().graph = projects::GraphBuilder()
                                                   .node("input", "input")
                                                   .node("formula", "expression", {{"formula", formula}})
                                                   .node("output", "output")
                                                   .wire("input", "formula.x")
                                                   .wire("formula", "output")
                                                   .build();
        const auto network = compiled(project);
        const projects::Expression expression = *projects::parseExpression(formula);
        for (const double x : {-2.5, -1.7, -0.5, 0.3, 0.5, 1.0, 1.5, 2.5, 3.6}) {
            const at::Tensor in = at::full({2, 6}, x, at::kDouble);
            const at::Tensor branch = network->forward(in, kEvaluation) - in;
            const double expected = *projects::evaluate(expression, {{"x", x}});
            QVERIFY2(
                at::allclose(branch, at::full({2, 6}, expected, at::kDouble), 1e-12, 1e-12, /*equal_nan=*/true),
                qPrintable(QString("at %1: %2, expected %3").arg(x).arg(branch[0][0].item<double>()).arg(expected)));
        }
    }

    /// At the start these are the plain residual network.
    void identityAtTheStart_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology :
             {"grn-v1", "grn-v2", "grn-v3", "dca", "k-dca", "denseformer", "denseformer-dilated", "ancre-none",
              "ancre-cascaded", "mudd", "laurel-lr", "laurel-pa"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void identityAtTheStart()
    {
        QFETCH(QString, topology);
        const Project project = onItsBlock(topology.toStdString());
        Project plain = project;
        plain.stack().topology = topologyNamed("plain", kDepth);
        const engine::DeviceBatch batch = randomBatch(plain, 2, 4, 5);
        const at::NoGradGuard noGrad;
        const at::Tensor expected = compiled(plain)->forward(batch.input, kTraining);
        QVERIFY(distance(compiled(project)->forward(batch.input, kTraining), expected) <= 1e-12);
        QVERIFY(expected.abs().max().item<double>() > 1e-6);
    }
};

RESIDUA_TEST(TestCapability)
#include "tst_capability.moc"
