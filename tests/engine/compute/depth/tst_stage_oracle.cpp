// SPDX-License-Identifier: GPL-3.0-or-later
// The values of a step in stages, against compositions in double precision: layers left out under every scaling, and
// heads and MLP parts that open. Gates and DenseNet are in tst_gate_wirings.
#include "mix_reference.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/train/dropped_step.h"

#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

using namespace residua;
using namespace residua::tests;
using engine::Pass;
using projects::DropSampling;
using projects::DropScaling;
using projects::Project;

namespace {

constexpr std::pair<const char*, DropScaling> kScalings[] = {{"square root", DropScaling::SquareRoot},
                                                             {"linear", DropScaling::Linear},
                                                             {"1/p", DropScaling::InverseProbability}};

void scaledRows(std::initializer_list<const char*> topologies)
{
    QTest::addColumn<QString>("topology");
    QTest::addColumn<int>("scaling");
    for (const char* const topology : topologies) {
        for (const auto& [name, scaling] : kScalings) {
            QTest::addRow("%s, %s", topology, name) << QString(topology) << static_cast<int>(scaling);
        }
    }
}

/// "topology.1.norm" of a network without its first layer is "topology.2.norm" of the whole.
std::string oneLayerOn(std::string name)
{
    for (std::size_t i = 1; i + 1 < name.size(); ++i) {
        if (name[i - 1] == '.' && name[i + 1] == '.' && name[i] >= '0' && name[i] <= '9') {
            ++name[i];
            break;
        }
    }
    return name;
}

at::Tensor gradientOf(const at::Tensor& parameter)
{
    return parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter);
}

/// A language model of two layers in double precision whose second has `heads` heads, and the pass that opens half of
/// its heads, or of the parts of its MLP, by `opening`.
Project opened(const std::string& block, std::int64_t keyValueHeads)
{
    Project project = tinyLanguage(block, "plain", 2);
    for (projects::Node& node : project.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = std::int64_t{4};
            node.params["kv_heads"] = keyValueHeads;
        }
    }
    return project;
}

Pass openingPass(bool heads, double keep, double opening)
{
    Pass pass = kTraining;
    pass.layers.resize(2);
    engine::PartUse& use = heads ? pass.layers[1].heads : pass.layers[1].mlp;
    use = {.sampling = DropSampling::First, .keep = keep, .before = 0.5, .opening = opening};
    pass.layers[1].mlpParts = 4;
    return pass;
}

} // namespace

class TestStageOracle : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    /// Compares the output and the gradient of every parameter, including the topology's, for depth mixes, DCA and
    /// ANCRe.
    void leftOutLayersEqualTheEquations_data()
    {
        scaledRows({"plain", "grn-v1", "grn-v2", "grn-v3", "dca", "k-dca", "ancre-ingoing", "ancre-outgoing",
                    "ancre-none", "ancre-fixed", "denseformer", "mudd"});
    }
    void leftOutLayersEqualTheEquations()
    {
        QFETCH(QString, topology);
        QFETCH(int, scaling);
        Project project = portedVectors(topology.toStdString(), 5);
        const DroppedStep step = droppedStep(project, static_cast<DropScaling>(scaling), 2);
        const auto network = compiled(project);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const at::Tensor expected = referenceOutput(project, *network, batch.input, step.factors);
        const at::Tensor got = network->forward(batch.input, step.pass);
        const double largest = std::max(expected.detach().abs().max().item<double>(), 1.0);
        QVERIFY2(distance(got, expected) < 1e-12 * largest,
                 qPrintable(QString("%1 of %2").arg(distance(got, expected)).arg(largest)));
        const double apart = gradientDistance(*network, got, expected);
        QVERIFY2(apart < 1e-11 * largest, qPrintable(QString("%1 of %2").arg(apart).arg(largest)));
    }

    /// Checks both objectives of vectors. The loss is that of the remaining layers.
    void lossesOfWhatIsLeft_data()
    {
        QTest::addColumn<bool>("mean");
        QTest::newRow("mean squared error") << true;
        QTest::newRow("half the squared error") << false;
    }
    void lossesOfWhatIsLeft()
    {
        QFETCH(bool, mean);
        Project project = portedVectors("grn-v2", 5);
        project.network.objective =
            mean ? projects::Objective::MeanSquaredError : projects::Objective::HalfSquaredError;
        const DroppedStep step = droppedStep(project, DropScaling::SquareRoot, 2);
        const auto network = compiled(project);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const at::Tensor error = referenceOutput(project, *network, batch.input, step.factors) - batch.target;
        const at::Tensor squares = error * error;
        const at::Tensor expected = mean ? squares.mean() : squares.sum() / 8;
        const at::Tensor got = network->loss(batch, step.pass);
        QVERIFY(std::abs(got.item<double>() - expected.item<double>()) < 1e-11);
        QVERIFY(gradientDistance(*network, got, expected) < 1e-10);
    }

    /// With streams and gates, a left-out layer has no effect. The result equals a network of the remaining layers,
    /// whose last matrices may include the factors.
    void theNetworkOfTheKeptLayers_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology :
             {"plain", "hyper-static", "hyper-dynamic", "mhc", "highway", "rezero", "laurel-lr"}) {
            QTest::newRow(topology) << QString(topology);
        }
    }
    void theNetworkOfTheKeptLayers()
    {
        QFETCH(QString, topology);
        const double kept[] = {std::sqrt(2.0), 1.6}; // any factors, whatever made them
        const auto deep = compiled(tinyVectors("mlp", topology.toStdString(), 3));
        const Project project = tinyVectors("mlp", topology.toStdString(), 2);
        const auto shallow = compiled(project);
        shake(*deep, 0.3, 4);
        const auto writes = [](const std::string& name) { return name.find(".down.") != std::string::npos; };
        const auto factorAt = [&](const std::string& name) {
            const bool layer = name.starts_with("layers.");
            return layer && writes(name) ? kept[name[7] - '1'] : 1.0;
        };
        const auto partOf = [](const at::Tensor& whole, const at::Tensor& part) {
            return whole.sizes() == part.sizes() ? whole : whole.narrow(0, 1, part.size(0));
        };
        for (const engine::NamedParameter& to : shallow->parameters()) {
            const at::NoGradGuard noGrad;
            to.tensor.copy_(partOf(parameter(*deep, oneLayerOn(to.name)), to.tensor) * factorAt(to.name));
        }
        Pass pass = kTraining;
        pass.layers.resize(3);
        pass.layers[0].runs = false;
        pass.layers[1].factor = kept[0];
        pass.layers[2].factor = kept[1];
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor got = deep->loss(batch, pass);
        const at::Tensor expected = shallow->loss(batch, kTraining);
        QVERIFY(std::abs(got.item<double>() - expected.item<double>()) < 1e-11);
        got.backward();
        expected.backward();
        for (const engine::NamedParameter& each : shallow->parameters()) {
            const at::Tensor of = partOf(gradientOf(parameter(*deep, oneLayerOn(each.name))), each.tensor);
            const double apart = distance(of, gradientOf(each.tensor) * factorAt(each.name));
            QVERIFY2(apart < 1e-10, qPrintable(QString("%1 %2").arg(each.name.c_str()).arg(apart)));
        }
    }

    /// In MSG of heads and MLP parts, new parts count by the opening factor, in the output and in the gradients. At a
    /// border the factor is 0, and the network equals the one before the border.
    void newColumnsCountByTheOpeningFactor_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<bool>("heads");
        QTest::addColumn<int>("kvHeads");
        QTest::newRow("heads") << QString("transformer") << true << 0;
        QTest::newRow("heads with biases") << QString("gpt") << true << 0;
        QTest::newRow("shared keys") << QString("transformer") << true << 2;
        QTest::newRow("SwiGLU") << QString("transformer") << false << 0;
        QTest::newRow("GELU with biases") << QString("gpt") << false << 0;
    }
    void newColumnsCountByTheOpeningFactor()
    {
        QFETCH(QString, block);
        QFETCH(bool, heads);
        QFETCH(int, kvHeads);
        constexpr double kOpening = 0.3;
        const Project project = opened(block.toStdString(), kvHeads);
        const auto opening = compiled(project);
        const auto reference = compiled(project);
        shake(*opening, 0.2, 4);
        shake(*reference, 0.2, 4);
        const std::string name = heads ? "layers.2.attention.out.weight" : "layers.2.down.weight";
        const auto newColumns = [](const at::Tensor& weight) {
            return weight.narrow(1, weight.size(1) / 2, weight.size(1) / 2);
        };
        {
            const at::NoGradGuard noGrad;
            newColumns(parameter(*reference, name)).mul_(kOpening);
        }
        const engine::DeviceBatch batch = randomBatch(project, 3, 5, 1);
        const at::Tensor got = opening->loss(batch, openingPass(heads, 1, kOpening));
        const at::Tensor expected = reference->loss(batch, kTraining);
        QVERIFY(std::abs(got.item<double>() - expected.item<double>()) < 1e-12);
        got.backward();
        expected.backward();
        newColumns(parameter(*reference, name).mutable_grad()).mul_(kOpening);
        for (const engine::NamedParameter& each : opening->parameters()) {
            const double apart = distance(gradientOf(each.tensor), gradientOf(parameter(*reference, each.name)));
            QVERIFY2(apart < 1e-11, qPrintable(QString("%1 %2").arg(each.name.c_str()).arg(apart)));
        }
        const at::NoGradGuard noGrad;
        const at::Tensor before = opening->forward(batch.input, openingPass(heads, 0.5, 1));
        const at::Tensor after = opening->forward(batch.input, openingPass(heads, 1, 0));
        QVERIFY(distance(before, after) < 1e-13);
        QVERIFY(distance(before, opening->forward(batch.input, kTraining)) > 1e-6);
    }

    /// With layers, heads and MLP parts left out of a step, results are bitwise equal whether activations are kept or
    /// recomputed.
    void computedAgainToTheSameBits_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "grn-v3", "ancre-ingoing", "hyper-dynamic", "highway"}) {
            QTest::newRow(topology) << QString(topology);
        }
    }
    void computedAgainToTheSameBits()
    {
        QFETCH(QString, topology);
        Project project = tinyLanguage("transformer", topology.toStdString(), 4);
        project.training.precision = projects::Precision::Fp32;
        const DroppedStep step = droppedStep(project, DropScaling::SquareRoot, 2);
        project.stack().schedule.axis = projects::DropAxis::All;
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 5);
        std::vector<std::vector<at::Tensor>> found;
        for (const auto activations : {projects::Activations::Keep, projects::Activations::Recompute}) {
            project.training.activations = activations;
            const auto network = compiled(project);
            shake(*network, 0.1, 3);
            const at::Tensor loss = network->loss(batch, step.pass);
            loss.backward();
            std::vector<at::Tensor>& numbers = found.emplace_back();
            numbers.push_back(loss.detach());
            for (const engine::NamedParameter& each : network->parameters()) {
                numbers.push_back(gradientOf(each.tensor));
            }
        }
        for (std::size_t i = 0; i < found[0].size(); ++i) {
            QVERIFY(at::equal(found[0][i], found[1][i]));
        }
    }
};

RESIDUA_TEST(TestStageOracle)
#include "tst_stage_oracle.moc"
