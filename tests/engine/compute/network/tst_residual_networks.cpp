// SPDX-License-Identifier: GPL-3.0-or-later
// Residual networks of convolutions as chains of towers, against their definition on [batch, channels, height, width].
#include "network_harness.h"

#include "projects/cost/cost.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/shipped/recipes.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <map>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::tests;
using projects::Network;
using projects::Project;

namespace {

Network& networkAt(Project& project, std::size_t index)
{
    return index == 0 ? project.network : project.towers[index - 1].network;
}

/// The recipe in double precision for pictures of another size.
Project recipeFor(const std::string& name, std::int64_t side)
{
    Project project = projects::findRecipe(name)->project;
    project.training.precision = projects::Precision::Fp64;
    project.data.source =
        projects::PictureData{.path = "pictures", .validationPath = {}, .height = side, .width = side, .classes = 10};
    projects::setParam(networkAt(project, 1).stem, "image", "height", side);
    projects::setParam(networkAt(project, 1).stem, "image", "width", side);
    return project;
}

/// The network as its papers and torchvision define it: y = relu(x + f(x)).
class Definition {
public:
    Definition(engine::CompiledNetwork& network, bool training) : m_training(training)
    {
        for (const engine::NamedParameter& each : network.parameters()) {
            m_values.emplace(each.name, each.tensor.detach().clone().requires_grad_(!each.isBuffer));
        }
    }

    [[nodiscard]] at::Tensor logits(const at::Tensor& vectors, std::int64_t side, const std::vector<int>& blocks,
                                    bool isDeep) const
    {
        const bool isLarge = value("stage1.stem.conv_picture.weight").size(2) == 7;
        at::Tensor x = vectors.reshape({-1, 3, side, side});
        x = at::relu(normed(convolved(x, "stage1.stem.", "_picture", isLarge ? 2 : 1), "stage1.stem.", "_picture"));
        x = isLarge ? at::max_pool2d(x, 3, 2, 1) : x;
        for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
            const std::string prefix = stage + 1 < blocks.size() ? "stage" + std::to_string(stage + 1) + "." : "";
            const bool shrinks = stage > 0 || isDeep;
            if (shrinks) {
                x = block(x, prefix + "stem.", isDeep, stage > 0 ? 2 : 1);
            }
            for (int layer = 1; layer <= blocks[stage] - (shrinks ? 1 : 0); ++layer) {
                x = block(x, prefix + "layers." + std::to_string(layer) + ".", isDeep, 1);
            }
        }
        return at::linear(x.mean(at::IntArrayRef{2, 3}), value("head.classes.weight"), value("head.classes.bias"));
    }

    [[nodiscard]] const at::Tensor& value(const std::string& name) const { return m_values.at(name); }

private:
    [[nodiscard]] at::Tensor convolved(const at::Tensor& x, const std::string& prefix, const std::string& number,
                                       std::int64_t stride) const
    {
        const at::Tensor& weight = value(prefix + "conv" + number + ".weight");
        return at::conv2d(x, weight, {}, stride, weight.size(2) / 2);
    }

    [[nodiscard]] at::Tensor normed(const at::Tensor& x, const std::string& prefix, const std::string& number) const
    {
        const std::string name = prefix + "norm" + number + ".";
        const auto running = [&](const char* of) { return m_training ? at::Tensor() : value(name + of); };
        return at::batch_norm(x, value(name + "weight"), value(name + "bias"), running("running_mean"),
                              running("running_var"), m_training, 0.1, 1e-5, false);
    }

    [[nodiscard]] at::Tensor shortcut(const at::Tensor& x, const std::string& prefix, std::int64_t channels,
                                      std::int64_t stride) const
    {
        if (m_values.contains(prefix + "conv_shortcut.weight")) {
            return normed(convolved(x, prefix, "_shortcut", stride), prefix, "_shortcut");
        }
        if (channels == x.size(1)) {
            return x;
        }
        const at::Tensor every = x.slice(2, 0, x.size(2), stride).slice(3, 0, x.size(3), stride);
        return at::cat({every, at::zeros_like(every)}, 1);
    }

    [[nodiscard]] at::Tensor block(const at::Tensor& x, const std::string& prefix, bool isDeep,
                                   std::int64_t stride) const
    {
        at::Tensor y = at::relu(normed(convolved(x, prefix, "1", isDeep ? 1 : stride), prefix, "1"));
        y = normed(convolved(y, prefix, "2", isDeep ? stride : 1), prefix, "2");
        y = isDeep ? normed(convolved(at::relu(y), prefix, "3", 1), prefix, "3") : y;
        return at::relu(y + shortcut(x, prefix, y.size(1), stride));
    }

    std::map<std::string, at::Tensor> m_values;
    bool m_training;
};

/// A small network of three stages of two layers, whose functions have a gradient everywhere.
Project smallChain()
{
    Project project = recipeFor("resnet-20", 8);
    for (std::size_t index = 0; index < projects::towerCount(project); ++index) {
        Network& stage = networkAt(project, index);
        stage.stack().width = index == 0 ? 16 : index == 1 ? 4 : 8;
        stage.stack().segments.front().repeat = 2;
        for (projects::Graph* const graph : {&stage.stem, &stage.blocks.front().graph, &stage.head}) {
            projects::setParam(*graph, "activation", "function", std::string("silu"));
        }
    }
    return project;
}

} // namespace

class TestResidualNetworks : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void logitsAndGradientsAreThoseOfTheDefinition_data()
    {
        QTest::addColumn<QString>("recipe");
        QTest::addColumn<int>("side");
        QTest::addColumn<QList<int>>("blocks");
        QTest::addColumn<bool>("isDeep");
        QTest::newRow("resnet-20") << "resnet-20" << 32 << QList<int>{3, 3, 3} << false;
        QTest::newRow("resnet-18") << "resnet-18" << 64 << QList<int>{2, 2, 2, 2} << false;
        QTest::newRow("resnet-50") << "resnet-50" << 64 << QList<int>{3, 4, 6, 3} << true;
    }
    void logitsAndGradientsAreThoseOfTheDefinition()
    {
        QFETCH(QString, recipe);
        QFETCH(int, side);
        QFETCH(QList<int>, blocks);
        QFETCH(bool, isDeep);
        const std::vector<int> counts(blocks.begin(), blocks.end());
        const Project project = recipeFor(recipe.toStdString(), side);
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.02, 1);
        const engine::DeviceBatch batch = randomBatch(project, 3, 1, 5);
        {
            const at::NoGradGuard noGrad;
            const at::Tensor expected = Definition(*network, false).logits(batch.input, side, counts, isDeep);
            const double size = expected.abs().max().item<double>();
            const double away = distance(network->forward(batch, kEvaluation), expected);
            QVERIFY2(size > 1e-3 && away < 1e-10 * (1 + size), qPrintable(QString::number(away)));
        }
        const Definition definition(*network, true);
        const at::Tensor expected =
            at::cross_entropy_loss(definition.logits(batch.input, side, counts, isDeep), batch.target);
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

    /// Topologies connect the blocks within the stages, with one mix for each layer.
    void topologiesConnectTheBlocksOfAStage_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name : {"plain", "dca", "grn-v3", "ancre-ingoing", "denseformer", "hyper-dynamic", "mhc",
                                       "attention-residuals", "rezero", "densenet"}) {
            QTest::newRow(name) << name;
        }
    }
    void topologiesConnectTheBlocksOfAStage()
    {
        QFETCH(QString, topology);
        Project project = smallChain();
        for (std::size_t index = 0; index < projects::towerCount(project); ++index) {
            Network& stage = networkAt(project, index);
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
        const GradientCheck check = checkGradients(*network, batch, 2);
        QVERIFY2(check.worst < 1e-6, check.name.c_str());
    }

    /// Every convolution of NLRA's network is in two factors, which start by a fit.
    void convolutionsStartInFactors()
    {
        Project project = recipeFor("nlra-resnet-50", 64);
        project.initialisation.lowRankEpochs = 1;
        for (std::size_t index = 0; index < projects::towerCount(project); ++index) {
            networkAt(project, index).stack().width = 16 << (index == 0 ? 3 : index - 1);
            networkAt(project, index).stack().segments.front().repeat = 1;
        }
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        QCOMPARE(projects::costOf(project)->total.parameters, parameterCount(*network));
        std::size_t factors = 0;
        for (const engine::NamedParameter& each : network->parameters()) {
            QVERIFY2(!each.name.ends_with("conv1.weight"), each.name.c_str());
            factors += each.name.ends_with(".u") ? 1 : 0;
        }
        QCOMPARE(factors, std::size_t{1 + 4 * 4 + 4 * 3}); // of the picture, the stems, and a layer of each stage
        const engine::DeviceBatch batch = randomBatch(project, 2, 1, 5);
        network->loss(batch, kTraining).backward();
        for (const engine::NamedParameter& each : network->parameters()) {
            QVERIFY2(each.isBuffer || each.tensor.grad().isfinite().all().item<bool>(), each.name.c_str());
        }
    }
};

RESIDUA_TEST(TestResidualNetworks)
#include "tst_residual_networks.moc"
