// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that a pass leaves out: layers under every wiring, heads, parts of MLPs.
#include "tests/engine/compute/depth/mix_reference.h"
#include "tests/engine/compute/network/network_harness.h"

#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::tests;
using engine::Pass;
using projects::DropSampling;
using projects::Project;

namespace {

/// Training without the given layers, counted from 1.
Pass without(std::size_t depth, const std::set<std::size_t>& absent)
{
    Pass pass = kTraining;
    pass.layers.resize(depth);
    for (const std::size_t layer : absent) {
        pass.layers[layer - 1].runs = false;
    }
    return pass;
}

void setZero(at::Tensor tensor)
{
    const at::NoGradGuard noGrad;
    tensor.zero_();
}

/// Whether the gradients of every parameter agree that `counts` names, where none is zero.
std::string gradientFault(engine::CompiledNetwork& a, engine::CompiledNetwork& b,
                          const std::function<bool(const std::string&)>& counts)
{
    for (std::size_t i = 0; i < a.parameters().size(); ++i) {
        const auto gradient = [](const engine::NamedParameter& parameter) {
            return parameter.tensor.grad().defined() ? parameter.tensor.grad() : at::zeros_like(parameter.tensor);
        };
        const std::string& name = a.parameters()[i].name;
        const double apart = distance(gradient(a.parameters()[i]), gradient(b.parameters()[i]));
        if (counts(name) && !(apart < 1e-11)) {
            return name + " " + std::to_string(apart);
        }
    }
    return {};
}

} // namespace

class TestStages : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Where an entry counts by its weight alone, an absent branch is a branch of zeros: the same network with the
    /// weights of those layers at 0, forward and gradients.
    void anAbsentBranchIsZero_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name :
             {"plain", "none", "grn-v1", "grn-v2", "grn-v3", "dca", "k-dca", "denseformer", "denseformer-dilated",
              "mudd", "ancre-none", "ancre-ingoing", "ancre-outgoing", "ancre-cascaded", "ancre-fixed", "densenet"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    void anAbsentBranchIsZero()
    {
        QFETCH(QString, topology);
        constexpr std::size_t kDepth = 5;
        const Project project = portedVectors(topology.toStdString(), kDepth);
        const auto dropped = compiled(project);
        const auto zeroed = compiled(project);
        shake(*dropped, 0.3, 4);
        shake(*zeroed, 0.3, 4);
        const std::set<std::size_t> absent{2, 3};
        const auto isAbsent = [&](const std::string& name) {
            return name.starts_with("layers.2.") || name.starts_with("layers.3.");
        };
        for (const engine::NamedParameter& parameter : zeroed->parameters()) {
            if (isAbsent(parameter.name)) {
                setZero(parameter.tensor);
            }
        }
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor got = dropped->loss(batch, without(kDepth, absent));
        const at::Tensor expected = zeroed->loss(batch, kTraining);
        QVERIFY2(std::abs(got.item<double>() - expected.item<double>()) < 1e-11,
                 qPrintable(QString("%1 %2").arg(got.item<double>()).arg(expected.item<double>())));
        QVERIFY(std::abs(got.item<double>() - dropped->loss(batch, kTraining).item<double>()) > 1e-6);
        got.backward();
        expected.backward();
        const std::string fault = gradientFault(*dropped, *zeroed, [&](const std::string& name) {
            // Weights that only an absent layer reads, or that weigh only its output, have no gradient; with zeros they
            // may.
            return name.starts_with("layers.") && !isAbsent(name);
        });
        QVERIFY2(fault.empty(), fault.c_str());
        for (const engine::NamedParameter& parameter : dropped->parameters()) {
            QVERIFY2(!isAbsent(parameter.name) || !parameter.tensor.grad().defined(), parameter.name.c_str());
        }
    }

    /// Where a layer that is left out is gone with its connections: the network without it.
    void anAbsentLayerIsGone_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name : {"plain", "hyper-static", "hyper-dynamic", "mhc", "highway", "rezero",
                                       "laurel-rw", "laurel-lr", "attention-residuals"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    void anAbsentLayerIsGone()
    {
        QFETCH(QString, topology);
        const auto deep = compiled(tinyVectors("mlp", topology.toStdString(), 2));
        const Project project = tinyVectors("mlp", topology.toStdString(), 1);
        const auto shallow = compiled(project);
        shake(*deep, 0.3, 4);
        const bool attends = topology == "attention-residuals"; // its readers 2 and 3, of one mix each
        {
            const at::NoGradGuard noGrad;
            for (const engine::NamedParameter& to : shallow->parameters()) {
                std::string name = to.name;
                const auto digit = name.find(".1.");
                if (digit != std::string::npos) {
                    name[digit + 1] = '2';
                }
                const at::Tensor from = parameter(*deep, name);
                to.tensor.copy_(from.sizes() == to.tensor.sizes() ? from : from.narrow(0, 1, to.tensor.size(0)));
            }
        }
        QVERIFY(!attends || parameter(*shallow, "topology.query").size(0) == 2);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        QVERIFY(distance(deep->forward(batch.input, without(2, {1})), shallow->forward(batch.input, kTraining)) <
                1e-12);
        deep->loss(batch, without(2, {1})).backward();
        for (const engine::NamedParameter& parameter : deep->parameters()) {
            QVERIFY(!parameter.name.starts_with("layers.1.") || !parameter.tensor.grad().defined());
        }
    }

    /// LAuReL-PA: the activation after an absent layer is that before it once more.
    void previousActivationsGoOn()
    {
        const Project project = tinyVectors("linear", "laurel-pa", 2);
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const at::Tensor& x = batch.input;
        const at::Tensor gamma = parameter(*network, "topology.coefficient"); // 1 of layer 1, then 2 of layer 2
        const at::Tensor mixed = (gamma[1] + gamma[2]) * x;
        const at::Tensor map =
            at::matmul(parameter(*network, "topology.2.up.weight"), parameter(*network, "topology.2.down.weight"));
        const at::Tensor expected =
            x + at::matmul(x, parameter(*network, "layers.2.weight.weight").t()) + at::matmul(mixed, map.t());
        QVERIFY(distance(network->forward(x, without(2, {1})), expected) < 1e-12);
    }

    /// Both halves of a layer go, wherever the sites cut.
    void halvesGoWithTheirLayer_data()
    {
        QTest::addColumn<int>("sites");
        QTest::newRow("mhsa") << static_cast<int>(projects::MixSites::Mhsa);
        QTest::newRow("ffn") << static_cast<int>(projects::MixSites::Ffn);
        QTest::newRow("both") << static_cast<int>(projects::MixSites::Both);
    }
    void halvesGoWithTheirLayer()
    {
        QFETCH(int, sites);
        for (const std::size_t layer : {1, 2, 3}) {
            const Project project = halvedVectors(static_cast<projects::MixSites>(sites), 3);
            const auto dropped = compiled(project);
            const auto zeroed = compiled(project);
            shake(*dropped, 0.3, 4);
            shake(*zeroed, 0.3, 4);
            const std::string prefix = "layers." + std::to_string(layer) + ".";
            setZero(parameter(*zeroed, prefix + "a.weight"));
            setZero(parameter(*zeroed, prefix + "down.weight"));
            const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
            QVERIFY(distance(dropped->forward(batch.input, without(3, {layer})),
                             zeroed->forward(batch.input, kTraining)) < 1e-12);
        }
    }

    /// PLD, algorithm 2: u = x + a(x)/p, then u + f(u)/p. The factor is of what each half ends with, so that it may
    /// stand in their last matrices: forward and gradients, and the other scalings scale the layer's branch as a whole.
    void bothHalvesAreScaled_data()
    {
        QTest::addColumn<bool>("recompute");
        QTest::newRow("kept") << false;
        QTest::newRow("computed again") << true;
    }
    void bothHalvesAreScaled()
    {
        QFETCH(bool, recompute);
        constexpr double kFactor = 1.6;
        Project project = halvedVectors(projects::MixSites::Mhsa, 2);
        project.stack().topology = topologyNamed("plain", 2);
        project.stack().schedule.scaling = projects::DropScaling::InverseProbability;
        project.training.activations = recompute ? projects::Activations::Recompute : projects::Activations::Keep;
        const auto scaled = compiled(project);
        const auto reference = compiled(project);
        shake(*scaled, 0.3, 4);
        shake(*reference, 0.3, 4);
        const std::vector<std::string> ends{"layers.2.a.weight", "layers.2.down.weight"};
        for (const std::string& name : ends) {
            const at::NoGradGuard noGrad;
            parameter(*reference, name).mul_(kFactor);
        }
        Pass pass = kTraining;
        pass.layers.resize(2);
        pass.layers[1].factor = kFactor;
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor got = scaled->loss(batch, pass);
        const at::Tensor expected = reference->loss(batch, kTraining);
        QVERIFY(std::abs(got.item<double>() - expected.item<double>()) < 1e-12);
        got.backward();
        expected.backward();
        for (const std::string& name : ends) {
            parameter(*reference, name).mutable_grad().mul_(kFactor);
        }
        const std::string fault = gradientFault(*scaled, *reference, [](const std::string&) { return true; });
        QVERIFY2(fault.empty(), fault.c_str());

        project.stack().schedule.scaling = projects::DropScaling::Linear;
        const auto whole = compiled(project);
        shake(*whole, 0.3, 4);
        QVERIFY(std::abs(whole->loss(batch, pass).item<double>() - expected.item<double>()) > 1e-6);
    }

    /// Kept heads are a dense attention with the columns of the others at 0 in the output's projection; theirs alone
    /// have gradients.
    void keptHeadsAreTheOthersAtZero_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<int>("kvHeads");
        QTest::addColumn<bool>("norm");
        QTest::addColumn<bool>("performer");
        QTest::addColumn<QString>("bias");
        QTest::newRow("joined") << QString("transformer") << 0 << false << false << "none";
        QTest::newRow("norms on q and k") << QString("transformer") << 0 << true << false << "none";
        QTest::newRow("shared keys") << QString("transformer") << 2 << false << false << "none";
        QTest::newRow("biases") << QString("gpt") << 0 << false << false << "all";
        QTest::newRow("biases of q, k and v") << QString("transformer") << 2 << false << false << "qkv";
        QTest::newRow("by features") << QString("transformer") << 0 << false << true << "none";
        QTest::newRow("by features, shared keys") << QString("gpt") << 2 << true << true << "all";
    }
    void keptHeadsAreTheOthersAtZero()
    {
        QFETCH(QString, block);
        QFETCH(int, kvHeads);
        QFETCH(bool, norm);
        QFETCH(bool, performer);
        QFETCH(QString, bias);
        Project project = tinyLanguage(block.toStdString(), "plain", 2);
        projects::NodeId id{};
        for (projects::Node& node : project.network.blocks.front().graph.nodes) {
            if (node.kind == "attention") {
                id = node.id;
                node.params["heads"] = std::int64_t{4};
                node.params["kv_heads"] = std::int64_t{kvHeads};
                node.params["qk_norm"] = std::string(norm ? "head" : "none");
                node.params["bias"] = bias.toStdString();
                node.params["weights"] = std::string(performer ? "performer" : "softmax");
                node.params["features"] = std::int64_t{5};
            }
        }
        const auto dropped = compiled(project);
        const auto zeroed = compiled(project);
        shake(*dropped, 0.2, 4);
        shake(*zeroed, 0.2, 4);
        Pass pass = kTraining;
        pass.layers.resize(2);
        pass.layers[1].heads = {.sampling = DropSampling::FixedSize, .keep = 0.5, .key = 12};
        const std::int64_t parts = kvHeads == 0 ? 4 : kvHeads;
        const engine::KeptParts kept = engine::keptParts(pass.layers[1].heads, parts, static_cast<std::uint64_t>(id));
        QCOMPARE(static_cast<std::int64_t>(kept.parts.size()), parts / 2);
        const std::int64_t length = 8 / parts; // features of a part
        for (std::int64_t part = 0; part < parts; ++part) {
            if (!std::ranges::count(kept.parts, static_cast<std::size_t>(part))) {
                setZero(parameter(*zeroed, "layers.2.attention.out.weight").narrow(1, part * length, length));
            }
        }
        const engine::DeviceBatch batch = randomBatch(project, 3, 5, 1);
        const at::Tensor got = dropped->loss(batch, pass);
        const at::Tensor expected = zeroed->loss(batch, kTraining);
        QVERIFY(std::abs(got.item<double>() - expected.item<double>()) < 1e-12);
        got.backward();
        expected.backward();
        const auto counts = [](const std::string& name) { return name != "layers.2.attention.out.weight"; };
        const std::string fault = gradientFault(*dropped, *zeroed, counts);
        QVERIFY2(fault.empty(), fault.c_str());
        const at::Tensor out = parameter(*dropped, "layers.2.attention.out.weight").grad();
        const at::Tensor all = parameter(*zeroed, "layers.2.attention.out.weight").grad();
        for (std::int64_t part = 0; part < parts; ++part) {
            const bool runs = std::ranges::count(kept.parts, static_cast<std::size_t>(part)) > 0;
            const at::Tensor columns = out.narrow(1, part * length, length);
            QVERIFY(runs ? distance(columns, all.narrow(1, part * length, length)) < 1e-12
                         : columns.abs().max().item<double>() == 0);
        }
    }

    void keptPartsAreTheOthersAtZero_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<QString>("closer");
        QTest::newRow("SwiGLU") << QString("transformer") << QString("down");
        QTest::newRow("GELU with biases") << QString("gpt") << QString("down");
        QTest::newRow("ReLU") << QString("mlp") << QString("down");
    }
    void keptPartsAreTheOthersAtZero()
    {
        QFETCH(QString, block);
        QFETCH(QString, closer);
        const bool vectors = block == "mlp";
        Project project = vectors ? tinyVectors("mlp", "plain", 2) : tinyLanguage(block.toStdString(), "plain", 2);
        const auto dropped = compiled(project);
        const auto zeroed = compiled(project);
        shake(*dropped, 0.2, 4);
        shake(*zeroed, 0.2, 4);
        const projects::Graph& graph = project.network.blocks.front().graph;
        const auto node = std::ranges::find(graph.nodes, closer.toStdString(), &projects::Node::name);
        QVERIFY(node != graph.nodes.end());
        Pass pass = kTraining;
        pass.layers.resize(2);
        pass.layers[0].mlp = {.sampling = DropSampling::FixedSize, .keep = 0.5, .key = 5};
        pass.layers[0].mlpParts = 4;
        const engine::KeptParts kept = engine::keptParts(pass.layers[0].mlp, 4, static_cast<std::uint64_t>(node->id));
        QCOMPARE(kept.parts.size(), std::size_t{2});
        const std::string name = "layers.1." + closer.toStdString() + ".weight";
        const std::int64_t length = parameter(*zeroed, name).size(1) / 4;
        for (std::size_t part = 0; part < 4; ++part) {
            if (!std::ranges::count(kept.parts, part)) {
                setZero(parameter(*zeroed, name).narrow(1, static_cast<std::int64_t>(part) * length, length));
            }
        }
        const engine::DeviceBatch batch = vectors ? randomBatch(project, 5, 1, 1) : randomBatch(project, 3, 5, 1);
        const at::Tensor got = dropped->loss(batch, pass);
        const at::Tensor expected = zeroed->loss(batch, kTraining);
        QVERIFY(std::abs(got.item<double>() - expected.item<double>()) < 1e-12);
        QVERIFY(std::abs(got.item<double>() - dropped->loss(batch, kTraining).item<double>()) > 1e-7);
        got.backward();
        expected.backward();
        const std::string fault =
            gradientFault(*dropped, *zeroed, [&](const std::string& other) { return other != name; });
        QVERIFY2(fault.empty(), fault.c_str());
    }
};

RESIDUA_TEST(TestStages)
#include "tst_stages.moc"
