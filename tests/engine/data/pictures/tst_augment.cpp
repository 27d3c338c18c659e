// SPDX-License-Identifier: GPL-3.0-or-later
// The normalisation and the random changes of pictures.
#include "engine/data/pictures/augment.h"
#include "engine/data/pictures/random_operation.h"
#include "projects/base/random.h"
#include "tests/engine/data/pictures/picture_files.h"
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

    /// A part of a ramp to the right has a narrower range. No part is mirrored or leaves the picture.
    void partsLieInsideThePicture()
    {
        Picture ramp{{40, 40, 1}, {}};
        for (int i = 0; i < 40 * 40; ++i) {
            ramp.values.push_back(static_cast<std::uint8_t>(5 * (i % 40)));
        }
        std::set<int> ranges;
        for (std::uint64_t key = 0; key < 200; ++key) {
            const Picture part = randomPart(ramp, 0.05, {8, 8, 1}, key);
            QCOMPARE(part.values, randomPart(ramp, 0.05, {8, 8, 1}, key).values);
            QCOMPARE(part.form, (PictureForm{8, 8, 1}));
            QVERIFY(std::is_sorted(part.values.begin(), part.values.begin() + 8));
            ranges.insert(part.values[7] - part.values[0]);
        }
        // The narrowest has a width of 40 · √(0.05 · 3/4), the widest all 40 columns; 7 of 8 columns lie between.
        QVERIFY2(*ranges.begin() >= 25 && *ranges.begin() < 60, qPrintable(QString::number(*ranges.begin())));
        QVERIFY2(*ranges.rbegin() > 150 && *ranges.rbegin() < 195, qPrintable(QString::number(*ranges.rbegin())));
        const Picture whole = randomPart(ramp, 1, {40, 40, 1}, 3); // no part of another ratio has its area
        QCOMPARE(whole.form, ramp.form);
    }

    /// Every operation of RandAugment on a small picture, worked out by hand.
    void operationsOnASmallPicture_data()
    {
        using enum PictureOperation;
        QTest::addColumn<AppliedOperation>("operation");
        QTest::addColumn<Picture>("before");
        QTest::addColumn<QList<int>>("after");
        const Picture grey{{2, 3, 1}, {10, 20, 30, 40, 50, 60}};
        const Picture square{{3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
        const Picture high{{1, 4, 1}, {0, 100, 128, 200}};
        const Picture red{{1, 2, 3}, {200, 100, 0, 50, 50, 50}}; // grey: 119 and 50
        const auto row = [](const char* name, const AppliedOperation& operation, const Picture& before,
                            const QList<int>& after) { QTest::newRow(name) << operation << before << after; };
        row("auto contrast", {AutoContrast}, grey, {0, 51, 102, 153, 204, 255});
        row("auto contrast of channels", {AutoContrast}, red, {255, 255, 0, 0, 0, 255});
        row("auto contrast of one value", {AutoContrast}, {{1, 2, 1}, {9, 9}}, {9, 9});
        row("equalise few", {Equalize}, grey, {10, 20, 30, 40, 50, 60});
        row("invert", {Invert}, high, {255, 155, 127, 55});
        row("rotate", {Rotate, 90}, square, {3, 6, 9, 2, 5, 8, 1, 4, 7});
        row("rotate back", {Rotate, -90}, square, {7, 4, 1, 8, 5, 2, 9, 6, 3});
        row("rotate by nothing", {Rotate, 0}, grey, {10, 20, 30, 40, 50, 60});
        row("posterise", {Posterize, 1}, high, {0, 0, 128, 128});
        row("posterise nothing", {Posterize, 8}, high, {0, 100, 128, 200});
        row("solarise", {Solarize, 128}, high, {0, 100, 127, 55});
        row("solarise nothing", {Solarize, 256}, high, {0, 100, 128, 200});
        row("add below the middle", {SolarizeAdd, 60}, high, {60, 160, 128, 200});
        row("add nothing", {SolarizeAdd, 0}, high, {0, 100, 128, 200});
        row("without colour", {Colour, 0}, red, {119, 119, 119, 50, 50, 50});
        row("same colour", {Colour, 1}, red, {200, 100, 0, 50, 50, 50});
        row("more colour", {Colour, 1.5}, red, {240, 90, 0, 50, 50, 50});
        row("half contrast", {Contrast, 0.5}, high, {53, 103, 117, 153}); // about 107
        row("more contrast", {Contrast, 2}, high, {0, 93, 149, 255});
        row("half brightness", {Brightness, 0.5}, high, {0, 50, 64, 100});
        row("more brightness", {Brightness, 1.5}, high, {0, 150, 192, 255});
        // The centre, 130, is smoothed to (8 · 0 + 5 · 130) / 13.
        row("smooth", {Sharpness, 0}, {{3, 3, 1}, {0, 0, 0, 0, 130, 0, 0, 0, 0}}, {0, 0, 0, 0, 50, 0, 0, 0, 0});
        row("sharpen", {Sharpness, 1.5}, {{3, 3, 1}, {0, 0, 0, 0, 130, 0, 0, 0, 0}}, {0, 0, 0, 0, 170, 0, 0, 0, 0});
        row("shear along rows", {ShearX, 1}, square, {1, 2, 3, 5, 6, 128, 9, 128, 128});
        row("shear along columns", {ShearY, 1}, square, {1, 5, 9, 4, 8, 128, 7, 128, 128});
        row("translate", {TranslateX, 1}, square, {2, 3, 128, 5, 6, 128, 8, 9, 128});
        row("translate up", {TranslateY, 2}, square, {7, 8, 9, 128, 128, 128, 128, 128, 128});
        row("translate back", {TranslateX, -1}, square, {128, 1, 2, 128, 4, 5, 128, 7, 8});
        row("cut out", {Cutout, 1, 1, 2}, square, {1, 128, 128, 4, 128, 128, 7, 8, 9});
        row("cut out a corner", {Cutout, 2, 0, 0}, square, {128, 128, 3, 128, 128, 6, 7, 8, 9});
        row("cut out nothing", {Cutout, 0, 1, 1}, square, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    }
    void operationsOnASmallPicture()
    {
        QFETCH(AppliedOperation, operation);
        QFETCH(Picture, before);
        QFETCH(QList<int>, after);
        apply(before, operation);
        QCOMPARE(QList<int>(before.values.begin(), before.values.end()), after);
    }

    /// 512 pixels of the values 10, 20, 30 and 200: the step is (512 − 128) / 255 = 1, so the counts below each value,
    /// 0, 128, 256 and 384, become its new value, at most 255.
    void equalisedValuesAreEquallyFrequent()
    {
        Picture picture{{16, 32, 1}, {}};
        for (const std::uint8_t value : {10, 20, 30, 200}) {
            picture.values.insert(picture.values.end(), 128, value);
        }
        apply(picture, {PictureOperation::Equalize});
        QCOMPARE(int{picture.values[0]}, 0);
        QCOMPARE(int{picture.values[128]}, 128);
        QCOMPARE(int{picture.values[256]}, 255);
        QCOMPARE(int{picture.values[384]}, 255);
    }

    /// All operations come up, with the strength of their magnitude; at 0 those that move or add change nothing.
    void operationsAreDrawn()
    {
        const PictureForm form{224, 224, 3};
        std::map<PictureOperation, std::set<double>> amounts;
        RandomStream random(5, 1);
        for (int i = 0; i < 1000; ++i) {
            const AppliedOperation drawn = drawOperation(form, 10, random);
            QVERIFY(drawn.row >= 0 && drawn.row < 224 && drawn.column >= 0 && drawn.column < 224);
            amounts[drawn.operation].insert(drawn.amount);
        }
        QCOMPARE(std::ssize(amounts), static_cast<std::ptrdiff_t>(PictureOperation::Count));
        QVERIFY((amounts[PictureOperation::Rotate] == std::set<double>{-30, 30}));
        QVERIFY((amounts[PictureOperation::TranslateX] == std::set<double>{-100, 100}));
        QVERIFY((amounts[PictureOperation::Cutout] == std::set<double>{40}));
        QVERIFY((amounts[PictureOperation::Posterize] == std::set<double>{4}));
        QVERIFY((amounts[PictureOperation::Solarize] == std::set<double>{256}));
        QVERIFY((amounts[PictureOperation::SolarizeAdd] == std::set<double>{110}));
        QVERIFY(std::abs(*amounts[PictureOperation::Contrast].begin() - 1.9) < 1e-12);
        QVERIFY(std::abs(*amounts[PictureOperation::ShearY].rbegin() - 0.3) < 1e-12);
        const Picture picture = ramp(6, 5, 3);
        std::set<PictureOperation> still;
        for (int i = 0; i < 300; ++i) {
            const AppliedOperation drawn = drawOperation(picture.form, 0, random);
            Picture same = picture;
            apply(same, drawn);
            if (same.values == picture.values) {
                still.insert(drawn.operation);
            }
        }
        using enum PictureOperation;
        for (const PictureOperation each : {Rotate, ShearX, ShearY, TranslateX, TranslateY, Cutout, SolarizeAdd}) {
            QVERIFY(still.contains(each));
        }
    }

    /// RandAugment follows from the key, and leaves the draws before it as they are.
    void randAugmentFollowsFromItsKey()
    {
        const Picture picture = ramp(6, 5, 3);
        const projects::Augmentation all{.padding = 1, .flip = true, .operations = 2, .magnitude = 9};
        int changed = 0;
        for (std::uint64_t key = 0; key < 100; ++key) {
            Picture one = picture;
            augment(one, all, key);
            Picture again = picture;
            augment(again, all, key);
            QCOMPARE(one.values, again.values);
            QVERIFY((one.form == picture.form));
            Picture plain = picture;
            augment(plain, {.padding = 1, .flip = true}, key);
            changed += one.values != plain.values ? 1 : 0;
        }
        QVERIFY(changed > 60); // some operations change nothing, such as Solarize at a high magnitude
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

    void examplesMix()
    {
        std::vector<float> example{0, 8};
        mixWith(example, std::vector<float>{4, 4}, 0.25);
        QCOMPARE(example, (std::vector<float>{1, 7}));
        mixWith(example, std::vector<float>(example), 0.25);
        QCOMPARE(example, (std::vector<float>{1, 7}));
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
