// SPDX-License-Identifier: GPL-3.0-or-later
// The same bits on 1, 2, 3 and 4 threads, or up to rounding where the processor promises no bits: losses, gradients,
// weights and validation of networks that are just large enough for LibTorch to share their work out. Sizes are odd, so
// that no share ends where a vector does.
#include "tests/engine/network/network_harness.h"

#include "engine/api/environment.h"
#include "engine/depth/layer_magnitudes.h"
#include "engine/runtime/fixed_bits.h"
#include "engine/runtime/host_products.h"
#include "engine/train/precision.h"
#include "engine/train/trainer.h"
#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>

#include <QtTest>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Precision;
using projects::Project;
using residua::tests::topologyNamed;

namespace {

constexpr int kThreads = 4;
// Of a network whose tensors are large enough to be split among threads.
constexpr std::int64_t kSplitDepth = 3;
constexpr std::int64_t kSplitWidth = 20;
constexpr std::int64_t kSplitTime = 61;
/// LibTorch leaves 32768 numbers to one thread. Above that are a number for each token and feature, and one for each
/// token and pair of 4 streams.
constexpr std::int64_t kSplitBatch = 35;
constexpr std::int64_t kVectorWidth = 76;

/// What a training leaves, by name.
using Outcome = std::vector<std::pair<std::string, at::Tensor>>;

Project language(const std::string& block, const std::string& topology)
{
    Project project = tests::tinyLanguage(block, topology, kSplitDepth);
    project.data.source = projects::SyntheticLanguage{.vocabulary = 101, .levels = 2, .tokens = 4'000};
    project.network.width = kSplitWidth;
    project.training.sequenceLength = kSplitTime;
    project.training.batch = kSplitBatch;
    project.training.clipNorm = 0.1;
    project.training.learningRate.warmupSteps = 0;
    project.training.validationBatches = 1;
    project.training.precision = Precision::Fp32;
    return project;
}

Project vectors(const std::string& block, projects::Objective objective)
{
    Project project = tests::tinyVectors(block, "rezero", kSplitDepth);
    project.data.source = projects::LinearRegression{.dim = kVectorWidth, .samples = 900};
    project.network.width = kVectorWidth;
    project.network.objective = objective;
    project.training.batch = 700;
    project.training.learningRate.warmupSteps = 0;
    project.training.optimiser = projects::Sgd{.momentum = 0.9, .weightDecay = 0.01};
    return project;
}

/// Gates that start at 0 hide what is behind them: every parameter is moved off its start, the same way each time.
Outcome outcomeOn(int threads, const Project& project)
{
    at::set_num_threads(threads);
    Result<TrainerParts> parts = openParts(project, {}, "cpu");
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    Trainer trainer(std::move(*parts));
    tests::shake(trainer.network(), 0.05, 31);
    Outcome outcome;
    if (const Status stepped = trainer.step(); !stepped) {
        throw std::runtime_error(stepped.error().text());
    }
    for (const StepRecord& record : trainer.takeRecords()) {
        outcome.emplace_back("loss of step " + std::to_string(record.step), at::full({}, record.loss, at::kDouble));
        outcome.emplace_back("gradient's norm of step " + std::to_string(record.step),
                             at::full({}, record.gradientNorm, at::kDouble));
    }
    if (const auto loss = trainer.validate(); loss && *loss) {
        outcome.emplace_back("validation loss", at::full({}, **loss, at::kDouble));
    }
    const DeviceBatch batch = tests::randomBatch(project, kSplitBatch, kSplitTime, 7);
    Pass pass;
    pass.mode = Mode::Training;
    pass.step = 1;
    pass.random = {1, 1};
    LayerMagnitudes magnitudes;
    pass.magnitudes = &magnitudes;
    seedGenerators(c10::Device(c10::DeviceType::CPU), pass.random.generatorSeed());
    trainer.network().loss(batch, pass).backward();
    std::vector<Matrix> seen = trainer.network().coefficients(2);
    if (const auto matrix = magnitudes.matrix(2)) {
        seen.push_back(*matrix);
    }
    for (const Matrix& matrix : seen) {
        outcome.emplace_back("recorded " + matrix.name.text(), at::tensor(matrix.values));
    }
    for (const NamedParameter& parameter : trainer.network().parameters()) {
        outcome.emplace_back(parameter.name, parameter.tensor.detach());
        if (parameter.tensor.grad().defined()) {
            outcome.emplace_back("gradient of " + parameter.name, parameter.tensor.grad());
        }
    }
    return outcome;
}

bool sameBits(const at::Tensor& a, const at::Tensor& b)
{
    const at::Tensor x = a.contiguous();
    const at::Tensor y = b.contiguous();
    return x.sizes() == y.sizes() && std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

/// How far results may be apart where products promise no bits, as a share of the largest number of each: AdamW's first
/// step takes the sign of a gradient, which rounding decides where it is next to nothing.
double roundingOf(at::ScalarType type)
{
    return type == at::kDouble ? 1e-8 : type == at::kFloat ? 0.03 : 0.2;
}
constexpr double kNextToNothing = 0.01; ///< where no number is larger, rounding is a share of this

bool sameUpToRounding(const at::Tensor& a, const at::Tensor& b, at::ScalarType type)
{
    if (a.sizes() != b.sizes() || a.numel() == 0) {
        return a.sizes() == b.sizes();
    }
    const at::Tensor x = a.to(at::kDouble);
    const at::Tensor y = b.to(at::kDouble);
    const at::Tensor isNumber = x.isfinite();
    const auto largest = [&](const at::Tensor& of) { return of.abs().nan_to_num(0, 0, 0).max().item<double>(); };
    return isNumber.equal(y.isfinite()) && largest(x - y) <= roundingOf(type) * std::max(largest(x), kNextToNothing);
}

enum class Same { Bits, UpToRounding };

/// The first thing that differs from one thread's; empty where nothing does. Rounding is that of numbers of `type`.
std::string faultOf(const std::function<Outcome(int threads)>& outcome, Same same = Same::Bits,
                    at::ScalarType type = at::kDouble)
{
    const Outcome one = outcome(1);
    for (int threads = 2; threads <= kThreads; ++threads) {
        const Outcome more = outcome(threads);
        if (more.size() != one.size()) {
            return "another number of results";
        }
        for (std::size_t i = 0; i < one.size(); ++i) {
            const bool agree = same == Same::Bits ? sameBits(one[i].second, more[i].second)
                                                  : sameUpToRounding(one[i].second, more[i].second, type);
            if (!agree) {
                return one[i].first + " on " + std::to_string(threads) + " threads";
            }
        }
    }
    return {};
}

/// By bits where this processor's products promise them (host_products.h), elsewhere up to rounding.
std::string faultOf(const Project& project)
{
    const Precision precision = project.training.precision;
    const bool fixed = productBitsAreFixed(precision == Precision::Bf16 ? ProductType::Bfloat16 : ProductType::Real);
    const at::ScalarType type = precision == Precision::Fp64   ? at::kDouble
                                : precision == Precision::Fp32 ? at::kFloat
                                                               : at::kBFloat16;
    return faultOf([&](int threads) { return outcomeOn(threads, project); }, fixed ? Same::Bits : Same::UpToRounding,
                   type);
}

/// As language, with a block of one node.
Project ofNode(const std::string& kind, std::map<std::string, projects::ParamValue> params)
{
    std::vector<std::string> ports{"in"};
    if (kind == "attention") {
        ports = {"q", "k", "v"};
        params["heads"] = std::int64_t{2};
    } else if (kind == "expression") {
        ports = {"x"};
    }
    projects::GraphBuilder graph;
    graph.node("input", "input").node("node", kind, std::move(params)).node("output", "output").wire("node", "output");
    for (const std::string& port : ports) {
        graph.wire("input", "node." + port);
    }
    Project project = language("linear", "rezero");
    project.network.blocks[0].graph = graph.build();
    return project;
}

} // namespace

class TestThreads : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { prepareEnvironment(); }
    void cleanup() { at::set_num_threads(1); }

    void everyWiring_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<int>("precision");
        const auto add = [](const std::string& name, const char* type, Precision precision) {
            QTest::addRow("%s %s", name.c_str(), type) << QString::fromStdString(name) << static_cast<int>(precision);
        };
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kSplitDepth)) {
            add(preset.name, "fp32", Precision::Fp32);
        }
        // One of each kind of weight in the other types.
        for (const char* const name : {"plain", "dca", "ancre-ingoing", "mudd", "attention-residuals", "hyper-dynamic",
                                       "mhc", "highway", "densenet", "rezero", "laurel-pa"}) {
            add(name, "fp64", Precision::Fp64);
            add(name, "bf16", Precision::Bf16);
        }
    }
    void everyWiring()
    {
        QFETCH(QString, topology);
        QFETCH(int, precision);
        const std::string name = topology.toStdString();
        Project project = language(projects::blockPresetFor(topologyNamed(name, kSplitDepth).wiring).name, name);
        project.training.precision = static_cast<Precision>(precision);
        const std::string fault = faultOf(project);
        QVERIFY2(fault.empty(), fault.c_str());
    }

    void everyBlock_data()
    {
        QTest::addColumn<QString>("block");
        for (const projects::BlockPreset& preset : projects::blockPresets()) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    void everyBlock()
    {
        QFETCH(QString, block);
        Project project = language(block.toStdString(), "plain");
        project.training.activations = projects::Activations::Recompute;
        project.training.accumulate = 2;
        project.training.optimiser = projects::Sgd{.momentum = 0.9, .weightDecay = 0.01};
        const std::string fault = faultOf(project);
        QVERIFY2(fault.empty(), fault.c_str());
    }

    void everyNode_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        for (const char* const function : {"relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"}) {
            QTest::addRow("activation %s", function) << "activation"
                                                     << "function" << function;
        }
        for (const char* const formula :
             {"abs(x)^1.5", "(1+x*x)^(x/9)", "x^2", "exp(-x^2)", "sqrt(abs(x))", "x*sigmoid(x)", "gelu(x)*silu(x)",
              "log(1+abs(x))", "tanh(x)/(1+mean(x*x))", "max(x, 0.1)", "1/(1+abs(x))"}) {
            QTest::addRow("expression %s", formula) << "expression"
                                                    << "formula" << formula;
        }
        QTest::newRow("scale by one number") << "scale"
                                             << "learned"
                                             << "scalar";
        QTest::newRow("scale per feature") << "scale"
                                           << "learned"
                                           << "per_feature";
        QTest::newRow("dropout") << "dropout"
                                 << "rate"
                                 << "0.3";
        QTest::newRow("layer norm") << "layer_norm"
                                    << ""
                                    << "";
        QTest::newRow("convolution") << "conv1d"
                                     << "bias"
                                     << "true";
        QTest::newRow("convolution in groups") << "conv1d"
                                               << "groups"
                                               << "4";
        QTest::newRow("grouped attention") << "attention"
                                           << "kv_heads"
                                           << "1";
        QTest::newRow("attention that drops") << "attention"
                                              << "dropout"
                                              << "0.2";
        QTest::newRow("attention by features") << "attention"
                                               << "weights"
                                               << "performer";
        QTest::newRow("normed attention") << "attention"
                                          << "qk_norm"
                                          << "head";
        QTest::newRow("attention normed over all heads") << "attention"
                                                         << "qk_norm"
                                                         << "all";
        QTest::newRow("attention with biases") << "attention"
                                               << "bias"
                                               << "qkv";
        QTest::newRow("attention within a window") << "attention"
                                                   << "window"
                                                   << "3";
    }
    void everyNode()
    {
        QFETCH(QString, kind);
        QFETCH(QString, key);
        QFETCH(QString, value);
        std::map<std::string, projects::ParamValue> params;
        bool number = false;
        const double real = value.toDouble(&number);
        if (value == "true") {
            params[key.toStdString()] = true;
        } else if (number && value.contains('.')) {
            params[key.toStdString()] = real;
        } else if (number) {
            params[key.toStdString()] = static_cast<std::int64_t>(real);
        } else if (!key.isEmpty()) {
            params[key.toStdString()] = value.toStdString();
        }
        const Project project = ofNode(kind.toStdString(), std::move(params));
        const std::string fault = faultOf(project);
        QVERIFY2(fault.empty(), fault.c_str());
    }

    void vectorNetworks_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<int>("objective");
        for (const char* const block : {"linear", "mlp", "bottleneck"}) {
            QTest::addRow("%s, half the squared error", block)
                << block << static_cast<int>(projects::Objective::HalfSquaredError);
            QTest::addRow("%s, the mean squared error", block)
                << block << static_cast<int>(projects::Objective::MeanSquaredError);
        }
    }
    void vectorNetworks()
    {
        QFETCH(QString, block);
        QFETCH(int, objective);
        Project project = vectors(block.toStdString(), static_cast<projects::Objective>(objective));
        for (const Precision precision : {Precision::Fp64, Precision::Fp32}) {
            project.training.precision = precision;
            const std::string fault = faultOf(project);
            QVERIFY2(fault.empty(), fault.c_str());
        }
    }

    /// The sum is one of pieces, whatever their number: against the sum of whole numbers, which no order changes.
    void sumsAreExactAtEverySize()
    {
        for (const std::int64_t count : {0, 1, 4095, 4096, 4097, 16384, 16385, 65536, 100'003, 1'000'000}) {
            const at::Tensor x = at::linspace(1, static_cast<double>(std::max<std::int64_t>(count, 1)),
                                              std::max<std::int64_t>(count, 1), at::kDouble);
            const at::Tensor some = x.narrow(0, 0, count);
            const double expected = static_cast<double>(count) * static_cast<double>(count + 1) / 2;
            QCOMPARE(sumOfAll(some).item<double>(), expected);
            const std::string fault = faultOf([&](int threads) {
                at::set_num_threads(threads);
                return Outcome{{"sum of " + std::to_string(count), sumOfAll(at::sin(some))}};
            });
            QVERIFY2(fault.empty(), fault.c_str());
        }
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestThreads)
#include "tst_threads.moc"
