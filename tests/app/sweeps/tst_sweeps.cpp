// SPDX-License-Identifier: GPL-3.0-or-later
// Sweeps in the window, as a person makes them: fields, values, the grid and its cost.
#include "app/engine/background.h"
#include "app/look/theme.h"
#include "app/palette/palette_model.h"
#include "app/records/runs_model.h"
#include "app/sweeps/sweep_fields.h"
#include "app/sweeps/sweep_panel.h"
#include "app/sweeps/sweep_ticks.h"
#include "engine/runs/store/run_writer.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"
#include "visualizers/runs/shown_runs.h"
#include "visualizers/sweeps/parallel_view.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QSignalSpy>
#include <QStyleOptionHeader>
#include <QTabWidget>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

using namespace residua;
using namespace residua::app;

namespace {

projects::Project withoutSweeps()
{
    projects::Project project = projects::findExample("linear-ancre")->project;
    project.sweeps.clear();
    return project;
}

} // namespace

class TestSweeps : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_document = {withoutSweeps(), {}};
        m_runs.setRuns({});
        m_panel = std::make_unique<SweepPanel>(m_runs, m_palette);
        m_panel->resize(900, 300);
        connect(m_panel.get(), &SweepPanel::editRequested, this, [this](const projects::Edit& edit) {
            QVERIFY(projects::applyEdit(m_document, edit).ok());
            m_panel->setProject(std::make_shared<const projects::Project>(m_document.project));
        });
        m_palette.setContext(std::make_shared<const projects::Project>(m_document.project), ProjectPlace{});
        m_panel->setProject(std::make_shared<const projects::Project>(m_document.project));
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
    }

    /// A new sweep has the project's topology and three seeds already, so that six ticks and the button are enough.
    void sevenTopologiesWithThreeSeedsTakeSevenClicks()
    {
        auto* ticks = m_panel->findChild<SweepTicks*>("sweepTicks1");
        QVERIFY(ticks);
        QTRY_COMPARE(table()->model()->rowCount(), 3);
        QVERIFY(m_document.project.sweeps.empty()); // a look changes nothing
        const QModelIndex topologies = m_palette.index(0, 0);
        QCOMPARE(ticks->count(), m_palette.rowCount(topologies));
        const QString first = m_palette.index(0, PaletteModel::Name, topologies).data().toString();
        QTRY_VERIFY(ticks->item(0)->text().size() > first.size()); // with its price
        int clicks = 0;
        for (int row = 0; row < ticks->count() && clicks < 6; ++row) {
            const bool fits =
                !ticks->item(row)->text().contains("does not fit"); // attention has no place in this network
            if (fits && ticks->item(row)->checkState() == Qt::Unchecked) {
                tick(*ticks, row);
                ++clicks;
            }
        }
        QCOMPARE(clicks, 6);
        QCOMPARE(m_document.project.sweeps.size(), std::size_t(1));
        QTRY_COMPARE(table()->model()->rowCount(), 21);
        QVERIFY(m_panel->findChild<QLabel*>("sweepTotal")->text().contains("FLOP"));
        QSignalSpy queued(m_panel.get(), &SweepPanel::queueRequested);
        QTest::mouseClick(m_panel->findChild<QPushButton*>("queueSweep"), Qt::LeftButton);
        QCOMPARE(queued.first().first().value<std::vector<projects::SweepMember>>().size(), std::size_t(21));
    }

    /// Columns without a value are hidden, and the style leaves the text of the others its room.
    void headingsAreWhole()
    {
        const Look look(ThemeKind::Light);
        QTRY_COMPARE(table()->model()->rowCount(), 3);
        QHeaderView& head = *table()->horizontalHeader();
        QStringList shown;
        for (int column = 0; column < head.count(); ++column) {
            if (!head.isSectionHidden(column)) {
                QStyleOptionHeader option;
                option.initFrom(&head);
                option.rect = {head.sectionViewportPosition(column), 0, head.sectionSize(column), head.height()};
                option.text = head.model()->headerData(column, Qt::Horizontal).toString();
                const int room = head.style()->subElementRect(QStyle::SE_HeaderLabel, &option, &head).width();
                QVERIFY2(room >= head.fontMetrics().horizontalAdvance(option.text), qPrintable(option.text));
                shown << option.text;
            }
        }
        QCOMPARE(shown, QStringList({"topology", "seeds", "Parameters", "FLOP", "Status"}));
    }

    void aDraftEntersTheDocumentOnceItIsQueued()
    {
        QTRY_COMPARE(table()->model()->rowCount(), 3);
        QSignalSpy queued(m_panel.get(), &SweepPanel::queueRequested);
        QTest::mouseClick(m_panel->findChild<QPushButton*>("queueSweep"), Qt::LeftButton);
        QCOMPARE(m_document.project.sweeps.size(), std::size_t(1));
        QTRY_COMPARE(queued.count(), 1);
        const auto members = queued.first().first().value<std::vector<projects::SweepMember>>();
        QCOMPARE(members.size(), std::size_t(3));
        QCOMPARE(members[2].membership.sweep, m_document.project.sweeps.front().name);
        QCOMPARE(members[2].project.seeds.init, std::int64_t(3));
    }

    void shiftTicksEverythingInBetweenAndASecondTickTakesItBack()
    {
        QTest::mouseClick(m_panel->findChild<QPushButton*>("addRates"), Qt::LeftButton);
        QTRY_COMPARE(m_document.project.sweeps.front().axes.size(), std::size_t(3));
        auto* ticks = m_panel->findChild<SweepTicks*>("sweepTicks3");
        QTRY_VERIFY(ticks->viewport()->rect().contains(ticks->visualItemRect(ticks->item(ticks->count() - 1))));
        const auto values = [this] { return m_document.project.sweeps.front().axes.back().values; };
        QCOMPARE(values().size(), std::size_t(3)); // a half, once and twice the present rate
        QVERIFY(!m_panel->findChild<QPushButton*>("addRates")->isVisible());
        tick(*ticks, 0);
        QCOMPARE(values().size(), std::size_t(4));
        tick(*ticks, ticks->count() - 1, Qt::ShiftModifier);
        QCOMPARE(values().size(), static_cast<std::size_t>(ticks->count()));
        QVERIFY(std::ranges::is_sorted(values(), {},
                                       [](const projects::SweepValue& value) { return std::stod(value.value.json); }));
        tick(*ticks, 1);
        QCOMPARE(values().size(), static_cast<std::size_t>(ticks->count()) - 1);
        QTest::keyClick(ticks, Qt::Key_Space);
        QCOMPARE(values().size(), static_cast<std::size_t>(ticks->count()));
    }

    void aFieldIsChosenByItsTitle()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}}});
        auto* box = m_panel->findChild<QComboBox*>("sweepField1");
        QTRY_VERIFY(box->findData(kPeakRateField) > 0);
        const int at = box->findData(kPeakRateField);
        QVERIFY(!box->itemText(at).contains('/'));
        box->setCurrentIndex(at);
        emit box->activated(at);
        QCOMPARE(m_document.project.sweeps.front().axes.front().field, std::string(kPeakRateField));
        QCOMPARE(box->currentText(), titleOfField(m_document.project, kPeakRateField));
    }

    void fieldsAndValuesAreReadableInADockOfAnyWidth_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::newRow("the narrowest") << QSize(280, 400);
        QTest::newRow("below a canvas in a small window") << QSize(650, 240);
        QTest::newRow("the same, drawn up") << QSize(650, 500);
        QTest::newRow("a large window") << QSize(1200, 400);
    }

    void fieldsAndValuesAreReadableInADockOfAnyWidth()
    {
        QFETCH(QSize, size);
        m_panel->addAxis({"/training/learning_rate/peak", {}, {{{}, {"0.001"}}, {{}, {"0.002"}}, {{}, {"0.004"}}}});
        m_panel->resize(size);
        const auto* field = m_panel->findChild<QComboBox*>("sweepField1");
        const auto* values = m_panel->findChild<QLineEdit*>("sweepValues1");
        const auto holds = [](const QWidget& place, int padding, const QString& text) {
            return place.width() >= place.fontMetrics().horizontalAdvance(text) + padding;
        };
        QTRY_VERIFY(holds(*field, 32, "/learning_rate/peak"));
        QTRY_VERIFY(holds(*values, 16, "0.001, 0.002, 0.004"));
        QVERIFY(m_panel->findChild<QTableView*>("sweepGrid")->width() >= 200);
    }

    void aSweepIsMadeByKeyboardAndQueued()
    {
        const QAbstractItemModelTester tester(table()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QTest::mouseClick(m_panel->findChild<QToolButton*>("newSweep"), Qt::LeftButton);
        QCOMPARE(m_document.project.sweeps.size(), std::size_t(1));
        type(1, "/seeds/init", "1, 2, 3");
        QTRY_COMPARE(table()->model()->rowCount(), 3);
        QTest::mouseClick(m_panel->findChild<QPushButton*>("addSweepField"), Qt::LeftButton);
        type(2, "/training/learning_rate/peak", "0.1, 0.01");
        QTRY_COMPARE(table()->model()->rowCount(), 6);
        const projects::Sweep& sweep = m_document.project.sweeps.front();
        QCOMPARE(sweep.axes[1].field, std::string("/training/learning_rate/peak"));
        QCOMPARE(sweep.axes[0].values.size(), std::size_t(3));
        QVERIFY(m_panel->findChild<QLabel*>("sweepTotal")->text().contains("FLOP"));
        QVERIFY(!m_panel->findChild<QLabel*>("sweepTotal")->text().contains("about"));
        m_panel->setRate(1e6);
        QVERIFY(m_panel->findChild<QLabel*>("sweepTotal")->text().contains("about"));
        QSignalSpy queued(m_panel.get(), &SweepPanel::queueRequested);
        QTest::mouseClick(m_panel->findChild<QPushButton*>("queueSweep"), Qt::LeftButton);
        QCOMPARE(queued.count(), 1);
        const auto members = queued.first().first().value<std::vector<projects::SweepMember>>();
        QCOMPARE(members.size(), std::size_t(6));
        QCOMPARE(members.back().project.seeds.init, std::int64_t(3));
        QCOMPARE(members.back().project.training.learningRate.peak, 0.01);
        QCOMPARE(members.back().membership.label(), std::string("3, 0.01"));
    }

    /// The status comes from the newest run that trained the member. Only a finished run has a loss.
    void theGridSaysHowFarEachMemberIs()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"5"}}, {{}, {"6"}}, {{}, {"7"}}}});
        const QAbstractItemModel& grid = *table()->model();
        QTRY_COMPARE(grid.rowCount(), 3);
        const QTemporaryDir folder;
        const auto members = projects::expand(m_document.project, m_document.project.sweeps.front());
        std::vector<engine::RunInfo> runs;
        for (const std::size_t at : {0U, 1U}) {
            projects::Project project = (*members)[at].project;
            engine::RunInfo info;
            info.name = at == 0 ? "renamed since" : project.name;
            info.membership = (*members)[at].membership;
            info.steps = project.training.steps;
            info.step = 3;
            info.status = at == 0 ? engine::RunStatus::Finished : engine::RunStatus::Stopped;
            auto writer = engine::RunWriter::create(folder.filePath(QString::number(at)).toStdString(), info, project,
                                                    folder.path().toStdString());
            QVERIFY(writer.ok());
            writer->step({3, 0.5, 1e-3, 1, 3, 0.1});
            QVERIFY(writer->flush().ok());
            runs.push_back(writer->info());
        }
        m_runs.setRuns(runs);
        const auto text = [&](int row, int fromLast) {
            return grid.index(row, grid.columnCount() - fromLast).data().toString();
        };
        QTRY_COMPARE(text(0, 2), QString("finished"));
        QCOMPARE(text(0, 4), QString("0.5"));
        QCOMPARE(text(0, 3), QString("—")); // one seed alone has no mean
        auto* tabs = m_panel->findChild<QTabWidget*>("sweepTabs");
        QVERIFY(!tabs->isTabVisible(1)); // seeds alone have no best
        QCOMPARE(m_panel->findChild<visualizers::ParallelView*>()->csv(), QString("\"init\",result\n\"5\",0.5\n"));
        QCOMPARE(text(1, 2), QString("cut off at 3"));
        QCOMPARE(text(1, 4), QString("—"));
        QCOMPARE(text(2, 2), QString("not begun"));
        QCOMPARE(text(2, 4), QString("—"));
        runs[1].membership.reset(); // a run that trains the same, but was begun by itself
        m_runs.setRuns({runs[1]});
        QTRY_COMPARE(text(1, 2), QString("not begun"));
    }

    void theBestRateOfEachTopologyIsATableAndEveryMemberALine()
    {
        m_panel->addAxis({"/topology", {}, {{{}, {"\"plain\""}}, {{}, {"\"ancre-ingoing\""}}}});
        m_panel->addAxis({kPeakRateField, "rate", {{{}, {"0.001"}}, {{}, {"0.002"}}, {{}, {"0.004"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 6);
        const QTemporaryDir folder;
        const auto members = projects::expand(m_document.project, m_document.project.sweeps.front());
        std::vector<engine::RunInfo> runs;
        for (std::size_t at = 0; at < 5; ++at) { // the last has not finished
            engine::RunInfo info;
            info.name = (*members)[at].project.name;
            info.membership = (*members)[at].membership;
            info.steps = (*members)[at].project.training.steps;
            info.status = engine::RunStatus::Finished;
            auto writer = engine::RunWriter::create(folder.filePath(QString::number(at)).toStdString(), info,
                                                    (*members)[at].project, folder.path().toStdString());
            QVERIFY(writer.ok());
            constexpr double kLosses[] = {0.5, 0.25, 0.75, 0.125, 1};
            writer->step({info.steps, kLosses[at], 1e-3, 1, 3, 0.1});
            QVERIFY(writer->flush().ok());
            runs.push_back(writer->info());
        }
        m_runs.setRuns(runs);
        auto* best = m_panel->findChild<QTableWidget*>("sweepBest");
        QTRY_COMPARE(best->rowCount(), 2);
        const auto row = [&](int at) {
            QStringList cells;
            for (int column = 0; column < best->columnCount(); ++column) {
                cells << best->item(at, column)->text();
            }
            return cells;
        };
        QCOMPARE(row(0), (QStringList{"plain", "0.002", "0.25", ""}));
        QCOMPARE(row(1),
                 (QStringList{"ancre-ingoing", "0.001", "0.125", "at the end of its range; 1 point is missing"}));
        QVERIFY(m_panel->findChild<QTabWidget*>("sweepTabs")->isTabVisible(1));
        const QStringList lines =
            m_panel->findChild<visualizers::ParallelView*>()->csv().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 6);
        QCOMPARE(lines.last(), QString("\"ancre-ingoing\",\"0.001\",0.125")); // the best is drawn last
    }

    void aMemberThatCannotTrainSaysWhyAndIsNotQueued()
    {
        m_panel->addAxis({"/training/batch", {}, {{{}, {"4"}}, {{}, {"0"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 2);
        const QAbstractItemModel& grid = *table()->model();
        const int problem = grid.columnCount() - 1;
        QVERIFY(grid.index(0, problem).data().toString().isEmpty());
        QVERIFY(grid.index(1, problem).data().toString().contains("batch"));
        QSignalSpy queued(m_panel.get(), &SweepPanel::queueRequested);
        QTest::mouseClick(m_panel->findChild<QPushButton*>("queueSweep"), Qt::LeftButton);
        QCOMPARE(queued.first().first().value<std::vector<projects::SweepMember>>().size(), std::size_t(1));
    }

    /// The example trains with full batches, so the order of its examples has no effect.
    void anAxisThatChangesNothingIsReported()
    {
        const auto* total = m_panel->findChild<QLabel*>("sweepTotal");
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 2);
        QVERIFY(!total->text().contains("changes nothing"));
        m_panel->addAxis({"/seeds/order", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 4);
        QVERIFY2(total->text().contains("/seeds/order") && total->text().contains("changes nothing"),
                 qPrintable(total->text()));
    }

    void aWrongFieldIsAnErrorOfEachMember()
    {
        m_panel->addAxis({"/training/bacth", {}, {{{}, {"4"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 1);
        const QAbstractItemModel& grid = *table()->model();
        QVERIFY(!grid.index(0, grid.columnCount() - 1).data().toString().isEmpty());
        QVERIFY(!m_panel->findChild<QPushButton*>("queueSweep")->isEnabled());
    }

    /// The grid is made on another thread. An outdated grid has too few values for the new columns.
    void aGridOfBeforeAChangeIsDropped()
    {
        auto* soon = m_panel->findChild<QTimer*>();
        QVERIFY(soon);
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}, {{}, {"3"}}, {{}, {"4"}}}});
        QSignalSpy asked(soon, &QTimer::timeout);
        QVERIFY(asked.wait(tests::kPatience));
        QVERIFY(backgroundPool().waitForDone()); // made, and on its way
        m_panel->addAxis({"/seeds/data", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        QCoreApplication::processEvents();
        QVERIFY(table()->model()->rowCount() != 4);
        QTRY_COMPARE(table()->model()->rowCount(), 8);
    }

    /// The button shows the old number of members until the new grid is made. The queue gets the new members.
    void queueingIncludesTheTextJustTyped()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 2);
        QSignalSpy queued(m_panel.get(), &SweepPanel::queueRequested);
        type(1, "/seeds/init", "1, 2, 3");
        QTest::mouseClick(m_panel->findChild<QPushButton*>("queueSweep"), Qt::LeftButton);
        QTRY_COMPARE(table()->model()->rowCount(), 3);
        QCOMPARE(queued.count(), 1);
        QCOMPARE(queued.first().first().value<std::vector<projects::SweepMember>>().size(), std::size_t(3));
    }

    void aQueuedMemberIsNotQueuedAgain()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 2);
        QSignalSpy asked(m_panel.get(), &SweepPanel::queueRequested);
        auto* const queue = m_panel->findChild<QPushButton*>("queueSweep");
        queue->click();
        const auto members = asked.first().first().value<std::vector<projects::SweepMember>>();
        std::vector<engine::StartRun> runs;
        for (const projects::SweepMember& member : members) {
            runs.emplace_back().project = member.project;
            runs.back().membership = member.membership;
        }
        runs[1].project.training.batch += 1; // of an earlier document
        m_panel->setQueued(runs);
        QCOMPARE(queue->text(), SweepPanel::tr("Queue %n runs", nullptr, 1));
        QCOMPARE(table()->model()->index(0, 6).data().toString(), QString("queued"));
    }

    void noMemberOfAnotherProjectIsQueued()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 2);
        QSignalSpy queued(m_panel.get(), &SweepPanel::queueRequested);
        m_panel->hide();
        projects::Project other = withoutSweeps();
        other.sweeps = {{"other", {{"/seeds/init", {}, {{{}, {"7"}}, {{}, {"8"}}, {{}, {"9"}}}}}}};
        m_panel->setProject(std::make_shared<const projects::Project>(other));
        m_panel->show();
        QTest::mouseClick(m_panel->findChild<QPushButton*>("queueSweep"), Qt::LeftButton);
        QTRY_COMPARE(queued.count(), 1);
        const auto members = queued.first().first().value<std::vector<projects::SweepMember>>();
        QCOMPARE(members.size(), std::size_t(3));
        QCOMPARE(members.front().project.seeds.init, std::int64_t(7));
    }

    /// A click waits for the grid of the project that was clicked on, not for the grid of a later project.
    void openingAnotherProjectDropsTheQueueRequest()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        QTRY_COMPARE(table()->model()->rowCount(), 2);
        QSignalSpy queued(m_panel.get(), &SweepPanel::queueRequested);
        type(1, "/seeds/init", "1, 2, 3");
        QTest::mouseClick(m_panel->findChild<QPushButton*>("queueSweep"), Qt::LeftButton);
        projects::Project other = m_document.project;
        other.sweeps.front().axes.front().values = {{{}, {"7"}}};
        m_panel->setProject(std::make_shared<const projects::Project>(other));
        QTRY_COMPARE(table()->model()->rowCount(), 1);
        QVERIFY(queued.isEmpty());
    }

    void textTypedForARemovedAxisIsDropped()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        auto* values = m_panel->findChild<QLineEdit*>("sweepValues1");
        values->setFocus();
        values->selectAll();
        QTest::keyClicks(values, "7, 8");
        m_document.project.sweeps.clear(); // undone meanwhile
        m_panel->setProject(std::make_shared<const projects::Project>(m_document.project));
        QVERIFY(!values->isVisible());
        QVERIFY(m_document.project.sweeps.empty());
    }

    /// A combo box is the focus proxy of its field and forwards the keys to it.
    void escapeAndUndoInAComboBoxAreThoseOfAField()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        int undone = 0;
        QShortcut undo(QKeySequence::Undo, m_panel.get());
        undo.setContext(Qt::ApplicationShortcut);
        connect(&undo, &QShortcut::activated, this, [&undone] { ++undone; });
        const QList<QComboBox*> boxes = m_panel->findChildren<QComboBox*>();
        QCOMPARE(boxes.size(), 2);
        for (QComboBox* box : boxes) {
            const QString shown = box->currentText();
            box->setFocus();
            QTest::keyClick(box, Qt::Key_Z, Qt::ControlModifier);
            box->lineEdit()->selectAll();
            QTest::keyClicks(box, "~~~");
            QCOMPARE(box->currentText(), QString("~~~"));
            QTest::keyClick(box, Qt::Key_Escape);
            QCOMPARE(box->currentText(), shown);
            QVERIFY(!box->lineEdit()->isModified());
        }
        QCOMPARE(undone, 2);
    }

    /// The value may have changed after the user began to type.
    void escapeShowsTheValueOfTheDocument()
    {
        m_panel->addAxis({"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}});
        auto* values = m_panel->findChild<QLineEdit*>("sweepValues1");
        values->setFocus();
        values->selectAll();
        QTest::keyClicks(values, "7, 8");
        m_document.project.sweeps.front().axes.front().values = {{{}, {"9"}}};
        m_panel->setProject(std::make_shared<const projects::Project>(m_document.project));
        QCOMPARE(values->text(), QString("7, 8"));
        QTest::keyClick(values, Qt::Key_Escape);
        QCOMPARE(values->text(), QString("9"));
    }

    void threeFieldsAtMostAndAnotherStartsASweepOfItsOwn()
    {
        for (const char* field : {"/seeds/init", "/seeds/data", "/seeds/order", "/seeds/stages"}) {
            m_panel->addAxis({field, {}, {{{}, {"1"}}}});
        }
        QCOMPARE(m_document.project.sweeps.size(), std::size_t(2));
        QCOMPARE(m_document.project.sweeps[0].axes.size(), std::size_t(3));
        QCOMPARE(m_document.project.sweeps[1].axes.size(), std::size_t(1));
        QCOMPARE(m_document.project.sweeps[0].name, std::string("sweep"));
        QCOMPARE(m_document.project.sweeps[1].name, std::string("sweep 2"));
    }

    /// A file may have any text as the name of a field.
    void oddFieldsAreShown()
    {
        for (const char* field : {"", "a", "/", "/a~", "/~2", "/network/stack/01", "/network/stack/-"}) {
            m_panel->addAxis({field, {}, {{{}, {"1"}}}});
        }
        QVERIFY(m_document.project.sweeps.size() > 2);
    }

private:
    QTableView* table() { return m_panel->findChild<QTableView*>("sweepGrid"); }

    static void tick(SweepTicks& ticks, int row, Qt::KeyboardModifiers modifiers = {})
    {
        const QRect place = ticks.visualItemRect(ticks.item(row));
        QTest::mouseClick(ticks.viewport(), Qt::LeftButton, modifiers, place.center());
    }

    void type(int number, const QString& field, const QString& values)
    {
        auto* box = m_panel->findChild<QComboBox*>(QString("sweepField%1").arg(number));
        box->setFocus();
        box->lineEdit()->selectAll();
        QTest::keyClicks(box->lineEdit(), field);
        QTest::keyClick(box->lineEdit(), Qt::Key_Return);
        auto* edit = m_panel->findChild<QLineEdit*>(QString("sweepValues%1").arg(number));
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, values);
        QTest::keyClick(edit, Qt::Key_Return);
    }

    projects::Document m_document;
    visualizers::ShownRuns m_shown;
    PaletteModel m_palette;
    RunsModel m_runs{m_shown};
    std::unique_ptr<SweepPanel> m_panel;
};

RESIDUA_TEST_IN(QApplication, TestSweeps)
#include "tst_sweeps.moc"
