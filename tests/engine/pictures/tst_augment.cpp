// SPDX-License-Identifier: GPL-3.0-or-later
// The normalisation and the random changes of pictures.
#include "engine/pictures/augment.h"
#include "projects/base/random.h"
#include "tests/engine/pictures/picture_files.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <cmath>
#include <map>
#include <set>

using namespace residua;
using namespace residua::engine;

namespace {

class TestAugment : public QObject {
    Q_OBJECT

private slots:
    void augmentationIsAFunctionOfItsKey()
    {
        const Picture picture = ramp(6, 5, 3);
        const projects::Augmentation none;
        Picture same = picture;
        augment(same, none, 9);
        QCOMPARE(same.values, picture.values);
        std::set<std::vector<std::uint8_t>> seen;
        for (std::uint64_t key = 0; key < 200; ++key) {
            Picture one = picture;
            augment(one, {.padding = 1, .flip = true}, key);
            Picture again = picture;
            augment(again, {.padding = 1, .flip = true}, key);
            QCOMPARE(one.values, again.values);
            seen.insert(one.values);
        }
        QCOMPARE(std::ssize(seen), 18); // nine places, mirrored or not
        Picture far = picture;
        augment(far, {.padding = 100}, 1);
        QCOMPARE(std::ssize(far.values), picture.form.values());
        std::array<float, 6> planes{};
        normalise({{1, 2, 3}, {0, 51, 102, 153, 204, 255}}, {.mean = 0, .deviation = 1}, planes);
        QCOMPARE(planes, (std::array<float, 6>{0, 0.6F, 0.2F, 0.8F, 0.4F, 1}));
        std::array<float, 2> values{};
        normalise({{1, 2, 1}, {0, 255}}, {.mean = 0.5, .deviation = 0.25}, values);
        QCOMPARE(values[0], -2.0F);
        QCOMPARE(values[1], 2.0F);
    }

    /// The share of Beta(α, α) below one half: its mean is that of min(λ, 1 − λ).
    void mixedSharesAreOfBeta()
    {
        constexpr int kDraws = 20000;
        const auto meanOf = [](double alpha) {
            double sum = 0;
            for (std::uint64_t key = 0; key < kDraws; ++key) {
                const double share = mixedShare(alpha, splitMix(key));
                if (!(share >= 0 && share <= 0.5)) {
                    return -1.0;
                }
                sum += share;
            }
            return sum / kDraws;
        };
        QVERIFY(std::abs(meanOf(1) - 0.25) < 0.005);          // uniform
        QVERIFY(std::abs(meanOf(2) - 0.3125) < 0.005);        // 1/2 − E|λ − 1/2|, with E|λ − 1/2| = 3/16
        QVERIFY(std::abs(meanOf(0.5) - 0.1816901) < 0.005);   // the arcsine law: 1/2 − 1/π
        QVERIFY(meanOf(0.001) >= 0 && meanOf(0.001) < 0.005); // almost always one of the two
        QVERIFY(meanOf(100) > 0.45);
    }

    void examplesMixWithTheOneBefore()
    {
        std::vector<float> inputs{0, 8, 16, 24, 4, 4};
        mixWithPrevious(inputs, 2, 0.25);
        QCOMPARE(inputs, (std::vector<float>{1, 7, 12, 20, 7, 9}));
        std::vector<float> one{3, 5};
        mixWithPrevious(one, 2, 0.25);
        QCOMPARE(one, (std::vector<float>{3, 5}));
    }

    /// ImageNet's means and deviations, on one pixel.
    void channelsHaveTheirOwnNormalisation()
    {
        const projects::Augmentation imageNet{.mean = 0.485,
                                              .deviation = 0.229,
                                              .meanGreen = 0.456,
                                              .meanBlue = 0.406,
                                              .deviationGreen = 0.224,
                                              .deviationBlue = 0.225};
        std::array<float, 3> values{};
        normalise({{1, 1, 3}, {255, 0, 51}}, imageNet, values);
        QVERIFY(std::abs(values[0] - 2.2489083F) < 1e-6F);
        QVERIFY(std::abs(values[1] + 2.0357143F) < 1e-6F);
        QVERIFY(std::abs(values[2] + 0.9155556F) < 1e-6F);
        std::array<float, 2> grey{}; // of grey, the first pair alone
        normalise({{1, 2, 1}, {255, 0}}, imageNet, grey);
        QVERIFY(std::abs(grey[0] - 2.2489083F) < 1e-6F);
    }
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestAugment)
#include "tst_augment.moc"
