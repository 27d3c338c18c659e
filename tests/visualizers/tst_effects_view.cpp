// SPDX-License-Identifier: GPL-3.0-or-later
// The effects of a knock-out beside the weights: as a grid, against the weights and by part.
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "visualizers/heatmap/effects_plot.h"
#include "visualizers/heatmap/effects_view.h"
#include "visualizers/heatmap/heatmap_grid.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_effects.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QToolTip>

#include <qcustomplot.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

using namespace residua;
using namespace residua::visualizers;
using engine::KeptEffects;
using engine::KnockoutRow;
using projects::KnockoutBy;

namespace {

const double kUnmeasured = std::numeric_limits<double>::quiet_NaN();

/// Three shortcuts; the effects fall while the weights rise.
KeptEffects ofShortcuts(std::int64_t step)
{
    return {{step, KnockoutBy::Term, false, 4},
            {.tag = {},
             .rows = {{"0:1", 0, 1, 0.1, 0.3, 0.02, 0.01},
                      {"0:2", 0, 2, -0.5, 0.2, 0.03, 0.01},
                      {"1:2", 1, 2, 0.9, -0.1, 0.01, kUnmeasured}},
             .loss = 2.5,
             .batches = 4,
             .step = step,
             .notes = {}}};
}

/// Two layers, on one batch.
KeptEffects ofLayers(std::int64_t step)
{
    return {{step, KnockoutBy::Layer, false, 1},
            {.tag = {},
             .rows = {{"layer 2", 2, 0, kUnmeasured, 0.4, kUnmeasured, kUnmeasured},
                      {"layer 5", 5, 0, kUnmeasured, 0.1, kUnmeasured, kUnmeasured}},
             .loss = 2.5,
             .batches = 1,
             .step = step,
             .notes = {"a note"}}};
}

} // namespace

class TestEffectsView : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_matrices = std::make_unique<ShownMatrices>();
        m_effects = std::make_unique<ShownEffects>();
        m_view = std::make_unique<HeatmapView>(*m_matrices);
        m_view->showBeside(*m_effects);
        m_view->resize(900, 400);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
    }
    void cleanup() { m_view.reset(); }

    void itAppearsWithAResultAndCanBeHidden()
    {
        QVERIFY(beside().isHidden());
        QVERIFY(button("effects").isHidden());
        m_effects->setRun("run", {ofShortcuts(8)});
        QVERIFY(beside().isVisible() && button("effects").isVisible());
        QVERIFY(button("effectsHide").isHidden()); // the weights are there
        QTest::mouseClick(&button("effects"), Qt::LeftButton);
        QVERIFY(beside().isHidden());
        QTest::mouseClick(&button("effects"), Qt::LeftButton);
        QVERIFY(beside().isVisible());
        m_effects->setRun("other", {});
        QVERIFY(beside().isHidden() && button("effects").isHidden());
    }

    /// In a narrow panel the effects take the place of the weights, which come back.
    void aNarrowViewShowsOneAtATime()
    {
        m_effects->setRun("run", {ofShortcuts(8)});
        QVERIFY(whose().isVisible());
        m_view->resize(300, 300);
        QTRY_VERIFY(!whose().isVisible());
        QVERIFY(beside().isVisible());
        QTest::mouseClick(&button("effectsHide"), Qt::LeftButton);
        QVERIFY(whose().isVisible() && !beside().isVisible());
        QVERIFY(button("effects").isVisible());
    }

    /// Rows and columns are those of the weights, also where nothing was measured.
    void theGridHasTheAxesOfTheWeights()
    {
        const float none = std::numeric_limits<float>::quiet_NaN();
        m_matrices->append(
            {{.name = "mix", .step = 8, .rows = 3, .columns = 3, .values = std::vector<float>(9, none)}});
        m_effects->setRun("run", {ofShortcuts(8)});
        QCPColorMapData& cells = *grid().findChild<QCPColorMap*>()->data();
        QCOMPARE(cells.keySize(), 3);
        QCOMPARE(cells.valueSize(), 3);
        QVERIFY(std::abs(cells.cell(0, 1) - 0.2) < 1e-6);
        QVERIFY(std::abs(cells.cell(1, 1) + 0.1) < 1e-6);
        QVERIFY(std::isnan(cells.cell(2, 2)));
        QVERIFY(grid().findChild<QCPColorMap*>()->dataRange().contains(0.3));
        QCOMPARE(grid().findChild<QCPColorMap*>()->dataRange().center(), 0.0); // no effect is the middle colour
    }

    /// The pointer tells the effect with its standard error, and other views hear of the shortcut.
    void thePointerTellsAnEffect()
    {
        m_effects->setRun("run", {ofShortcuts(8)});
        QSignalSpy hovered(m_view.get(), &HeatmapView::cellHovered);
        grid().replot();
        const QPoint cell(qRound(grid().xAxis->coordToPixel(0)), qRound(grid().yAxis->coordToPixel(2)));
        QTest::mouseMove(&grid(), cell);
        QTRY_VERIFY(!hovered.isEmpty());
        QCOMPARE(hovered.last(), (QVariantList{1, 0}));
        QCOMPARE(QToolTip::text(), QString("0:2: loss +0.2 ± 0.03 without it\nKL 0.01 nats\nweight -0.5"));
    }

    void weightsAreCorrelatedWithEffects()
    {
        m_effects->setRun("run", {ofShortcuts(8)});
        const QString title = beside().findChild<QLabel*>("effectsTitle")->text();
        QVERIFY2(title.contains("rank correlation with the weights -1"), qPrintable(title));
        picture().setCurrentIndex(1);
        QVERIFY(points().isVisible() && !grid().isVisible());
        QCOMPARE(points().count(), std::size_t{3});
        QCOMPARE(points().graph(0)->dataCount(), 3);
        QCOMPARE(points().graph(0)->data()->at(1)->key, 0.5); // the size of −0.5
        const auto* errors = points().findChild<QCPErrorBars*>();
        QVERIFY(errors->visible());
        QCOMPARE(errors->data()->at(1).errorPlus, 0.03); // of the same shortcut
        QVERIFY(points().yAxis->range().contains(-0.11) && points().yAxis->range().contains(0.32));
        QVERIFY(beside().csv().contains("0:2,0,2,-0.5,0.2,0.03,0.01\n"));
        QVERIFY(beside().csv().contains("1:2,1,2,0.9,-0.1,0.01,\n"));
    }

    /// Layers have bars with their own names, and one batch has no errors.
    void otherPartsAreBars()
    {
        m_effects->setRun("run", {ofShortcuts(4), ofLayers(8)});
        QCOMPARE(result().count(), 2);
        QCOMPARE(result().currentText(), QString("layers, step 8, 1 batch"));
        QVERIFY(picture().isHidden() && points().isVisible());
        const auto* bars = points().findChild<QCPBars*>();
        QCOMPARE(bars->dataCount(), 2);
        QVERIFY(!points().findChild<QCPErrorBars*>()->visible());
        const auto ticker = points().xAxis->ticker().dynamicCast<QCPAxisTickerText>();
        QVERIFY(ticker);
        QCOMPARE(ticker->ticks().values(), (QList<QString>{"layer 2", "layer 5"}));
        const QString title = beside().findChild<QLabel*>("effectsTitle")->text();
        QVERIFY2(title.contains("one batch has no standard error") && title.endsWith("\na note"), qPrintable(title));
        points().replot();
        QTest::mouseMove(&points(), QPoint(qRound(points().xAxis->coordToPixel(1)), points().axisRect()->center().y()));
        QTRY_COMPARE(QToolTip::text(), QString("layer 5: loss +0.1 without it"));
        result().setCurrentIndex(0);
        QCOMPARE(m_effects->shown()->key.step, std::int64_t{4});
        QVERIFY(grid().isVisible() && picture().isVisible());
        QCOMPARE(m_effects->ofShortcuts(), m_effects->shown());
        m_effects->choose(1);
        QCOMPARE(m_effects->ofShortcuts(), &m_effects->all().front()); // for the canvases
    }

    /// A result that is measured again takes the place of the former one.
    void aResultIsReplaced()
    {
        m_effects->setRun("run", {ofShortcuts(8), ofLayers(8)});
        KeptEffects again = ofShortcuts(8);
        again.measured.loss = 3;
        m_effects->add(again);
        QCOMPARE(m_effects->all().size(), std::size_t{2});
        QCOMPARE(m_effects->shown()->measured.loss, 3.0);
        QVERIFY(beside().findChild<QLabel*>("effectsTitle")->text().startsWith("Loss 3 "));
        m_effects->setRun("run", {ofShortcuts(8), ofLayers(8)}); // read again
        QVERIFY(m_effects->shown()->key.by == KnockoutBy::Term);
        m_effects->setRun("other", {ofShortcuts(8), ofLayers(8)});
        QVERIFY(m_effects->shown()->key.by == KnockoutBy::Layer);
    }

    void commandsHaveButtons()
    {
        QAction knockOut(QStringLiteral("Knock-out…"));
        m_view->addCommand(&knockOut);
        QSignalSpy triggered(&knockOut, &QAction::triggered);
        for (QToolButton* each : m_view->findChildren<QToolButton*>()) {
            if (each->defaultAction() == &knockOut) {
                QTest::mouseClick(each, Qt::LeftButton);
            }
        }
        QCOMPARE(triggered.count(), 1);
    }

private:
    [[nodiscard]] EffectsView& beside() const { return *m_view->findChild<EffectsView*>(); }
    [[nodiscard]] HeatmapGrid& grid() const { return *beside().findChild<HeatmapGrid*>(); }
    [[nodiscard]] EffectsPlot& points() const { return *beside().findChild<EffectsPlot*>(); }
    [[nodiscard]] QLabel& whose() const { return *m_view->findChild<QLabel*>("whose"); }
    [[nodiscard]] QComboBox& picture() const { return *beside().findChild<QComboBox*>("effectsPicture"); }
    [[nodiscard]] QComboBox& result() const { return *beside().findChild<QComboBox*>("effectsResult"); }
    [[nodiscard]] QToolButton& button(const char* name) const
    {
        return *m_view->findChild<QToolButton*>(QLatin1String(name));
    }

    std::unique_ptr<ShownMatrices> m_matrices;
    std::unique_ptr<ShownEffects> m_effects;
    std::unique_ptr<HeatmapView> m_view;
};

RESIDUA_TEST_IN(QApplication, TestEffectsView)
#include "tst_effects_view.moc"
