// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/theory/linear_algebra.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace residua::engine::theory;

namespace {

DenseMatrix randomMatrix(std::int64_t rows, std::int64_t columns, unsigned seed)
{
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> gaussian;
    DenseMatrix a = DenseMatrix::zeros(rows, columns);
    for (double& value : a.values) {
        value = gaussian(bits);
    }
    return a;
}

DenseMatrix rebuilt(const Svd& svd)
{
    DenseMatrix scaled = svd.u;
    for (std::int64_t i = 0; i < scaled.rows; ++i) {
        for (std::int64_t j = 0; j < scaled.columns; ++j) {
            scaled.at(i, j) *= svd.sigma[std::size_t(j)];
        }
    }
    return productWithSecondTransposed(scaled, svd.v);
}

double distance(DenseMatrix a, const DenseMatrix& b)
{
    addScaled(a, b, -1);
    return frobeniusNorm(a);
}

bool near(double a, double b, double tolerance = 1e-12)
{
    return std::abs(a - b) <= tolerance;
}

} // namespace

class TestTheoryLinearAlgebra : public QObject {
    Q_OBJECT

private slots:
    void products()
    {
        const DenseMatrix a{2, 3, {1, 2, 3, 4, 5, 6}};
        const DenseMatrix b{3, 2, {1, 0, 0, 1, 2, 2}};
        const DenseMatrix ab{2, 2, {7, 8, 16, 17}};
        QCOMPARE(product(a, b), ab);
        QCOMPARE(productWithFirstTransposed(transposed(a), b), ab);
        QCOMPARE(productWithSecondTransposed(a, transposed(b)), ab);
        QCOMPARE(trace(ab), 24.0);
        QCOMPARE(innerProduct(a, a), 91.0);
        QCOMPARE(symmetricPart(DenseMatrix{2, 2, {1, 2, 4, 3}}), (DenseMatrix{2, 2, {1, 3, 3, 3}}));
    }

    void eigenvaluesOfKnownMatrices()
    {
        // λ² − 6λ + 5: 5 and 1. The path of three nodes has ±√2 and 0.
        const auto pair = symmetricEigenvalues({2, 2, {3, 2, 2, 3}});
        QVERIFY(near(pair[0], 5) && near(pair[1], 1));
        const auto path = symmetricEigenvalues({3, 3, {0, 1, 0, 1, 0, 1, 0, 1, 0}});
        QVERIFY(near(path[0], std::sqrt(2.0)) && near(path[1], 0) && near(path[2], -std::sqrt(2.0)));
        QCOMPARE(symmetricEigenvalues(DenseMatrix::zeros(2, 2)), (std::vector<double>{0, 0}));
        QCOMPARE(symmetricEigenvalues({1, 1, {-4}}), (std::vector<double>{-4}));
    }

    void eigenvaluesHaveTraceAndNorm()
    {
        const DenseMatrix a = symmetricPart(randomMatrix(40, 40, 1));
        double sum = 0;
        double squares = 0;
        for (const double value : symmetricEigenvalues(a)) {
            sum += value;
            squares += value * value;
        }
        QVERIFY(near(sum, trace(a), 1e-10));
        QVERIFY(near(squares, innerProduct(a, a), 1e-9));
    }

    void singularValuesOfKnownMatrices()
    {
        // A cyclic shift with weights 3, 2, 1: orthogonal columns.
        QCOMPARE(singularValues({3, 3, {0, 3, 0, 0, 0, 2, 1, 0, 0}}).sigma, (std::vector<double>{3, 2, 1}));
        // A^T·A of [[1, 1], [0, 1]] is [[1, 1], [1, 2]]: σ² = (3 ± √5)/2, the golden ratio and its inverse.
        const Svd golden = singularValues({2, 2, {1, 1, 0, 1}});
        QVERIFY(near(golden.sigma[0], (1 + std::sqrt(5.0)) / 2) && near(golden.sigma[1], (std::sqrt(5.0) - 1) / 2));
    }

    void singularVectorsRebuildTheMatrix_data()
    {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("rank");
        QTest::newRow("one") << 1 << 1;
        QTest::newRow("full") << 30 << 30;
        QTest::newRow("rank 3 of 20") << 20 << 3;
        QTest::newRow("zero") << 4 << 0;
    }

    void singularVectorsRebuildTheMatrix()
    {
        QFETCH(int, size);
        QFETCH(int, rank);
        const DenseMatrix a = product(randomMatrix(size, rank, 2), randomMatrix(rank, size, 3));
        const Svd svd = singularValues(a);
        QVERIFY(distance(rebuilt(svd), a) <= 1e-12 * (1 + frobeniusNorm(a)));
        QVERIFY(std::is_sorted(svd.sigma.rbegin(), svd.sigma.rend()));
        QCOMPARE(std::count_if(svd.sigma.begin(), svd.sigma.end(), [](double s) { return s > 0; }), rank);
        const DenseMatrix one = DenseMatrix::identity(size);
        QVERIFY(distance(productWithFirstTransposed(svd.v, svd.v), one) <= 1e-12 * size);
        DenseMatrix leading = DenseMatrix::zeros(size, size);
        for (int k = 0; k < rank; ++k) {
            leading.at(k, k) = 1;
        }
        QVERIFY(distance(productWithFirstTransposed(svd.u, svd.u), leading) <= 1e-12 * size);
    }
};

RESIDUA_TEST(TestTheoryLinearAlgebra)
#include "tst_theory_linear_algebra.moc"
