// SPDX-License-Identifier: GPL-3.0-or-later
// RaPTr's theorem I.1: what its phases reach, and in how many steps.
#include "engine/maths/theory/layer_stability.h"
#include "engine/maths/theory/sine_phases.h"

#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <numbers>

using namespace residua;
using namespace residua::engine::theory;

namespace {

constexpr double kExact = 1e-12;
const double kHalf = std::sqrt(3.0) / 2;

} // namespace

class TestTheorySinePhases : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// p0 moves by η·(√3/2 − p0), so its error after s steps is √3/2·(1 − η)^s.
    void theBiasByHand()
    {
        const auto found = sinePhases(0.1, 0.1);
        QVERIFY(found.ok());
        const auto steps = static_cast<std::int64_t>(std::ceil(std::log(0.1 / kHalf) / std::log(0.9)));
        QVERIFY(found->bias.reached);
        QCOMPARE(found->bias.steps, steps);
        QVERIFY(std::abs(found->bias.least - kHalf * std::pow(0.9, static_cast<double>(steps))) < 1e-12);
    }

    /// From an exact p0 the phases reach what lemmas I.4 and I.5 name, and the loss falls below the rate.
    void anExactBiasReachesWhatTheLemmasName()
    {
        const double rate = 0.01;
        const auto found = sinePhases(rate, kExact);
        QVERIFY(found.ok());
        QVERIFY(found->first.reached && found->second.reached && found->loss.reached);
        const auto& [p0, first, second] = found->network;
        QVERIFY(std::abs(first.w1 - std::numbers::pi / 3) < 2.1 * rate); // the error of the output over cos(π/3)
        QVERIFY(std::abs(first.w2) < 1e-6 && std::abs(first.bias) < 1e-6);
        // The loss of one layer is that of x_1·x_2, which it lacks.
        QVERIFY(std::abs(found->singleLoss - 1) < 0.01);
        // The minimum of the second phase is flat: an error η of the output is one of √(2η) of the argument.
        const double flat = 2 * std::sqrt(2 * rate);
        QVERIFY(std::abs(second.w1 + kHalf - std::numbers::pi / 2) < flat);
        QVERIFY(std::abs(second.w2 - std::numbers::pi / 2) < flat);
        QVERIFY(std::abs(second.bias + p0 - std::numbers::pi / 2) < flat);
        QVERIFY(found->loss.steps < found->second.steps);
        QVERIFY(found->course.back().errors[2] < rate);
    }

    /// Lower degrees come first: x_1 is learned by one layer, x_1·x_2 only by both.
    void lowerDegreesComeFirst()
    {
        const auto found = sinePhases(0.01, kExact);
        const double afterFirst = 0.01 * static_cast<double>(found->bias.steps + found->first.steps);
        bool seen = false;
        for (const auto& [time, errors] : found->course) {
            if (std::abs(time - afterFirst) < 1e-9) {
                seen = seen || (errors[0] < 0.01 && errors[1] < 0.01 && std::abs(errors[2] - 1) < 0.01);
            }
        }
        QVERIFY(seen);
    }

    /// The minimum of lemma I.5 has no curvature, so the second phase needs about 1/η² steps; the theorem says 1/η.
    void theSecondPhaseNeedsMoreThanTheTheoremSays()
    {
        std::vector<double> inverse;
        std::vector<double> steps;
        for (const double rate : {0.02, 0.01, 0.005}) {
            inverse.push_back(1 / rate);
            steps.push_back(static_cast<double>(sinePhases(rate, kExact)->second.steps));
        }
        const double power = fittedPower(inverse, steps);
        QVERIFY2(power > 1.8 && power < 2.5, qPrintable(QString::number(power)));
    }

    /// Lemma I.4's point is a saddle: from a p0 with an error of the rate, a layer leaves it before it is reached, and
    /// ends at the least loss that one layer can have (theorem I.2).
    void anInexactBiasLeavesTheSaddle()
    {
        const auto found = sinePhases(0.003, 0.003);
        QVERIFY(found.ok());
        QVERIFY(found->bias.reached && !found->first.reached);
        QVERIFY(found->first.least > 10 * 0.003);
        QVERIFY(std::abs(found->singleLoss - kSingleLayerLoss) < 1e-3);
        QVERIFY(found->singleLoss >= kSingleLayerLoss - 1e-9);
        QCOMPARE(found->second.steps, 0);
    }

    void refusesWhatTakesTooLong()
    {
        QVERIFY(!sinePhases(kLeastSineRate / 2, kExact).ok());
        QVERIFY(!sinePhases(std::nan(""), kExact).ok());
        QVERIFY(!sinePhases(0.1, 0).ok());
    }
};

RESIDUA_TEST(TestTheorySinePhases)
#include "tst_theory_sine_phases.moc"
