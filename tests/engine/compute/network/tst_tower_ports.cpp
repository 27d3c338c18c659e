// SPDX-License-Identifier: GPL-3.0-or-later
// Further output ports of stems and heads, as values that others read.
#include "network_harness.h"

#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using projects::Project;

namespace {

constexpr std::int64_t kPortRows = 3;
constexpr std::int64_t kPortTokens = 5;

} // namespace

class TestTowerPorts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    /// Layers of a decoder attend to the states of an encoder, whose weights learn from the decoder's loss.
    void layersAttendToAnotherTower()
    {
        Project project = tinyLanguage("transformer", "plain", 2);
        projects::Tower encoder{tinyLanguage("transformer", "plain", 1).network};
        encoder.network.name = "encoder";
        encoder.network.ownLoss = projects::OwnLoss::None;
        encoder.network.head = graphFrom("x input; y output; x > y");
        project.towers = {encoder};
        project.network.blocks[0].graph = graphFrom("x input; c input port=encoder.states; y output; "
                                                    "a attention heads=1 causal=false rope=false; "
                                                    "x > a.q; c > a.k; c > a.v; a > y");
        project.network.stem = graphFrom("x input; embed token_embedding; y output; x > embed; embed > y");
        project.network.head = graphFrom("x input; logits linear out=vocab; y output; x > logits; logits > y");
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.2, 1);
        const engine::DeviceBatch batch = randomBatch(project, kPortRows, kPortTokens, 3);
        const at::Tensor read = network->values(batch, kEvaluation).at("encoder.states");
        at::Tensor states = parameter(*network, "stem.embed.weight")
                                .index_select(0, batch.input.reshape({-1}))
                                .reshape({kPortRows, kPortTokens, -1});
        for (int layer = 1; layer <= 2; ++layer) {
            const auto times = [&](const at::Tensor& x, const std::string& weight) {
                const std::string name = "layers." + std::to_string(layer) + ".a." + weight + ".weight";
                return at::matmul(x, parameter(*network, name).t());
            };
            const double scale = std::sqrt(static_cast<double>(states.size(-1)));
            const at::Tensor scores = at::matmul(times(states, "q"), times(read, "k").transpose(-1, -2)) / scale;
            states = states + times(at::matmul(at::softmax(scores, -1), times(read, "v")), "out");
        }
        const at::Tensor logits = at::matmul(states, parameter(*network, "head.logits.weight").t());
        QVERIFY(distance(network->forward(batch, kEvaluation), logits) < 1e-12);
        network->loss(batch, kTraining).backward();
        for (const engine::NamedParameter& each : network->parameters()) {
            QVERIFY2(each.tensor.grad().defined() && each.tensor.grad().abs().max().item<double>() > 0,
                     each.name.c_str());
        }
    }

    /// The tower's own layers and another tower read a further port of its stem; a loss reads one of its head.
    void furtherPortsAreValues()
    {
        Project project = tinyLanguage("transformer", "plain", 2);
        project.network.stem = graphFrom("x input; embed token_embedding; half scale value=0.5; y output; "
                                         "h output port=hint; x > embed; embed > y; embed > half; half > h");
        project.network.blocks[0].graph = graphFrom("x input; v input port=network.hint; m multiply; y output; "
                                                    "x > m.in1; v > m.in2; m > y");
        project.network.head = graphFrom("x input; logits linear out=vocab; second linear out=vocab; y output; "
                                         "s output port=second; x > logits; logits > y; x > second; second > s");
        project.losses = {{.name = "second",
                           .kind = projects::LossKind::CrossEntropy,
                           .output = "network.second",
                           .target = {},
                           .trains = {}}};
        QCOMPARE(firstErrorPath(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.2, 1);
        const engine::DeviceBatch batch = randomBatch(project, kPortRows, kPortTokens, 3);
        const at::Tensor embedded = parameter(*network, "stem.embed.weight")
                                        .index_select(0, batch.input.reshape({-1}))
                                        .reshape({kPortRows, kPortTokens, -1});
        at::Tensor states = embedded;
        for (int layer = 0; layer < 2; ++layer) {
            states = states + states * (embedded * 0.5);
        }
        const at::Tensor logits = at::matmul(states, parameter(*network, "head.logits.weight").t());
        const at::Tensor second = at::matmul(states, parameter(*network, "head.second.weight").t());
        const auto entropy = [&](const at::Tensor& output) {
            return -at::log_softmax(output, -1).gather(-1, batch.target.unsqueeze(-1)).mean();
        };
        QVERIFY(distance(network->forward(batch, kEvaluation), logits) < 1e-12);
        QVERIFY(distance(network->outputOf(states, batch, kEvaluation), logits) < 1e-12);
        QVERIFY(distance(network->loss(batch, kTraining), entropy(logits) + entropy(second)) < 1e-12);

        // Another tower takes the hint as its input, and the second output at a port of its head.
        projects::Tower reader{tinyLanguage("transformer", "plain", 1).network};
        reader.network.name = "reader";
        reader.network.ownLoss = projects::OwnLoss::None;
        reader.network.input = "network.hint";
        reader.network.stem = graphFrom("x input; y output; x > y");
        reader.network.head =
            graphFrom("x input; v input port=network.second; logits linear out=vocab; s add; y output; "
                      "x > logits; logits > s.in1; v > s.in2; s > y");
        project.towers = {reader};
        project.losses[0].output = "reader.output";
        QCOMPARE(firstErrorPath(project), std::string());
        const auto both = compiled(project);
        QVERIFY(std::isfinite(both->loss(batch, kTraining).item<double>()));

        const auto fault = [&](const auto& change) {
            Project faulty = project;
            change(faulty);
            return firstErrorPath(faulty);
        };
        QCOMPARE(fault([](Project& p) { p.towers[0].network.input = "network.nothing"; }),
                 std::string("/towers/0/input"));
        // Values that nothing reads, of a port that another one has, and that the stem itself reads.
        QCOMPARE(fault([](Project& p) {
                     p.towers[0].network.head = graphFrom("x input; l linear out=vocab; y output; z output port=more; "
                                                          "x > l; l > y; l > z");
                 }),
                 std::string("/network/head/nodes"));
        QCOMPARE(fault([](Project& p) {
                     std::ranges::find(p.network.head.nodes, "s", &projects::Node::name)->params["port"] =
                         std::string("hint");
                 }),
                 std::string("/network/head/nodes"));
        QCOMPARE(fault([](Project& p) {
                     p.network.stem = graphFrom("x input; v input port=network.hint; e token_embedding; s add; "
                                                "y output; h output port=hint; x > e; e > s.in1; v > s.in2; s > y; "
                                                "e > h");
                 }),
                 std::string("/network/stem/nodes"));
    }
};

RESIDUA_TEST(TestTowerPorts)
#include "tst_tower_ports.moc"
