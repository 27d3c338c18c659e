// SPDX-License-Identifier: GPL-3.0-or-later
// The predicted cost of a project (projects/cost/cost.h), beside the cost of its network: the products that LibTorch is
// seen to carry out, and the memory that a forward pass leaves in use for the backward pass.

// LibTorch is built so, and what its observers are given has another layout without.
#ifndef NDEBUG
#define NDEBUG
#endif

#include "network_harness.h"
#include "tests/engine/compute/depth/mix_reference.h"

#include "engine/compute/runtime/host_path.h"
#include "projects/cost/cost.h"
#include "projects/cost/stage_cost.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <QtTest>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

using namespace residua;
using namespace residua::tests;
using projects::Project;

namespace {

constexpr std::int64_t kCostDepth = 6;
constexpr std::int64_t kCostBatch = 2;
constexpr std::int64_t kCostTime = 32;

/// LibTorch's memory on the host, counted. For the life of the process.
class CountingAllocator final : public c10::Allocator {
public:
    static CountingAllocator& instance()
    {
        static auto* const allocator = new CountingAllocator;
        return *allocator;
    }

    c10::DataPtr allocate(std::size_t bytes) override
    {
        void* const data = c10::alloc_cpu(bytes);
        const std::scoped_lock lock(m_mutex);
        m_sizes[data] = bytes;
        m_live += bytes;
        m_peak = std::max(m_peak, m_live);
        return {data, data, raw_deleter(), at::Device(at::kCPU)};
    }
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override
    {
        return [](void* data) { instance().release(data); };
    }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

    [[nodiscard]] double live() const { return static_cast<double>(m_live); }
    /// The most that was live at once since resetPeak().
    [[nodiscard]] double peak() const { return static_cast<double>(m_peak); }
    void resetPeak() { m_peak = m_live; }

private:
    void release(void* data)
    {
        {
            const std::scoped_lock lock(m_mutex);
            const auto found = m_sizes.find(data);
            if (found != m_sizes.end()) {
                m_live -= found->second;
                m_sizes.erase(found);
            }
        }
        c10::free_cpu(data);
    }

    std::mutex m_mutex;
    std::unordered_map<void*, std::size_t> m_sizes;
    std::size_t m_live = 0;
    std::size_t m_peak = 0;
};

/// FLOP that LibTorch is seen to carry out, multiply and add counted as two.
struct Seen {
    double products = 0; ///< of matrices, and attention
    double elements = 0; ///< sums and products of elements, and products with a vector
};
Seen g_seen;

double sizeOf(const c10::IValue& value)
{
    return static_cast<double>(value.toTensor().numel());
}

/// Elements of a result of two operands, either of which may be repeated, or the second a number.
double resultSize(c10::ArrayRef<const c10::IValue> inputs)
{
    if (!inputs[1].isTensor()) {
        return sizeOf(inputs[0]);
    }
    double size = 1;
    for (const std::int64_t extent : at::infer_size(inputs[0].toTensor().sizes(), inputs[1].toTensor().sizes())) {
        size *= static_cast<double>(extent);
    }
    return size;
}

std::unique_ptr<at::ObserverContext> observe(const at::RecordFunction& function)
{
    const std::string name = function.name();
    const auto inputs = function.inputs();
    if (name == "aten::mm" || name == "aten::bmm") {
        g_seen.products += 2 * sizeOf(inputs[0]) * static_cast<double>(inputs[1].toTensor().size(-1));
    } else if (name == "aten::addmm" || name == "aten::addmm_") {
        g_seen.products += 2 * sizeOf(inputs[1]) * static_cast<double>(inputs[2].toTensor().size(-1));
    } else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu") {
        // Scores and values, over half of the keys each: it is causal.
        g_seen.products += 2 * sizeOf(inputs[0]) * static_cast<double>(inputs[1].toTensor().size(2));
    } else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu_backward") {
        g_seen.products += 4 * sizeOf(inputs[1]) * static_cast<double>(inputs[2].toTensor().size(2));
    } else if (name.starts_with("residua::streams") && inputs[0].toTensor().defined()) {
        const double passes = name == "residua::streams" ? 1 : 2;
        const auto logits = static_cast<double>(inputs[0].toTensor().size(-2) * inputs[2].toInt());
        g_seen.products += passes * 2 * logits * sizeOf(inputs[1]);
    } else if (name == "aten::add" || name == "aten::mul") {
        g_seen.elements += resultSize(inputs);
    } else if (name == "aten::mv") {
        g_seen.elements += 2 * sizeOf(inputs[0]);
    }
    return nullptr;
}

/// Watches while it lives.
class Watch {
public:
    Watch() : m_handle(add()) { g_seen = {}; }
    ~Watch() { at::removeCallback(m_handle); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

private:
    static at::CallbackHandle add()
    {
        return at::addGlobalCallback(
            at::RecordFunctionCallback(&observe).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
    }

    at::CallbackHandle m_handle;
};

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
    project = *projects::rewired(project, project.stack().topology);
    project.stack().width = 64;
    project.training.batch = kCostBatch;
    project.training.sequenceLength = kCostTime;
    return project;
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

    /// Networks with kinds that no preset has, of one layer.
    void otherStems_data()
    {
        QTest::addColumn<QString>("data");
        QTest::addColumn<QString>("stem");
        QTest::newRow("positions") << "language"
                                   << "x input; e token_embedding; w sinusoidal_positions; p position_embedding; "
                                      "y output; x > e; e > w; w > p; p > y";
        QTest::newRow("patches") << "vectors"
                                 << "x input; i image height=8 width=8; p patchify patch=2; q patchify patch=2; s add; "
                                    "m mean_pool; y output; x > i; i > p; i > q; p > s.in1; q > s.in2; s > m; m > y";
        QTest::newRow("batch norm")
            << "vectors"
            << "x input; a linear; n batch_norm; f activation; g parameter features=d; m multiply; b linear; y output; "
               "x > a; a > n; n > f; f > m.in1; g > m.in2; m > b; b > y";
        QTest::newRow("class token")
            << "vectors"
            << "x input; i image height=8 width=8; p patchify patch=2; c class_token; e position_embedding length=17; "
               "f first_token; y output; x > i; i > p; p > c; c > e; e > f; f > y";
        QTest::newRow("images") << "vectors"
                                << "x input; i image height=8 width=8; a conv2d out=4; b conv2d out=4; s add; "
                                   "c conv2d out=2 stride=2; f flatten; l linear; y output; x > i; i > a; i > b; "
                                   "a > s.in1; b > s.in2; s > c; c > f; f > l; l > y";
        QTest::newRow("features last")
            << "vectors"
            << "x input; i image height=8 width=8; v features_last; a conv2d out=4 layout=features_last; b conv2d "
               "out=4 groups=4 layout=features_last; r activation function=relu; p pool2d layout=features_last; q "
               "pool2d function=average layout=features_last; s add; m mean_pool; l linear; y output; x > i; i > v; "
               "v > a; a > b; b > r; r > p; r > q; p > s.in1; q > s.in2; s > m; m > l; l > y";
        QTest::newRow("images by side") << "vectors"
                                        << "x input; i image height=8 width=8; a conv2d out=4 rank=2 "
                                           "unfolding=by_side stride=2; f flatten; l linear; y output; x > i; i > a; "
                                           "a > f; f > l; l > y";
    }
    void otherStems()
    {
        QFETCH(QString, data);
        QFETCH(QString, stem);
        Project project = languageUnder("plain");
        if (data == "vectors") {
            project = tinyVectors("linear", "plain", 1);
            project.data.source = projects::LinearRegression{.dim = 64, .samples = 6};
            project.network.objective = projects::Objective::MeanSquaredError;
            project.network.head = graphFrom("x input; l linear out=out; y output; x > l; l > y");
            project.stack().width = 32;
        }
        project.stack().segments.front().repeat = 1;
        project.network.stem = graphFrom(stem.toStdString());
        // The moments of a micro-batch, two numbers per feature, are not counted: two examples are no more than they.
        project.training.batch = stem.contains("batch_norm") ? 16 * kCostBatch : kCostBatch;
        if (stem.contains("pool2d")) { // whose places are counted as those of two numbers of 4 bytes
            project.training.precision = projects::Precision::Fp32;
        }
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, project.training.batch, kCostTime, 5);
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.97, 1.01);
    }

    /// Networks of convolutions, whose layers need a mix or a sum again only if they begin with a convolution.
    void convolutions_data()
    {
        QTest::addColumn<QString>("example");
        QTest::addColumn<QString>("topology");
        for (const char* const example : {"small-resnet", "small-efficientnet"}) {
            for (const char* const topology : {"plain", "ancre-ingoing", "rezero"}) {
                QTest::addRow("%s, %s", example, topology) << example << topology;
            }
        }
    }
    void convolutions()
    {
        QFETCH(QString, example);
        QFETCH(QString, topology);
        Project project = projects::findExample(example.toStdString())->project;
        for (std::size_t index = 0; index < projects::towerCount(project); ++index) {
            projects::Network& stage = index == 0 ? project.network : project.towers[index - 1].network;
            stage.stack().topology = topologyNamed(topology.toStdString(), stage);
        }
        project.training.batch = 4;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), cost->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, project.training.batch, 1, 5);
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.95, 1.03);
    }

    void exchangesOfRanks_data()
    {
        QTest::addColumn<QString>("example");
        QTest::addColumn<bool>("recomputes");
        for (const char* const example : {"small-resnet", "small-efficientnet"}) {
            QTest::newRow(example) << example << false;
            QTest::addRow("%s, computed again", example) << example << true;
        }
    }
    /// Two ranks send each number of a sum once. Gradients and running moments are exchanged once in a step, the sums
    /// of batch norms in each micro-batch.
    void exchangesOfRanks()
    {
        QFETCH(QString, example);
        QFETCH(bool, recomputes);
        Project project = projects::findExample(example.toStdString())->project;
        const double ofRanks = projects::costOf(project, projects::DeviceKind::Cpu, 2)->total.momentsSent;
        QCOMPARE(ofRanks, 0.0);
        for (projects::Graph* const graph : projects::graphsOf(project)) {
            projects::setParam(*graph, "batch_norm", projects::kMomentsParam, std::string("batch"));
        }
        if (recomputes) {
            project.training.activations = projects::Activations::Recompute;
        }
        project.training.batch = 4;
        const auto network = compiled(project);
        const projects::Cost cost = projects::costOf(project, projects::DeviceKind::Cpu, 2)->total;
        double trained = 0;
        for (const engine::NamedParameter& parameter : network->parameters()) {
            trained += static_cast<double>(parameter.tensor.nbytes());
        }
        QCOMPARE(cost.gradientsSent, trained);
        double summed = 0;
        const engine::BatchParts parts{
            1, [&summed](const at::Tensor& values) { summed += static_cast<double>(values.nbytes()); }};
        engine::Pass pass = kTraining;
        pass.parts = &parts;
        network->loss(randomBatch(project, project.training.batch, 1, 5), pass).backward();
        QVERIFY(summed > 0);
        QCOMPARE(cost.momentsSent, summed);
        project.training.accumulate = 3;
        QCOMPARE(projects::costOf(project, projects::DeviceKind::Cpu, 2)->total.momentsSent, 3 * summed);
        QCOMPARE(projects::costOf(project, projects::DeviceKind::Cpu, 4)->total.momentsSent, 4.5 * summed);
        QCOMPARE(projects::costOf(project)->total.sentBytes(), 0.0);
    }

    /// Rows whose first tokens see each other, which attention reads as a mask.
    void prefixes_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "ancre-ingoing", "rezero"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void prefixes()
    {
        QFETCH(QString, topology);
        Project project = projects::findExample("small-ul2")->project;
        project.stack().topology = topologyNamed(topology.toStdString(), project.network);
        project.training.batch = 4;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), cost->total.parameters);
        const std::int64_t time = project.training.sequenceLength;
        engine::DeviceBatch batch = randomBatch(project, project.training.batch, time, 5);
        batch.target.narrow(1, 0, time / 2).fill_(projects::kIgnoredTarget);
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.95, 1.03);
    }

    /// Conditions that all layers read, and what has one position.
    void diffusion_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "ancre-ingoing", "grn-v1"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void diffusion()
    {
        QFETCH(QString, topology);
        Project project = projects::findExample("small-dit")->project;
        project.stack().topology = topologyNamed(topology.toStdString(), project.network);
        project.training.batch = 4;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), cost->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, project.training.batch, 1, 5);
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.95, 1.05);
    }

    /// The pixels of pictures as the entries of the stack.
    void picturesAsEntries()
    {
        Project project = languageUnder("plain");
        project.data.source = projects::LinearRegression{.dim = 64, .samples = 6};
        project.network.objective = projects::Objective::MeanSquaredError;
        project.network.stem = graphFrom("x input; i image height=8 width=8; v features_last; c conv2d stride=2 "
                                         "layout=features_last; y output; x > i; i > v; v > c; c > y");
        project.network.blocks.front().graph =
            graphFrom("x input; a activation function=silu; c conv2d layout=features_last; y output; x > a; a > c; "
                      "c > y");
        project.network.head = graphFrom("x input; m mean_pool; l linear out=out; y output; x > m; m > l; l > y");
        project.training.batch = kCostBatch;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, kCostBatch, 1, 5);
        QCOMPARE(network->stackOutput(batch, kEvaluation).sizes(), at::IntArrayRef({kCostBatch, 4, 4, 64}));
        // The last entry is counted, which a mean does not keep.
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.97, 1.09);
        network->loss(batch, kTraining).backward();
        QVERIFY(checkGradients(*network, batch, 2).worst < 1e-5);
    }

    /// The patches of pictures as the entries of the stack: a sequence that is no sequence of the data.
    void patchesAsEntries()
    {
        Project project = languageUnder("plain");
        project.data.source = projects::LinearRegression{.dim = 64, .samples = 6};
        project.network.objective = projects::Objective::MeanSquaredError;
        project.network.stem = graphFrom("x input; i image height=8 width=8; p patchify patch=2; y output; x > i; "
                                         "i > p; p > y");
        project.network.head = graphFrom("x input; m mean_pool; l linear out=out; y output; x > m; m > l; l > y");
        project.training.batch = kCostBatch;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, kCostBatch, 1, 5);
        QCOMPARE(network->stackOutput(batch, kEvaluation).sizes(), at::IntArrayRef({kCostBatch, 16, 64}));
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.97, 1.01);
        network->loss(batch, kTraining).backward();
        QVERIFY(checkGradients(*network, batch, 2).worst < 1e-5);
    }

    /// Nodes that work feature by feature, between two linear layers and as a branch's end: some keep their input, some
    /// what they make, some neither.
    void byFeature_data()
    {
        QTest::addColumn<QString>("node");
        for (const projects::Activation& activation : projects::activations()) {
            QTest::addRow("%s", activation.name.data())
                << "activation function=" + QString::fromLatin1(activation.name.data());
        }
        QTest::newRow("scaled by a number") << "scale value=0.5";
        QTest::newRow("scaled by a parameter") << "scale learned=scalar";
        QTest::newRow("scaled by parameters") << "scale learned=per_feature";
        QTest::newRow("dropout") << "dropout";
        QTest::newRow("swiglu") << "swiglu";
    }
    void byFeature()
    {
        QFETCH(QString, node);
        const QString gate = node == "swiglu" ? "; k linear out=256; x > k; k > n.up; l > n.gate" : "; l > n";
        Project project = languageUnder("plain");
        const QString between =
            "x input; l linear out=256; n " + node + "; m linear; y output; x > l; n > m; m > y" + gate;
        QString end = between;
        end.replace("out=256", "out=64").replace("m linear; ", "").replace("n > m; m > y", "n > y");
        for (const QString& block : {between, end}) {
            project.network.blocks[0].graph = graphFrom(block.toStdString());
            const auto cost = projects::costOf(project);
            QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
            const auto network = compiled(project);
            const engine::DeviceBatch batch = randomBatch(project, kCostBatch, kCostTime, 5);
            within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.97, 1.01);
        }
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

    /// Bytes that a forward pass leaves in use for its backward pass.
    static double keptBy(engine::CompiledNetwork& network, const engine::DeviceBatch& batch, const engine::Pass& pass)
    {
        network.loss(batch, pass).backward(); // what is made once is there now
        for (engine::NamedParameter& parameter : network.parameters()) {
            parameter.tensor.mutable_grad().reset();
        }
        const double before = CountingAllocator::instance().live();
        const at::Tensor loss = network.loss(batch, pass);
        return CountingAllocator::instance().live() - before;
    }

    static void within(const char* what, double ratio, double low, double high)
    {
        QVERIFY2(ratio >= low && ratio <= high,
                 qPrintable(QString("%1: %2 times what is measured").arg(what).arg(ratio)));
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestCostMeasured)
#include "tst_cost_measured.moc"
