// SPDX-License-Identifier: GPL-3.0-or-later
// The linear layer's products against the same in double precision, above and below the size that changes the library.
#include "engine/compute/ops/fused.h"
#include "engine/compute/runtime/host_path.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/autograd.h>

#include <QtTest>

#include <cmath>
#include <string_view>

using namespace residua;
using namespace residua::engine;

class TestHostProducts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void matchDoublePrecision_data()
    {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("in");
        QTest::addColumn<int>("out");
        QTest::newRow("one row") << 1 << 16 << 8;
        QTest::newRow("small") << 64 << 32 << 48;
        QTest::newRow("just large") << 256 << 128 << 128;
        QTest::newRow("large, odd") << 513 << 259 << 131;
        QTest::newRow("no rows") << 0 << 16 << 8;
    }
    void matchDoublePrecision()
    {
        QFETCH(int, rows);
        QFETCH(int, in);
        QFETCH(int, out);
        const at::Tensor x = at::randn({rows, in});
        const at::Tensor weight = at::randn({out, in});
        // Columns of a wider matrix, as the gradients of q, k and v are.
        const at::Tensor yGrad = at::randn({rows, 3 * out}).narrow(1, out, out);
        compare(timesTransposed(x, weight), at::mm(x.to(at::kDouble), weight.t().to(at::kDouble)), in);
        compare(times(yGrad, weight), at::mm(yGrad.to(at::kDouble), weight.to(at::kDouble)), out);
    }

    void aResultIsTheSameEachTime()
    {
        const at::Tensor x = at::randn({512, 256});
        const at::Tensor weight = at::randn({256, 256});
        QVERIFY(timesTransposed(x, weight).equal(timesTransposed(x, weight)));
    }

    void doublesStayDoubles()
    {
        const at::Tensor x = at::randn({512, 256}, at::kDouble);
        const at::Tensor weight = at::randn({256, 256}, at::kDouble);
        QVERIFY(timesTransposed(x, weight).equal(at::mm(x, weight.t())));
    }

    /// Each value is rounded to the nearest one of float8 at a scale that depends on the largest value alone.
    void eightBitsAreRoundedAtTheirScale_data()
    {
        QTest::addColumn<bool>("gradient");
        QTest::addColumn<double>("size");
        for (const double size : {1.0, 3e-20, 7e20}) {
            QTest::addRow("values of %g", size) << false << size;
            QTest::addRow("gradients of %g", size) << true << size;
        }
    }
    void eightBitsAreRoundedAtTheirScale()
    {
        QFETCH(bool, gradient);
        QFETCH(double, size);
        const at::Tensor x = (at::randn({40, 32}) * size).to(at::kBFloat16);
        const at::Tensor one = at::eye(32, at::kBFloat16);
        const at::Tensor got =
            gradient ? times(x, one, Products::EightBit) : timesTransposed(x, one, Products::EightBit);
        QVERIFY(got.scalar_type() == at::kBFloat16);
        const int bits = gradient ? 2 : 3; // after the point
        const double most = x.abs().max().item<double>();
        int kept = 0;
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            const double value = x.flatten()[i].item<double>();
            const double rounded = got.flatten()[i].item<double>();
            const double least = most * std::exp2(gradient ? -26 : -13); // below it, the numbers are equally spaced
            const double step = std::max(std::abs(value), least) * std::exp2(-bits - 1);
            QVERIFY2(std::abs(rounded - value) <= step * 1.001, qPrintable(QString::number(value / size)));
            kept += rounded == value ? 1 : 0;
        }
        QVERIFY(kept < x.numel() / 2);
    }

    /// LibTorch's own product of such matrices, which GPUs compute, is that of the rounded values.
    void eightBitsAreWhatLibTorchMultiplies()
    {
        const at::Tensor x = at::randn({24, 64}).to(at::kBFloat16);
        const at::Tensor weight = at::randn({48, 64}).to(at::kBFloat16);
        const at::Tensor one = at::ones({});
        const double scale = 64; // any power of two: values are up to 5
        const at::Tensor theirs =
            at::_scaled_mm((x * scale).to(kEightBitValue), (weight * scale).to(kEightBitValue).t(), one / scale,
                           one / scale, {}, {}, at::kBFloat16);
        const at::Tensor ours = timesTransposed(x, weight, Products::EightBit);
        const double worst = (ours - theirs).abs().max().item<double>();
        QVERIFY2(worst <= 0.01 * theirs.abs().max().item<double>(), qPrintable(QString::number(worst)));
        const at::Tensor exact = at::mm(x.to(at::kDouble), weight.t().to(at::kDouble));
        const double away = (ours.to(at::kDouble) - exact).abs().max().item<double>();
        QVERIFY2(away > 0.05 && away < 0.1 * exact.abs().max().item<double>(), qPrintable(QString::number(away)));
    }

    void otherSizesAreMultipliedInTheirOwnType()
    {
        const at::Tensor x = at::randn({24, 40}).to(at::kBFloat16);
        const at::Tensor weight = at::randn({48, 40}).to(at::kBFloat16);
        QVERIFY(timesTransposed(x, weight, Products::EightBit).equal(timesTransposed(x, weight)));
        const at::Tensor wide = at::randn({24, 64});
        QVERIFY(timesTransposed(wide, wide, Products::EightBit).equal(timesTransposed(wide, wide)));
        QVERIFY(
            timesTransposed(at::zeros({16, 32}, at::kBFloat16), at::zeros({16, 32}, at::kBFloat16), Products::EightBit)
                .equal(at::zeros({16, 16}, at::kBFloat16)));
    }

    /// Magnitudes that are noted with a tensor set its scale, until the tensor is written.
    void notedMagnitudesSetTheScale()
    {
        const at::Tensor x = at::randn({24, 32}).to(at::kBFloat16);
        const at::Tensor one = at::eye(32, at::kBFloat16);
        const at::Tensor expected = timesTransposed(x, one, Products::EightBit);
        at::Tensor noted = x.clone().view({4, 6, 32});
        noteLargest(noted, x.abs().amax(1).to(at::kFloat));
        QVERIFY(timesTransposed(reshaped(noted, {24, 32}), one, Products::EightBit).equal(expected));
        noteLargest(noted, at::full({24}, 1e5));
        QVERIFY(!timesTransposed(reshaped(noted, {24, 32}), one, Products::EightBit).equal(expected));
        noted.mul_(1);
        QVERIFY(timesTransposed(reshaped(noted, {24, 32}), one, Products::EightBit).equal(expected));
    }

    /// In a layer, weights, the attention's output, its gradient and that of the layer's output are read for their
    /// largest magnitude, and the results of the norms and of the gate are not.
    void normsAndGatesNoteTheirMagnitudes()
    {
        const auto searches = [](std::int64_t depth) {
            projects::Project project = tests::tinyLanguage("transformer", "plain", depth);
            project.stack().width = 64;
            project.training.precision = projects::Precision::Fp8;
            project.training.residualPrecision = projects::ResidualPrecision::Bf16;
            const auto network = tests::compiled(project);
            const DeviceBatch batch = tests::randomBatch(project, 2, 8, 5);
            static int searched = 0;
            searched = 0;
            const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(
                [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
                    searched += std::string_view(function.name()) == "aten::aminmax" ? 1 : 0;
                    return nullptr;
                }));
            network->loss(batch, tests::kTraining).backward();
            at::removeCallback(handle);
            return searched;
        };
        // Forward 4 weights and the attention's output. Backward 4 weights and the gradients of 3 products.
        QCOMPARE(searches(2) - searches(1), 12);
    }

    /// Products forward and for the input's gradient are in eight bits, and the gradient of a weight is not.
    void linearLayersMultiplyInEightBits()
    {
        Compute compute;
        compute.activationType = at::kBFloat16;
        const at::Tensor x = at::randn({24, 32}).to(at::kBFloat16).requires_grad_();
        const at::Tensor weight = at::randn({48, 32}).requires_grad_();
        const at::Tensor bias = at::randn({48}).requires_grad_();
        const at::Tensor grad = at::randn({24, 48}).to(at::kBFloat16);
        const at::Tensor narrow = weight.detach().to(at::kBFloat16);
        std::vector<std::vector<at::Tensor>> gradients;
        for (const Products products : {Products::Own, Products::EightBit}) {
            compute.products = products;
            const at::Tensor y = linear(compute, x, weight, bias);
            if (products == Products::EightBit) {
                QVERIFY(y.equal(timesTransposed(x.detach(), narrow, products) + bias.detach().to(at::kBFloat16)));
            }
            gradients.push_back(torch::autograd::grad({y}, {x, weight, bias}, {grad}));
        }
        QVERIFY(gradients[1][0].equal(times(grad, narrow, Products::EightBit)));
        QVERIFY(!gradients[1][0].equal(gradients[0][0]));
        QVERIFY((gradients[1][1] - gradients[0][1]).abs().max().item<double>() < 0.1); // roundings of bf16
    }

private:
    static void compare(const at::Tensor& got, const at::Tensor& expected, int terms)
    {
        QCOMPARE(got.sizes(), expected.sizes());
        if (got.numel() > 0) {
            const double worst = (got.to(at::kDouble) - expected).abs().max().item<double>();
            QVERIFY2(worst < 1e-6 * terms, qPrintable(QString::number(worst)));
        }
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestHostProducts)
#include "tst_host_products.moc"
