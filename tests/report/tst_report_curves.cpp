// SPDX-License-Identifier: GPL-3.0-or-later
// What a run has recorded over its steps: stages, FLOP, layers and degrees.
#include "report_harness.h"

#include "app/report/report.h"
#include "engine/api/row_curves.h"
#include "engine/results/run_reader.h"
#include "engine/runs/run_writer.h"
#include "projects/cost/stage_cost.h"
#include "projects/library/schedule_presets.h"
#include "resources/axis.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <limits>

using namespace residua;
using namespace residua::tests;

class TestReportCurves : public QObject {
    Q_OBJECT

private Q_SLOTS:
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

    /// What became of the weights at a border stands beside the stage's name, which the bands have alone.
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
        project.schedule = *projects::scheduleFrom("stacking 6-12", 12, 40);
        const QTemporaryDir dir;
        const auto run = engine::RunReader::open(writeRun(dir, "staged", project));
        QVERIFY(run.ok());
        const auto page = report::reportHtml(*run);
        QVERIFY(page.ok());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("Loss against training FLOP"));
        const auto cost = projects::costOf(project);
        const double half = projects::expectedFlopShare(project, *cost, projects::spansOf(project.schedule, 12, 40)[0]);
        QVERIFY(half > 0.4 && half < 0.6);
        const std::string share = resources::shortNumber(100 * half / (half + 1));
        QVERIFY2(html.contains(QString::fromStdString("<td class='n'>" + share + " %</td>")), share.c_str());
        const QTemporaryDir other;
        const auto whole = engine::RunReader::open(writeRun(other, "all"));
        QVERIFY(!QString::fromStdString(*report::reportHtml(*whole)).contains("Loss against training FLOP"));
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
                writer->matrix({engine::kDegreeErrors, step, 1, 3, {0.25F, 0.5F, 1}});
                writer->matrix({engine::kStability, step, 3, 2, {1, 2, 3, 4, 5, 6}});
                writer->matrix({engine::kStabilityGap, step, 1, 1, {-0.5F}});
            }
            QVERIFY(writer->flush().ok());
        }
        const auto run = engine::RunReader::open(path);
        const QString html = QString::fromStdString(*report::reportHtml(*run));
        QVERIFY(html.contains("Error by degree, share of the coefficients") && html.contains(">degree 3<"));
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
            engine::Matrix norms{engine::kLayerMagnitudes, 20, 2, 50, std::vector<float>(100, 1)};
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
};

RESIDUA_TEST(TestReportCurves)
#include "tst_report_curves.moc"
