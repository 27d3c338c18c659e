// SPDX-License-Identifier: GPL-3.0-or-later
// Every preset that is a DepthMix, one case each: values and gradients against a composition that is written out in
// mix_reference.cpp, gradients against differences, the start, and the papers' parameter counts.
#include "mix_reference.h"
#include "tests/engine/compute/network/network_harness.h"

#include "projects/check/validate.h"
#include "projects/cost/cost.h"
#include "projects/depth/depth_plan.h"
#include "projects/nodes/ffn_site.h"
#include "tests/support/test_program.h"
#include "tests/support/topology_cost.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <string_view>

using namespace residua;
using namespace residua::tests;
using projects::DepthMix;
using projects::MixSites;
using projects::Project;
using projects::SitePairs;

namespace {

constexpr std::int64_t kPresetDepth = 6;

DepthMix& mixOf(Project& project)
{
    return std::get<DepthMix>(project.stack().topology.wiring);
}

std::int64_t topologyParameters(engine::CompiledNetwork& network)
{
    std::int64_t count = 0;
    for (const engine::NamedParameter& parameter : network.parameters()) {
        count += parameter.name.starts_with("topology.") ? parameter.tensor.numel() : 0;
    }
    return count;
}

/// "layers.3.up.weight" of a network of halves in one of whole layers: layers 2j − 1 and 2j are the halves of layer j.
std::string nameInHalves(const std::string& name)
{
    constexpr std::string_view kLayers = "layers.";
    if (!name.starts_with(kLayers)) {
        return name;
    }
    const std::size_t end = name.find('.', kLayers.size());
    const int layer = std::stoi(name.substr(kLayers.size(), end - kLayers.size()));
    return std::string(kLayers) + std::to_string((layer + 1) / 2) + name.substr(end);
}

} // namespace

class TestMixPresets : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void presets_data()
    {
        QTest::addColumn<QString>("name");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kPresetDepth)) {
            if (std::holds_alternative<DepthMix>(preset.wiring)) {
                QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
            }
        }
    }
    void presets()
    {
        QFETCH(QString, name);
        const Project project = portedVectors(name.toStdString(), kPresetDepth);
        QVERIFY(projects::unsupported(project).empty());
        const auto network = compiled(project);
        QCOMPARE(topologyParameters(*network), referenceParameters(name.toStdString(), kPresetDepth, 6));
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
            Project project = portedVectors(name.toStdString(), kPresetDepth);
            mixOf(project).weightDecay = asked;
            const auto network = compiled(project);
            bool found = false;
            for (const engine::NamedParameter& parameter : network->parameters()) {
                if (parameter.name.starts_with("topology.")) {
                    found = true;
                    QVERIFY2((parameter.decay == engine::Decay::Yes) == asked, parameter.name.c_str());
                }
            }
            QCOMPARE(found, mixOf(project).weight != projects::WeightKind::Fixed);
        }
    }

    /// Where the weights of layer j start one-hot on the newest full output, or 1 on each branch.
    void muddStartsAsThePlainNetwork()
    {
        const Project mudd = tinyLanguage("transformer-qkvr", "mudd", kPresetDepth);
        Project plain = mudd;
        plain.stack().topology = topologyNamed("plain", plain.network);
        const engine::DeviceBatch batch = randomBatch(plain, 2, 4, 5);
        const at::NoGradGuard noGrad;
        QVERIFY(distance(compiled(mudd)->forward(batch.input, kTraining),
                         compiled(plain)->forward(batch.input, kTraining)) < 1e-13);
    }

    void moduleLevelShortcuts_data()
    {
        QTest::addColumn<int>("sites");
        QTest::addColumn<int>("pairs");
        QTest::addColumn<bool>("lastMix");
        QTest::addColumn<int>("modules");
        QTest::addColumn<int>("weights");
        const auto row = [](const char* name, MixSites sites, SitePairs pairs, bool lastMix, int modules, int weights) {
            QTest::newRow(name) << static_cast<int>(sites) << static_cast<int>(pairs) << lastMix << modules << weights;
        };
        row("ffn", MixSites::Ffn, SitePairs::Alike, true, 3, 6);
        row("both, any sites", MixSites::Both, SitePairs::Any, true, 6, 21); // K(K + 1)/2
        row("both, like sites", MixSites::Both, SitePairs::Alike, true, 6, 6 + 3);
        row("both, like sites, none into the output", MixSites::Both, SitePairs::Alike, false, 6, 3 + 3);
    }
    void moduleLevelShortcuts()
    {
        QFETCH(int, sites);
        QFETCH(int, pairs);
        QFETCH(bool, lastMix);
        QFETCH(int, modules);
        QFETCH(int, weights);
        Project project = halvedVectors(static_cast<MixSites>(sites), 3);
        mixOf(project).sitePairs = static_cast<SitePairs>(pairs);
        mixOf(project).lastMix = lastMix;
        QVERIFY(projects::unsupported(project).empty());
        const auto network = compiled(project);
        QCOMPARE(topologyParameters(*network), std::int64_t{weights});
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
            mixOf(p).sitePairs = static_cast<SitePairs>(pairs);
            mixOf(p).lastMix = lastMix;
            return p;
        }();
        QCOMPARE(parameterCount(*compiled(language)), projects::costOf(language)->total.parameters);
    }

    /// A wiring that acts at both halves of a layer is the one that acts once a layer over twice as many layers, each
    /// of which is a half: of values and gradients alike.
    void actsAtBothHalves_data()
    {
        QTest::addColumn<QString>("name");
        for (const projects::TopologyPreset& preset :
             projects::topologyPresets(halvedVectors(MixSites::Both, 3).network)) {
            // The factor of a post-norm depends on the number of layers, which halves are twice as many of.
            const auto* const gate = std::get_if<projects::BranchGate>(&preset.wiring);
            const bool countsLayers = gate != nullptr && gate->scale != projects::PostNormScale::One;
            if (projects::sitesOf(preset.wiring) == MixSites::Both && !countsLayers) {
                QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
            }
        }
        for (const char* const name : {"grn-v3", "denseformer"}) {
            QTest::newRow(name) << name;
        }
    }
    void actsAtBothHalves()
    {
        QFETCH(QString, name);
        Project whole = halvedVectors(MixSites::Both, 3);
        whole.stack().topology = topologyNamed(name.toStdString(), whole.network);
        if (auto* const mix = std::get_if<DepthMix>(&whole.stack().topology.wiring)) {
            mix->sites = MixSites::Both;
        }
        Project halves = whole;
        const auto parts = projects::splitAtFfn(whole.network.blocks[0]);
        halves.network.blocks = {{"attention", "", parts->attention}, {"ffn", "", parts->feedForward}};
        halves.network.stack().segments.clear();
        for (int layer = 0; layer < 3; ++layer) {
            halves.network.stack().segments.push_back({"attention", 1});
            halves.network.stack().segments.push_back({"ffn", 1});
        }
        std::visit(
            [](auto& wiring) {
                if constexpr (requires { wiring.sites; }) {
                    wiring.sites = MixSites::Mhsa;
                }
            },
            halves.stack().topology.wiring);
        const auto network = compiled(whole);
        const auto expected = compiled(halves);
        QCOMPARE(parameterCount(*network), projects::costOf(whole)->total.parameters);
        shake(*network, 0.2, 3);
        {
            const at::NoGradGuard noGrad;
            for (const engine::NamedParameter& to : expected->parameters()) {
                const bool shared = to.name == "topology.alpha"; // the halves of a layer share it
                const at::Tensor& from = parameter(*network, shared ? to.name : nameInHalves(to.name));
                to.tensor.copy_(shared ? from.repeat_interleave(2) : from);
            }
        }
        const engine::DeviceBatch batch = randomBatch(whole, 4, 1, 5);
        QVERIFY(distance(network->forward(batch.input, kTraining), expected->forward(batch.input, kTraining)) < 1e-12);
        network->loss(batch, kTraining).backward();
        expected->loss(batch, kTraining).backward();
        for (const engine::NamedParameter& half : expected->parameters()) {
            if (half.name != "topology.alpha") {
                const at::Tensor& gradient = parameter(*network, nameInHalves(half.name)).grad();
                QVERIFY2(distance(gradient, half.tensor.grad()) < 1e-10, half.name.c_str());
            }
        }
    }

    /// Hyper-Connections at L 6, d 512, n 4: 43,320 connections, where once a layer has half as many.
    void hyperConnectionsCountBothHalves()
    {
        projects::MultiStream wiring;
        wiring.weights = projects::StreamWeights::Dynamic;
        QCOMPARE(tests::topologyCost({"", wiring}, 6, 512).parameters, std::int64_t{43'320});
        wiring.sites = MixSites::Mhsa;
        QCOMPARE(tests::topologyCost({"", wiring}, 6, 512).parameters, std::int64_t{21'660});
    }

    /// Eight blocks of sublayers: 9 entries at the output, of 12 layers' 24 halves.
    void attentionResidualsHaveEightBlocks()
    {
        for (const std::int64_t depth : {4, 8, 12, 24}) {
            const auto presets = projects::topologyPresets(depth);
            const auto block = std::ranges::find(presets, "attention-residuals-block", &projects::TopologyPreset::name);
            const auto plan = projects::planOf(std::get<DepthMix>(block->wiring), depth);
            QCOMPARE(plan.modules, 2 * depth);
            QCOMPARE(plan.readers.back().sources.size(), std::size_t{9});
        }
    }

    /// x_K = F_K(x_{K−1}) + x_{K−1}: as with the last weight learned and 1.
    void withoutALastMixTheLastLayerIsPlain()
    {
        Project project = portedVectors("ancre-none", 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const auto learned = compiled(project);
        mixOf(project).lastMix = false;
        const auto plain = compiled(project);
        QCOMPARE(topologyParameters(*plain), std::int64_t{3}); // K(K − 1)/2
        QCOMPARE(topologyParameters(*learned), std::int64_t{6});
        QCOMPARE(parameterCount(*plain), projects::costOf(project)->total.parameters);
        const at::NoGradGuard noGrad;
        QVERIFY(distance(plain->forward(batch.input, kTraining), learned->forward(batch.input, kTraining)) < 1e-13);
    }

    /// Every entry's own gate vector starts at 0 and learns.
    void entriesWithGateVectorsOfTheirOwnLearn()
    {
        const Project project = portedVectors("grn-v3-table", 3);
        const auto network = compiled(project);
        network->loss(randomBatch(project, 4, 1, 5), kTraining).backward();
        const at::Tensor gradients = parameter(*network, "topology.gate").grad();
        QCOMPARE(gradients.size(0), std::int64_t{10});
        QVERIFY(gradients.abs().amax(1).min().item<double>() > 0);
    }

    /// W1 of MUDD: deviation 1/√d, whatever the project's law.
    void muddStartsByItsOwnLaw()
    {
        Project project = portedVectors("mudd", kPresetDepth);
        project.initialisation = {.law = projects::InitLaw::Normal, .scale = 100};
        const auto network = compiled(project);
        double squares = 0;
        double count = 0;
        for (const engine::NamedParameter& parameter : network->parameters()) {
            if (parameter.name.ends_with(".hidden")) {
                squares += parameter.tensor.square().sum().item<double>();
                count += static_cast<double>(parameter.tensor.numel());
            }
        }
        QVERIFY(count > 2000);
        QVERIFY(std::abs(std::sqrt(squares / count * 6) - 1) < 0.1); // of width 6
    }

    void aBlockWithoutAnFfnIsNamed()
    {
        Project project = tinyVectors("linear", "ancre-ingoing", 3);
        mixOf(project).sites = MixSites::Both;
        QVERIFY(QString::fromStdString(compileError(project)).contains("has no feed-forward half"));
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
        Project project = portedVectors(name.toStdString(), kPresetDepth);
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
        // For one token and two sources, which do not depend on τ themselves, it is tanh(|z_0 − z_1|/2τ).
        const auto spread = [](const engine::Matrix& m) { return std::abs(m.at(1, 0) - m.at(1, 1)); };
        QVERIFY(spread(sharp(0.5)) > spread(sharp(2.0)));
        mixOf(project).temperature = 0;
        QVERIFY(QString::fromStdString(compileError(project)).contains("temperature] got 0, expected more than 0"));
    }
};

RESIDUA_TEST(TestMixPresets)
#include "tst_mix_presets.moc"
