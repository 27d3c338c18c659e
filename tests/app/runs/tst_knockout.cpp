// SPDX-License-Identifier: GPL-3.0-or-later
// Knock-outs in the window: asked about, measured, shown beside the weights and on the canvases; what if; the weakest.
#include "app/runs/go_on_dialog.h"
#include "app/runs/knockout_dialog.h"
#include "app/views/document_views.h"
#include "app/views/live_views.h"
#include "app/views/run_follower.h"
#include "engine/runs/results/effects.h"
#include "projects/nodes/alteration.h"
#include "projects/transfer/weakest.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/effects_view.h"
#include "visualizers/heatmap/heatmap_grid.h"
#include "visualizers/heatmap/shown_effects.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>

#include <qcustomplot.h>

using namespace residua;
using namespace residua::app;

class TestKnockoutPanel : public RunsHarness {
    Q_OBJECT

private slots:
    void init()
    {
        openWindowOn(validated());
        m_window->workspace().showPanelOf(heatmap());
    }

    void cleanup() { m_window.reset(); }

    /// The cost is said before, the run keeps the result, and the panel and the canvases show it.
    void itSaysItsCostAndIsShownBesideTheWeights()
    {
        train();
        QVERIFY(!view().isVisible());
        QTest::mouseClick(commandButton(m_window->actions().knockOut), Qt::LeftButton);
        KnockoutDialog* dialog = opened();
        QVERIFY(dialog);
        const auto shortcuts = static_cast<std::size_t>(shortcutsOfProject());
        const QString cost = text(*dialog, "knockoutCost");
        QVERIFY2(cost.startsWith(QString("Takes %1 passes").arg(2 * (shortcuts + 1))), qPrintable(cost));
        dialog->findChild<QSpinBox*>("knockoutBatches")->setValue(1);
        QVERIFY(text(*dialog, "knockoutCost").startsWith(QString("Takes %1 passes").arg(shortcuts + 1)));
        dialog->findChild<QSpinBox*>("knockoutBatches")->setValue(0);
        press(*dialog, "knockoutGo");
        QTRY_VERIFY(effects().shown() != nullptr);
        QCOMPARE(effects().run(), front());
        QCOMPARE(effects().shown()->measured.rows.size(), shortcuts);
        QCOMPARE(effects().shown()->measured.step, std::int64_t{8});
        QTRY_VERIFY(view().isVisible());
        const auto kept = engine::readEffects(front());
        QVERIFY(kept.ok() && kept->size() == 1);
        QCOMPARE(kept->front().measured.rows.size(), shortcuts);
        const auto* weights = heatmap().findChild<visualizers::HeatmapGrid*>()->findChild<QCPColorMap*>();
        const auto* shown = view().findChild<visualizers::HeatmapGrid*>()->findChild<QCPColorMap*>();
        QCOMPARE(shown->data()->keySize(), weights->data()->keySize());
        QCOMPARE(shown->data()->valueSize(), weights->data()->valueSize());
        // Asked again, it is there at once, and can be measured anew.
        m_window->actions().knockOut->trigger();
        dialog = opened();
        QVERIFY(dialog);
        QVERIFY(text(*dialog, "knockoutReason").contains("has kept this result"));
        auto* go = dialog->findChild<QPushButton*>("knockoutGo");
        QCOMPARE(go->text(), QString("Measure again"));
        dialog->findChild<QComboBox*>("knockoutBy")->setCurrentIndex(1);
        QCOMPARE(go->text(), QString("Measure"));
        QVERIFY(text(*dialog, "knockoutReason").isEmpty());
        press(*dialog, "knockoutGo");
        QTRY_COMPARE(effects().all().size(), std::size_t{2});
        QVERIFY(effects().shown()->key.by == projects::KnockoutBy::Layer);
    }

    /// Results belong to their run: another run in front shows its own.
    void anotherRunShowsItsOwnResults()
    {
        train();
        measure();
        const std::string measured = front();
        train();
        QTRY_VERIFY(front() != measured);
        QTRY_VERIFY(effects().all().empty());
        QVERIFY(!view().isVisible());
        m_window->actions().effectColours->setChecked(true);
        QVERIFY(!live().areEffects()); // none are known
        m_window->workspace().shownRuns().bringToFront(measured);
        QTRY_COMPARE(effects().all().size(), std::size_t{1});
        QCOMPARE(effects().run(), measured);
        QTRY_VERIFY(view().isVisible());
    }

    /// Another run is put in front while the first is measured: the result is the first one's.
    void aRunThatIsNoLongerInFrontKeepsItsResult()
    {
        train();
        const std::string measured = front();
        m_window->actions().knockOut->trigger();
        KnockoutDialog* dialog = opened();
        QVERIFY(dialog);
        m_window->workspace().shownRuns().bringToFront({});
        QTRY_VERIFY(effects().run().empty());
        press(*dialog, "knockoutGo");
        QTRY_VERIFY(!opened(0));
        QVERIFY(effects().all().empty());
        const auto kept = engine::readEffects(measured);
        QVERIFY(kept.ok());
        QCOMPARE(kept->size(), std::size_t{1});
        m_window->workspace().shownRuns().bringToFront(measured);
        QTRY_COMPARE(effects().all().size(), std::size_t{1});
    }

    /// By mouse: a right click on an arc, a choice, and the answer while one waits.
    void aShortcutsEffectIsAnsweredInItsDialog()
    {
        train();
        CanvasWidget& canvas = m_window->workspace().canvas();
        const projects::Shortcut shortcut = farShortcut();
        waitUntilStill(canvas, [&] { return pointOf(canvas.canvas().locate(shortcut)); });
        QTest::mouseClick(canvas.surface(), Qt::RightButton, {}, pointOf(canvas.canvas().locate(shortcut)));
        QMenu* menu = nullptr;
        QTRY_VERIFY((menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) != nullptr);
        QAction* const whatIf = m_window->actions().whatIf;
        QVERIFY(menu->actions().contains(whatIf));
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(whatIf).center());
        KnockoutDialog* dialog = opened();
        QVERIFY(dialog);
        const QString name = QString::fromStdString(nameOf(shortcut));
        QTRY_VERIFY2(text(*dialog, "knockoutReason").startsWith("Without " + name + " the loss changes by "),
                     qPrintable(text(*dialog, "knockoutReason")));
        QVERIFY(text(*dialog, "knockoutReason").contains("on one batch at step 8"));
        QVERIFY(dialog->isVisible());
        QVERIFY(dialog->findChild<QProgressBar*>("knockoutProgress")->isHidden());
        QVERIFY(engine::readEffects(front()).ok() && engine::readEffects(front())->empty()); // of chosen parts
        dialog->findChild<QSpinBox*>("knockoutBatches")->setValue(2);
        press(*dialog, "knockoutGo");
        QTRY_VERIFY(text(*dialog, "knockoutReason").contains("on 2 batches"));
        QVERIFY(text(*dialog, "knockoutReason").contains(" ± "));
        dialog->close();
        m_window->documents().select({.layers = {2}});
        m_window->actions().whatIf->trigger();
        dialog = opened();
        QVERIFY(dialog);
        QTRY_VERIFY(text(*dialog, "knockoutReason").startsWith("Without layer 2 the loss changes by "));
    }

    /// The effects colour the arcs on request, and are told beside the weights otherwise.
    void effectsAreOnTheCanvases()
    {
        train();
        measure();
        const projects::Shortcut shortcut = farShortcut();
        QVERIFY(live().effect(shortcut) != nullptr && !live().areEffects());
        m_window->actions().rowShares->trigger();
        QVERIFY(live().areShares());
        m_window->actions().effectColours->trigger();
        QVERIFY(live().areEffects() && !live().areShares());
        QVERIFY(!m_window->actions().rowShares->isChecked());
        const editor::LiveWeights shown = live();
        QCOMPARE(*shown.port(projects::MixPort::Input).of(shortcut), static_cast<float>(shown.effect(shortcut)->rise));
        QCOMPARE(shown.step(), std::int64_t{8});
        const auto presets = projects::topologyPresets(project().network.depth());
        const auto other = std::ranges::find(presets, "densenet", &projects::TopologyPreset::name);
        QVERIFY(m_window->session().perform(projects::SetTopology{{other->name, other->wiring}}).ok());
        QVERIFY(!live().areEffects() && !live().hasEffects()); // the project is wired otherwise
        m_window->session().undo();
        QTRY_VERIFY(live().areEffects());
        m_window->actions().effectColours->trigger();
        QVERIFY(!live().areEffects() && live().hasEffects());
    }

    /// The weakest are selected, and the run goes on without them.
    void theWeakestAreSelected()
    {
        train();
        WeakestDialog* dialog = askWeakest();
        dialog->findChild<QSpinBox*>("weakestCount")->setValue(2);
        press(*dialog, "weakestGo");
        QTRY_VERIFY2(text(*dialog, "weakestReason").contains("measure a knock-out"),
                     qPrintable(text(*dialog, "weakestReason")));
        dialog->findChild<QComboBox*>("weakestBy")->setCurrentIndex(2); // the weights are known without one
        press(*dialog, "weakestGo");
        QTRY_COMPARE(m_window->documents().selection().shortcuts.size(), std::size_t{2});
        m_window->documents().select({});
        measure();
        for (int by = 0; by < 3; ++by) {
            dialog = askWeakest();
            dialog->findChild<QSpinBox*>("weakestCount")->setValue(1);
            dialog->findChild<QComboBox*>("weakestBy")->setCurrentIndex(by);
            press(*dialog, "weakestGo");
            QTRY_COMPARE(m_window->documents().selection().shortcuts.size(), std::size_t{1});
            const projects::Shortcut chosen = *m_window->documents().selection().shortcuts.begin();
            const auto weak = projects::weakest(project(), engine::strengthsOf(effects().shown()->measured),
                                                by == 0   ? projects::WeakBy::Effect
                                                : by == 1 ? projects::WeakBy::Flop
                                                          : projects::WeakBy::Weight,
                                                1);
            QVERIFY(weak.ok());
            QVERIFY(chosen == weak->shortcuts.front());
            m_window->documents().select({});
        }
        dialog = askWeakest();
        dialog->findChild<QSpinBox*>("weakestCount")->setValue(100000);
        press(*dialog, "weakestGo");
        QTRY_VERIFY(text(*dialog, "weakestReason").contains("can be left out together"));
        dialog->findChild<QSpinBox*>("weakestCount")->setValue(1);
        press(*dialog, "weakestGo");
        QTRY_COMPARE(m_window->documents().selection().shortcuts.size(), std::size_t{1});
        m_window->actions().goOnWithout->trigger();
        QTRY_VERIFY(m_window->findChild<GoOnDialog*>() != nullptr);
    }

    void tellsWhyNothingCanBeMeasured()
    {
        m_window->actions().knockOut->trigger();
        QVERIFY2(m_window->bannerText().contains("no run in front"), qPrintable(m_window->bannerText()));
        write("untrained", 0.5F); // without a checkpoint
        QTRY_VERIFY(indexOf("untrained").isValid());
        m_window->workspace().shownRuns().bringToFront((m_project / projects::kRunsFolder / "untrained").string());
        m_window->actions().whatIf->trigger();
        QVERIFY2(m_window->bannerText().contains("Nothing is selected"), qPrintable(m_window->bannerText()));
        m_window->actions().knockOut->trigger();
        QTRY_VERIFY2(m_window->bannerText().contains("no checkpoint"), qPrintable(m_window->bannerText()));
        QVERIFY(!opened(0));
    }

    /// Missing parts are refused before anything is loaded. A run that is deleted meanwhile is refused by the engine.
    void refusesPartsThatTheNetworkLacks()
    {
        train();
        m_window->actions().knockOut->trigger();
        KnockoutDialog* dialog = opened();
        QVERIFY(dialog);
        dialog->findChild<QComboBox*>("knockoutBy")->setCurrentIndex(3); // streams
        QVERIFY(!dialog->findChild<QPushButton*>("knockoutGo")->isEnabled());
        QVERIFY(!text(*dialog, "knockoutReason").isEmpty());
        QVERIFY(dialog->findChild<QLabel*>("knockoutCost")->isHidden());
        dialog->findChild<QComboBox*>("knockoutBy")->setCurrentIndex(0);
        QVERIFY(dialog->findChild<QPushButton*>("knockoutGo")->isEnabled());
        QVERIFY(text(*dialog, "knockoutReason").isEmpty());
        std::filesystem::remove_all(front());
        press(*dialog, "knockoutGo");
        QTRY_VERIFY(!text(*dialog, "knockoutReason").isEmpty());
        QVERIFY(dialog->isVisible() && effects().all().empty());
    }

    /// Closing the dialog cancels, and another project closes it.
    void itIsCancelled()
    {
        train();
        m_window->actions().knockOut->trigger();
        KnockoutDialog* dialog = opened();
        QVERIFY(dialog);
        press(*dialog, "knockoutGo");
        QTest::keyClick(dialog, Qt::Key_Escape);
        QTRY_VERIFY(!opened(0));
        m_window->actions().knockOut->trigger(); // the engine is free again
        dialog = opened();
        QVERIFY(dialog);
        press(*dialog, "knockoutGo");
        QTRY_VERIFY(effects().shown() != nullptr);
        m_window->actions().knockOut->trigger();
        QVERIFY(opened());
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        m_window->openProject(other);
        QTRY_VERIFY(!opened(0));
        QTRY_VERIFY(effects().all().empty() && effects().run().empty());
    }

private:
    static projects::Project validated()
    {
        projects::Project project = quickLanguage();
        project.stack().segments.front().repeat = 4;
        const auto presets = projects::topologyPresets(project.network.depth());
        const auto ancre = std::ranges::find(presets, "ancre-ingoing", &projects::TopologyPreset::name);
        project.stack().topology = {ancre->name, ancre->wiring};
        project.training.steps = 8;
        project.training.checkpointEvery = 4;
        project.training.validationBatches = 2;
        return project;
    }

    /// Until the run is in front with its weights.
    void train()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QTRY_COMPARE(front(), m_window->runs().runDirectory().string());
        QTRY_VERIFY(m_window->workspace().shownMatrices().any());
    }

    [[nodiscard]] visualizers::ShownEffects& effects() { return m_window->workspace().shownEffects(); }
    [[nodiscard]] visualizers::EffectsView& view() { return m_window->workspace().view<visualizers::EffectsView>(); }
    [[nodiscard]] const std::string& front() { return m_window->workspace().shownRuns().front(); }
    [[nodiscard]] editor::LiveWeights live() { return m_window->runFollower().live().drawn(); }

    [[nodiscard]] std::int64_t shortcutsOfProject() const
    {
        const auto subjects = projects::knockoutSubjects(project(), projects::KnockoutBy::Term, false);
        return subjects ? std::ssize(*subjects) : 0;
    }

    /// A learned shortcut that is drawn as an arc.
    [[nodiscard]] static projects::Shortcut farShortcut() { return {0, 3}; }

    [[nodiscard]] QToolButton* commandButton(const QAction* action)
    {
        for (QToolButton* each : heatmap().findChildren<QToolButton*>()) {
            if (each->defaultAction() == action && each->isVisible()) {
                return each;
            }
        }
        return nullptr;
    }

    [[nodiscard]] KnockoutDialog* opened(int patience = tests::kPatience)
    {
        KnockoutDialog* dialog = nullptr;
        const auto find = [&] {
            dialog = nullptr;
            for (KnockoutDialog* each : m_window->findChildren<KnockoutDialog*>()) {
                dialog = each->isVisible() ? each : dialog;
            }
            return dialog != nullptr;
        };
        (void)QTest::qWaitFor(find, patience);
        return dialog;
    }

    [[nodiscard]] WeakestDialog* askWeakest()
    {
        m_window->actions().selectWeakest->trigger();
        for (WeakestDialog* each : m_window->findChildren<WeakestDialog*>()) {
            if (each->isVisible()) {
                return each;
            }
        }
        return nullptr;
    }

    void measure()
    {
        QTRY_VERIFY(!front().empty());
        m_window->actions().knockOut->trigger();
        KnockoutDialog* dialog = opened();
        QVERIFY(dialog);
        press(*dialog, "knockoutGo");
        QTRY_VERIFY(effects().shown() != nullptr);
        QTRY_VERIFY(!opened(0));
    }

    static QString text(const QDialog& dialog, const char* label)
    {
        return dialog.findChild<QLabel*>(QLatin1String(label))->text();
    }
    /// Waits for the button first: a dialog enables it when it knows what it asks about.
    static void press(const QDialog& dialog, const char* name)
    {
        auto* const button = dialog.findChild<QPushButton*>(QLatin1String(name));
        QTRY_VERIFY(button != nullptr && button->isEnabled());
        QTest::mouseClick(button, Qt::LeftButton);
    }
};

RESIDUA_TEST_IN(QApplication, TestKnockoutPanel)
#include "tst_knockout.moc"
