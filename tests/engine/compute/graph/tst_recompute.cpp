// SPDX-License-Identifier: GPL-3.0-or-later
// Layers whose inside is computed again in the backward give the bits of those that keep it, dropout included.
#include "tests/engine/compute/network/network_harness.h"

#include "projects/cost/cost.h"
#include "tests/support/test_program.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>

#include <QtTest>

using namespace residua;
using namespace residua::tests;
using projects::Activations;
using projects::Project;

namespace {

struct TrainedStep {
    at::Tensor loss;
    std::vector<at::Tensor> gradients;
    at::Tensor next; ///< what the random state gives afterwards
};

TrainedStep stepOf(Project project, Activations activations, const engine::DeviceBatch& batch)
{
    project.training.activations = activations;
    const auto network = compiled(project);
    shake(*network, 0.1, 3);
    at::manual_seed(17);
    TrainedStep step;
    step.loss = network->loss(batch, kTraining).detach();
    for (int micro = 0; micro < 2; ++micro) {
        step.loss = network->loss(batch, kTraining);
        step.loss.backward();
    }
    for (const engine::NamedParameter& parameter : network->parameters()) {
        step.gradients.push_back(parameter.tensor.grad());
    }
    step.next = at::rand({4});
    return step;
}

} // namespace

class TestRecompute : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void sameBits_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<QString>("topology");
        QTest::addColumn<double>("dropout");
        const char* const cases[][2] = {{"transformer", "plain"},
                                        {"transformer-qkv", "plain"},
                                        {"transformer", "grn-v3"},
                                        {"transformer-qkv", "dca"},
                                        {"transformer-qkv", "k-dca"},
                                        {"transformer", "ancre-ingoing"},
                                        {"transformer", "denseformer"},
                                        {"transformer-qkvr", "mudd"},
                                        {"transformer", "attention-residuals"},
                                        {"gpt", "attention-residuals-block"}};
        for (const auto& [block, topology] : cases) {
            for (const double dropout : {0.0, 0.3}) {
                QTest::addRow("%s, %s, dropout %g", block, topology, dropout)
                    << QString(block) << QString(topology) << dropout;
            }
        }
    }
    void sameBits()
    {
        QFETCH(QString, block);
        QFETCH(QString, topology);
        QFETCH(double, dropout);
        Project project = tinyLanguage(block.toStdString(), topology.toStdString(), 4);
        project.training.precision = projects::Precision::Fp32;
        for (projects::Node& node : project.network.blocks[0].graph.nodes) {
            if (node.kind == "attention") {
                node.params["dropout"] = dropout;
            }
        }
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 5);
        const TrainedStep kept = stepOf(project, Activations::Keep, batch);
        const TrainedStep again = stepOf(project, Activations::Recompute, batch);
        QVERIFY(at::equal(kept.loss, again.loss));
        QVERIFY(at::equal(kept.next, again.next));
        for (std::size_t i = 0; i < kept.gradients.size(); ++i) {
            QCOMPARE(kept.gradients[i].defined(), again.gradients[i].defined());
            QVERIFY(!kept.gradients[i].defined() || at::equal(kept.gradients[i], again.gradients[i]));
        }
    }

    void gradientsEqualDifferences()
    {
        Project project = tinyLanguage("transformer-qkv", "dca", 3);
        project.training.activations = Activations::Recompute;
        const auto network = compiled(project);
        shake(*network, 0.1, 3);
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 5);
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 2);
        QVERIFY2(check.worst < 1e-7, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    void costSaysWhatIsSaved()
    {
        Project project = tinyLanguage("transformer", "plain", 6);
        const projects::CostReport keep = *projects::costOf(project);
        project.training.activations = Activations::Recompute;
        const projects::CostReport again = *projects::costOf(project);
        const double output = 8.0 * static_cast<double>(project.training.batch * project.training.sequenceLength) * 8;
        QCOMPARE(again.layers[0].activationBytes, output);
        QCOMPARE(keep.total.activationBytes - again.total.activationBytes,
                 5 * keep.layers[0].activationBytes - 6 * output);
        QCOMPARE(again.layers[0].trainFlops, keep.layers[0].trainFlops + keep.layers[0].forwardFlops);
    }
};

RESIDUA_TEST(TestRecompute)
#include "tst_recompute.moc"
