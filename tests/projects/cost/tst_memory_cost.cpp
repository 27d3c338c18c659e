// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of a training step: weights, states of the optimiser, activations and the loss.
#include "projects/cost/cost.h"
#include "projects/library/schedule_presets.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua;
using namespace residua::projects;
using residua::tests::underTopology;
using residua::tests::vectorProject;

namespace {

constexpr double kFeatures = 128;

} // namespace

class TestMemoryCost : public QObject {
    Q_OBJECT

private slots:
    void bytesFollowThePrecisionAndOptimiser();
    void entriesOfBranchesHaveTheirBytes_data();
    void entriesOfBranchesHaveTheirBytes();
    void ranksDivideTheMemory();
    void ranksSendGradientsAndValues();
    void lossTakesItsPeak();
    void fullBatchHoldsTheTrainingSet();
};

void TestMemoryCost::bytesFollowThePrecisionAndOptimiser()
{
    Project project = underTopology("plain");
    const Cost fp32 = costOf(project)->total;
    const auto parameters = static_cast<double>(fp32.parameters);
    QCOMPARE(fp32.weightBytes, 4 * parameters);
    QCOMPARE(fp32.optimiserBytes, 12 * parameters);
    project.training.precision = Precision::Bf16;
    // Each matrix of a product has a rounded copy, the tied table too: all parameters but the norms'.
    QCOMPARE(costOf(project)->total.weightBytes, 4 * parameters + 2 * (parameters - (2 * 8 + 1) * kFeatures));
    const double withResidual = costOf(project)->total.activationBytes;
    project.training.residualPrecision = ResidualPrecision::Bf16;
    QCOMPARE(costOf(project)->total.activationBytes, fp32.activationBytes / 2);
    // In fp32 what the stem gives, what each of 8 layers adds up to, and what each FFN reads.
    const auto tokens = static_cast<double>(project.training.batch * project.training.sequenceLength);
    QCOMPARE(withResidual - fp32.activationBytes / 2, 2 * (1 + 8 + 8) * kFeatures * tokens);
    const double inBf16 = costOf(project)->total.memoryBytes();
    project.training.precision = Precision::Fp8;
    QCOMPARE(costOf(project)->total.memoryBytes(), inBf16);
    project.training.precision = Precision::Fp64;
    project.training.optimiser = Sgd{};
    QCOMPARE(costOf(project)->total.weightBytes, 8 * parameters);
    QCOMPARE(costOf(project)->total.optimiserBytes, 8 * parameters);
    project.training.optimiser = Sgd{.momentum = 0.9};
    QCOMPARE(costOf(project)->total.optimiserBytes, 16 * parameters);
}

void TestMemoryCost::entriesOfBranchesHaveTheirBytes_data()
{
    QTest::addColumn<QString>("topology");
    QTest::addColumn<bool>("reads");
    for (const char* const name : {"dca", "k-dca", "grn-v1", "grn-v2", "grn-v3"}) {
        QTest::newRow(name) << QString(name) << true;
    }
    for (const char* const name : {"plain", "ancre-ingoing", "denseformer", "attention-residuals", "mhc", "rezero"}) {
        QTest::newRow(name) << QString(name) << false;
    }
}

void TestMemoryCost::entriesOfBranchesHaveTheirBytes()
{
    QFETCH(QString, topology);
    QFETCH(bool, reads);
    Project project =
        underTopology(topology.toStdString(), topology.endsWith("dca") ? "transformer-qkv" : "transformer");
    project.training.precision = Precision::Bf16;
    project.training.entryPrecision = EntryPrecision::Residual;
    const double asResidual = costOf(project)->total.activationBytes;
    project.training.entryPrecision = EntryPrecision::Branch;
    const double asBranches = costOf(project)->total.activationBytes;
    QCOMPARE(asBranches < asResidual, reads);
    project.training.residualPrecision = ResidualPrecision::Bf16;
    QCOMPARE(costOf(project)->total.activationBytes == asBranches, reads || topology == "attention-residuals");
}

void TestMemoryCost::ranksDivideTheMemory()
{
    Project project = underTopology("plain");
    const Cost alone = costOf(project)->total;
    const auto parameters = static_cast<double>(alone.parameters);
    const Cost whole = costOf(project, DeviceKind::Cpu, 4)->total;
    QCOMPARE(4 * whole.activationBytes, alone.activationBytes);
    QCOMPARE(4 * whole.lossBytes, alone.lossBytes);
    QCOMPARE(whole.weightBytes, alone.weightBytes);
    QCOMPARE(whole.optimiserBytes, alone.optimiserBytes);
    QCOMPARE(whole.trainFlops, alone.trainFlops); // of a token
    project.training.rankStates = RankStates::Divided;
    QCOMPARE(costOf(project, DeviceKind::Cpu, 4)->total.optimiserBytes, (4 + 8 / 4) * parameters);
    QVERIFY(costOf(project)->total == alone);
}

/// A sum in a ring sends each number 2 (N − 1)/N times, a value of its owner half as often.
void TestMemoryCost::ranksSendGradientsAndValues()
{
    Project project = underTopology("plain");
    const auto sent = [&] { return costOf(project, DeviceKind::Cpu, 4)->total.sentBytes(); };
    const auto parameters = static_cast<double>(costOf(project)->total.parameters);
    QCOMPARE(costOf(project)->total.sentBytes(), 0.0);
    QCOMPARE(sent(), 1.5 * 4 * parameters);
    project.training.rankStates = RankStates::Divided;
    QCOMPARE(sent(), (1.5 + 0.75) * 4 * parameters);
    // The stem reads the tied table in full.
    project.training.precision = Precision::Bf16;
    const double inFull = (2 * 8 + 1 + 64) * kFeatures;
    QCOMPARE(sent(), (1.5 * 4 + 0.75 * 2) * parameters + 0.75 * 2 * inFull);
    project.training.weightAverage = 0.9;
    QCOMPARE(sent(), (1.5 + 0.75) * 4 * parameters);
    project.training.weightAverage = 0;
    project.stack().schedule = *scheduleFrom("stacking 4-8", 8, project.training.steps);
    QCOMPARE(sent(), (1.5 + 0.75) * 4 * parameters);
}

void TestMemoryCost::lossTakesItsPeak()
{
    Project project = underTopology("plain");
    const auto tokens = static_cast<double>(project.training.batch * project.training.sequenceLength);
    const auto loss = [&](DeviceKind device) { return costOf(project, device)->total.lossBytes; };
    QCOMPARE(loss(DeviceKind::Cpu), tokens * 64 * 8); // three of 4 bytes, less the logits
    QCOMPARE(loss(DeviceKind::Gpu), tokens * 64 * 4); // the log-softmax of all rows at once
    project.training.precision = Precision::Bf16;
    QCOMPARE(loss(DeviceKind::Cpu), tokens * 64 * 10);
    QCOMPARE(loss(DeviceKind::Gpu), tokens * 64 * 8);
    QCOMPARE(costOf(project)->total.activationBytes, costOf(project, DeviceKind::Gpu)->total.activationBytes);
    // As large as the runs of LLaMA-130M.
    std::get<SyntheticLanguage>(project.data.source).vocabulary = 32'000;
    project.training.batch = 512;
    project.training.sequenceLength = 256;
    QCOMPARE(loss(DeviceKind::Cpu), 512.0 * 256 * 32'000 * 10);
    QVERIFY(loss(DeviceKind::Gpu) < 1e9);
    QVERIFY(loss(DeviceKind::Gpu) > 0.6e9);
    const Cost whole = costOf(project, DeviceKind::Gpu)->total;
    QCOMPARE(whole.memoryBytes(), whole.weightBytes + whole.optimiserBytes + whole.activationBytes + whole.lossBytes);
    QCOMPARE(costOf(vectorProject("x input; a linear; y output; x > a; a > y"))->total.lossBytes, 0.0);
    QVERIFY(deviceKindOf("cpu") == DeviceKind::Cpu);
    QVERIFY(deviceKindOf("cuda:1") == DeviceKind::Gpu);
}

void TestMemoryCost::fullBatchHoldsTheTrainingSet()
{
    Project project = vectorProject("x input; a linear; y output; x > a; a > y");
    project.data.source = LowRankRegression{.samples = 1000};
    project.data.validationFraction = 0.25;
    project.training.batching = BatchKind::Full;
    std::get<DepthMix>(project.stack().topology.wiring).weight = WeightKind::Scalar; // keeps what leaves the block
    const Cost& cost = costOf(project)->nodes.at(GraphRef::block("test")).at(NodeId{2});
    QCOMPARE(cost.activationBytes, 100.0 * 1000 * 4); // held-out samples are drawn besides
    project.data.source = LowRankRegression{.samples = -1000};
    QCOMPARE(costOf(project)->total.activationBytes, 0.0);
}

RESIDUA_TEST(TestMemoryCost)
#include "tst_memory_cost.moc"
