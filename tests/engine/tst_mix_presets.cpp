// SPDX-License-Identifier: GPL-3.0-or-later
// Every preset that is a DepthMix, one case each: values and gradients against a composition that is written out in
// mix_reference.cpp, gradients against differences, the start, and the papers' parameter counts.
#include "mix_reference.h"
#include "network_harness.h"

#include "projects/check/capability.h"
#include "projects/cost/cost.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using projects::DepthMix;
using projects::MixSites;
using projects::Project;

namespace {

constexpr std::int64_t kDepth = 6;

DepthMix& mixOf(Project& project)
{
    return std::get<DepthMix>(project.topology.wiring);
}

std::int64_t topologyParameters(engine::CompiledNetwork& network)
{
    std::int64_t count = 0;
    for (const engine::NamedParameter& parameter : network.parameters()) {
        count += parameter.name.starts_with("topology.") ? parameter.tensor.numel() : 0;
    }
    return count;
}

} // namespace

class TestMixPresets : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void presets_data()
    {
        QTest::addColumn<QString>("name");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kDepth)) {
            if (std::holds_alternative<DepthMix>(preset.wiring)) {
                QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
            }
        }
    }
    void presets()
    {
        QFETCH(QString, name);
        const Project project = portedVectors(name.toStdString(), kDepth);
        QVERIFY(projects::unsupported(project).empty());
        const auto network = compiled(project);
        QCOMPARE(topologyParameters(*network), referenceParameters(name.toStdString(), kDepth, 6));
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const at::Tensor expected = referenceOutput(project, *network, batch.input);
        const at::Tensor got = network->forward(batch.input, kTraining);
        const double scale = 1 + expected.abs().max().item<double>();
        QVERIFY(distance(got, expected) < 1e-12 * scale);
        QVERIFY(gradientDistance(*network, got, expected) < 1e-11 * scale * scale);
        shake(*network, -0.1, 3);
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 2);
        QVERIFY2(check.worst < 1e-6, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    void mixingWeightsDecayOnlyWhenAsked_data() { presets_data(); }
    void mixingWeightsDecayOnlyWhenAsked()
    {
        QFETCH(QString, name);
        for (const bool asked : {false, true}) {
            Project project = portedVectors(name.toStdString(), kDepth);
            mixOf(project).weightDecay = asked;
            const auto network = compiled(project);
            for (const engine::NamedParameter& parameter : network->parameters()) {
                if (parameter.name.starts_with("topology.")) {
                    QVERIFY2((parameter.decay == engine::Decay::Yes) == asked, parameter.name.c_str());
                }
            }
        }
    }

    /// Where the weights of layer j start one-hot on the newest full output, or 1 on each branch.
    void muddStartsAsThePlainNetwork()
    {
        const Project mudd = tinyLanguage("transformer-qkvr", "mudd", kDepth);
        Project plain = mudd;
        plain.topology = topologyNamed("plain", kDepth);
        const engine::DeviceBatch batch = randomBatch(plain, 2, 4, 5);
        const at::NoGradGuard noGrad;
        QVERIFY(distance(compiled(mudd)->forward(batch.input, kTraining),
                         compiled(plain)->forward(batch.input, kTraining)) < 1e-13);
    }

    void moduleLevelShortcuts_data()
    {
        QTest::addColumn<int>("sites");
        QTest::addColumn<int>("modules");
        QTest::newRow("ffn") << static_cast<int>(MixSites::Ffn) << 3;
        QTest::newRow("both") << static_cast<int>(MixSites::Both) << 6;
    }
    void moduleLevelShortcuts()
    {
        QFETCH(int, sites);
        QFETCH(int, modules);
        const Project project = halvedVectors(static_cast<MixSites>(sites), 3);
        QVERIFY(projects::unsupported(project).empty());
        const auto network = compiled(project);
        QCOMPARE(topologyParameters(*network), std::int64_t{modules * (modules + 1) / 2}); // ANCRe, K(K + 1)/2
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        QCOMPARE(network->coefficients(1)[0].rows, std::int64_t{modules});
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const at::Tensor expected = referenceOutput(project, *network, batch.input);
        const at::Tensor got = network->forward(batch.input, kTraining);
        QVERIFY(distance(got, expected) < 1e-12);
        QVERIFY(gradientDistance(*network, got, expected) < 1e-11);
        const Project language = [&] {
            Project p = tinyLanguage("transformer", "ancre-ingoing", 2);
            mixOf(p).sites = static_cast<MixSites>(sites);
            return p;
        }();
        QCOMPARE(parameterCount(*compiled(language)), projects::costOf(language)->total.parameters);
    }

    void aBlockWithoutAnFfnIsNamed()
    {
        Project project = tinyVectors("linear", "ancre-ingoing", 3);
        mixOf(project).sites = MixSites::Both;
        QVERIFY(
            QString::fromStdString(compileError(project))
                .contains("has no feed-forward half to bridge, expected input + a → FFN, and a + FFN as the output"));
    }

    void gateOptions_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("grn-v3") << QString("grn-v3");
        QTest::newRow("dca") << QString("dca");
    }
    void gateOptions()
    {
        QFETCH(QString, name);
        Project project = portedVectors(name.toStdString(), kDepth);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const at::Tensor start = compiled(project)->forward(batch.input, kTraining).detach();
        const auto largest = [&] {
            const auto network = compiled(project);
            network->loss(batch, kTraining).backward();
            return parameter(*network, "topology.gate").grad().abs().max().item<double>();
        };
        QVERIFY(largest() > 0);
        mixOf(project).gate.reluGradAtZero = projects::ReluGradAtZero::Zero;
        QCOMPARE(largest(), 0.0);
        mixOf(project).gate = {.kind = projects::GateKind::Inside};
        QVERIFY(largest() > 0);
        QVERIFY(at::equal(compiled(project)->forward(batch.input, kTraining), start));
        mixOf(project).gate = {.kind = projects::GateKind::Outside, .input = projects::GateInput::Normalised};
        QVERIFY(largest() > 0);
        QVERIFY(at::equal(compiled(project)->forward(batch.input, kTraining), start));
        const auto network = compiled(project);
        shake(*network, 0.1, 7);
        network->loss(batch, kTraining).backward();
        QVERIFY(checkGradients(*network, batch, 3).worst < 1e-6);
    }

    void separateNormsAreCountedAndLearn()
    {
        Project project = tinyLanguage("transformer-qkv", "dca", 2);
        const auto shared = compiled(project);
        mixOf(project).separateNorms = true;
        const auto apart = compiled(project);
        QCOMPARE(parameterCount(*apart), parameterCount(*shared) + 2 * 2 * 8);
        QCOMPARE(parameterCount(*apart), projects::costOf(project)->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 5);
        QVERIFY(at::equal(apart->forward(batch.input, kTraining), shared->forward(batch.input, kTraining)));
        apart->loss(batch, kTraining).backward();
        const at::Tensor q = parameter(*apart, "layers.2.norm_q.weight").grad();
        const at::Tensor v = parameter(*apart, "layers.2.norm_v.weight").grad();
        QVERIFY(q.defined() && v.defined() && distance(q, v) > 0);
    }

    /// Under bf16 the weights are still made in fp32: rows sum to 1 to its rounding, not to that of bf16 (2⁻⁸).
    void softmaxOverDepthStaysInSinglePrecision_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("ingoing") << QString("ancre-ingoing");
        QTest::newRow("attention") << QString("attention-residuals");
    }
    void softmaxOverDepthStaysInSinglePrecision()
    {
        QFETCH(QString, name);
        Project project = tinyLanguage("transformer", name.toStdString(), 5);
        project.training.precision = projects::Precision::Bf16;
        const auto network = compiled(project);
        shake(*network, 0.3, 3);
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 5);
        network->loss(batch, kTraining).backward();
        const engine::Matrix matrix = network->coefficients(1)[0];
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
            double sum = 0;
            for (std::int64_t column = 0; column <= row; ++column) {
                sum += matrix.at(row, column);
            }
            QVERIFY(std::abs(sum - 1) < 1e-6);
        }
        for (const engine::NamedParameter& parameter : network->parameters()) {
            QVERIFY2(parameter.tensor.grad().defined(), parameter.name.c_str());
            QCOMPARE(parameter.tensor.grad().scalar_type(), at::kFloat);
        }
    }

    void temperatureScalesTheLogits()
    {
        Project project = portedVectors("attention-residuals", 3);
        const auto sharp = [&](double temperature) {
            mixOf(project).temperature = temperature;
            const auto network = compiled(project);
            shake(*network, 0.5, 3);
            const at::Tensor ignored = network->forward(randomBatch(project, 1, 1, 5).input, kTraining);
            return network->coefficients(1)[0];
        };
        // Of one token and two sources, which do not depend on it themselves: tanh(|z_0 − z_1|/2τ).
        const auto spread = [](const engine::Matrix& m) { return std::abs(m.at(1, 0) - m.at(1, 1)); };
        QVERIFY(spread(sharp(0.5)) > spread(sharp(2.0)));
        mixOf(project).temperature = 0;
        QVERIFY(QString::fromStdString(compileError(project)).contains("temperature] got 0, expected more than 0"));
    }
};

RESIDUA_TEST(TestMixPresets)
#include "tst_mix_presets.moc"
