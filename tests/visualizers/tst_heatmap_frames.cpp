// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/axis.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_frames.h"

#include <QTest>

#include <cmath>
#include <limits>

using residua::engine::Matrix;
using residua::visualizers::CellValue;
using residua::visualizers::HeatmapFrames;

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

Matrix mixAt(std::int64_t step, std::vector<float> values)
{
    return {.name = "mix", .step = step, .rows = 2, .columns = 2, .values = std::move(values)};
}

/// A value for every kind of matrix.
auto always(CellValue value)
{
    return [value](const std::string& /*kind*/) { return value; };
}

/// The number that a legend writes.
double written(double end)
{
    const std::string text = residua::resources::shortNumber(end, 7);
    const std::size_t minus = text.find("\u2212");
    return minus == 0 ? -std::stod(text.substr(3)) : std::stod(text);
}

} // namespace

class TestHeatmapFrames : public QObject {
    Q_OBJECT
private slots:
    void severalRunsHaveOneScale()
    {
        using residua::projects::WeightScale;
        using residua::visualizers::commonScale;
        const WeightScale shares{std::nullopt, 0, 0.5};
        const WeightScale aboutOne{1.0, 0.5, 1.5};
        const WeightScale signedOnes{0.0, -0.25, 0.25};
        QCOMPARE(commonScale({shares, {std::nullopt, 0, 0.75}}), (WeightScale{std::nullopt, 0, 0.75}));
        QCOMPARE(commonScale({aboutOne, {1.0, 0, 2}}), (WeightScale{1.0, 0, 2}));
        QCOMPARE(commonScale({aboutOne, shares}), (WeightScale{std::nullopt, 0, 1.5}));
        QCOMPARE(commonScale({shares, signedOnes, aboutOne}), (WeightScale{0.0, -1.5, 1.5}));
    }

    void differenceIsFromTheFirstFrame()
    {
        HeatmapFrames frames;
        frames.append(mixAt(0, {1, kNone, 0.5F, 0.5F}));
        frames.append(mixAt(10, {1, kNone, 0.25F, 0.75F}));
        const auto cells = frames.cells("mix", 1, CellValue::SinceStart);
        QCOMPARE(cells[0], 0.0);
        QVERIFY(std::isnan(cells[1]));
        QCOMPARE(cells[2], -0.25);
        QCOMPARE(cells[3], 0.25);
    }

    void logarithmIsAgainstTheRowsLargest()
    {
        HeatmapFrames frames;
        frames.append(mixAt(0, {1, kNone, 0.2F, 0.8F}));
        const auto cells = frames.cells("mix", 0, CellValue::LogOfRowMax);
        QCOMPARE(cells[0], 0.0);
        QVERIFY(std::abs(cells[2] - std::log(0.25)) < 1e-6);
        QCOMPARE(cells[3], 0.0);
    }

    void rangeCoversEveryFrame()
    {
        HeatmapFrames frames;
        frames.append(mixAt(0, {1, kNone, 0.5F, 0.5F}));
        frames.append(mixAt(10, {1, kNone, 0.125F, 0.875F}));
        const auto range = frames.range("mix", CellValue::Weight);
        QCOMPARE(range.low, 0.125);
        QCOMPARE(range.high, 1.0);
        const auto change = frames.range("mix", CellValue::SinceStart);
        QCOMPARE(change.low, -0.375);
        QCOMPARE(change.high, 0.375);
    }

    void resumedRunReplacesLaterFrames()
    {
        HeatmapFrames frames;
        for (const std::int64_t step : {0, 10, 20, 30}) {
            frames.append(mixAt(step, {1, kNone, static_cast<float>(step), 0}));
        }
        frames.append(mixAt(20, {1, kNone, 2, 0}));
        QCOMPARE(frames.count("mix"), std::size_t{3});
        QCOMPARE(frames.frame("mix", 2).values[2], 2.0F);
        QCOMPARE(frames.range("mix", CellValue::Weight).high, 10.0);
    }

    /// A matrix with the same number of cells in other rows has another shape.
    void nothingIsComparedWithAnotherShape()
    {
        HeatmapFrames frames;
        frames.append({.name = "mix", .step = 0, .rows = 2, .columns = 3, .values = {1, 2, 3, 4, 5, 6}});
        frames.appendCompared({{.name = "mix", .step = 0, .rows = 3, .columns = 2, .values = {1, 2, 3, 4, 5, 6}}});
        for (const double cell : frames.cells("mix", 0, CellValue::AgainstRun)) {
            QVERIFY(std::isnan(cell));
        }
    }

    /// The colours are those of the canvases.
    void theWiringSaysHowWeightsAreColoured()
    {
        HeatmapFrames frames;
        frames.append(mixAt(0, {1, kNone, 1, 1}));
        frames.append(mixAt(1, {0.5F, kNone, 0.5F, 1.25F}));
        frames.append({.name = "spread/q", .step = 0, .rows = 1, .columns = 1, .values = {0.5F}});
        frames.append({.name = "coefficient", .step = 0, .rows = 1, .columns = 1, .values = {0}});
        frames.append({.name = "coefficient", .step = 1, .rows = 1, .columns = 1, .values = {-0.5F}});
        residua::projects::DepthMix mix; // starts at 1
        frames.setWiring(mix);
        QCOMPARE(frames.scale("mix"), (residua::projects::WeightScale{1.0, 0.5, 1.5}));
        QCOMPARE(frames.scale("spread/q"), (residua::projects::WeightScale{std::nullopt, 0, 0.5}));
        HeatmapFrames still; // a weight that has hardly moved is not drawn as if it had
        still.setWiring(mix);
        still.append(mixAt(0, {1, kNone, 1, 1}));
        still.append(mixAt(1, {0.9988F, kNone, 1, 1}));
        QCOMPARE(still.scale("mix"), (residua::projects::WeightScale{1.0, 0.95, 1.05}));
        mix.normalise = residua::projects::NormaliseOver::Targets; // then no row sums to one
        mix.init = residua::projects::MixInit::Zero;
        frames.setWiring(mix);
        QCOMPARE(frames.scale("mix"), (residua::projects::WeightScale{std::nullopt, 0, 1.25}));
        QCOMPARE(frames.scale("coefficient"), (residua::projects::WeightScale{0.0, -0.5, 0.5}));
        frames.clear(); // and with the frames their wiring
        frames.append(mixAt(0, {0, kNone, 0, 0}));
        frames.append(mixAt(1, {-0.5F, kNone, 0, 2}));
        QCOMPARE(frames.scale("mix"), (residua::projects::WeightScale{0.0, -2, 2}));
    }

    /// A cell's number and colour show the same value: the weight, or its change since the start.
    void numberAndColourAreOneValue()
    {
        HeatmapFrames frames;
        residua::projects::DepthMix mix; // as DenseFormer's: 1 for the newest entry, 0 for the others
        mix.init = residua::projects::MixInit::Cascaded;
        frames.setWiring(mix);
        frames.append(mixAt(0, {1, kNone, 0, kNone}));
        frames.append(mixAt(5, {1.25F, kNone, -0.5F, 0.25F}));
        const HeatmapFrames::Shown value = frames.shown("mix", 1, CellValue::Weight);
        QCOMPARE(value.scale, (residua::projects::WeightScale{0.0, -1.25, 1.25}));
        QCOMPARE(value.matrix.values[0], 1.25F);
        const HeatmapFrames::Shown change = frames.shown("mix", 1, CellValue::SinceStart);
        QCOMPARE(change.scale, (residua::projects::WeightScale{0.0, -0.5, 0.5}));
        QCOMPARE(change.matrix.values[0], 0.25F);
        QVERIFY(std::isnan(change.matrix.values[1]));
        QCOMPARE(change.matrix.values[2], -0.5F);
        QCOMPARE(change.matrix.values[3], 0.25F); // did not exist at the start
        QVERIFY(frames.startApart("mix"));
        QVERIFY(!frames.startApart("active"));
        mix.init = residua::projects::MixInit::Ones; // others start where their colours' centre is
        HeatmapFrames ones;
        ones.setWiring(mix);
        ones.append(mixAt(0, {1, kNone, 1, 1}));
        QVERIFY(!ones.startApart("mix"));
    }

    /// The frames of a long run use no more than the limit. The first, the pinned and the newest frame stay.
    void memoryIsBounded()
    {
        constexpr std::size_t kLimit = 40 * 4 * sizeof(float);
        HeatmapFrames frames;
        frames.setByteLimit(kLimit);
        std::vector<Matrix> all;
        for (std::int64_t step = 0; step < 1000; ++step) {
            all.push_back(mixAt(step, {1, kNone, static_cast<float>(step), 1}));
            frames.append(all.back());
            if (step == 7) {
                frames.pin(step);
            }
            QVERIFY(frames.bytes() <= kLimit);
            QCOMPARE(frames.frame("mix", 0).step, std::int64_t(0));
            QCOMPARE(frames.frame("mix", frames.count("mix") - 1).step, step);
        }
        QVERIFY(frames.count("mix") > 10);
        QCOMPARE(frames.frame("mix", frames.indexAt("mix", 7)).step, std::int64_t(7));
        QCOMPARE(frames.range("mix", CellValue::Weight).high, 999.0); // colours do not change
        frames.appendCompared(all);
        QVERIFY(frames.comparedBytes() <= kLimit);
    }

    /// The canvases show the same value as the heatmap, for every matrix that has it.
    void everyMatrixShowsWhatItHas()
    {
        HeatmapFrames frames;
        frames.append(mixAt(0, {1, kNone, 0.5F, 0.5F}));
        frames.append(mixAt(5, {1, kNone, 0.2F, 0.8F}));
        frames.append({.name = "active", .step = 5, .rows = 1, .columns = 2, .values = {1, 0}});
        for (const HeatmapFrames::Shown& shown : frames.shownAt(9, always(CellValue::LogOfRowMax))) {
            if (shown.matrix.name.kind == "active") {
                QCOMPARE(shown.matrix.values, (std::vector<float>{1, 0}));
                continue;
            }
            QVERIFY(std::abs(shown.matrix.values[2] - std::log(0.25F)) < 1e-6F);
            QCOMPARE(shown.scale.high, 0.0);
            QVERIFY(shown.scale.low <= std::log(0.25));
            QCOMPARE(shown.scale.strength(0), 1.0); // the largest of a row stands out most
            QVERIFY(shown.scale.strength(std::log(0.25)) < 0.01);
        }
    }

    /// The share of layers that ran is not a weight, whatever the wiring.
    void theLayersThatRanAreSharesFromZeroToOne()
    {
        HeatmapFrames frames;
        frames.append({.name = "active", .step = 0, .rows = 1, .columns = 3, .values = {1, 0, 0.5F}});
        frames.setWiring(residua::projects::DepthMix()); // its weights start at 1
        QCOMPARE(frames.scale("active"), (residua::projects::WeightScale{std::nullopt, 0, 1}));
    }

    /// The rounded numbers at the ends of a legend enclose every value.
    void theEndsOfALegendEncloseTheValues()
    {
        for (const float reach : {0.13371F, 0.000987F, 0.9999F, 41.237F, 3.00001e-7F}) {
            const std::vector<float> values{1 - reach, 1, 1, 1 + reach / 3};
            for (const auto init : {residua::projects::MixInit::Ones, residua::projects::MixInit::Zero}) {
                residua::projects::DepthMix mix;
                mix.init = init;
                HeatmapFrames frames;
                frames.setWiring(mix);
                const float start = init == residua::projects::MixInit::Ones ? 1 : 0;
                frames.append(mixAt(0, {start, start, start, start}));
                frames.append(mixAt(1, values));
                const residua::projects::WeightScale scale = frames.scale("mix");
                for (const float value : values) {
                    QVERIFY(written(scale.low) <= value && value <= written(scale.high));
                }
                QCOMPARE(written(scale.high), scale.high); // to the last digit
            }
        }
    }

    /// Equal numbers have equal colours, whatever their port.
    void portsShareOneScale()
    {
        HeatmapFrames frames;
        for (const auto& [name, weight] : {std::pair("mix/q", 0.25F), std::pair("mix/k", 0.75F)}) {
            Matrix matrix = mixAt(1, {weight, kNone, weight, weight});
            matrix.name = name;
            frames.append(matrix);
        }
        QCOMPARE(frames.scale("mix/q"), frames.scale("mix/k"));
        QCOMPARE(frames.scale("mix/q").high, 0.75);
        // A port without numbers, which the report leaves out of the scale too, does not widen it.
        HeatmapFrames signs;
        signs.append({.name = "mix/q", .step = 0, .rows = 1, .columns = 2, .values = {0, 0}});
        signs.append({.name = "mix/q", .step = 1, .rows = 1, .columns = 2, .values = {-0.25F, 0.25F}});
        signs.append({.name = "mix/k", .step = 0, .rows = 1, .columns = 2, .values = {kNone, kNone}});
        QCOMPARE(signs.scale("mix/q"), (residua::projects::WeightScale{0.0, -0.25, 0.25}));
    }

    void shownFrameIsTheLastUpToTheStep()
    {
        HeatmapFrames frames;
        for (const std::int64_t step : {10, 20, 30}) {
            frames.append(mixAt(step, {1, kNone, 1, 1}));
        }
        for (const auto& [asked, found] : {std::pair(5, 10), {10, 10}, {29, 20}, {99, 30}}) {
            QCOMPARE(frames.shownAt(asked, always(CellValue::Weight)).front().matrix.step, std::int64_t{found});
        }
        QVERIFY(HeatmapFrames().shownAt(1, always(CellValue::Weight)).empty());
    }

    void anotherShapeStartsAfresh()
    {
        HeatmapFrames frames;
        frames.append(mixAt(0, {1, kNone, 0.5F, 0.5F}));
        frames.append({.name = "mix", .step = 5, .rows = 1, .columns = 1, .values = {1}});
        QCOMPARE(frames.count("mix"), std::size_t{1});
        QCOMPARE(frames.cells("mix", 0, CellValue::SinceStart).size(), std::size_t{1});
    }
};

RESIDUA_TEST(TestHeatmapFrames)
#include "tst_heatmap_frames.moc"
