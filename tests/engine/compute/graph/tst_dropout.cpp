// SPDX-License-Identifier: GPL-3.0-or-later
// Dropout by example: the same elements on every path, however the examples are divided.
#include "engine/compute/ops/operators.h"

#include "engine/compute/runtime/host_path.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <QTest>

#include <cmath>
#include <cstdint>
#include <utility>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr std::uint64_t kStream = 0x8000'0000'1234'5678; ///< its upper bit is the sign of an int64

at::Tensor drawsFrom(std::int64_t first)
{
    return at::tensor({std::int64_t{-77}, first}, at::kLong);
}

at::Tensor dropped(const at::Tensor& x, double rate, std::int64_t first = 0, std::uint64_t stream = kStream)
{
    return dropout(x, rate, stream, drawsFrom(first));
}

} // namespace

class TestDropout : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyPathDropsTheSame_data()
    {
        QTest::addColumn<int>("type");
        QTest::newRow("fp32") << static_cast<int>(at::kFloat);
        QTest::newRow("fp64") << static_cast<int>(at::kDouble);
        QTest::newRow("bf16") << static_cast<int>(at::kBFloat16);
    }
    /// The kernel and LibTorch's operators, forward and backward, and any division into batches.
    void everyPathDropsTheSame()
    {
        QFETCH(int, type);
        at::Tensor x = at::ones({6, 5, 37}, static_cast<at::ScalarType>(type)).mul(0.75).requires_grad_(true);
        const at::Tensor whole = dropped(x, 0.3, 100);
        whole.sum().backward();
        const at::Tensor gradient = x.grad().clone();
        QVERIFY(at::equal(gradient.ne(0), whole.detach().ne(0)));
        {
            const GpuPathsOnHost gpu;
            x.mutable_grad().reset();
            const at::Tensor other = dropped(x, 0.3, 100);
            QVERIFY(at::equal(other, whole));
            other.sum().backward();
            QVERIFY(at::equal(x.grad(), gradient));
        }
        for (const auto& [from, count] : {std::pair{0, 1}, {1, 2}, {3, 3}}) {
            QVERIFY(at::equal(dropped(x.narrow(0, from, count), 0.3, 100 + from), whole.narrow(0, from, count)));
        }
    }

    /// On the host and by LibTorch's operators, and any division into batches.
    void everyPathDrawsTheSameNormals()
    {
        for (const std::int64_t width : {1, 2, 31, 32, 33, 100}) {
            const at::Tensor whole = normalDraws(5, width, kStream, drawsFrom(100));
            {
                const GpuPathsOnHost gpu;
                QVERIFY(at::equal(normalDraws(5, width, kStream, drawsFrom(100)), whole));
            }
            QVERIFY(at::equal(normalDraws(3, width, kStream, drawsFrom(102)), whole.narrow(0, 2, 3)));
        }
        const at::Tensor many = normalDraws(64, 1000, kStream, drawsFrom(0));
        QVERIFY(std::abs(many.mean().item<double>()) < 5 / std::sqrt(64000.0));
        QVERIFY(std::abs(many.square().mean().item<double>() - 1) < 5 * std::sqrt(2 / 64000.0));
    }

    void dropsTheShareThatIsAsked()
    {
        const at::Tensor x = at::ones({64, 1000}, at::kDouble);
        for (const double rate : {0.1, 0.5, 0.9}) {
            const at::Tensor out = dropped(x, rate);
            const double zeros = out.eq(0).to(at::kDouble).mean().item<double>();
            QVERIFY(std::abs(zeros - rate) < 5 * std::sqrt(rate * (1 - rate) / 64000));
            QVERIFY(std::abs(out.max().item<double>() - 1 / (1 - rate)) < 1e-12);
        }
        QVERIFY(dropped(x, 0).is_same(x));
    }

    /// Two examples, two nodes and two steps drop other elements.
    void drawsAreApart()
    {
        const at::Tensor x = at::ones({2, 512}, at::kDouble);
        const at::Tensor out = dropped(x, 0.5);
        const auto alike = [](const at::Tensor& a, const at::Tensor& b) {
            return a.eq(b).to(at::kDouble).mean().item<double>();
        };
        QVERIFY(std::abs(alike(out[0], out[1]) - 0.5) < 0.15);
        QVERIFY(std::abs(alike(out, dropped(x, 0.5, 0, kStream + 1)) - 0.5) < 0.1);
        const at::Tensor nextStep =
            dropout(x, 0.5, kStream, at::tensor({std::int64_t{-76}, std::int64_t{0}}, at::kLong));
        QVERIFY(std::abs(alike(out, nextStep) - 0.5) < 0.1);
    }
};

RESIDUA_TEST(TestDropout)
#include "tst_dropout.moc"
