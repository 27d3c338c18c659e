// SPDX-License-Identifier: GPL-3.0-or-later
// RaPTr's linear residual network with normalisation: the norms and powers that its lemmas promise.
#include "engine/maths/theory/layer_stability.h"

#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace residua;
using namespace residua::engine::theory;

class TestTheoryStability : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aPowerIsFound()
    {
        const std::vector<double> x{6, 12, 24, 48};
        std::vector<double> y;
        for (const double each : x) {
            y.push_back(3 * std::pow(each, -0.4));
        }
        QVERIFY(std::abs(fittedPower(x, y) + 0.4) < 1e-12);
        QVERIFY(std::isnan(fittedPower({}, {})));
        QVERIFY(std::isnan(fittedPower(std::vector<double>{1, 2}, std::vector<double>{0, 1})));
    }

    /// One layer: without it the input is left, so Ψ is the length of the branch, which is 1 on average, and the output
    /// has √2 (corollary H.4).
    void oneLayerByHand()
    {
        const auto found = linearStability({.dimension = 300, .inputs = 50, .shared = 0}, 1);
        QVERIFY(found.ok());
        QVERIFY(std::abs(found->norms[0] - std::sqrt(2)) < 0.03);
        QVERIFY(std::abs(found->effects[0] - 1) < 0.03);
        QVERIFY(std::abs(found->gap - 1 / std::sqrt(2)) < 0.03);
    }

    /// Figure 4(c): with ‖A‖_F = 1 the gap falls about as L^−0.4 whatever the layers share (less steeply at these
    /// depths); with the spectral norm it falls the faster the more they share.
    void theFrobeniusNormGivesThePapersPower()
    {
        const std::vector<double> depths{6, 12, 24, 48};
        const auto powerOf = [&](double shared, SharedNorm norm) {
            std::vector<double> gaps;
            for (const double depth : depths) {
                gaps.push_back(
                    linearStability({.inputs = 20, .shared = shared, .norm = norm}, static_cast<std::int64_t>(depth))
                        ->gap);
            }
            return fittedPower(depths, gaps);
        };
        for (const double shared : {0.0, 0.25, 0.5, 0.75}) {
            const double power = powerOf(shared, SharedNorm::Frobenius);
            QVERIFY2(power > -0.45 && power < -0.3, qPrintable(QString::number(power)));
        }
        QVERIFY(powerOf(0.75, SharedNorm::Spectral) < -0.55);
    }

    /// Independent layers: ‖y^(l)‖ is about √(l + 1) (corollary H.4), and the gap falls about as 1/√L (lemma 5.4).
    /// One shared layer: ‖y^(l)‖ grows as l and the gap falls faster (lemma H.5). The power comes near −1/2 only as the
    /// depth grows: here it is −0.37, and differs by 0.02 from one seed to another, of which a sum over four leaves
    /// half.
    void lemmasHold()
    {
        const std::vector<double> depths{12, 24, 48};
        std::vector<double> apart(depths.size());
        std::vector<double> shared(depths.size());
        for (std::size_t i = 0; i < depths.size(); ++i) {
            const auto depth = static_cast<std::int64_t>(depths[i]);
            for (std::uint64_t seed = 1; seed <= 4; ++seed) {
                const auto independent =
                    linearStability({.dimension = 100, .inputs = 20, .shared = 0, .seed = seed}, depth);
                const auto same =
                    linearStability({.inputs = 20, .shared = 1, .norm = SharedNorm::Spectral, .seed = seed}, depth);
                QVERIFY(independent.ok() && same.ok());
                for (std::size_t layer = 0; layer < independent->norms.size(); ++layer) {
                    const double expected = std::sqrt(static_cast<double>(layer) + 2);
                    QVERIFY(std::abs(independent->norms[layer] / expected - 1) < 0.15);
                }
                apart[i] += independent->gap;
                shared[i] += same->gap;
            }
        }
        const double power = fittedPower(depths, apart);
        QVERIFY2(power > -0.65 && power < -0.3, qPrintable(QString::number(power)));
        QVERIFY2(fittedPower(depths, shared) < -0.5, qPrintable(QString::number(fittedPower(depths, shared))));
    }

    /// Lemma 5.4 (b) and (c): without the residual or the norm the gap does not fall with the depth.
    void theGapStaysWithoutResidualOrNorm()
    {
        for (const LinearForm form : {LinearForm::WithoutResidual, LinearForm::WithoutNorm}) {
            const NormalisedLinear network{.inputs = 20, .shared = 0, .form = form};
            const auto shallow = linearStability(network, 8);
            const auto deep = linearStability(network, 32);
            QVERIFY(shallow.ok() && deep.ok());
            QVERIFY2(deep->gap > 0.8 * shallow->gap, qPrintable(QString::number(deep->gap / shallow->gap)));
            const double growth = deep->norms.back() / deep->norms[deep->norms.size() - 3]; // two layers
            const double expected = form == LinearForm::WithoutNorm ? 2 : 1;
            QVERIFY2(std::abs(growth / expected - 1) < 0.2, qPrintable(QString::number(growth)));
        }
    }

    void theSeedSaysAll()
    {
        const auto once = linearStability({.dimension = 10, .inputs = 3}, 4);
        QVERIFY(once->effects == linearStability({.dimension = 10, .inputs = 3}, 4)->effects);
        QVERIFY(once->effects != linearStability({.dimension = 10, .inputs = 3, .seed = 2}, 4)->effects);
        const auto deeper = linearStability({.dimension = 10, .inputs = 3}, 5);
        QVERIFY(std::equal(once->norms.begin(), once->norms.end(), deeper->norms.begin()));
    }

    void badInputIsNamed()
    {
        QCOMPARE(QString::fromStdString(linearStability({}, 0).error().text()),
                 QString("[layers] got 0, expected at least 1"));
        QVERIFY(!linearStability({.dimension = 0}, 1).ok());
        QVERIFY(!linearStability({.shared = 1.5}, 1).ok());
        QVERIFY(!linearStability({.shared = std::nan("")}, 1).ok());
    }
};

RESIDUA_TEST(TestTheoryStability)
#include "tst_theory_stability.moc"
