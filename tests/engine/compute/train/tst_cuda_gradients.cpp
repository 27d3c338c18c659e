// SPDX-License-Identifier: GPL-3.0-or-later
// The gradients of every wiring on a GPU against those on the CPU in double precision. Skipped without a device
// (tests/README.md).
#include "test_device.h"
#include "tests/engine/compute/network/network_harness.h"
#include "wiring_cases.h"

#include "engine/base/api/environment.h"
#include "engine/compute/ops/operators.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/train/tensor_io.h"
#include "projects/check/validate.h"
#include "tests/support/test_program.h"

#include <ATen/SDPBackend.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Activations;
using projects::Determinism;
using projects::Precision;
using projects::Project;
using projects::ResidualPrecision;

namespace {

/// Distances are relative to the norm of a gradient, plus this share of the norm of all gradients together.
constexpr double kFloor = 1e-3;
/// The CPU reaches 4e-5 and 0.2; without a term that matters a gradient is 1 away.
constexpr double kMostInFp32 = 5e-4;
constexpr double kMostInBf16 = 0.5;

struct Gradients {
    double loss = 0;
    std::vector<std::string> names;
    std::vector<at::Tensor> values; ///< on the CPU; undefined if the parameter has no gradient
};

/// One pass forward and backward on `device` with the weights of `start`.
Gradients gradientsOn(const std::string& device, const Project& project, CompiledNetwork& start,
                      const DeviceBatch& batch, std::uint64_t seed = 17)
{
    const Result<c10::Device> opened = openDevice(device);
    auto network = CompiledNetwork::compile(project, projects::examplesOf(project.data), device);
    if (!opened || !network) {
        throw std::runtime_error(!opened ? opened.error().text() : network.error().text());
    }
    for (std::size_t i = 0; i < start.parameters().size(); ++i) {
        const at::NoGradGuard noGrad;
        (*network)->parameters()[i].tensor.copy_(start.parameters()[i].tensor);
    }
    applyDeterminism(project.training.determinism);
    seedGenerators(*opened, seed);
    at::Tensor loss = (*network)->loss({batch.input.to(*opened), batch.target.to(*opened)}, tests::kTraining);
    loss.backward();
    Gradients found{loss.item<double>(), {}, {}};
    for (const NamedParameter& parameter : (*network)->parameters()) {
        const at::Tensor& gradient = parameter.tensor.grad();
        found.names.push_back(parameter.name);
        found.values.push_back(gradient.defined() ? gradient.to(at::kCPU) : at::Tensor());
    }
    return found;
}

struct Distance {
    double largest = 0; ///< infinite if one has a gradient that the other lacks
    std::string name;   ///< the parameter
};

Distance distance(const Gradients& got, const Gradients& expected)
{
    const auto norm = [](const at::Tensor& x) { return x.to(at::kDouble).norm().item<double>(); };
    double all = 0;
    for (const at::Tensor& value : expected.values) {
        all = std::hypot(all, value.defined() ? norm(value) : 0.0);
    }
    Distance found{std::abs(got.loss - expected.loss) / std::abs(expected.loss), "the loss"};
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        const at::Tensor& a = got.values[i];
        const at::Tensor& b = expected.values[i];
        double apart = a.defined() == b.defined() ? 0 : HUGE_VAL;
        if (a.defined() && b.defined()) {
            apart = norm(a.to(at::kDouble) - b.to(at::kDouble)) / (norm(b) + kFloor * all);
        }
        if (!(apart <= found.largest)) {
            found = {apart, expected.names[i]};
        }
    }
    return found;
}

bool sameBits(const Gradients& a, const Gradients& b)
{
    return a.loss == b.loss && std::ranges::equal(a.values, b.values, [](const at::Tensor& x, const at::Tensor& y) {
               return x.defined() == y.defined() && (!x.defined() || at::equal(x, y));
           });
}

Project with(Project project, Precision precision, ResidualPrecision residual, Determinism determinism)
{
    project.training.precision = precision;
    project.training.residualPrecision = residual;
    project.training.determinism = determinism;
    return project;
}

} // namespace

class TestCudaGradients : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        prepareEnvironment(); // without it LibTorch's products promise no bits
        if (const std::string problem = tests::deviceProblem(m_device); !problem.empty()) {
            QSKIP(problem.c_str());
        }
        m_cases = tests::wiringCases();
    }
    void cleanupTestCase() { m_distances.print(); }

    void kernelsAreUsed()
    {
        const std::string problem = tests::kernelProblem(m_device);
        QVERIFY2(problem.empty(), problem.c_str());
    }

    void equalTheCpus_data()
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < m_cases.size(); ++i) {
            QTest::newRow(m_cases[i].name.c_str()) << static_cast<int>(i);
        }
    }
    void equalTheCpus()
    {
        QFETCH(int, index);
        compareWithCpu(m_cases[static_cast<std::size_t>(index)].project, m_device, "");
    }

    /// The last two rows are beyond the kernel.
    void sinkhornEqualsTheCpus_data()
    {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("iterations");
        QTest::newRow("2 streams") << 2 << 20;
        QTest::newRow("4 streams") << 4 << 20;
        QTest::newRow("8 streams") << 8 << 40;
        QTest::newRow("9 streams") << 9 << 20;
        QTest::newRow("4 streams, 81 iterations") << 4 << 81;
    }
    void sinkhornEqualsTheCpus()
    {
        QFETCH(int, size);
        QFETCH(int, iterations);
        const at::Tensor logits = tests::randomTensor({size, size, 300}, 1);
        const at::Tensor probe = tests::randomTensor({size, size, 300}, 2);
        const auto on = [&](const std::string& device, at::ScalarType type, bool transposed) {
            const at::TensorOptions options = at::TensorOptions(*openDevice(device)).dtype(type);
            at::Tensor leaf = logits.to(options).clone(); // `to` may return the same tensor
            if (transposed) {
                leaf = leaf.permute({2, 0, 1}).contiguous().permute({1, 2, 0});
            }
            leaf.requires_grad_(true);
            const at::Tensor m = sinkhorn(leaf, iterations);
            (m * probe.to(options)).sum().backward();
            return std::pair(m.detach().to(at::kCPU, at::kDouble), leaf.grad().to(at::kCPU, at::kDouble));
        };
        const auto expected = on("cpu", at::kDouble, false);
        for (const bool transposed : {false, true}) {
            const auto got = on(m_device, at::kFloat, transposed);
            QVERIFY(tests::distance(got.first, expected.first) < 3e-6);
            QVERIFY(tests::distance(got.second, expected.second) < 1e-5);
        }
    }

    /// Heads of 64 features in bf16 are computed by a fused attention: by cuDNN's in Fast mode alone, if at all.
    void attentionIsFused()
    {
        const at::Tensor q = at::zeros({2, 2, 64, 64}, at::TensorOptions(*openDevice(m_device)).dtype(at::kBFloat16))
                                 .requires_grad_(true);
        const auto chosen = [&](Determinism determinism) {
            applyDeterminism(determinism);
            return static_cast<at::SDPBackend>(at::_fused_sdp_choice(q, q, q, std::nullopt, 0.0, /*is_causal=*/true));
        };
        const at::SDPBackend fast = chosen(Determinism::Fast);
        const at::SDPBackend deterministic = chosen(Determinism::Deterministic);
        qInfo(
            "attention: backend %d in Fast mode, %d in Deterministic (0 unfused, 1 flash, 2 memory-efficient, 3 cuDNN)",
            static_cast<int>(fast), static_cast<int>(deterministic));
        QVERIFY(fast != at::SDPBackend::math && deterministic != at::SDPBackend::math);
        QVERIFY(deterministic != at::SDPBackend::cudnn_attention);
    }

    void attentionOf64Features_data()
    {
        QTest::addColumn<int>("kvHeads");
        QTest::addColumn<int>("window");
        QTest::newRow("as many keys as queries") << 0 << 0;
        QTest::newRow("shared keys") << 1 << 0;
        QTest::newRow("window") << 0 << 9;
    }
    void attentionOf64Features()
    {
        QFETCH(int, kvHeads);
        QFETCH(int, window);
        Project project = tests::wiredLanguage("plain", 2);
        project.stack().width = 128;
        project.training.sequenceLength = 64;
        tests::setAttention(project, "kv_heads", std::int64_t{kvHeads});
        tests::setAttention(project, "window", std::int64_t{window});
        compareWithCpu(project, m_device, ", heads of 64");
    }

    /// Layers whose inside is computed again give the bits of those that keep it, also where dropout draws.
    void recomputeChangesNoBits_data()
    {
        QTest::addColumn<double>("dropout");
        for (const char* const topology : {"plain", "dca", "ancre-ingoing", "mudd", "mhc", "attention-residuals"}) {
            for (const double dropout : {0.0, 0.3}) {
                QTest::addRow("%s, dropout %g", topology, dropout) << dropout;
            }
        }
    }
    void recomputeChangesNoBits()
    {
        QFETCH(double, dropout);
        const std::string row = QTest::currentDataTag();
        Project project = tests::wiredLanguage(row.substr(0, row.find(',')), 3);
        tests::setAttention(project, "dropout", dropout);
        const DeviceBatch batch = tests::randomBatch(project, 3, 20, 5);
        const auto start = startOf(project);
        const Gradients kept = gradientsOn(m_device, project, *start, batch);
        project.training.activations = Activations::Recompute;
        QVERIFY(sameBits(gradientsOn(m_device, project, *start, batch), kept));
        QCOMPARE(sameBits(gradientsOn(m_device, project, *start, batch, /*seed=*/18), kept), dropout == 0);
    }

    /// The current device stays the first, so everything that runs must choose the second by itself.
    void onTheSecondDevice_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "dca", "ancre-ingoing", "mudd", "mhc"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void onTheSecondDevice()
    {
        QFETCH(QString, topology);
        const std::string device = tests::secondDevice();
        if (const std::string problem = tests::deviceProblem(device); !problem.empty()) {
            QSKIP(problem.c_str());
        }
        compareWithCpu(tests::wiredLanguage(topology.toStdString(), 3), device, ", second device");
    }

private:
    static Project inDouble(const Project& project)
    {
        return with(project, Precision::Fp64, ResidualPrecision::Fp32, Determinism::Deterministic);
    }

    /// The network on the CPU in double precision, with its weights off the places where they start.
    static std::unique_ptr<CompiledNetwork> startOf(const Project& project)
    {
        auto network = tests::compiled(inDouble(project));
        tests::shake(*network, 0.05, 3);
        return network;
    }

    void compareWithCpu(const Project& project, const std::string& device, const std::string& group)
    {
        for (const projects::Problem& problem : projects::validate(project)) {
            QVERIFY2(!projects::hasErrors({problem}), problem.text().c_str());
        }
        const DeviceBatch batch = tests::randomBatch(project, 3, project.training.sequenceLength, 5);
        const auto start = startOf(project);
        const Gradients expected = gradientsOn("cpu", inDouble(project), *start, batch);
        const auto on = [&](Precision precision, ResidualPrecision residual, Determinism determinism) {
            return gradientsOn(device, with(project, precision, residual, determinism), *start, batch);
        };
        for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
            const bool bf16 = precision == Precision::Bf16;
            const std::string name = (bf16 ? "bf16" : "fp32") + group;
            const double most = bf16 ? kMostInBf16 : kMostInFp32;
            const Gradients once = on(precision, ResidualPrecision::Fp32, Determinism::Deterministic);
            check(distance(once, expected), most, name);
            QVERIFY2(sameBits(on(precision, ResidualPrecision::Fp32, Determinism::Deterministic), once), name.c_str());
            check(distance(on(precision, ResidualPrecision::Fp32, Determinism::Fast), expected), most, name + ", Fast");
        }
        const Gradients throughout = on(Precision::Bf16, ResidualPrecision::Bf16, Determinism::Deterministic);
        check(distance(throughout, expected), kMostInBf16, "bf16 throughout" + group);
    }

    void check(const Distance& found, double most, const std::string& group)
    {
        const std::string row = QTest::currentDataTag();
        m_distances.add(group, found.largest, row + ", " + found.name);
        QVERIFY2(found.largest < most, qPrintable(QString("%1: %2 at %3, expected less than %4")
                                                      .arg(group.c_str())
                                                      .arg(found.largest)
                                                      .arg(found.name.c_str())
                                                      .arg(most)));
    }

    const std::string m_device = tests::testDevice();
    std::vector<tests::WiringCase> m_cases;
    tests::LargestDistances m_distances;
};

RESIDUA_TEST(TestCudaGradients)
#include "tst_cuda_gradients.moc"
