// SPDX-License-Identifier: GPL-3.0-or-later
// Outputs at exits with losses of their own, and exit gates, against networks that end there.
#include "network_harness.h"

#include "projects/layers/layer_edits.h"
#include "projects/nodes/towers.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <map>

using namespace residua;
using namespace residua::tests;
using projects::Loop;
using projects::LoopNorm;
using projects::Loss;
using projects::LossKind;
using projects::Project;

namespace {

constexpr std::int64_t kExitBatch = 3;
constexpr std::int64_t kExitTime = 5;
constexpr std::int64_t kVisits = 3;

Loss exitLoss(const std::string& name, LossKind kind, const std::string& output, double weight)
{
    Loss loss;
    loss.name = name;
    loss.kind = kind;
    loss.output = output;
    loss.weight = weight;
    return loss;
}

/// Layer 1, then layers 2 and 3 in a loop of `visits` visits.
Project looped(std::int64_t visits, LoopNorm norm)
{
    Project project = tinyLanguage("transformer", "plain", 3);
    project.stack().loops = {{.first = 2, .last = 3, .visits = visits, .norm = norm}};
    return project;
}

Project gated(LoopNorm norm)
{
    Project project = looped(kVisits, norm);
    project.stack().loops[0].exitGate = true;
    project.network.ownLoss = projects::OwnLoss::Measured;
    project.losses = {exitLoss("exits", LossKind::ExpectedExit, "network.output", 0.5)};
    project.losses[0].entropy = 0.3;
    return project;
}

/// Copies the parameters that both networks have; of those with a row for each visit, the first ones.
void copyCommon(engine::CompiledNetwork& from, engine::CompiledNetwork& to)
{
    const at::NoGradGuard noGrad;
    std::map<std::string, at::Tensor> values;
    for (const engine::NamedParameter& each : from.parameters()) {
        values.emplace(each.name, each.tensor);
    }
    for (engine::NamedParameter& each : to.parameters()) {
        each.tensor.copy_(values.at(each.name).narrow(0, 0, each.tensor.size(0)));
    }
}

std::map<std::string, at::Tensor> gradientsOf(engine::CompiledNetwork& network)
{
    std::map<std::string, at::Tensor> gradients;
    for (const engine::NamedParameter& each : network.parameters()) {
        gradients.emplace(each.name, each.tensor.grad().defined() ? each.tensor.grad() : at::zeros_like(each.tensor));
    }
    return gradients;
}

/// −ln p of each target, [batch · time].
at::Tensor crossEntropies(const at::Tensor& logits, const engine::DeviceBatch& batch)
{
    const at::Tensor rows = at::log_softmax(logits.reshape({-1, logits.size(-1)}), -1);
    return -rows.gather(1, batch.target.reshape({-1, 1})).squeeze(1);
}

std::map<std::string, double> quantitiesOf(engine::CompiledNetwork& network, const engine::DeviceBatch& batch,
                                           const engine::Pass& pass)
{
    const at::NoGradGuard noGrad;
    std::map<std::string, double> values;
    for (const engine::BatchMean& mean : network.quantities(batch, pass).means) {
        values[mean.name] += mean.mean.item<double>();
    }
    return values;
}

} // namespace

class TestExits : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void anExitIsANetworkThatEndsThere_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "post-norm", "highway"}) {
            QTest::newRow(topology) << QString(topology);
        }
    }
    /// The loss at layer 2 of 4, and its gradient, are those of the network of two layers.
    void anExitIsANetworkThatEndsThere()
    {
        QFETCH(QString, topology);
        const std::string name = topology.toStdString();
        Project project = tinyLanguage("transformer", name, 4);
        project.losses = {exitLoss("early", LossKind::CrossEntropy, "network.output@2", 0.25)};
        QCOMPARE(firstErrorPath(project), std::string());
        const auto both = compiled(project);
        const auto whole = compiled(tinyLanguage("transformer", name, 4));
        const auto half = compiled(tinyLanguage("transformer", name, 2));
        shake(*both, 0.2, 1);
        copyCommon(*both, *whole);
        copyCommon(*both, *half);
        const engine::DeviceBatch batch = randomBatch(project, kExitBatch, kExitTime, 3);
        const at::Tensor loss = both->loss(batch, kTraining);
        loss.backward();
        const at::Tensor early = half->loss(batch, kTraining);
        const at::Tensor expected = whole->loss(batch, kTraining) + 0.25 * early;
        expected.backward();
        QVERIFY(distance(loss, expected) < 1e-12);
        const auto ofHalf = gradientsOf(*half);
        for (const auto& [parameter, gradient] : gradientsOf(*whole)) {
            const auto more = ofHalf.find(parameter);
            const at::Tensor sum = more == ofHalf.end() ? gradient : gradient + more->second;
            QVERIFY2(distance(gradientsOf(*both).at(parameter), sum) < 1e-12, parameter.c_str());
        }
        QVERIFY(std::abs(quantitiesOf(*both, batch, kEvaluation).at("early") - early.item<double>()) < 1e-12);
        QVERIFY(distance(both->forward(batch, kEvaluation), whole->forward(batch, kEvaluation)) < 1e-12);
    }

    /// The states of a visit are those of a loop that ends with it, also through the norm at its exit and its streams.
    void visitsLeaveTheirLoop_data()
    {
        QTest::addColumn<int>("norm");
        QTest::addColumn<int>("streams");
        for (const auto norm : {LoopNorm::None, LoopNorm::Visits, LoopNorm::Exit}) {
            for (const auto streams : {projects::LoopStreams::None, projects::LoopStreams::Lanes}) {
                QTest::addRow("%d-%d", static_cast<int>(norm), static_cast<int>(streams))
                    << static_cast<int>(norm) << static_cast<int>(streams);
            }
        }
    }
    void visitsLeaveTheirLoop()
    {
        QFETCH(int, norm);
        QFETCH(int, streams);
        const auto with = [&](std::int64_t visits) {
            Project project = looped(visits, static_cast<LoopNorm>(norm));
            project.stack().loops[0].streams = static_cast<projects::LoopStreams>(streams);
            project.stack().loops[0].streamCount = 2;
            return project;
        };
        Project project = with(kVisits);
        project.losses = {exitLoss("close", LossKind::SquaredError, "network.states@3@2", 1)};
        project.losses[0].target = "network.states";
        QCOMPARE(firstErrorPath(project), std::string());
        const auto whole = compiled(project);
        const auto two = compiled(with(2));
        shake(*whole, 0.2, 1);
        copyCommon(*whole, *two);
        const engine::DeviceBatch batch = randomBatch(project, kExitBatch, kExitTime, 3);
        const at::NoGradGuard noGrad;
        const at::Tensor early = two->stackOutput(batch, kEvaluation);
        const at::Tensor late = whole->stackOutput(batch, kEvaluation);
        const double expected = (early - late).square().mean().item<double>();
        QVERIFY(expected > 1e-6);
        QVERIFY(std::abs(quantitiesOf(*whole, batch, kEvaluation).at("close") - expected) < 1e-12);
    }

    /// Σ p·CE − β·H and its gradients, composed of networks that make one, two and three visits.
    void theExpectedLossWeighsTheVisits()
    {
        const Project project = gated(LoopNorm::Visits);
        QCOMPARE(firstErrorPath(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.3, 1);
        const engine::DeviceBatch batch = randomBatch(project, kExitBatch, kExitTime, 3);
        const at::Tensor loss = network->loss(batch, kTraining);
        loss.backward();
        const at::Tensor w = parameter(*network, "topology.loop.1.exit.weight").detach().clone().requires_grad_(true);
        const at::Tensor b = parameter(*network, "topology.loop.1.exit.bias").detach().clone().requires_grad_(true);
        std::vector<std::unique_ptr<engine::CompiledNetwork>> ends;
        std::vector<at::Tensor> losses;
        std::vector<at::Tensor> shares;
        at::Tensor stays;
        for (std::int64_t visit = 1; visit <= kVisits; ++visit) {
            ends.push_back(compiled(looped(visit, LoopNorm::Visits)));
            copyCommon(*network, *ends.back());
            const at::Tensor states = ends.back()->stackOutput(batch, kTraining);
            losses.push_back(crossEntropies(ends.back()->outputOf(states, batch, kTraining), batch));
            const at::Tensor leaves = at::sigmoid(states.matmul(w.squeeze(0)) + b).reshape({-1});
            shares.push_back(visit == kVisits ? stays : stays.defined() ? stays * leaves : leaves);
            stays = stays.defined() ? stays * (1 - leaves) : 1 - leaves;
        }
        const at::Tensor ce = at::stack(losses, -1);
        const at::Tensor p = at::stack(shares, -1);
        const at::Tensor expected = (p * ce).sum(-1).mean() + 0.3 * (p * p.log()).sum(-1).mean();
        (0.5 * expected).backward();
        QVERIFY(distance(loss, 0.5 * expected) < 1e-12);
        const auto gradients = gradientsOf(*network);
        QVERIFY(distance(gradients.at("topology.loop.1.exit.weight"), w.grad()) < 1e-12);
        QVERIFY(distance(gradients.at("topology.loop.1.exit.bias"), b.grad()) < 1e-12);
        QVERIFY(w.grad().abs().max().item<double>() > 1e-4);
        std::vector<std::map<std::string, at::Tensor>> parts;
        for (const auto& end : ends) {
            parts.push_back(gradientsOf(*end));
        }
        for (const auto& [name, first] : parts[0]) {
            const at::Tensor sum = first + parts[1].at(name) + parts[2].at(name);
            QVERIFY2(distance(gradients.at(name), sum) < 1e-12, name.c_str());
        }
        const auto recorded = quantitiesOf(*network, batch, kEvaluation);
        QVERIFY(std::abs(recorded.at("exits") - expected.item<double>()) < 1e-12);
        const at::Tensor visits = p.select(-1, 0) + 2 * p.select(-1, 1) + 3 * p.select(-1, 2);
        QVERIFY(std::abs(recorded.at("visits") - visits.mean().item<double>()) < 1e-12);
        for (std::size_t v = 0; v < losses.size(); ++v) {
            QVERIFY(std::abs(recorded.at("exits@" + std::to_string(v + 1)) - losses[v].mean().item<double>()) < 1e-12);
        }
        QVERIFY(std::abs(recorded.at("loss") - losses.back().mean().item<double>()) < 1e-12); // the judged one
    }

    /// With a threshold each token has the output of the first visit at which its probabilities add up to it.
    void tokensLeaveEarly()
    {
        const Project project = gated(LoopNorm::Exit);
        const auto network = compiled(project);
        shake(*network, 0.5, 1);
        const engine::DeviceBatch batch = randomBatch(project, kExitBatch, kExitTime, 3);
        const at::NoGradGuard noGrad;
        std::vector<at::Tensor> outputs;
        std::vector<at::Tensor> sums; // of the probabilities so far
        at::Tensor stays;
        for (std::int64_t visit = 1; visit <= kVisits; ++visit) {
            const auto end = compiled(looped(visit, LoopNorm::Exit));
            copyCommon(*network, *end);
            const at::Tensor states = end->stackOutput(batch, kEvaluation);
            outputs.push_back(end->outputOf(states, batch, kEvaluation));
            const at::Tensor leaves =
                at::sigmoid(states.matmul(parameter(*network, "topology.loop.1.exit.weight").squeeze(0)) +
                            parameter(*network, "topology.loop.1.exit.bias"));
            stays = stays.defined() ? stays * (1 - leaves) : 1 - leaves;
            sums.push_back(1 - stays);
        }
        for (const double q : {0.001, 0.3, 0.6, 0.9, 1.0}) {
            engine::Pass pass = kEvaluation;
            pass.exitAt = q;
            const at::Tensor output = network->forward(batch, pass);
            double visits = 0;
            for (std::int64_t example = 0; example < kExitBatch; ++example) {
                for (std::int64_t token = 0; token < kExitTime; ++token) {
                    std::size_t visit = 0;
                    while (visit + 1 < outputs.size() && sums[visit][example][token].item<double>() < q) {
                        ++visit;
                    }
                    visits += static_cast<double>(visit + 1);
                    QVERIFY(distance(output[example][token], outputs[visit][example][token]) < 1e-12);
                }
            }
            const auto recorded = quantitiesOf(*network, batch, pass);
            QVERIFY(std::abs(recorded.at("visits") - visits / static_cast<double>(kExitBatch * kExitTime)) < 1e-12);
            QVERIFY(std::abs(recorded.at("loss") - crossEntropies(output, batch).mean().item<double>()) < 1e-12);
            QVERIFY(std::abs(recorded.at("exits@3") - crossEntropies(outputs.back(), batch).mean().item<double>()) <
                    1e-12);
        }
        QVERIFY(distance(network->forward(batch, kEvaluation), outputs.back()) < 1e-12);
    }

    void faultsNameTheirPlace()
    {
        const auto fault = [](const auto& change) {
            Project project = gated(LoopNorm::Visits);
            change(project);
            return firstErrorPath(project);
        };
        QCOMPARE(fault([](Project& p) { p.stack().loops[0].last = 2; }), std::string("/network/loops/0/exit_gate"));
        QCOMPARE(fault([](Project& p) { p.stack().loops[0].visits = 1; }), std::string("/network/loops/0/visits"));
        QCOMPARE(fault([](Project& p) { p.stack().loops[0].draw = projects::VisitDraw::Uniform; }),
                 std::string("/network/loops/0/draw"));
        QCOMPARE(fault([](Project& p) { p.stack().loops[0].exitGate = false; }), std::string("/losses/0/kind"));
        QCOMPARE(fault([](Project& p) { p.losses[0].output = "network.output@3@1"; }), std::string("/losses/0/output"));
        QCOMPARE(fault([](Project& p) { p.losses[0].entropy = -1; }), std::string("/losses/0/entropy"));
        const auto exitFault = [&](const std::string& value) {
            return fault([&](Project& p) { p.losses.push_back(exitLoss("early", LossKind::CrossEntropy, value, 1)); });
        };
        QCOMPARE(exitFault("network.output@1"), std::string());
        QCOMPARE(exitFault("network.output@3@2"), std::string());
        for (const char* const value : {"network.output@3", "network.output@3@4", "network.output@4",
                                        "network.output@0", "network.output@", "network.output@01", "network.exit@1"}) {
            QCOMPARE(exitFault(value), std::string("/losses/1/output"));
        }
        Project mixed = tinyLanguage("transformer", "grn-v1", 3);
        mixed.losses = {exitLoss("early", LossKind::CrossEntropy, "network.output@1", 1)};
        QCOMPARE(firstErrorPath(mixed), std::string("/losses/0/output"));
    }

    /// Losses stay with their layers, and go with them.
    void exitsFollowTheirLayers()
    {
        projects::Document document{looped(kVisits, LoopNorm::None), {}};
        Project& project = document.project;
        project.losses = {exitLoss("a", LossKind::CrossEntropy, "network.output@1", 1),
                          exitLoss("b", LossKind::CrossEntropy, "network.output@2@3", 1)};
        projects::StackFragment fragment;
        fragment.stack = {{project.network.blocks[0].name, 1}};
        QVERIFY(applyEdit(document, projects::insertLayersEdit(document, 0, fragment)).ok());
        QCOMPARE(project.losses[0].output, std::string("network.output@2"));
        QCOMPARE(project.losses[1].output, std::string("network.output@3@3"));
        std::vector<Loop> loops = project.stack().loops;
        loops[0].visits = 2;
        QVERIFY(applyEdit(document, projects::loopsEdit(document, loops, "fewer")).ok());
        QCOMPARE(project.losses.size(), std::size_t{1});
        QCOMPARE(firstErrorPath(project), std::string());
    }
};

RESIDUA_TEST(TestExits)
#include "tst_exits.moc"
