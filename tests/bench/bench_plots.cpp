// SPDX-License-Identifier: GPL-3.0-or-later
// The cost of the plots on the processor: the first picture of long and of many curves, panning and zooming, appending
// to them while a run goes on, scrubbing a heatmap. Prints each figure with its target:
//   bench_plots            (on any display, or none: it draws off the screen unless QT_QPA_PLATFORM says otherwise)
#include "tests/visualizers/begun_run.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/runs/loss_view.h"

#include <QApplication>
#include <QComboBox>
#include <QSlider>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

namespace {

using namespace residua;
using namespace residua::visualizers;

constexpr std::size_t kLongCurve = 10'000'000;
constexpr std::size_t kManyCurves = 100;
constexpr std::size_t kPointsOfMany = 10'000;
constexpr std::int64_t kGrid = 96;
constexpr std::int64_t kFrames = 1000;
constexpr int kGestures = 120;

/// Processor time of this thread, in milliseconds: what the clock on the wall says where nothing else runs.
template <class Action>
double milliseconds(const Action& action)
{
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
    };
    const double start = now();
    action();
    return now() - start;
}

struct Times {
    std::vector<double> values;
    [[nodiscard]] double share(double part)
    {
        std::ranges::sort(values);
        return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
    }
};

void print(const char* what, double value, double target)
{
    std::printf("%-58s %9.2f ms   target %6.1f ms   %s\n", what, value, target, value <= target ? "met" : "MISSED");
}

/// A loss that falls, with noise that repeats itself.
double lossAt(std::size_t step)
{
    const auto x = static_cast<double>(step);
    return 2 + 8 / (1 + 1e-4 * x) + 0.3 * std::sin(12.9898 * x) * std::cos(78.233 * x);
}

void fill(Curve& curve, std::size_t points, double shift)
{
    for (std::size_t i = 0; i < points; ++i) {
        curve.append(static_cast<double>(i), lossAt(i) + shift);
    }
}

std::unique_ptr<CurvePlot> shownPlot()
{
    auto plot = std::make_unique<CurvePlot>(nullptr);
    plot->resize(1200, 500);
    plot->show();
    QCoreApplication::processEvents();
    return plot;
}

void add(CurvePlot& plot, const std::vector<Curve>& curves)
{
    PlotSpec spec;
    for (std::size_t i = 0; i < curves.size(); ++i) {
        spec.curves.push_back({.name = std::to_string(i), .colour = i, .live = &curves[i]});
    }
    plot.legend->setVisible(curves.size() < 12);
    plot.setSpec(std::move(spec));
    plot.replot(QCustomPlot::rpImmediateRefresh);
}

/// Zooms in and out about a point that wanders, and pans: what a wheel and a drag do.
Times gestures(CurvePlot& plot)
{
    Times times;
    const double end = plot.xAxis->range().upper;
    for (int i = 0; i < kGestures; ++i) {
        const double zoom = std::pow(0.9, i % 60);
        const double centre = end * (0.3 + 0.4 * i / kGestures);
        plot.xAxis->setRange(centre - end * zoom / 2, centre + end * zoom / 2);
        times.values.push_back(milliseconds([&] { plot.replot(QCustomPlot::rpImmediateRefresh); }));
    }
    return times;
}

void measureCurves(const char* name, std::vector<Curve> curves)
{
    const auto plot = shownPlot();
    char what[128];
    std::snprintf(what, sizeof what, "%s: first picture", name);
    print(what, milliseconds([&] { add(*plot, curves); }), 100);
    Times times = gestures(*plot);
    std::snprintf(what, sizeof what, "%s: pan and zoom, p95 of %d", name, kGestures);
    print(what, times.share(0.95), 16);
}

/// Measures one batch of a live run in the loss view. Its cost must not grow with the points that are already shown.
void measureAppending()
{
    constexpr std::int64_t kBatch = 32;
    constexpr std::int64_t kBatches = 4000;
    ShownRuns runs;
    LossView view(runs);
    view.resize(1200, 500);
    view.show();
    begin(runs, "run", {.name = QStringLiteral("run")});
    Times early;
    Times late;
    std::int64_t step = 0;
    for (std::int64_t batch = 0; batch < kBatches; ++batch) {
        std::vector<engine::StepRecord> steps;
        for (std::int64_t i = 0; i < kBatch; ++i) {
            ++step;
            steps.push_back({step, lossAt(static_cast<std::size_t>(step)), 1e-3, 1, step * 64, 0});
        }
        const double spent = milliseconds([&] { runs.add("run", {.steps = steps}); });
        if (batch < kBatches / 10) {
            early.values.push_back(spent);
        } else if (batch >= kBatches - kBatches / 10) {
            late.values.push_back(spent);
        }
    }
    const double before = early.share(0.5);
    const double after = late.share(0.5);
    std::printf("%-58s %9.4f ms, then %.4f ms (%.2f times) at %lld points\n", "live append of 32 points, median",
                before, after, after / before, static_cast<long long>(step));
}

/// How long the window waits at most while the choices above a long run are changed.
void measureChoices()
{
    constexpr std::int64_t kSteps = 2'000'000;
    constexpr double kNeverMore = 50;
    ShownRuns runs;
    LossView view(runs);
    view.resize(1200, 500);
    view.show();
    std::vector<engine::StepRecord> steps;
    for (std::int64_t step = 1; step <= kSteps; ++step) {
        const double loss = lossAt(static_cast<std::size_t>(step));
        steps.push_back({step, loss, 1e-3, 1, step * 64, static_cast<double>(step)});
    }
    begin(runs, "run");
    runs.add("run", {.steps = steps});
    const auto longestTurn = [] {
        double longest = 0;
        for (double spent = 1; spent > 0.05; longest = std::max(longest, spent)) { // turns until nothing is left to do
            spent = milliseconds([] { QCoreApplication::processEvents(); });
        }
        return longest;
    };
    longestTurn();
    auto* smoothing = view.findChild<QSlider*>();
    const double slid = milliseconds([&] { smoothing->setValue(smoothing->value() + 1); });
    print("smoothing of 2 M points: longest turn", std::max(slid, longestTurn()), kNeverMore);
    auto* axis = view.findChild<QComboBox*>(QStringLiteral("horizontalAxis"));
    const double turned = milliseconds([&] { axis->setCurrentIndex(1); });
    print("another axis for 2 M points: longest turn", std::max(turned, longestTurn()), kNeverMore);
    print("numbers of 2 M points, taken for an export", milliseconds([&] { (void)view.csvText(); }), kNeverMore);
}

engine::Matrix frameAt(std::int64_t step)
{
    engine::Matrix matrix{"mix", step, kGrid, kGrid, {}};
    for (std::int64_t row = 0; row < kGrid; ++row) {
        for (std::int64_t column = 0; column < kGrid; ++column) {
            const double value = std::sin(0.01 * static_cast<double>(step * (row + 1) + column));
            matrix.values.push_back(column <= row ? static_cast<float>(value) : std::nanf(""));
        }
    }
    return matrix;
}

void measureHeatmap()
{
    ShownMatrices matrices;
    HeatmapView view(matrices);
    view.resize(800, 700);
    view.show();
    std::vector<engine::Matrix> frames;
    for (std::int64_t step = 0; step < kFrames; ++step) {
        frames.push_back(frameAt(step));
    }
    matrices.append(frames);
    QCoreApplication::processEvents();
    auto* scrubber = view.findChild<QSlider*>();
    Times times;
    for (int frame = 0; frame < kFrames; ++frame) {
        times.values.push_back(milliseconds([&] {
            scrubber->setValue(frame);
            QCoreApplication::processEvents(); // its picture is drawn
        }));
    }
    print(
        "heatmap 96 x 96, scrubbed through 1,000 frames: mean",
        [&] {
            double sum = 0;
            for (const double value : times.values) {
                sum += value;
            }
            return sum / static_cast<double>(times.values.size());
        }(),
        5);
    print("heatmap 96 x 96, scrubbed through 1,000 frames: p95", times.share(0.95), 5);
}

} // namespace

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    const QApplication application(argc, argv);
    {
        std::vector<Curve> one(1);
        const double spent = milliseconds([&] { fill(one.front(), kLongCurve, 0); });
        std::printf("%-58s %9.1f ns a point\n", "recording a curve of 10 M points", spent * 1e6 / kLongCurve);
        measureCurves("1 curve of 10 M points", std::move(one));
    }
    std::vector<Curve> many(kManyCurves);
    for (std::size_t i = 0; i < many.size(); ++i) {
        fill(many[i], kPointsOfMany, 0.02 * static_cast<double>(i));
    }
    measureCurves("100 curves of 10 k points", std::move(many));
    measureAppending();
    measureChoices();
    measureHeatmap();
    return 0;
}
