// SPDX-License-Identifier: GPL-3.0-or-later
// EfficientNets as chains of towers, against their definition on [batch, channels, height, width], and small networks
// of convolutions under every topology.
#include "network_harness.h"

#include "projects/cost/cost.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/shipped/recipes.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tensor.h>

#include <QtTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::tests;
using projects::Network;
using projects::Project;

namespace {

constexpr std::int64_t kPictureSide = 32;

Network& stageAt(Project& project, std::size_t index)
{
    return index == 0 ? project.network : project.towers[index - 1].network;
}

/// The recipe in double precision for small pictures, without what acts in training alone.
Project withoutDropout(const std::string& recipe)
{
    Project project = projects::findRecipe(recipe)->project;
    project.training.precision = projects::Precision::Fp64;
    project.data.source = projects::PictureData{
        .path = "pictures", .validationPath = {}, .height = kPictureSide, .width = kPictureSide, .classes = 10};
    project.network.labelSmoothing = 0;
    shrinkPictures(project, kPictureSide);
    return project;
}

/// b0 as its paper defines it, with the weights of the network by their names.
class EfficientDefinition {
public:
    EfficientDefinition(engine::CompiledNetwork& network, bool training) : m_training(training)
    {
        for (const engine::NamedParameter& each : network.parameters()) {
            m_values.emplace(each.name, each.tensor.detach().clone().requires_grad_(!each.isBuffer));
        }
    }

    [[nodiscard]] at::Tensor logits(const at::Tensor& vectors) const
    {
        struct Stage {
            int expansion;
            std::int64_t kernel;
            std::int64_t stride;
            int blocks;
            std::string tower;
        };
        const std::array<Stage, 7> stages{
            Stage{1, 3, 1, 1, "stage2."}, {6, 3, 2, 2, "stage2."}, {6, 5, 2, 2, "stage3."}, {6, 3, 2, 3, "stage4."},
            {6, 5, 1, 3, "stage5."},      {6, 5, 2, 4, ""},        {6, 3, 1, 1, ""}};
        at::Tensor x = vectors.reshape({-1, 3, kPictureSide, kPictureSide});
        x = at::silu(normed(convolved(x, "stage2.stem.conv_picture", 2), "stage2.stem.norm_picture"));
        for (std::size_t i = 0; i < stages.size(); ++i) {
            const Stage& stage = stages[i];
            const std::string suffix = stage.blocks == 1 ? "_" + std::to_string(i + 1) : "";
            const std::string first = stage.tower + (i == 6 ? "head." : "stem.");
            x = block(x, first, suffix, stage.expansion, stage.stride);
            for (int layer = 1; layer < stage.blocks; ++layer) {
                x = x + block(x, stage.tower + "layers." + std::to_string(layer) + ".", "", stage.expansion, 1);
            }
        }
        x = at::silu(normed(convolved(x, "head.conv_top", 1), "head.norm_top"));
        return at::linear(x.mean(at::IntArrayRef{2, 3}), value("head.classes.weight"), value("head.classes.bias"));
    }

    [[nodiscard]] const at::Tensor& value(const std::string& name) const { return m_values.at(name); }

private:
    [[nodiscard]] at::Tensor convolved(const at::Tensor& x, const std::string& name, std::int64_t stride) const
    {
        const at::Tensor& weight = value(name + ".weight");
        return at::conv2d(x, weight, {}, stride, weight.size(2) / 2, 1, x.size(1) / weight.size(1));
    }

    [[nodiscard]] at::Tensor normed(const at::Tensor& x, const std::string& name) const
    {
        const auto running = [&](const char* of) { return m_training ? at::Tensor() : value(name + of); };
        return at::batch_norm(x, value(name + ".weight"), value(name + ".bias"), running(".running_mean"),
                              running(".running_var"), m_training, 0.01, 1e-3, false);
    }

    [[nodiscard]] at::Tensor block(at::Tensor x, const std::string& prefix, const std::string& suffix, int expansion,
                                   std::int64_t stride) const
    {
        const auto named = [&](const char* part) { return prefix + part + suffix; };
        if (expansion > 1) {
            x = at::silu(normed(convolved(x, named("conv_expand"), 1), named("norm_expand")));
        }
        x = at::silu(normed(convolved(x, named("conv_depth"), stride), named("norm_depth")));
        const at::Tensor inner = at::silu(at::linear(x.mean(at::IntArrayRef{2, 3}), value(named("squeeze") + ".weight"),
                                                     value(named("squeeze") + ".bias")));
        const at::Tensor gate =
            at::sigmoid(at::linear(inner, value(named("excite") + ".weight"), value(named("excite") + ".bias")));
        x = x * gate.unsqueeze(2).unsqueeze(3);
        return normed(convolved(x, named("conv_project"), 1), named("norm_project"));
    }

    std::map<std::string, at::Tensor> m_values;
    bool m_training;
};

/// Returns the slope of the loss along a random direction of all parameters: by their gradients, and by a difference.
std::pair<double, double> slopes(engine::CompiledNetwork& network, const engine::DeviceBatch& batch)
{
    constexpr double kStep = 1e-6;
    const at::NoGradGuard noGrad;
    std::vector<std::pair<at::Tensor, at::Tensor>> moves;
    double slope = 0;
    for (const engine::NamedParameter& each : network.parameters()) {
        if (!each.isBuffer && each.tensor.grad().defined()) {
            moves.emplace_back(each.tensor, randomTensor(each.tensor.sizes(), 11 + moves.size()));
            slope += (each.tensor.grad() * moves.back().second).sum().item<double>();
        }
    }
    const auto lossAfter = [&](double step) {
        for (auto& [parameter, direction] : moves) {
            parameter.add_(direction, step);
        }
        return network.loss(batch, kTraining).item<double>();
    };
    const double above = lossAfter(kStep);
    return {slope, (above - lossAfter(-2 * kStep)) / (2 * kStep)};
}

} // namespace

class TestEfficientNets : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void logitsAndGradientsAreThoseOfTheDefinition()
    {
        const Project project = withoutDropout("efficientnet-b0");
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.02, 1);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        {
            const at::NoGradGuard noGrad;
            const at::Tensor expected = EfficientDefinition(*network, false).logits(batch.input);
            const double size = expected.abs().max().item<double>();
            const double away = distance(network->forward(batch, kEvaluation), expected);
            QVERIFY2(size > 1e-3 && away < 1e-10 * (1 + size), qPrintable(QString::number(away)));
        }
        const EfficientDefinition definition(*network, true);
        const at::Tensor expected = at::cross_entropy_loss(definition.logits(batch.input), batch.target);
        expected.backward();
        const at::Tensor loss = network->loss(batch, kTraining);
        loss.backward();
        QVERIFY(distance(loss, expected) < 1e-10);
        for (const engine::NamedParameter& each : network->parameters()) {
            if (!each.isBuffer) {
                const at::Tensor& gradient = definition.value(each.name).grad();
                const double size = gradient.abs().max().item<double>();
                QVERIFY2(distance(each.tensor.grad(), gradient) < 1e-8 * (1 + size), each.name.c_str());
            }
        }
    }

    /// Dropout of examples zeroes the branch of an example with the rate of the layer, and scales the others up.
    void examplesAreDroppedMoreOftenInLaterLayers()
    {
        Project project = tinyVectors("linear", "plain", 3);
        projects::Graph& block = project.network.blocks.front().graph;
        const auto weight = std::ranges::find(block.nodes, "weight", &projects::Node::name)->id;
        projects::insertAfter(block, weight, "drop", "dropout",
                              {{"rate", 0.2}, {"of", std::string("examples")}, {"last_rate", 0.6}});
        const auto network = compiled(project);
        shake(*network, 0.5, 1);
        constexpr std::int64_t kExamples = 4000;
        const at::Tensor x = at::ones({kExamples, 6}, at::kDouble);
        engine::Pass pass = kTraining;
        pass.draws = at::tensor({std::int64_t{3}, std::int64_t{0}}, at::kLong);
        const at::NoGradGuard noGrad;
        const at::Tensor whole = network->forward(x, kEvaluation);
        std::map<std::string, at::Tensor> weights;
        for (const engine::NamedParameter& each : network->parameters()) {
            weights.emplace(each.name, each.tensor);
        }
        // Each example passes one of eight subsets of the layers, with kept branches scaled.
        const at::Tensor out = network->forward(x, pass);
        QVERIFY(distance(out, network->forward(x, pass)) == 0);
        std::array<double, 3> kept{};
        double seen = 0;
        for (int subset = 0; subset < 8; ++subset) {
            at::Tensor state = at::ones({1, 6}, at::kDouble);
            for (int layer = 0; layer < 3; ++layer) {
                const double rate = 0.2 * (layer + 1);
                if ((subset >> layer) % 2 == 1) {
                    const at::Tensor& w = weights.at("layers." + std::to_string(layer + 1) + ".weight.weight");
                    state = state + at::linear(state, w) / (1 - rate);
                }
            }
            const double share = ((out - state).abs().amax(1) < 1e-9).to(at::kDouble).sum().item<double>();
            seen += share;
            for (int layer = 0; layer < 3; ++layer) {
                kept[static_cast<std::size_t>(layer)] += (subset >> layer) % 2 == 1 ? share : 0;
            }
        }
        QCOMPARE(seen, static_cast<double>(kExamples));
        for (std::size_t layer = 0; layer < 3; ++layer) {
            const double rate = 0.2 * static_cast<double>(layer + 1);
            QVERIFY2(std::abs(kept[layer] / kExamples - (1 - rate)) < 0.03, qPrintable(QString::number(kept[layer])));
        }
        QVERIFY(distance(whole, network->forward(x, kEvaluation)) == 0);
    }

    void topologiesConnectTheBlocksOfAStage_data()
    {
        QTest::addColumn<QString>("example");
        QTest::addColumn<QString>("topology");
        for (const char* const example : {"small-resnet", "small-efficientnet"}) {
            for (const projects::TopologyPreset& preset : projects::topologyPresets(2)) {
                const auto* const gate = std::get_if<projects::BranchGate>(&preset.wiring);
                const bool halves = projects::sitesOf(preset.wiring) != projects::MixSites::Mhsa;
                if (!halves && !(gate && gate->gate == projects::BranchGateKind::ValueResidual)) {
                    QTest::addRow("%s, %s", example, preset.name.c_str()) << example << preset.name.c_str();
                }
            }
        }
    }
    /// Topologies that connect the halves of a block are left out, because these blocks have none.
    void topologiesConnectTheBlocksOfAStage()
    {
        QFETCH(QString, example);
        QFETCH(QString, topology);
        Project project = tinyPictures(example.toStdString());
        for (std::size_t index = 0; index < projects::towerCount(project); ++index) {
            Network& stage = stageAt(project, index);
            stage.stack().topology = topologyNamed(topology.toStdString(), stage);
            if (auto* const mix = std::get_if<projects::DepthMix>(&stage.stack().topology.wiring)) {
                mix->ports = projects::MixPorts::Input; // a convolution has no queries, keys and values
            }
        }
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        QCOMPARE(cost->total.parameters, parameterCount(*network));
        shake(*network, 0.1, 1);
        const engine::DeviceBatch batch = randomBatch(project, 3, 1, 5);
        network->loss(batch, kTraining).backward();
        const auto [slope, difference] = slopes(*network, batch);
        QVERIFY2(std::abs(slope - difference) < 1e-5 * (1 + std::abs(slope)), qPrintable(QString::number(slope)));
    }

    /// The convolutions of blocks are in two factors by side; excitation and depthwise ones are whole.
    void convolutionsStartInFactors()
    {
        Project project = tinyPictures("small-efficientnet");
        project.initialisation.lowRank = projects::LowRankMethod::LfaiWs;
        project.initialisation.lowRankEpochs = 1;
        for (std::size_t index = 0; index < projects::towerCount(project); ++index) {
            stageAt(project, index).rank = projects::RankScale{0.25};
        }
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        QCOMPARE(projects::costOf(project)->total.parameters, parameterCount(*network));
        std::set<std::string> factored;
        for (const engine::NamedParameter& each : network->parameters()) {
            if (each.name.ends_with(".u")) {
                factored.insert(each.name);
            }
        }
        QCOMPARE(factored.size(), std::size_t{3 * 2 * 2}); // expansion and projection of each layer
        QVERIFY(factored.contains("layers.2.conv_expand.u"));
    }
};

RESIDUA_TEST(TestEfficientNets)
#include "tst_efficientnets.moc"
