// SPDX-License-Identifier: GPL-3.0-or-later
// The predicted cost of a project (projects/cost/cost.h), beside the cost of its network under every topology,
// precision and schedule.

#include "cost_watch.h"
#include "tests/engine/compute/depth/mix_reference.h"

#include "engine/compute/runtime/host_path.h"
#include "projects/cost/cost.h"
#include "projects/cost/stage_cost.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/node_kinds.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <QtTest>

#include <optional>
#include <set>
#include <string>

using namespace residua;
using namespace residua::tests;
using projects::Project;

namespace {

/// Plain with a shortcut that is learned.
constexpr const char* kDrawn = "plain with a shortcut";

/// Plain with all weights of the blocks in two factors, and with some.
constexpr const char* kFactored = "plain, a rank of 16";
constexpr const char* kPartlyFactored = "plain, attention in part";

/// Plain with a loop whose visits add products of low rank.
constexpr const char* kVisitProducts = "plain, products of visits";

/// Plain with attention by features.
constexpr const char* kPerformer = "plain, by features";

/// Plain on labelled texts whose padding is not read.
constexpr const char* kMasked = "plain, with a padding mask";

/// A language model wide enough for its products to be what counts.
Project languageUnder(const std::string& topology)
{
    const bool drawn = topology == kDrawn;
    const bool isPlain =
        topology == kFactored || topology == kPartlyFactored || topology == kPerformer || topology == kVisitProducts;
    Project project = topology == kMasked
                          ? tinyClassifier("plain", kCostDepth)
                          : tinyLanguage("transformer", drawn || isPlain ? "plain" : topology, kCostDepth);
    if (topology == kFactored) {
        project.network.rank = projects::FixedRank{16};
    }
    if (topology == kVisitProducts) {
        project.stack().loops = {{.first = 2, .last = 4, .visits = 3, .adapterRank = 16}};
    }
    for (projects::Node& node : project.network.blocks[0].graph.nodes) {
        if (topology == kPartlyFactored && node.kind == "attention") {
            node.params["q_rank"] = 0.25;
            node.params["out_rank"] = std::int64_t{8};
        }
        if (topology == kPerformer && node.kind == "attention") {
            node.params["weights"] = std::string("performer");
            node.params["features"] = std::int64_t{48};
        }
    }
    if (drawn) {
        std::get<projects::DepthMix>(project.stack().topology.wiring).states[{1, kCostDepth}] =
            projects::ShortcutState::Learned;
    }
    return costSized(std::move(project));
}

} // namespace

class TestCostMeasured : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        at::set_num_threads(1);
        c10::SetCPUAllocator(&CountingAllocator::instance(), 100);
    }

    void everyPreset_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("onGpu");
        QStringList topologies = {kDrawn, kFactored, kPartlyFactored, kVisitProducts, kPerformer, kMasked};
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kCostDepth)) {
            topologies << QString::fromStdString(preset.name);
        }
        for (const QString& topology : topologies) {
            QTest::addRow("%s", qPrintable(topology)) << topology << false;
            QTest::addRow("%s on a GPU", qPrintable(topology)) << topology << true;
        }
    }
    /// In double precision, whose products all are LibTorch's own. What is said includes what is done element by
    /// element, which is little at this width: norms, activations, and mixing (below).
    void everyPreset()
    {
        QFETCH(QString, topology);
        QFETCH(bool, onGpu);
        const std::optional<engine::GpuPathsOnHost> paths = pathsOf(onGpu);
        const Project project = languageUnder(topology.toStdString());
        const auto cost = projects::costOf(project, kindOf(onGpu));
        QVERIFY(cost.ok());
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, kCostBatch, kCostTime, 5);
        const engine::Pass& pass = kTraining;
        network->loss(batch, pass).backward(); // what is made once is there now
        for (engine::NamedParameter& parameter : network->parameters()) {
            parameter.tensor.mutable_grad().reset();
        }
        const double before = CountingAllocator::instance().live();
        const Watch watch;
        const at::Tensor loss = network->loss(batch, pass);
        const double forward = g_seen.products;
        const double kept = CountingAllocator::instance().live() - before;
        loss.backward();
        constexpr double kTokens = kCostBatch * kCostTime;
        QCOMPARE(parameterCount(*network), cost->total.parameters);
        within("forward FLOP", cost->total.forwardFlops * kTokens / forward, 1, 1.09);
        within("training FLOP", cost->total.trainFlops * kTokens / g_seen.products, 1, 1.09);
        // The kept copies between the steps of attention by features are not counted one by one.
        within("memory", cost->total.activationBytes / kept, topology == kPerformer ? 0.95 : 0.97, 1.01);
    }

    void lossAtItsPeak_data()
    {
        QTest::addColumn<int>("precision");
        QTest::addColumn<bool>("onGpu");
        for (const auto& [name, precision] :
             {std::pair("fp32", projects::Precision::Fp32), {"fp64", projects::Precision::Fp64}}) {
            QTest::addRow("%s", name) << static_cast<int>(precision) << false;
            QTest::addRow("%s on a GPU", name) << static_cast<int>(precision) << true;
        }
        // On the CPU operators of two types copy what they read; the GPU's convert each element.
        QTest::newRow("bf16") << static_cast<int>(projects::Precision::Bf16) << false;
    }
    /// Of a vocabulary whose logits are nearly all of the memory.
    void lossAtItsPeak()
    {
        QFETCH(int, precision);
        QFETCH(bool, onGpu);
        const std::optional<engine::GpuPathsOnHost> paths = pathsOf(onGpu);
        Project project = languageUnder("plain");
        std::get<projects::SyntheticLanguage>(project.data.source).vocabulary = 4000;
        project.stack().segments.front().repeat = 1;
        project.stack().width = 8;
        project.training.precision = static_cast<projects::Precision>(precision);
        project.training.batch = 16;
        const projects::Cost cost = projects::costOf(project, kindOf(onGpu))->total;
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, project.training.batch, kCostTime, 5);
        network->loss(batch, kTraining).backward(); // what is made once is there now
        const double before = CountingAllocator::instance().live();
        CountingAllocator::instance().resetPeak();
        network->loss(batch, kTraining).backward();
        const double peak = CountingAllocator::instance().peak() - before;
        QVERIFY(cost.lossBytes > 0.5 * cost.activationBytes);
        within("peak", (cost.activationBytes + cost.lossBytes) / peak, 0.95, 1.05);
    }

    /// The values that a GPU keeps under bf16: one copy of the input of q, k and v, and the rounded matrices.
    void roundedOnGpu_data()
    {
        QTest::addColumn<QString>("change");
        for (const char* const change : {"none", "biases", "shared heads", "norms", "GELU"}) {
            QTest::newRow(change) << QString(change);
        }
    }
    void roundedOnGpu()
    {
        QFETCH(QString, change);
        const engine::GpuPathsOnHost paths;
        Project project = change == "GELU" ? tinyLanguage("gpt", "plain", kCostDepth) : languageUnder("plain");
        project.stack().width = 64;
        project.training.precision = projects::Precision::Bf16;
        project.training.batch = kCostBatch;
        project.training.sequenceLength = kCostTime;
        for (projects::Node& node : project.network.blocks[0].graph.nodes) {
            if (node.kind == "attention" && change == "biases") {
                node.params[projects::kBiasParam] = std::string(projects::kAllBiases);
            } else if (node.kind == "attention" && change == "shared heads") {
                node.params["kv_heads"] = std::int64_t{1};
            } else if (node.kind == "attention" && change == "norms") {
                node.params[projects::kQkNormParam] = std::string(projects::kHeadNorm);
            }
        }
        const auto cost = projects::costOf(project, projects::DeviceKind::Gpu);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const engine::DeviceBatch batch = randomBatch(project, kCostBatch, kCostTime, 5);
        const double before = CountingAllocator::instance().live();
        const auto network = compiled(project);
        // A norm keeps a number for each of the narrow heads here, which is not counted.
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining),
               change == "norms" ? 0.89 : 0.95, 1.03);
        within("weights", cost->total.weightBytes / (CountingAllocator::instance().live() - before), 0.97, 1);
    }

    /// Steps that keep half of what their schedule is about, always as much. Memory is compared where whole layers are
    /// left out: at this size the copies of kept rows and columns weigh as much as the activations.
    void everyAxis_data()
    {
        QTest::addColumn<int>("axis");
        QTest::addColumn<bool>("visits");
        const std::pair<const char*, projects::DropAxis> axes[] = {
            {"layers", projects::DropAxis::Layers}, {"heads", projects::DropAxis::Heads},
            {"MLP", projects::DropAxis::Mlp},       {"heads and MLP", projects::DropAxis::HeadsAndMlp},
            {"all", projects::DropAxis::All},
        };
        for (const auto& [name, axis] : axes) {
            QTest::newRow(name) << static_cast<int>(axis) << false;
        }
        QTest::newRow("whole visits") << static_cast<int>(projects::DropAxis::Layers) << true;
        QTest::newRow("whole visits and MLP") << static_cast<int>(projects::DropAxis::LayersAndMlp) << true;
    }
    void everyAxis()
    {
        QFETCH(int, axis);
        QFETCH(bool, visits);
        Project project = languageUnder("plain");
        project.training.steps = 10;
        project.stack().schedule.axis = static_cast<projects::DropAxis>(axis);
        project.stack().schedule.sampling = projects::DropSampling::FixedSize;
        project.stack().schedule.mlpParts = 2;
        project.stack().schedule.stages = {{0, kCostDepth / 2.0, {}}};
        if (visits) { // two of four visits to layers 2 and 3
            project.stack().loops = {{.first = 2, .last = 3, .visits = 4}};
            project.stack().loops.front().injection = projects::LoopInjection::Linear;
            project.stack().schedule.unit = projects::DropUnit::Visit;
            project.stack().schedule.stages = {{0, kCostDepth + 2.0, {}}};
        }
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const projects::SpanCost span = projects::costsOfSpans(project, *cost).front();
        QVERIFY(span.flopShare < 0.9);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, kCostBatch, kCostTime, 5);
        engine::Pass pass = kTraining;
        pass.step = 1;
        pass.random = engine::RandomStreams(project.seeds.stages, pass.step);
        network->loss(batch, pass).backward(); // what is made once is there now
        for (engine::NamedParameter& parameter : network->parameters()) {
            parameter.tensor.mutable_grad().reset();
        }
        const double before = CountingAllocator::instance().live();
        const Watch watch;
        const at::Tensor loss = network->loss(batch, pass);
        const double kept = CountingAllocator::instance().live() - before;
        loss.backward();
        constexpr double kTokens = kCostBatch * kCostTime;
        within("training FLOP", span.flopShare * cost->total.trainFlops * kTokens / g_seen.products, 1, 1.12);
        if (project.stack().schedule.axis == projects::DropAxis::Layers) {
            within("memory", span.activationBytes / kept, 0.93, 1.07);
            QCOMPARE(span.peakActivationBytes, span.activationBytes);
        }
    }

    /// The values that a residual in fp32 keeps under bf16 beyond one in bf16. Left out are those whose layers make
    /// small matrices of the residual (weights of each token, gates and adapters): what of that is kept in which
    /// precision the cost does not follow.
    void residualPrecision_data()
    {
        QTest::addColumn<QString>("topology");
        const std::set<std::string> rough{
            "mudd",    "hyper-dynamic", "mhc",       "ihc",          "mhc-lite",        "frac-dynamic",
            "highway", "laurel-lr",     "laurel-pa", "laurel-rw-lr", "laurel-rw-lr-pa", "value-residual"};
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kCostDepth)) {
            if (!rough.contains(preset.name)) {
                QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
            }
        }
    }
    void residualPrecision()
    {
        QFETCH(QString, topology);
        Project project = languageUnder(topology.toStdString());
        project.training.precision = projects::Precision::Bf16;
        const engine::DeviceBatch batch = randomBatch(project, kCostBatch, kCostTime, 5);
        double said = 0;
        double measured = 0;
        for (const double sign : {1.0, -1.0}) {
            project.training.residualPrecision =
                sign > 0 ? projects::ResidualPrecision::Fp32 : projects::ResidualPrecision::Bf16;
            said += sign * projects::costOf(project)->total.activationBytes;
            measured += sign * keptBy(*compiled(project), batch, kEvaluation);
        }
        if (topology.startsWith("attention-residuals")) { // entries stay in fp32
            QVERIFY(said == 0 && measured == 0);
            return;
        }
        within("memory", said / measured, 0.9, 1.1);
    }

    /// Mixing beside an equation written out as sums and products, whose layers are single matrices.
    void mixing_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name : {"none", "grn-v1", "grn-v2", "grn-v3", "grn-v3-last-4", "grn-v3-input-last-3",
                                       "dca", "k-dca", "ancre-ingoing", "ancre-outgoing", "ancre-none", "ancre-fixed",
                                       "ancre-cascaded", "denseformer", "denseformer-dilated"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    void mixing()
    {
        QFETCH(QString, topology);
        constexpr std::int64_t kSamples = 512; // beside them what makes the weights is nothing
        const Project project = portedVectors(topology.toStdString(), kCostDepth);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, kSamples, 1, 5);
        const at::NoGradGuard noGrad;
        const Watch watch;
        const at::Tensor output = referenceOutput(project, *network, batch.input);
        const double seen = g_seen.products + g_seen.elements;
        QVERIFY(topology == "none" || g_seen.elements > 0.1 * g_seen.products);
        within("FLOP", projects::costOf(project)->total.forwardFlops * kSamples / seen, 0.99, 1.01);
    }

private:
    static std::optional<engine::GpuPathsOnHost> pathsOf(bool onGpu)
    {
        return onGpu ? std::optional<engine::GpuPathsOnHost>(std::in_place) : std::nullopt;
    }
    static projects::DeviceKind kindOf(bool onGpu)
    {
        return onGpu ? projects::DeviceKind::Gpu : projects::DeviceKind::Cpu;
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestCostMeasured)
#include "tst_cost_measured.moc"
