// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "tests/visualizers/legend_of.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/runs/shown_runs.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

using namespace residua::visualizers;

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// Dear and good, cheap and bad, dear and bad, and one that came to nothing.
std::vector<ParetoRun> fourRuns()
{
    constexpr auto kResult = ParetoStanding::Result;
    return {{"/a", "a", 100, 1e9, 10, 1.0, 1.5, kResult, "finished"},
            {"/b", "b", 10, 1e7, 1, 3.0, 3.5, kResult, "finished"},
            {"/c", "c", 100, 1e9, 10, 4.0, 4.5, kResult, "finished"},
            {"/d", "d", 10, 1e7, 1, kNoValue, kNoValue, ParetoStanding::SoFar, "failed"}};
}

QString frontIn(const QString& csv)
{
    QString names;
    for (const QString& line : csv.split(QLatin1Char('\n')).mid(1)) {
        if (line.endsWith(QStringLiteral(",1"))) {
            names += line.section(QLatin1Char('"'), 1, 1);
        }
    }
    return names;
}

} // namespace

class TestParetoView : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_shown.clear();
        m_shown.setLooks({});
        m_view = std::make_unique<ParetoView>(m_shown);
        m_view->resize(600, 400);
        m_view->setRuns(fourRuns());
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
        plot().replot();
    }

    void theFrontHoldsWhatNoOtherBeats()
    {
        QCOMPARE(frontIn(m_view->csv()), QString("ab"));
        QCOMPARE(m_view->csv().count(QLatin1Char('\n')), 5); // every run, a header line above them
        box("cost")->setCurrentIndex(0);
        QCOMPARE(plot().xAxis->label(), QString("parameters"));
        QVERIFY(plot().xAxis->range().contains(10) && plot().xAxis->range().contains(100));
    }

    /// Forks of one run differ in the cost of a pass, whatever was spent before them.
    void theFrontIsThatOfTheChosenCost()
    {
        std::vector<ParetoRun> runs = fourRuns();
        for (ParetoRun& run : runs) {
            run.passFlops = run.name == QStringLiteral("c") ? 5 : 70;
            run.isCostWhole = false;
        }
        m_view->setRuns(runs);
        box("cost")->setCurrentIndex(3);
        QVERIFY(plot().xAxis->label().contains(QStringLiteral("pass")));
        QCOMPARE(frontIn(m_view->csv()), QString("ac"));
    }

    /// If greater values of the metric are better, the expensive run on the front has the greatest value.
    void theJudgeTurnsTheFrontAround()
    {
        std::vector<ParetoRun> runs = fourRuns();
        for (ParetoRun& run : runs) {
            run.judge = {.quantity = "accuracy", .better = residua::projects::Judge::Better::Greater};
        }
        m_view->setRuns(runs);
        QCOMPARE(frontIn(m_view->csv()), QString("bc"));
        QCOMPARE(plot().yAxis->label(), QString("validation accuracy"));
        for (ParetoRun& run : runs) {
            run.validationLoss = run.loss = 1;
        }
        m_view->setRuns(runs);
        QVERIFY(plot().yAxis->range().upper <= 1); // a share
    }

    void unfinishedRunsAreShownOffTheFront()
    {
        std::vector<ParetoRun> runs = fourRuns();
        runs.push_back({"/e", "e", 10, 1e6, 1, 0.1, 0.1, ParetoStanding::SoFar, "running"}); // cheapest and best
        m_view->setRuns(runs);
        plot().replot();
        QCOMPARE(frontIn(m_view->csv()), QString("ab"));
        QVERIFY(m_view->csv().contains("\"e\",\"e\",\"running\""));
        QTest::mouseMove(&plot(), pixel(1e6, 0.1));
        const auto says = [this](const QString& text) {
            const auto labels = plot().findChildren<QCPItemText*>();
            return std::ranges::any_of(
                labels, [&](const QCPItemText* label) { return label->visible() && label->text().contains(text); });
        };
        QTRY_VERIFY(says("so far, running"));
        QEvent leave(QEvent::Leave); // the mouse leaves
        QCoreApplication::sendEvent(&plot(), &leave);
        QVERIFY(!says("so far, running"));
    }

    /// A run that began with weights of unknown cost is set apart in comparisons by cost. Its size is known.
    void anUnknownCostIsNoBargain()
    {
        std::vector<ParetoRun> runs = fourRuns();
        runs.push_back({"/e", "e", 10, 1e6, 1, 0.1, 0.1, ParetoStanding::Result, "finished"}); // cheapest and best
        runs.back().isCostWhole = false;
        m_view->setRuns(runs);
        QCOMPARE(frontIn(m_view->csv()), QString("ab"));
        QVERIFY(legendOf(*m_view).contains("start of unknown cost"));
        box("cost")->setCurrentIndex(0); // by parameters
        QVERIFY(frontIn(m_view->csv()).contains('e'));
        QVERIFY(!legendOf(*m_view).contains("start of unknown cost"));
    }

    /// The training loss has an axis of its own.
    void aRunHasNoPointBeforeItsFirstValidation()
    {
        std::vector<ParetoRun> runs = fourRuns();
        runs.push_back({"/e", "e", 10, 1e8, 1, 0.1, kNoValue, ParetoStanding::SoFar, "running"});
        m_view->setRuns(runs);
        plot().replot();
        QVERIFY(plot().yAxis->range().lower > 1); // without the training loss
        box("measure")->setCurrentIndex(1);
        plot().replot();
        QVERIFY(plot().yAxis->range().contains(0.1));
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, pixel(1e8, 0.1));
        QCOMPARE(m_shown.chosen(), std::string("/e"));
        box("measure")->setCurrentIndex(0);
        m_view->setRuns({runs.back()});
        const auto labels = m_view->findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [](const QLabel* label) {
            return label->isVisible() && label->text().startsWith("No run has been validated yet");
        }));
    }

    void aRunThatIsLeftOutIsNoPoint()
    {
        m_shown.leaveOut({"/b"}); // the cheapest
        plot().replot();
        QCOMPARE(frontIn(m_view->csv()), QString("a"));
        QVERIFY(!m_view->csv().contains("\"b\""));
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, pixel(1e7, 3.5));
        QVERIFY(m_shown.chosen().empty());
        m_shown.leaveOut({});
        QCOMPARE(frontIn(m_view->csv()), QString("ab"));
    }

    void aClickChoosesTheRunUnderThePointer()
    {
        QSignalSpy chosen(&m_shown, &ShownRuns::chosenChanged);
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, pixel(1e7, 3.5));
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(m_shown.chosen(), std::string("/b"));
        QCOMPARE(marked(), 3.5);
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, plot().axisRect()->center());
        QCOMPARE(chosen.count(), 1);
    }

    void theRunThatIsChosenElsewhereIsMarked()
    {
        QVERIFY(std::isnan(marked()));
        m_shown.choose("/a");
        QCOMPARE(marked(), 1.5);
        m_shown.choose("/elsewhere");
        QVERIFY(std::isnan(marked()));
    }

    /// Runs with equal cost and loss have the same point.
    void namesNeverCoverEachOther()
    {
        std::vector<ParetoRun> runs = fourRuns();
        runs.push_back(runs.front());
        runs.back().key = runs.back().name = "/again";
        m_view->setRuns(runs);
        plot().replot();
        std::vector<QRectF> rooms;
        for (const auto* label : plot().findChildren<QCPItemText*>()) {
            if (label->visible() && (label->text() == runs.front().name || label->text() == "/again")) {
                rooms.emplace_back(label->topLeft->pixelPosition(), label->bottomRight->pixelPosition());
            }
        }
        QCOMPARE(rooms.size(), std::size_t{2}); // on two sides of the point
        QVERIFY(!rooms[0].intersects(rooms[1]));
        for (const QRectF& room : rooms) {
            QVERIFY(!room.contains(pixel(1e9, 1.5)));
        }
    }

    /// One lucky seed makes no front.
    void theFrontIsMadeOfGroups()
    {
        constexpr auto kResult = ParetoStanding::Result;
        m_view->setRuns({{"/a1", "a1", 10, 1e7, 1, 3.0, 3.0, kResult, "finished"},
                         {"/a2", "a2", 10, 1e7, 1, 3.1, 3.1, kResult, "finished"},
                         {"/b1", "b1", 20, 2e7, 2, 2.9, 2.9, kResult, "finished"}, // better than each of a's
                         {"/b2", "b2", 20, 2e7, 2, 3.5, 3.5, kResult, "finished"},
                         {"/b3", "b3", 20, 2e7, 2, 1.0, 1.0, ParetoStanding::SoFar, "running"}});
        group(m_shown, {{"a", {"/a1", "/a2"}}, {"b", {"/b1", "/b2", "/b3"}}});
        plot().replot();
        QCOMPARE(frontIn(m_view->csv()), QString("a1a2"));
        QVERIFY(m_view->csv().contains("\"b1\",\"b\",\"finished\""));
        QTest::mouseMove(&plot(), pixel(2e7, 3.2));
        const auto says = [this](const QString& text) {
            const auto labels = plot().findChildren<QCPItemText*>();
            return std::ranges::any_of(
                labels, [&](const QCPItemText* label) { return label->visible() && label->text().contains(text); });
        };
        QTRY_VERIFY(says(QString::fromUtf8("b\nloss 3.20 ± 0.42 (2)\n20 parameters")));
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, pixel(2e7, 3.2));
        QCOMPARE(m_shown.chosen(), std::string("/b1"));
        QCOMPARE(marked(), 3.2);
        QVERIFY(says("a") && says("b")); // beside their points
        QVERIFY(legendOf(*m_view).contains("not finished"));
    }

    void hoveringNamesTheRun()
    {
        QTest::mouseMove(&plot(), pixel(1e9, 1.5));
        const auto names = [this] {
            QStringList texts;
            for (int i = 0; i < plot().itemCount(); ++i) {
                const auto* text = qobject_cast<QCPItemText*>(plot().item(i));
                if (text && text->visible()) {
                    texts << text->text();
                }
            }
            return texts.join(QLatin1Char('|'));
        };
        QTRY_VERIFY(names().contains("a\nloss 1.5"));
        m_view->setRuns(fourRuns()); // as the list of runs does again and again
        QVERIFY(names().contains("a\nloss 1.5"));
        m_view->setRuns({fourRuns()[1]});
        QVERIFY(!names().contains("\nloss"));
        m_view->setRuns(fourRuns());
        QVERIFY(names().contains("a\nloss 1.5"));
        QEvent leaves(QEvent::Leave);
        QApplication::sendEvent(&plot(), &leaves);
        m_view->setRuns(fourRuns());
        QVERIFY(!names().contains("\nloss"));
    }

    void theKeysGoFromRunToRunByCost()
    {
        plot().setFocus();
        QTest::keyClick(&plot(), Qt::Key_Right);
        QCOMPARE(m_shown.chosen(), std::string("/b"));
        QTest::keyClick(&plot(), Qt::Key_Right);
        QCOMPARE(m_shown.chosen(), std::string("/a"));
        QTest::keyClick(&plot(), Qt::Key_Left);
        QCOMPARE(m_shown.chosen(), std::string("/b"));
    }

    void aRunWithoutLossIsNoPoint()
    {
        m_view->setRuns({fourRuns().back()});
        QVERIFY(!plot().axisRect()->visible());
        m_view->setRuns({});
        QVERIFY(!plot().axisRect()->visible());
    }

    void leavesAsPicturesAndNumbers()
    {
        QTemporaryDir folder;
        for (const char* name : {"a.png", "a.svg", "a.pdf", "a.csv"}) {
            QVERIFY2(m_view->exportTo(folder.filePath(name)).result().ok(), name);
        }
    }

private:
    QCustomPlot& plot() { return *m_view->findChild<QCustomPlot*>(); }
    QComboBox* box(const char* name) { return m_view->findChild<QComboBox*>(QString::fromLatin1(name)); }
    QPoint pixel(double cost, double loss)
    {
        return {static_cast<int>(std::lround(plot().xAxis->coordToPixel(cost))),
                static_cast<int>(std::lround(plot().yAxis->coordToPixel(loss)))};
    }

    /// The loss at which a run is marked; NaN: none is.
    double marked()
    {
        for (int i = 0; i < plot().graphCount(); ++i) {
            if (const auto marks = plot().graph(i)->data();
                plot().graph(i)->name() == QStringLiteral("chosen") && !marks->isEmpty()) {
                return marks->constBegin()->value;
            }
        }
        return kNoValue;
    }

    ShownRuns m_shown;
    std::unique_ptr<ParetoView> m_view;
};

RESIDUA_TEST_IN(QApplication, TestParetoView)
#include "tst_pareto_view.moc"
