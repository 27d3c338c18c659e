// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in the window: queue, overlays, comparison, and runs that another process writes.
#include "app/look/widgets.h"
#include "app/runs/run_bar.h"
#include "app/runs/run_comparison_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/sweeps/sweep_panel.h"
#include "app/views/document_views.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/metrics_view.h"
#include "visualizers/runs/shown_runs.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <QTreeWidget>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

using namespace residua;
using namespace residua::app;

class TestRuns : public RunsHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickExample()); }

    void cleanup() { m_window.reset(); }

    /// The validation of each stage is drawn during the run, and again from the run's record.
    void theStagesOfARunHaveTheirValidationCurve()
    {
        projects::Project project = quickLanguage();
        project.training.steps = 6;
        project.training.validateEvery = 1;
        project.stack().schedule.stages = {{0, 1, {}}, {4, 2, {}}};
        m_project = newProject(project);
        openWindow();
        m_window->openProject(m_project);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE(ended.count(), 1);
        const auto validated = [this] {
            const QStringList rows = lossCsv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
            const bool has = rows.front().endsWith(QLatin1String(",validation of the stage"));
            const auto isThere = [](const QString& row) { return !row.endsWith(','); };
            return has ? static_cast<int>(std::ranges::count_if(rows.mid(1), isThere)) : 0;
        };
        constexpr int kOfTheFirstStage = 4; // the last stage trains every layer
        QTRY_COMPARE(validated(), kOfTheFirstStage);
        openWindow();
        m_window->openProject(m_project);
        QTRY_COMPARE(validated(), kOfTheFirstStage);
    }

    /// A run is drawn only in its own project. It is complete again when the user returns to that project.
    void aRunKeepsToItsProject()
    {
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        m_window->runs().runSteps(3);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        QTRY_COMPARE(stepsShown(), 3);
        m_window->openProject(other);
        QCOMPARE(points(lossCsv()), 0);
        QSignalSpy progressed(&m_window->runs(), &RunController::progressed);
        m_window->actions().run.step->trigger();
        QTRY_VERIFY(!progressed.empty());
        QCOMPARE(points(lossCsv()), 0);
        QVERIFY2(speed().contains("of project"), qPrintable(speed())); // the buttons act on that run
        m_window->openProject(m_project);
        QVERIFY(!speed().contains("of project"));
        QTRY_COMPARE(stepsShown(), 4);
        QTRY_COMPARE(model().rowCount(), 1);
        QVERIFY(m_window->workspace().shownRuns().isOverlaid(model().runs().front().directory));
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.stop->trigger();
        QTRY_COMPARE(ended.count(), 1);
    }

    /// The toolbar shows the outcome of a run only while the run's project is open.
    void theOutcomeOfARunKeepsToItsProject()
    {
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        const auto* const bar = m_window->findChild<RunBar*>()->findChild<QProgressBar*>();
        train();
        QVERIFY2(speed().contains("loss"), qPrintable(speed()));
        m_window->openProject(other);
        QCOMPARE(speed(), QString());
        QVERIFY(!bar->isVisible());
        m_window->runs().runSteps(3);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        m_window->openProject(m_project);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.stop->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(speed(), QString()); // it ended elsewhere
        QVERIFY(!bar->isVisible());
    }

    /// Unsaved edits are restored when the project is opened again, without a message about a crash.
    void switchingProjectsIsNoCrash()
    {
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        QVERIFY(m_window->session().perform(projects::SetField{"/name", {"Edited"}}).ok());
        m_window->openProject(other);
        m_window->openProject(m_project);
        QCOMPARE(project().name, std::string("Edited"));
        QCOMPARE(m_window->bannerText(), QString());
        QVERIFY(m_window->actions().revert->isEnabled());
    }

    void theNewestRunIsShownOnOpening()
    {
        write("earlier", 0.25F);
        openWindow();
        m_window->openProject(m_project);
        QTRY_COMPARE(stepsShown(), 8);
        QVERIFY(points(heatmap().csv()) > 0);
    }

    /// A run that failed at its start has nothing to show.
    void aRunWithoutStepsIsNotTheOneShownOnOpening()
    {
        write("trained", 0.5F);
        auto failed = create("zzz");
        QVERIFY(failed.has_value());
        engine::RunInfo info = failed->info();
        info.created = "2999-01-01T00:00:00Z";
        info.status = engine::RunStatus::Failed;
        QVERIFY(failed->update(info).ok());
        failed.reset();
        openWindow();
        m_window->openProject(m_project);
        QTRY_COMPARE(model().rowCount(), 2);
        QTRY_COMPARE(stepsShown(), 8);
        QVERIFY(model().indexOf(m_window->workspace().shownRuns().front()).data().toString().contains("trained"));
    }

    void theFlopAxisCountsFlop()
    {
        train();
        const auto cost = projects::costOf(quickExample());
        QVERIFY(cost.ok());
        loss().findChild<QComboBox*>("horizontalAxis")->setCurrentIndex(1);
        QTRY_VERIFY(lastX() > 0);
        const double units = lastX();
        loss().findChild<QComboBox*>("horizontalAxis")->setCurrentIndex(2);
        QTRY_COMPARE(lastX(), units * cost->total.trainFlops);
    }

    void aComparisonEndsWithItsOverlay()
    {
        write("other", 0.25F);
        train();
        QTRY_COMPARE(model().rowCount(), 2);
        const QModelIndex other = indexOf("other");
        QVERIFY(model().setData(other, Qt::Checked, Qt::CheckStateRole));
        auto* value = heatmap().findChild<QComboBox*>("value");
        value->setCurrentIndex(3); // difference from the other run
        QTRY_VERIFY(points(heatmap().csv()) > 0);
        QVERIFY(model().setData(indexOf("other"), Qt::Unchecked, Qt::CheckStateRole));
        QCOMPARE(points(heatmap().csv()), 0);
    }

    void aResumedRunKeepsWhatItHadBefore()
    {
        m_window->runs().runSteps(4);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        m_window->runs().stop();
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Idle);
        const std::string directory = m_window->runs().runDirectory().string();
        QTRY_COMPARE(model().rowCount(), 1);
        QVERIFY(model().setData(model().index(0, 0), Qt::Unchecked, Qt::CheckStateRole));
        QCOMPARE(points(lossCsv()), 0);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->runs().resume(directory);
        QTRY_COMPARE(ended.count(), 1);
        QTRY_COMPARE(stepsShown(), 8);
    }

    /// The curve includes steps that are not in the run's directory yet.
    void aRunUnderWayThatIsShownAgainHasNoGap()
    {
        constexpr int kSome = 100;
        openWindowOn(quickExample(1'000'000));
        m_window->actions().run.run->trigger();
        QTRY_VERIFY(stepsShown() > kSome);
        QTRY_COMPARE(model().rowCount(), 1);
        QVERIFY(model().setData(model().index(0, 0), Qt::Unchecked, Qt::CheckStateRole));
        QCOMPARE(points(lossCsv()), 0);
        const std::int64_t left = m_window->runs().progress().step;
        QTRY_VERIFY(m_window->runs().progress().step > left + kSome);
        QVERIFY(model().setData(model().index(0, 0), Qt::Checked, Qt::CheckStateRole));
        QTRY_VERIFY(stepsShown() > left + kSome);
        QCOMPARE(stepsShown(), static_cast<int>(lastX()));
    }

    /// The cancelled request would report that the run has no checkpoint. The next list of runs is read after it.
    void aFeatureThatIsGivenUpIsNotShown()
    {
        write("a", 0.25F);
        openWindow();
        m_window->openProject(m_project);
        QTRY_COMPARE(stepsShown(), 8);
        auto& matrices = m_window->workspace().shownMatrices();
        matrices.wantFeature(3);
        matrices.wantFeature(std::nullopt);
        write("b", 0.25F);
        QTRY_COMPARE(model().rowCount(), 2);
        QCOMPARE(m_window->bannerText(), QString());
    }

    void aForkFromACheckpointStandsBelowItsRun()
    {
        train();
        QTRY_COMPARE(model().rowCount(), 1);
        tree()->setCurrentIndex(tree()->model()->index(0, 0));
        QVERIFY(!m_window->findChild<QAction*>(QStringLiteral("run:fetch"))->isEnabled()); // its checkpoints are here
        auto* menu = m_window->findChild<QAction*>(QStringLiteral("run:fork"))->menu<QMenu*>();
        menu->popup(m_window->mapToGlobal(QPoint(100, 100)));
        const auto fromTheEnd = [menu]() -> QAction* {
            const QList<QAction*> actions = menu->actions();
            const auto found = std::ranges::find(actions, QStringLiteral("From step 8"), &QAction::text);
            return found == actions.end() ? nullptr : *found;
        };
        QTRY_VERIFY(fromTheEnd() != nullptr);
        menu->setActiveAction(fromTheEnd());
        QTest::keyClick(menu, Qt::Key_Return);
        QTRY_COMPARE(model().rowCount(model().index(0, 0)), 1);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Idle);
    }

    void stopHoldsTheQueueAndItsCommandGoesOn()
    {
        m_window->runs().runSteps(2);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        m_window->actions().enqueue->trigger();
        m_window->actions().enqueue->trigger();
        QCOMPARE(m_window->runs().queued(), std::size_t(2));
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.stop->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(m_window->runs().phase(), RunPhase::Idle);
        QCOMPARE(m_window->runs().queued(), std::size_t(2));
        QTRY_VERIFY(m_window->bannerText().contains("queue"));
        QVERIFY(m_window->actions().goOnWithQueue->isEnabled());
        m_window->actions().goOnWithQueue->trigger();
        QTRY_COMPARE(ended.count(), 3);
        QVERIFY(!m_window->runs().queueHeld());
    }

    /// While the queue is held, the window tells why a run stopped or failed. It shows nothing for a finished run.
    void heldQueueTellsWhyARunEnded()
    {
        train();
        const std::filesystem::path trained = m_window->runs().runDirectory();
        m_window->runs().runSteps(2);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        const std::filesystem::path begun = m_window->runs().runDirectory();
        m_window->actions().enqueue->trigger();
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.stop->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QVERIFY2(m_window->bannerText().contains("was stopped"), qPrintable(m_window->bannerText()));
        m_window->runs().resume(trained);
        QTRY_COMPARE(ended.count(), 2);
        QVERIFY2(m_window->bannerText().contains("all 8 steps are done"), qPrintable(m_window->bannerText()));
        m_window->runs().resume(begun);
        QTRY_COMPARE(ended.count(), 3);
        QCOMPARE(ended.back().front().value<engine::RunEnded>().status, engine::RunStatus::Finished);
        QCOMPARE(m_window->bannerText(), QString());
        QVERIFY(m_window->runs().queueHeld());
    }

    void theQueueOutlivesTheWindow()
    {
        m_window->runs().runSteps(2);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        m_window->actions().enqueue->trigger();
        m_window->actions().enqueue->trigger();
        openWindow(); // as after a restart
        m_window->openProject(m_project);
        QTRY_COMPARE(m_window->runs().queued(), std::size_t(2));
        QVERIFY(m_window->runs().queueHeld());
        QTRY_VERIFY(m_window->bannerText().contains("2 runs"));
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        QTest::mouseClick(button<QPushButton>(QStringLiteral("Go on with the queue")), Qt::LeftButton);
        QTRY_COMPARE(ended.count(), 2);
        QTRY_VERIFY(!std::filesystem::exists(m_project / projects::kRunsFolder / ".queue"));
    }

    void skipGoesOnWithTheNext()
    {
        m_window->runs().runSteps(2);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        m_window->actions().enqueue->trigger();
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().skip->trigger();
        QTRY_COMPARE(ended.count(), 2);
        QCOMPARE(m_window->runs().progress().step, std::int64_t(8));
    }

    void aRunOfAnotherProcessIsFollowedWithItsStages()
    {
        auto writer = create("elsewhere");
        QVERIFY(writer.has_value());
        put(*writer, 1, 3);
        QVERIFY(writer->flush().ok());
        QTRY_COMPARE(model().rowCount(), 1);
        QVERIFY(model().setData(model().index(0, 0), Qt::Checked, Qt::CheckStateRole));
        QTRY_COMPARE(stepsShown(), 3);
        auto* table = loss().findChild<QTableView*>();
        QVERIFY(table->isHidden());
        put(*writer, 4, 6);
        writer->event({4, engine::RunEventKind::Stage, "12 layers"});
        QVERIFY(writer->flush().ok());
        QTRY_COMPARE(stepsShown(), 6);
        QVERIFY(!table->isHidden());
        QCOMPARE(table->model()->index(0, 1).data().toString(), QString("12 layers"));
    }

    /// `train my-project --run study/a` makes such a run.
    void aRunOutsideTheProjectIsOpenedByItsFolderAndStopped()
    {
        const std::filesystem::path study = folder("study") / "a";
        engine::RunInfo info;
        info.name = "a";
        info.steps = 8;
        auto writer = engine::RunWriter::create(study, info, quickExample(), m_project);
        QVERIFY(writer.ok());
        put(*writer, 1, 3);
        QVERIFY(writer->flush().ok());
        write("inside", 0.5F);
        openWindow();
        m_window->openProject(study / ""); // as a shell completes it
        QCOMPARE(m_window->session().directory().string(), m_project.string());
        QTRY_COMPARE(model().rowCount(), 2);
        QTRY_COMPARE(stepsShown(), 3);
        put(*writer, 4, 6);
        QVERIFY(writer->flush().ok());
        QTRY_COMPARE(stepsShown(), 6);
        m_window->workspace().shownRuns().choose(study.string());
        auto* stop = m_window->findChild<QAction*>(QStringLiteral("run:stop"));
        QTRY_VERIFY(stop->isEnabled());
        stop->trigger();
        QTRY_VERIFY(std::filesystem::exists(study / engine::kStopFile));

        m_window->openProject(m_project); // it is still of this project
        QTRY_COMPARE(model().rowCount(), 2);
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        m_window->openProject(other); // and of no other
        QTRY_COMPARE(model().rowCount(), 0);
    }

    void aRunWhoseProjectIsGoneSaysWhereItWas()
    {
        write("left", 0.5F);
        const std::filesystem::path run = folder("away") / projects::kRunsFolder / "left"; // where no project is
        std::filesystem::create_directories(run.parent_path());
        std::filesystem::rename(m_project / projects::kRunsFolder / "left", run);
        openWindow();
        m_window->openProject(run);
        QVERIFY(!m_window->session().isOpen());
        QVERIFY(m_window->bannerText().contains("where the run remembers it"));
    }

    void twoRunsAreComparedByTheirButton()
    {
        write("a", 0.25F);
        write("b", 0.75F);
        QTRY_COMPARE(model().rowCount(), 2);
        const QAbstractItemModelTester tester(&model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        tree()->selectAll();
        QTest::mouseClick(button(QStringLiteral("Compare")), Qt::LeftButton);
        QTRY_VERIFY(m_window->findChild<RunComparisonDialog*>());
        auto* dialog = m_window->findChild<RunComparisonDialog*>();
        QCOMPARE(points(dialog->findChild<visualizers::LossView*>()->csv()), 16);
        const auto* tree = dialog->findChild<QTreeWidget*>();
        QStringList groups;
        for (int i = 0; i < tree->topLevelItemCount(); ++i) {
            groups << tree->topLevelItem(i)->text(0);
        }
        QVERIFY(groups.join(QLatin1Char('|')).contains("Coefficients"));
        QCOMPARE(tree->topLevelItem(1)->childCount(), 8); // losses by step
        // Numbers align at their points, and each run has the colour that it has in the plots.
        const QTreeWidgetItem* loss = tree->topLevelItem(1)->child(0);
        const auto decimals = [loss](int column) { return loss->text(column).section(QLatin1Char('.'), 1).size(); };
        QVERIFY(decimals(1) > 0 && decimals(1) == decimals(2) && decimals(2) == decimals(3));
        QVERIFY((loss->textAlignment(1) & Qt::AlignRight) != 0 && !tree->headerItem()->icon(1).isNull());
        const auto& shown = m_window->workspace().shownRuns();
        for (const auto& run : dialog->findChild<visualizers::ShownRuns*>()->runs()) {
            const auto* inPlots = shown.find(run.key);
            QVERIFY(!inPlots || !inPlots->overlaid || inPlots->colour == run.colour);
        }
    }

    void losses_data()
    {
        QTest::addColumn<double>("first");
        QTest::addColumn<double>("second");
        QTest::addColumn<QStringList>("cells");
        QTest::newRow("small") << 2.5e-7 << 7.5e-7 << QStringList{"0.000000250000", "0.000000750000", "0.000000500000"};
        QTest::newRow("below 1") << 0.0125 << 0.5 << QStringList{"0.012500", "0.500000", "0.487500"};
        QTest::newRow("none") << 0.0 << 0.0 << QStringList{"0.00000", "0.00000", "0.00000"};
        QTest::newRow("large") << 12345.5 << 12.0 << QStringList{"12345.5", "12.0", "-12333.5"};
    }

    /// Both numbers have the decimals that show six digits of the larger one.
    void losses()
    {
        QFETCH(double, first);
        QFETCH(double, second);
        QFETCH(QStringList, cells);
        RunComparison comparison;
        comparison.first.directory = "a";
        comparison.second.directory = "b";
        comparison.firstSteps = {{1, first}};
        comparison.secondSteps = {{1, second}};
        RunComparisonDialog dialog(comparison, {}, resources::Theme::Light);
        const QTreeWidgetItem* loss = dialog.findChild<QTreeWidget*>()->topLevelItem(1)->child(0);
        QCOMPARE((QStringList{loss->text(1), loss->text(2), loss->text(3)}), cells);
    }

    /// All views show the same selected run, whether it was selected in the list or elsewhere.
    void theChosenRunIsOneInEveryView()
    {
        write("a", 0.25F);
        write("b", 0.75F);
        QTRY_COMPARE(model().rowCount(), 2);
        auto& shown = m_window->workspace().shownRuns();
        const auto* text = m_window->findChild<QLabel*>("sampleState");
        const auto current = [this] { return tree()->currentIndex().siblingAtColumn(0).data().toString(); };
        QCOMPARE(shown.chosen(), std::string());
        const std::string a = model().runAt(indexOf("a"))->directory;
        shown.choose(a);
        QCOMPARE(current(), QString("a"));
        QVERIFY(text->text().endsWith("a"));
        tree()->setCurrentIndex(tree()->model()->index(1 - tree()->currentIndex().row(), 0));
        QCOMPARE(current(), QString("b"));
        QCOMPARE(shown.chosen(), model().runAt(indexOf("b"))->directory);
        QVERIFY(text->text().endsWith("b"));
        write("c", 0.5F); // another list of runs
        QTRY_COMPARE(model().rowCount(), 3);
        QCOMPARE(current(), QString("b"));

        auto* filter = m_window->workspace().view<RunsPanel>().findChild<QLineEdit*>();
        filter->setText("c");
        QCOMPARE(shown.chosen(), model().runAt(indexOf("b"))->directory); // the filter hides it, and another not
        shown.choose(a);
        QVERIFY(!tree()->currentIndex().isValid());
        QCOMPARE(shown.chosen(), a);
        filter->clear();
        QCOMPARE(current(), QString("a"));

        m_window->runs().runSteps(2); // the run that trains is the one that is meant
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        QCOMPARE(shown.chosenOrFront(), m_window->runs().runDirectory().string());
        QVERIFY(!tree()->currentIndex().isValid());
    }

    void lossesStandBesideEachOtherWhereBothHaveThem()
    {
        RunComparison comparison;
        for (const std::int64_t step : {1, 2, 3, 4, 5, 6}) {
            comparison.firstSteps.push_back({step, 1, 0, 0, 0, 0});
            comparison.secondSteps.push_back({2 * step, 2, 0, 0, 0, 0});
        }
        QCOMPARE(lossesBeside(comparison, 9), (std::vector<LossPair>{{2, 1, 2}, {4, 1, 2}, {6, 1, 2}}));
        QCOMPARE(lossesBeside(comparison, 2), (std::vector<LossPair>{{2, 1, 2}, {6, 1, 2}}));
    }

    /// The smaller the rate, the less the loss has fallen at a rung: a half of the members goes on from each.
    void aSweepStopsItsLosersEarly()
    {
        projects::Project project = quickExample();
        project.training.steps = 16; // rungs at 2, 4 and 8
        project.training.validateEvery = 0;
        const double rate = project.training.learningRate.peak;
        projects::SweepAxis rates{"/training/learning_rate/peak", {}, {}};
        for (const double factor : {1e-4, 1e-3, 1e-2, 0.5}) {
            rates.values.push_back({{}, {numberText(rate * factor)}});
        }
        project.sweeps = {{"rates", {rates}}};
        m_project = newProject(project);
        openWindow();
        m_window->openProject(m_project);
        auto& panel = m_window->workspace().view<SweepPanel>();
        m_window->workspace().showPanelOf(panel);
        auto* queue = panel.findChild<QPushButton*>("queueSweep");
        QTRY_VERIFY(queue->isEnabled());
        panel.findChild<QCheckBox*>("halveSweep")->click();
        QTest::mouseClick(queue, Qt::LeftButton);
        const auto stepsOf = [this] {
            std::multiset<std::int64_t> steps;
            for (const engine::RunInfo& run : m_window->workspace().runsModel().runs()) {
                const bool isOver =
                    run.status == engine::RunStatus::Finished || run.status == engine::RunStatus::Stopped;
                steps.insert(isOver ? run.step : -1);
            }
            return steps;
        };
        QTRY_COMPARE(stepsOf(), (std::multiset<std::int64_t>{2, 2, 4, 16}));
        QTRY_VERIFY(!queue->text().contains('4')); // the one that has finished is not trained again
    }

    void aFieldOfTheInspectorIsSweptAndEveryRunBecomesAPoint()
    {
        m_window->activateWindow();
        m_window->documents().choose(SectionPlace{Section::Seeds});
        auto* seed = m_window->findChild<QLineEdit*>("property:/seeds/init");
        QVERIFY(seed);
        seed->setFocus();
        m_window->actions().sweep->trigger();
        const auto& sweeps = m_window->session().project().sweeps;
        QCOMPARE(sweeps.size(), std::size_t(1));
        QCOMPARE(sweeps.front().axes.front().field, std::string("/seeds/init"));
        auto* queue = m_window->findChild<QPushButton*>("queueSweep");
        const int members = static_cast<int>(sweeps.front().axes.front().values.size());
        QTRY_VERIFY(queue->text().contains(QString::number(members)));
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        QTest::mouseClick(queue, Qt::LeftButton);
        QTRY_COMPARE(ended.count(), members);
        QTRY_COMPARE(points(m_window->workspace().view<visualizers::ParetoView>().csv()), members);
        m_window->actions().undo->trigger();
        QVERIFY(m_window->session().project().sweeps.empty());
    }

private:
    /// Returns the text of the toolbar about the run.
    [[nodiscard]] QString speed() const { return m_window->findChild<ElidedLabel*>("runSpeed")->text(); }
};

RESIDUA_TEST_IN(QApplication, TestRuns)
#include "tst_runs.moc"
