// SPDX-License-Identifier: GPL-3.0-or-later
// The linear layer's products against the same in double precision, above and below the size that changes the library.
#include "engine/compute/runtime/host_path.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <QtTest>

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
