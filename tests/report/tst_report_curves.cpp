// SPDX-License-Identifier: GPL-3.0-or-later
// The recorded series of a run over its steps: stages, FLOP, layers and degrees.
#include "report_harness.h"

#include "app/report/loss_figures.h"
#include "app/report/report.h"
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_writer.h"
#include "projects/cost/stage_cost.h"
#include "projects/library/schedule_presets.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"
#include "resources/axis.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace residua;
using namespace residua::tests;

namespace {

/// The picture of that title; empty where the page has none.
QString plotOf(const QString& html, const QString& title)
{
    for (const QString& svg : svgsOf(html)) {
        if (svg.contains("aria-label='" + title + "'")) {
            return svg;
        }
    }
    return {};
}

/// How far along the horizontal axis the second stage begins.
double shareAtBand(const QString& svg)
{
    static const QRegularExpression axis("class='axis' x1='([0-9.]+)' x2='([0-9.]+)'");
    static const QRegularExpression band("class='band' x='([0-9.]+)'");
    const auto ends = axis.match(svg);
    const double left = ends.captured(1).toDouble();
    return (band.match(svg).captured(1).toDouble() - left) / (ends.captured(2).toDouble() - left);
}

} // namespace

class TestReportCurves : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// A quantity that no code names has a card, figures and a column of the comparison.
    void aRecordedQuantityIsShown()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "measured");
        auto writer = engine::RunWriter::reopen(path, 40);
        QVERIFY(writer.ok());
        writer->metric("distance/validation", 20, 0.5);
        writer->metric("distance/validation", 40, 0.25);
        QVERIFY(writer->flush().ok());
        const auto page = report::reportHtml(*engine::RunReader::open(path));
        QVERIFY(page.ok());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("<b>0.25</b><span>validation distance, last</span>"));
        const auto has = [](const QString& svg) { return svg.contains("Validation distance"); };
        QVERIFY(std::ranges::any_of(svgsOf(html), has));
        const auto compared = comparisonOf(path.parent_path());
        QVERIFY(compared.ok());
        QVERIFY(QString::fromStdString(*compared).contains("<th>validation distance</th>"));
        QVERIFY(std::ranges::any_of(svgsOf(QString::fromStdString(*compared)), has));
    }

    /// Every curve has the stages behind it, and a table says what each transition did.
    void stagesAreBandsAndATable()
    {
        const QTemporaryDir dir;
        const auto run = engine::RunReader::open(writeRun(dir, "staged"));
        QVERIFY(run.ok());
        const auto page = report::reportHtml(*run);
        QVERIFY(page.ok());
        const QString html = QString::fromStdString(*page);
        const auto svgs = svgsOf(html);
        for (std::size_t i = 0; i + 1 < svgs.size(); ++i) {
            QCOMPARE(svgs[i].count("class='band'"), 1);
            QVERIFY(svgs[i].contains("6 of 12 layers"));
            QVERIFY(svgs[i].contains("12 &lt; 13 layers"));
        }
        QVERIFY(svgs[4].contains("Peak memory, MiB"));
        const qsizetype at = html.indexOf("<h2>Stages</h2>");
        QVERIFY(at > 0);
        const QString table = html.mid(at, html.indexOf("</table>", at) - at);
        QCOMPARE(table.count("<tr>"), 3);
        double before = 0;
        double after = 0;
        for (int step = 11; step <= 20; ++step) {
            before += 0.4 / step;
            after += 0.4 / (step + 10);
        }
        QVERIFY(table.contains("<th>share of FLOP</th><th>share of time</th>"));
        for (const double number : {before, after, after - before}) {
            const QString cell = QString::fromStdString("<td class='n'>" + resources::shortNumber(number) + "</td>");
            QVERIFY2(table.contains(cell), qPrintable(cell));
        }
    }

    /// The changes of the weights at a border are beside the stage's name, which the bands have alone.
    void aStageTellsWhatBecameOfTheFunction()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "grown");
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            writer->event({30, engine::RunEventKind::Stage, "14 layers; new layers 13, 14; the function is kept"});
            QVERIFY(writer->flush().ok());
        }
        const auto run = engine::RunReader::open(path);
        QVERIFY(run.ok());
        const auto page = report::reportHtml(*run);
        QVERIFY(page.ok());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("<td>14 layers: new layers 13, 14; the function is kept</td>"));
        QVERIFY(!svgsOf(html).front().contains("new layers"));
    }

    /// Where stages leave out a part, the loss stands against the FLOP of each step too, and each has its share of
    /// them.
    void stagesHaveTheirShareOfTheFlop()
    {
        projects::Project project = projects::findExample("staged-language")->project;
        project.training.steps = 40;
        project.stack().schedule = *projects::scheduleFrom("stacking 6-12", 12, 40);
        const QTemporaryDir dir;
        const auto run = engine::RunReader::open(writeRun(dir, "staged", project));
        QVERIFY(run.ok());
        const auto page = report::reportHtml(*run);
        QVERIFY(page.ok());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("Loss against training FLOP"));
        const auto cost = projects::costOf(project);
        const double half = projects::costsOfSpans(project, *cost)[0].flopShare;
        QVERIFY(half > 0.4 && half < 0.6);
        const std::string share = resources::shortNumber(100 * half / (half + 1));
        QVERIFY2(html.contains(QString::fromStdString("<td class='n'>" + share + " %</td>")), share.c_str());
        const QString byFlop = plotOf(html, "Loss against training FLOP");
        const QString byTime = plotOf(html, "Loss against training time");
        QVERIFY(byFlop.contains("12 &lt; 13 layers") && byTime.contains("12 &lt; 13 layers"));
        QVERIFY(std::abs(shareAtBand(byFlop) - 19 * half / (19 * half + 20)) < 1e-3); // the axis begins at step 1
        QVERIFY(std::abs(shareAtBand(byTime) - 19.0 / 39) < 1e-3);
        QVERIFY(byTime.contains(">seconds<") && byTime.contains(">0.5<")); // of a run of 4 s
        const QString compared = QString::fromStdString(*comparisonOf(dir.path().toStdString()));
        QVERIFY(!plotOf(compared, "Training loss against training time").isEmpty());
        const QTemporaryDir other;
        const auto whole = engine::RunReader::open(writeRun(other, "all"));
        QVERIFY(!QString::fromStdString(*report::reportHtml(*whole)).contains("Loss against"));
        const QString plain = QString::fromStdString(*comparisonOf(other.path().toStdString()));
        QVERIFY(!plain.contains("against training time"));
    }

    void runsInAWorldStandOverTheStepsActedToo()
    {
        projects::Project project = projects::contrastiveLearning({}, 1, 8);
        project.training.steps = 40;
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "maze", project);
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            writer->metric("time_at_goal/validation", 20, 3);
            writer->metric("time_at_goal/validation", 40, 5);
            writer->metric("environment_steps/train", 40, 1'000);
            writer->matrix({"goals.norms", 20, 2, 1, {1, 1}});
            writer->matrix({"goals.norms", 40, 2, 1, {1, 2}});
            writer->matrix({engine::matrix::kRollout, 40, 1, 2, {engine::matrix::kWall, engine::matrix::kGoal}});
            QVERIFY(writer->flush().ok());
        }
        const auto run = engine::RunReader::open(path);
        QVERIFY(run.ok());
        const QString html = QString::fromStdString(*report::reportHtml(*run));
        QVERIFY(plotOf(html, "Loss against environment steps").contains(">environment steps<"));
        QVERIFY(plotOf(html, "Validation time at goal, steps").contains(">environment steps<"));
        QVERIFY(!html.contains("Training environment steps")); // are the axis
        QVERIFY(!plotOf(html, "Branches of layers · goals, root mean square").isEmpty());
        QVERIFY(!html.contains("goals.norms")); // is no heatmap
        const QString episodes = html.section("<h2>Episodes</h2>", 1).section("<h2>", 0, 0);
        for (const char* const cell : {"free", "wall", "path", "goal"}) {
            QVERIFY2(episodes.contains(QString("<span>%1</span>").arg(cell)), qPrintable(episodes));
        }
    }

    /// The error of each degree, as recorded; what is measured of single layers too, and none of it is a heatmap.
    void degreesAndStabilityAreCurves()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "degrees");
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            for (const std::int64_t step : {20, 40}) {
                writer->matrix({engine::matrix::kDegreeErrors, step, 1, 3, {0.25F, 0.5F, 1}});
                writer->matrix({engine::matrix::kStability, step, 3, 2, {1, 2, 3, 4, 5, 6}});
                writer->matrix({engine::matrix::kStabilityGap, step, 1, 1, {-0.5F}});
            }
            QVERIFY(writer->flush().ok());
        }
        const auto run = engine::RunReader::open(path);
        const QString html = QString::fromStdString(*report::reportHtml(*run));
        QVERIFY(html.contains("Error by degree, share of the coefficients") && html.contains(">degree 3<"));
        const QString both = QString::fromStdString(*comparisonOf(path.parent_path()));
        for (const int degree : {1, 2, 3}) { // RaPTr's figure 2b: the runs in one figure, degree by degree
            QVERIFY(both.contains(QStringLiteral("Error of degree %1").arg(degree)));
        }
        QVERIFY(html.contains(QString::fromUtf8("Ψ: output without a layer")));
        QVERIFY(html.contains("Loss, less its mean without a layer"));
        QCOMPARE(svgsOf(html).size(), std::size_t{11});
    }

    /// Curves, not a heatmap, of layers from the first to the last.
    void normsAreCurvesOfLayers()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "normed");
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            engine::Matrix norms{engine::matrix::kLayerMagnitudes, 20, 2, 50, std::vector<float>(100, 1)};
            norms.values[0] = std::numeric_limits<float>::quiet_NaN(); // left out
            writer->matrix(norms);
            norms.step = 40;
            norms.values.assign(100, 2);
            writer->matrix(norms);
            QVERIFY(writer->flush().ok());
        }
        const auto run = engine::RunReader::open(path);
        QVERIFY(run.ok());
        const auto page = report::reportHtml(*run);
        QVERIFY(page.ok());
        const auto svgs = svgsOf(QString::fromStdString(*page));
        QCOMPARE(svgs.size(), std::size_t{8});
        for (const std::size_t at : {5U, 6U}) {
            QVERIFY(svgs[at].contains("root mean square"));
            QVERIFY(svgs[at].contains(">layer 1<") && svgs[at].contains(">layer 50<"));
            QVERIFY(!svgs[at].contains("class='broken'"));
        }
    }

    /// A visit of a loop has its name.
    void curvesOfVisits()
    {
        const QTemporaryDir dir;
        projects::Project project = projects::findExample("ancre-language")->project;
        project.stack().segments.front().repeat = 2;
        project.stack().loops = {{.first = 1, .last = 2, .visits = 2}};
        const auto path = writeRun(dir, "looped", project);
        auto writer = engine::RunWriter::reopen(path, 40);
        QVERIFY(writer.ok());
        writer->matrix({engine::matrix::kLayerMagnitudes, 20, 2, 4, std::vector<float>(8, 1)});
        QVERIFY(writer->flush().ok());
        const auto run = engine::RunReader::open(path);
        const QString html = QString::fromStdString(*report::reportHtml(*run));
        QVERIFY(html.contains(">layer 1@1<") && html.contains(">layer 2@2<"));
    }

    /// The losses at a border are in the table as they are, not as a mean of the steps around it.
    void theTableHasTheLossesThatTheRunTook()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "staged");
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            writer->metric(engine::metric::kStageTrainBefore, 20, 2.5);
            writer->metric(engine::metric::kStageTrainAfter, 20, 2.75);
            writer->metric(engine::metric::kStageValidationBefore, 20, 3.5);
            writer->metric(engine::metric::kStageValidationAfter, 20, 3.25);
            QVERIFY(writer->flush().ok());
        }
        const QString html = QString::fromStdString(*report::reportHtml(*engine::RunReader::open(path)));
        const qsizetype at = html.indexOf("<h2>Stages</h2>");
        const QString table = html.mid(at, html.indexOf("</table>", at) - at);
        QString cells;
        for (const char* const number : {"2.5", "2.75", "+0.25", "3.5", "3.25"}) {
            cells += QStringLiteral("<td class='n'>%1</td>").arg(QString::fromLatin1(number));
        }
        QVERIFY2(table.contains(cells), qPrintable(table));
    }

    /// The validation of what a stage trains is a curve of its own where it was recorded.
    void theStageHasItsOwnValidationCurve()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "staged");
        const auto lossPlot = [&path] {
            return plotOf(QString::fromStdString(*report::reportHtml(*engine::RunReader::open(path))), "Loss");
        };
        QVERIFY(!lossPlot().isEmpty() && !lossPlot().contains("validation of the stage"));
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            for (const std::int64_t step : {10, 20, 30}) {
                writer->metric(engine::metric::kStageLoss, step, 2 + 1.0 / static_cast<double>(step));
            }
            QVERIFY(writer->flush().ok());
        }
        QVERIFY(lossPlot().contains("validation of the stage"));
        QCOMPARE(lossPlot().count("dotted"), 2); // the curve, and its line in the legend
    }

    void theLossIsDrawnAsItFalls_data()
    {
        QTest::addColumn<int>("steps");
        for (const int steps : {30, 150, 400, 3000}) {
            QTest::addRow("%d steps", steps) << steps;
        }
    }

    /// A moving average lags behind: of a short run the recorded points are drawn in full, and the average of a long
    /// one is nowhere further from them than what is seen.
    void theLossIsDrawnAsItFalls()
    {
        QFETCH(int, steps);
        const QTemporaryDir dir;
        const std::filesystem::path path = std::filesystem::path(dir.path().toStdString()) / "falling";
        engine::RunInfo info;
        info.steps = steps;
        auto writer = engine::RunWriter::create(path, info, projects::findExample("ancre-language")->project,
                                                dir.path().toStdString());
        QVERIFY(writer.ok());
        for (int step = 1; step <= steps; ++step) {
            writer->step({step, 5 - 3.0 * step / steps, 1e-3, 0.5, 64 * step, 0.5 * step});
        }
        QVERIFY(writer->flush().ok());
        const report::PlotSpec figure = report::lossFigure(*engine::RunReader::open(path), {}, report::byStep());
        double furthest = -1;
        for (const report::PlotCurve& curve : figure.curves) {
            for (std::size_t i = 0; curve.stroke == report::Stroke::Solid && i < curve.points.size(); ++i) {
                const auto [step, loss] = curve.points.at(i);
                furthest = std::max(furthest, std::abs(loss - (5 - 3.0 * step / steps)));
            }
        }
        QVERIFY2(furthest >= 0 && furthest <= 0.03, qPrintable(QString::number(furthest))); // a hundredth of the fall
    }
};

RESIDUA_TEST(TestReportCurves)
#include "tst_report_curves.moc"
