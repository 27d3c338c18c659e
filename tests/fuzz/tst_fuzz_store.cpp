// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged stores: whatever is in them, the run is read, drawn, compared and reported, or refused, without a crash,
// without a hang and in little memory. RESIDUA_FUZZ_ROUNDS makes it long, RESIDUA_RANDOM_SEED repeats it.
#include "app/report/report.h"
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/coefficients.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/stages.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/utf8.h"
#include "projects/shipped/examples.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_store.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/runs/run_curves.h"

#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace residua;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLargestPage = 100U << 20; ///< bytes
constexpr std::size_t kMostNames = 500;

void require(bool done, const char* what)
{
    if (!done) {
        qFatal("%s", what);
    }
}

/// A run of a few steps with a little of everything.
void writeRun(const fs::path& path)
{
    engine::RunInfo info;
    info.name = "damaged";
    info.device = "cpu";
    info.steps = 40;
    auto writer =
        engine::RunWriter::create(path, info, projects::findExample("ancre-language")->project, path.parent_path());
    require(writer.ok(), "the run cannot be made");
    const float none = std::numeric_limits<float>::quiet_NaN();
    for (std::int64_t step = 1; step <= 40; ++step) {
        writer->step({step, 4.0 / static_cast<double>(step), 1e-3, 0.5, step * 64, static_cast<double>(step) / 10});
        if (step % 10 == 0) {
            writer->metric(engine::metric::kValidationLoss, step, 1.5);
            writer->metric(engine::metric::kPeakBytes, step, 1e9);
            writer->matrix({"mix/q", step, 3, 3, {1, none, none, 0.5F, 0.5F, none, 0.25F, 0.25F, 0.5F}});
            writer->matrix({"coefficient/q", step, 3, 3, std::vector<float>(9, 0.1F)});
            writer->matrix({engine::matrix::kLayerMagnitudes, step, 2, 3, std::vector<float>(6, 1.0F)});
        }
    }
    writer->event({0, engine::RunEventKind::Stage, "6 of 12 layers"});
    writer->event({20, engine::RunEventKind::Stage, "12 layers"});
    info = writer->info();
    info.status = engine::RunStatus::Finished;
    require(writer->flush().ok() && writer->update(info).ok(), "the run cannot be written");
}

QString pageFlaw(const Result<std::string>& page)
{
    if (!page) {
        return page.error().message.empty() ? "an error without words" : "";
    }
    if (page->size() > kLargestPage) {
        return QStringLiteral("a page of %1 bytes").arg(page->size());
    }
    const bool shows = isUtf8(*page) &&
                       std::ranges::none_of(*page, [](char c) { return static_cast<unsigned char>(c) < 9 || c == 27; });
    if (!shows) {
        return "a page with letters that are none";
    }
    for (std::size_t at = page->find("<svg"); at != std::string::npos; at = page->find("<svg", at + 1)) {
        QXmlStreamReader reader(QByteArray::fromStdString(page->substr(at, page->find("</svg>", at) + 6 - at)));
        while (!reader.atEnd()) {
            reader.readNext();
        }
        if (reader.hasError()) {
            return reader.errorString();
        }
    }
    return {};
}

QString matrixFlaw(const engine::RunReader& run, const engine::MatrixName& name, visualizers::HeatmapFrames& frames)
{
    const auto steps = run.matrixSteps(name);
    if (std::ranges::adjacent_find(steps, std::greater_equal()) != steps.end() || (!steps.empty() && steps[0] < 0)) {
        return "steps of a matrix that do not ascend";
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(steps.size(), 20); ++i) {
        if (const auto matrix = run.matrix(name, steps[i])) {
            if (static_cast<std::int64_t>(matrix->values.size()) != matrix->rows * matrix->columns) {
                return "a matrix of another size than it says";
            }
            frames.append(*matrix);
            for (const auto value : {visualizers::CellValue::Weight, visualizers::CellValue::SinceStart,
                                     visualizers::CellValue::LogOfRowMax}) {
                (void)frames.cells(name, frames.count(name) - 1, value);
                (void)frames.range(name, value);
            }
            (void)frames.scale(name);
        }
    }
    return {};
}

QString curveFlaw(const engine::RunReader& run, const std::string& name, visualizers::RunCurves& curves)
{
    const auto points = run.metric(name);
    if (std::ranges::adjacent_find(points, std::greater_equal(), &engine::MetricPoint::step) != points.end()) {
        return "steps that do not ascend";
    }
    curves.append(name, points);
    const visualizers::Curve& drawn = curves.series(name).raw();
    const std::vector<double> edges{-1, 0, 10, 1e6, 1e18};
    (void)drawn.sample(edges);
    (void)drawn.range(0, drawn.size());
    return {};
}

/// Returns the fault in how the program reads a run; empty if there is none.
QString judge(const fs::path& path)
{
    visualizers::HeatmapFrames frames;
    visualizers::RunCurves curves({{engine::metric::kLoss, &engine::StepRecord::loss}});
    if (const auto run = engine::RunReader::open(path)) {
        (void)run->info();
        const auto matrices = run->matrixNames();
        const auto metrics = run->metricNames();
        if (matrices.size() > kMostNames || metrics.size() > kMostNames) {
            return "names without end";
        }
        for (const engine::MatrixName& name : matrices) {
            if (const QString flaw = matrixFlaw(*run, name, frames); !flaw.isEmpty()) {
                return flaw;
            }
        }
        for (const std::string& name : metrics) {
            if (const QString flaw = curveFlaw(*run, name, curves); !flaw.isEmpty()) {
                return flaw;
            }
        }
        (void)engine::stageTransitions(engine::stageStarts(run->events()), {}, {});
        if (const QString flaw = pageFlaw(report::reportHtml(*run)); !flaw.isEmpty()) {
            return flaw;
        }
        for (const Error& fault : run->faults()) {
            if (fault.place.empty() || fault.message.empty()) {
                return "a fault that is not told";
            }
        }
    }
    if (const auto last = engine::coefficientsAt(path, std::nullopt)) {
        const auto first = engine::firstCoefficients(path);
        (void)engine::coefficientsCsv(*last);
        for (std::size_t i = 0; first && i < std::min(first->size(), last->size()); ++i) {
            (void)engine::difference((*last)[i], (*first)[i]);
        }
    }
    const auto both = report::comparisonHtml({.title = "all", .runs = engine::listRuns(path.parent_path())});
    return pageFlaw(both ? Result<std::string>(both->html) : both.error());
}

} // namespace

class TestFuzzStore : public QObject {
    Q_OBJECT

private slots:
    void anyStoreIsReadOrRefused()
    {
        constexpr int kFew = 60;
        const QTemporaryDir whole;
        const fs::path original = fs::path(whole.path().toStdString()) / "runs" / "run";
        writeRun(original);
        QCOMPARE(judge(original), QString());
        const std::uint64_t first = fuzz::seed();
        for (int round = 0; round < fuzz::rounds(kFew); ++round) {
            const std::uint64_t seed = first + static_cast<std::uint64_t>(round);
            fuzz::watchRound(seed);
            const QTemporaryDir folder;
            const fs::path run = fs::path(folder.path().toStdString()) / "run";
            fs::copy(original, run, fs::copy_options::recursive);
            std::mt19937_64 random(seed);
            const std::string done = fuzz::mutateStore(run / "store.sqlite", random);
            const QString flaw = judge(run);
            QVERIFY2(
                flaw.isEmpty(),
                qPrintable(QStringLiteral("%1\nseed %2: %3").arg(flaw).arg(seed).arg(QString::fromStdString(done))));
        }
    }
};

RESIDUA_TEST(TestFuzzStore)
#include "tst_fuzz_store.moc"
