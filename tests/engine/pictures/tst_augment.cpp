// SPDX-License-Identifier: GPL-3.0-or-later
// The normalisation and the random changes of pictures.
#include "engine/pictures/augment.h"
#include "projects/base/random.h"
#include "tests/engine/pictures/picture_files.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <cmath>
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
