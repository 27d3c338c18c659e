// SPDX-License-Identifier: GPL-3.0-or-later
// The exported form of a plot: its shape, its place and its numbers; bands and bounds over its curves.
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "tests/visualizers/legend_of.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/export_dialog.h"
#include "visualizers/runs/loss_view.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDoubleSpinBox>
#include <QDragEnterEvent>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <qcustomplot.h>

#include <cmath>

using namespace residua;
using namespace residua::visualizers;

namespace {

std::vector<engine::StepRecord> line(double from)
{
    std::vector<engine::StepRecord> steps;
    for (std::int64_t step = 1; step <= 4; ++step) {
        steps.push_back({.step = step, .loss = from + static_cast<double>(step)});
    }
    return steps;
}

} // namespace

class TestPlotExport : public QObject {
    Q_OBJECT
private slots:
    void init() { QVERIFY(m_folder.isValid()); }

    /// A strip below a canvas is no picture for a paper; afterwards it is a strip again.
    void aPictureHasTheShapeThatWasAskedFor()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(700, 170);
        view.show();
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = line(0)});
        const auto* plot = view.findChild<QCustomPlot*>();
        QTRY_VERIFY(plot->isVisible());
        const QSize before = plot->size();
        QVERIFY(view.exportTo(path("wide.png"), {600, 400}).result().ok());
        QCOMPARE(QImage(path("wide.png")).size(), QSize(1200, 800)); // twice the pixels
        QVERIFY(view.exportTo(path("usual.png")).result().ok());
        QCOMPARE(QImage(path("usual.png")).size(), kExportShape * 2);
        QCOMPARE(plot->size(), before);
    }

    void onPaperAPictureHasTheWidthOfTheColumn()
    {
        ShownRuns runs;
        LossView view(runs);
        view.show();
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = line(0)});
        for (const double centimetres : {8.5, 17.0}) {
            const ExportChoice choice{.centimetres = centimetres, .text = 8};
            QVERIFY(view.exportAs(path("paper.svg"), choice).result().ok());
            QFile svg(path("paper.svg"));
            QVERIFY(svg.open(QIODevice::ReadOnly));
            static const QRegularExpression width(QStringLiteral("<svg width=\"([0-9.]+)mm\""));
            const double millimetres = width.match(svg.readAll()).captured(1).toDouble();
            QVERIFY2(std::abs(millimetres - 10 * centimetres) < 2, qPrintable(QString::number(millimetres)));
            QVERIFY(view.exportAs(path("paper.pdf"), choice).result().ok());
            QVERIFY(QFile(path("paper.pdf")).size() > 1000);
        }
    }

    void theDialogTakesFolderFormatAndSize()
    {
        ShownRuns runs;
        LossView view(runs);
        view.show();
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = line(0)});
        view.askExport();
        auto* dialog = view.findChild<ExportDialog*>();
        QVERIFY(dialog);
        auto* folder = dialog->findChild<QLineEdit*>("exportFolder");
        auto* go = dialog->findChild<QPushButton*>("exportGo");
        drop(*dialog, path("other.svg")); // a file gives its folder and its name
        QCOMPARE(folder->text(), m_folder.path());
        QCOMPARE(dialog->findChild<QLineEdit*>("exportName")->text(), QString("other"));
        folder->clear();
        drop(*dialog, m_folder.path());
        QCOMPARE(folder->text(), m_folder.path());
        QVERIFY(!folder->acceptDrops()); // it would insert the address
        folder->setText("/nowhere/at/all");
        QVERIFY(!go->isEnabled());
        QVERIFY(!dialog->findChild<QLabel*>("exportNote")->text().isEmpty());
        folder->setText(m_folder.path());
        QVERIFY(go->isEnabled());
        dialog->findChild<QLineEdit*>("exportName")->setText("mine");
        dialog->findChild<QSpinBox*>("exportWidth")->setValue(300);
        dialog->findChild<QSpinBox*>("exportHeight")->setValue(200);
        QTest::mouseClick(go, Qt::LeftButton);
        QTRY_VERIFY(QFile::exists(path("mine.png")));
        QTRY_VERIFY(!view.findChild<ExportDialog*>());
        QCOMPARE(QImage(path("mine.png")).size(), QSize(600, 400));
        view.askExport(); // the next begins where this one was
        dialog = view.findChild<ExportDialog*>();
        QCOMPARE(dialog->findChild<QLineEdit*>("exportFolder")->text(), m_folder.path());
        QCOMPARE(dialog->findChild<QSpinBox*>("exportWidth")->value(), 300);
        auto* format = dialog->findChild<QComboBox*>("exportFormat");
        format->setCurrentIndex(format->findData("csv"));
        QVERIFY(!dialog->findChild<QSpinBox*>("exportWidth")->isEnabled());
        auto* centimetres = dialog->findChild<QDoubleSpinBox*>("exportCentimetres");
        QVERIFY(!centimetres->isEnabled());
        format->setCurrentIndex(format->findData("pdf"));
        QVERIFY(centimetres->isEnabled());
    }

    void weightsSayOfWhichRunAndPortTheyAre()
    {
        ShownRuns runs;
        ShownMatrices matrices;
        HeatmapView view(matrices);
        matrices.follow(runs);
        runs.bringToFront("a");
        runs.begin("a", {.name = "the first"});
        engine::Matrix matrix = triangle(3, 0.25F);
        matrix.name = "mix/q";
        runs.add("a", {.matrices = {matrix}});
        view.findChild<QComboBox*>("value")->setCurrentIndex(static_cast<int>(CellValue::Weight));
        const QStringList rows = view.csv().split('\n');
        QCOMPARE(rows[0], QString("run,port,step,source,target,value"));
        QCOMPARE(rows[1], QString("\"the first\",q,3,0,1,1"));
        view.findChild<QToolButton*>("byDistance")->setChecked(true);
        const QStringList distances = view.csv().split('\n');
        QCOMPARE(distances[0], QString("run,port,step,distance,count,median,percentile90"));
        QCOMPARE(distances[1], QString("\"the first\",q,3,1,2,0.625,0.925")); // 0:1 and 1:2
    }

    /// The default of such a mix is the change since the start.
    void exportedCellsSayTheirValue()
    {
        ShownRuns runs;
        ShownMatrices matrices;
        HeatmapView view(matrices);
        matrices.follow(runs);
        projects::DepthMix mix;
        mix.init = projects::MixInit::Cascaded;
        runs.bringToFront("a");
        runs.begin("a", {.name = "the first", .topology = {.wiring = mix}});
        runs.add("a", {.matrices = {triangle(0, 0.25F), triangle(3, 0.5F)}});
        const auto line = [&](int row) { return view.csv().split('\n')[row]; };
        QCOMPARE(line(0), QString("run,port,step,source,target,change_since_start"));
        QCOMPARE(line(6), QString("\"the first\",,3,1,2,0.25"));
        view.findChild<QToolButton*>("byDistance")->setChecked(true);
        QCOMPARE(line(0), QString("run,port,step,distance,count,median_change_since_start,"
                                  "percentile90_change_since_start"));
        view.findChild<QToolButton*>("byDistance")->setChecked(false);
        const std::pair<CellValue, QString> columns[] = {{CellValue::Weight, "value"},
                                                         {CellValue::SinceStart, "change_since_start"},
                                                         {CellValue::SincePinned, "change_since_pinned"},
                                                         {CellValue::AgainstRun, "difference"},
                                                         {CellValue::LogOfRowMax, "log_of_row_max"}};
        for (const auto& [value, column] : columns) {
            matrices.setValue(value);
            QCOMPARE(line(0), "run,port,step,source,target," + column);
        }
    }

    /// Each of the two plots is exported by the menu that was opened over it.
    void theAccuracyBesideTheLossesIsExportedToo()
    {
        ShownRuns runs;
        LossView view(runs);
        view.showAccuracy(true);
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = line(0), .rows = {{"accuracy/validation", 2, 0.8125}}});
        QVERIFY(!view.csv().contains("0.8125"));
        auto* accuracy = view.findChild<PlotView*>();
        QVERIFY(accuracy);
        QCOMPARE(accuracy->accessibleName(), QString("Accuracy"));
        QVERIFY(accuracy->csv().contains("0.8125"));
        QContextMenuEvent opens(QContextMenuEvent::Mouse, {5, 5}, {5, 5});
        QApplication::sendEvent(accuracy->findChild<QCustomPlot*>(), &opens);
        auto* menu = accuracy->findChild<QMenu*>({}, Qt::FindDirectChildrenOnly);
        QVERIFY(menu && !view.findChild<QMenu*>({}, Qt::FindDirectChildrenOnly));
        menu->close();
    }

    /// One curve in place of several, as soon as there are two of a study.
    void seedsAreDrawnAsABand()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(900, 600);
        view.show();
        begin(runs, "a", {.name = "sum, seed 1"});
        begin(runs, "b", {.name = "sum, seed 2"});
        begin(runs, "c", {.name = "other"});
        group(runs, {{"sum", {"a", "b"}}, {"other", {"c"}}});
        runs.add("a", {.steps = line(0)});
        runs.add("b", {.steps = line(2)});
        runs.add("c", {.steps = line(1)});
        auto* seeds = view.findChild<QCheckBox*>("seedsAsBand");
        QTRY_VERIFY(seeds->isVisible());
        const QStringList bands = legendOf(view);
        QCOMPARE(bands.filter("sum, 2 seeds").size(), 1);
        QVERIFY(bands.filter("seed 1").isEmpty());
        QCOMPARE(bands.filter("other").size(), 1);
        seeds->setChecked(false);
        QCOMPARE(legendOf(view).filter("sum, seed 1").size(), 1);
        seeds->setChecked(true);
        runs.removeOverlay("b");
        QVERIFY(!seeds->isVisible());
        QCOMPARE(legendOf(view).filter("sum, seed 1").size(), 1);
    }

    /// A repeated run says nothing about other seeds.
    void aRunWithEqualSeedsIsNoFurtherSeed()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(900, 600);
        view.show();
        const char* const seeds[] = {"1", "1", "2"};
        std::map<std::string, ShownRuns::Look> looks;
        for (std::size_t i = 0; i < std::size(seeds); ++i) {
            const std::string key = std::to_string(i);
            looks[key] = {"sum", "sum", QString("run %1").arg(i), 0, seeds[i]};
        }
        runs.setLooks(looks);
        const auto add = [&](const char* key, int height) {
            begin(runs, key, {.name = key});
            runs.add(key, {.steps = line(height)});
        };
        add("0", 0);
        add("1", 0);
        QCOMPARE(legendOf(view).filter("run ").size(), 2);
        QVERIFY(!view.findChild<QCheckBox*>("seedsAsBand")->isVisible());
        add("2", 2);
        QCOMPARE(legendOf(view).filter("sum, 2 seeds").size(), 1);
        QCOMPARE(legendOf(view).filter("run 1").size(), 1);
    }

    /// The band, its legend and the export are those of the runs that are not filtered out.
    void aBandLeavesFilteredRunsOut()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(900, 600);
        view.show();
        for (int seed = 1; seed <= 3; ++seed) {
            const std::string key = std::to_string(seed);
            begin(runs, key, {.name = QString("sum, seed %1").arg(seed)});
            runs.add(key, {.steps = line(seed)});
        }
        group(runs, {{"sum", {"1", "2", "3"}}});
        QCOMPARE(legendOf(view).filter("sum, 3 seeds").size(), 1);
        runs.leaveOut({"2"});
        QCOMPARE(legendOf(view).filter("sum, 2 seeds").size(), 1);
        QVERIFY(!view.csv().contains("seed 2"));
        runs.leaveOut({"1", "2"});
        QCOMPARE(legendOf(view).filter("sum").size(), 1); // as a run of its own
        QCOMPARE(legendOf(view).filter("sum, seed 3").size(), 1);
        runs.leaveOut({"1", "2", "3"});
        QVERIFY(legendOf(view).filter("sum").isEmpty());
        runs.leaveOut({});
        QCOMPARE(legendOf(view).filter("sum, 3 seeds").size(), 1);
    }

    /// Over pairs of equal seeds, with their interval; a run without a partner is named on the figure.
    void differencesAreFromTheRunsOfEqualSeeds()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(900, 600);
        view.show();
        for (const char* const key : {"a1", "a2", "b1", "b2", "c1"}) {
            begin(runs, key, {.name = key});
        }
        group(runs, {{"a", {"a1", "a2"}}, {"b", {"b1", "b2"}}, {"c", {"none", "other", "c1"}}});
        runs.add("a1", {.steps = line(0)});
        runs.add("a2", {.steps = line(10)});
        runs.add("b1", {.steps = line(3)});
        runs.add("b2", {.steps = line(15)});
        runs.add("c1", {.steps = line(7)});
        auto* baseline = view.findChild<QComboBox*>("baseline");
        QTRY_VERIFY(baseline->isVisible());
        QCOMPARE(baseline->count(), 4); // as recorded, and three groups
        baseline->setCurrentText("relative to a");
        QCOMPARE(runs.baseline(), std::string("group a"));
        const QStringList lines = view.csv().split('\n');
        QVERIFY(lines.front().contains("a") && lines.front().endsWith("low,high"));
        const auto first = [&](const QString& name) {
            return lines.filter(QRegularExpression("^\"" + name)).front().split(',');
        };
        const double half = 12.706204736174694 * std::sqrt(2.0) / std::sqrt(2.0); // of 3 and 5
        QCOMPARE(first("a, 2").at(3).toDouble(), 0.0);
        const QStringList b = first("b, 2");
        QCOMPARE(b.at(3).toDouble(), 4.0);
        QVERIFY(std::abs(b.at(5).toDouble() - (4 - half)) < 1e-9 && std::abs(b.at(6).toDouble() - (4 + half)) < 1e-9);
        const QStringList c = first("c, seed 3"); // has no pair, and so no interval
        QVERIFY(!c.at(3).isEmpty() && c.at(5).isEmpty() && c.at(6).isEmpty());
        QVERIFY(view.findChild<QCustomPlot*>()->yAxis->label().endsWith(QString::fromUtf8("− a")));
        runs.setBaseline("b1"); // one run alone
        QCOMPARE(baseline->currentText(), QString("relative to b, seed 1"));
        runs.removeOverlay("b1"); // without it there are no differences
        QVERIFY(!view.csv().split('\n').front().endsWith("low,high"));
    }

    /// By step alone, and without stretching the axes to a bound that is far away.
    void boundsAreDrawnOverTheirRun()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(900, 600);
        view.show();
        Curve bound;
        bound.append(1, 1e6);
        bound.append(4, 1e5);
        begin(runs, "a", {.name = "first", .bounds = {{"Theorem 0", "holds", bound, "Of flow."}}});
        runs.add("a", {.steps = line(0)});
        QCOMPARE(legendOf(view).filter("Theorem 0").size(), 1);
        QVERIFY(view.findChild<QCustomPlot*>()->yAxis->range().upper < 10);
        QVERIFY(view.findChild<QCheckBox*>("bounds")->toolTip().contains("holds"));
        view.findChild<QComboBox*>("horizontalAxis")->setCurrentIndex(1);
        QVERIFY(legendOf(view).filter("Theorem 0").isEmpty());
        QVERIFY(!noteOf(view).contains("Of flow."));
        view.findChild<QComboBox*>("horizontalAxis")->setCurrentIndex(0);
        QCOMPARE(legendOf(view).filter("Theorem 0").size(), 1);
        QVERIFY(noteOf(view).contains("Of flow.")); // on the figure, so in every picture of it
        view.findChild<QCheckBox*>("bounds")->setChecked(false);
        QVERIFY(legendOf(view).filter("Theorem 0").isEmpty());
    }

    void aLongNoteBreaksItsLines()
    {
        CurvePlot plot(nullptr);
        plot.resize(240, 200);
        plot.setSpec({.note = "The theorem is of gradient flow: step times rate stands for its time."});
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        QTRY_VERIFY(noteOf(plot).join(' ').contains('\n'));
        QCOMPARE(noteOf(plot).join(' ').simplified(),
                 QString("The theorem is of gradient flow: step times rate stands for its time."));
    }

private:
    /// Texts that are drawn on the figure.
    static QStringList noteOf(QWidget& view)
    {
        auto* plot = qobject_cast<QCustomPlot*>(&view);
        plot = plot ? plot : view.findChild<QCustomPlot*>();
        QStringList texts;
        for (int i = 0; i < plot->itemCount(); ++i) {
            const auto* text = qobject_cast<QCPItemText*>(plot->item(i));
            if (text && text->visible()) {
                texts << text->text();
            }
        }
        return texts;
    }

    static void drop(QWidget& target, const QString& path)
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&target, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent dropped({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&target, &dropped);
    }

    [[nodiscard]] QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QApplication, TestPlotExport)
#include "tst_plot_export.moc"
