// SPDX-License-Identifier: GPL-3.0-or-later
// The variances of diffusion, and distances of features, against closed forms.
#include "engine/maths/theory/frechet_distance.h"
#include "engine/maths/theory/noise_schedule.h"
#include "projects/base/random.h"
#include "tests/support/python.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QProcess>
#include <QTest>

#include <cmath>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

DenseMatrix matrixFrom(const nlohmann::json& rows)
{
    DenseMatrix matrix(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows[0].size()));
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
            matrix(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<double>();
        }
    }
    return matrix;
}

} // namespace

class TestTheoryDiffusion : public QObject {
    Q_OBJECT
private slots:
    void theScheduleIsThatOfThePaper()
    {
        const NoiseSchedule schedule(projects::Diffusion{});
        QCOMPARE(schedule.size(), std::size_t{1000});
        QVERIFY(std::abs(schedule.beta(0) - 1e-4) < 1e-15);
        QVERIFY(std::abs(schedule.beta(999) - 0.02) < 1e-12);
        QVERIFY(std::abs(schedule.alphaBar(999) - 4.04e-5) < 1e-7);
        QCOMPARE(schedule.alphaBarBefore(0), 1.0);
        // β̃ of step 1 is β₁ (1 − ᾱ₀) / (1 − ᾱ₁), which step 0 uses too.
        const double posterior = schedule.beta(1) * (1 - schedule.alphaBar(0)) / (1 - schedule.alphaBar(1));
        QVERIFY(std::abs(schedule.logPosteriorVariance(1) - std::log(posterior)) < 1e-12);
        QCOMPARE(schedule.logPosteriorVariance(0), schedule.logPosteriorVariance(1));
    }

    /// The steps that are kept have the ᾱ of training, and their β multiply to it.
    void fewerStepsKeepTheirNoise()
    {
        const NoiseSchedule all(projects::Diffusion{});
        const std::vector<std::int64_t> even = evenSteps(1000, 250);
        QCOMPARE(even.size(), std::size_t{250});
        QVERIFY(even[0] == 0 && even[1] == 4 && even[2] == 8 && even[248] == 995 && even[249] == 999);
        QVERIFY(evenSteps(1000, 1) == std::vector<std::int64_t>{999});
        const std::vector<std::int64_t> strided = stridedSteps(1000, 50);
        QVERIFY(strided[0] == 0 && strided[1] == 20 && strided[49] == 980);
        const NoiseSchedule some = all.of(even);
        double product = 1;
        for (std::size_t i = 0; i < some.size(); ++i) {
            QCOMPARE(some.step(i), even[i]);
            product *= 1 - some.beta(i);
            QVERIFY(std::abs(product - all.alphaBar(static_cast<std::size_t>(even[i]))) < 1e-12);
        }
    }

    /// The distance of diagonal covariances is ‖m − m'‖² + Σ (σ − σ')².
    void theDistanceOfDiagonalCovariancesIsKnown()
    {
        const auto features = [](const std::vector<double>& deviations, double mean) {
            // The corners of a cube have the mean 0 and no covariance; n rows have the variance n / (n − 1).
            const auto dimensions = static_cast<Eigen::Index>(deviations.size());
            const Eigen::Index rows = Eigen::Index{1} << dimensions;
            DenseMatrix made(rows, dimensions);
            const double unbiased = std::sqrt(static_cast<double>(rows - 1) / static_cast<double>(rows));
            for (Eigen::Index i = 0; i < rows; ++i) {
                for (Eigen::Index j = 0; j < dimensions; ++j) {
                    const double corner = (i >> j & 1) != 0 ? 1 : -1;
                    made(i, j) = mean + corner * deviations[static_cast<std::size_t>(j)] * unbiased;
                }
            }
            return made;
        };
        const std::vector<double> a{1, 2, 0.5};
        const std::vector<double> b{3, 0, 0.5};
        const double expected = 3 * 0.25 + 4 + 4;
        QVERIFY(std::abs(frechetDistance(features(a, 0.5), features(b, 1)) - expected) < 1e-10);
        QVERIFY(frechetDistance(features(a, 2), features(a, 2)) < 1e-12);
        QVERIFY(std::abs(frechetDistance(features(b, 1), features(a, 0.5)) - expected) < 1e-10);
    }

    /// Turning both sets changes nothing, and Σ_b = 4 Σ_a has the distance tr Σ_a.
    void theDistanceOfTurnedAndScaledSetsIsKnown()
    {
        RandomStream random(3, 1);
        const DenseMatrix a = gaussianMatrix(40, 4, random) * gaussianMatrix(4, 4, random);
        const DenseMatrix centred = a.rowwise() - a.colwise().mean();
        const double trace = centred.squaredNorm() / static_cast<double>(a.rows() - 1);
        QVERIFY(std::abs(frechetDistance(centred, 2 * centred) - trace) < 1e-9 * trace);
        const Eigen::MatrixXd turn = orthogonalTriangular(gaussianMatrix<Eigen::MatrixXd>(4, 4, random)).q;
        const DenseMatrix b = gaussianMatrix(30, 4, random);
        const double straight = frechetDistance(a, b);
        QVERIFY(std::abs(frechetDistance(a * turn, b * turn) - straight) < 1e-9 * straight);
    }

    /// Compares with an implementation in Python. Skipped if there is no NumPy.
    void measuresAreThoseOfNumpy()
    {
        QProcess python;
        python.start(tests::pythonProgram(), {"-B", RESIDUA_FRECHET_SCRIPT});
        if (!python.waitForStarted() || !python.waitForFinished(100'000) || python.exitCode() == 77) {
            QSKIP("there is no Python with NumPy: nothing is compared; RESIDUA_PYTHON names a Python that has it");
        }
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
        const auto cases = nlohmann::json::parse(python.readAllStandardOutput().toStdString());
        QCOMPARE(cases.size(), std::size_t{4});
        for (const auto& each : cases) {
            const DenseMatrix real = matrixFrom(each["real"]);
            const DenseMatrix made = matrixFrom(each["made"]);
            const double distance = each["distance"];
            QVERIFY(distance > 0.01);
            QVERIFY(std::abs(frechetDistance(real, made) - distance) < 1e-8 * distance);
            const PrecisionRecall found = precisionAndRecall(real, made);
            QCOMPARE(found.precision, each["precision"].get<double>());
            QCOMPARE(found.recall, each["recall"].get<double>());
        }
    }

    void precisionAndRecallCountNeighbours()
    {
        // Real examples at 0, 1, …, 9: each reaches its third neighbour. Made ones at 0.5, 20 and further.
        DenseMatrix real(10, 1);
        for (Eigen::Index i = 0; i < 10; ++i) {
            real(i, 0) = static_cast<double>(i);
        }
        DenseMatrix made(4, 1);
        made << 0.5, 20, 21, 22;
        const PrecisionRecall found = precisionAndRecall(real, made);
        QCOMPARE(found.precision, 0.25);
        // 0.5 reaches 22, its third neighbour, and so every real example.
        QCOMPARE(found.recall, 1.0);
        const PrecisionRecall same = precisionAndRecall(real, real);
        QVERIFY(same.precision == 1 && same.recall == 1);
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestTheoryDiffusion)
#include "tst_theory_diffusion.moc"
