// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of a run on the canvases, in the heatmap and in the outline: the same numbers in the same colours.
#include "app/outline/outline_model.h"
#include "app/views/live_views.h"
#include "app/views/run_follower.h"
#include "editor/scenes/live_weights.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/plot_style.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QSlider>

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

using namespace residua;
using namespace residua::app;
using visualizers::CellValue;

class TestLiveViews : public RunsHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickExample()); }

    void cleanup() { m_window.reset(); }

    /// One rule and one table of colours, whose rounding is not seen.
    void aWeightHasOneColourInArcAndHeatmap()
    {
        const projects::WeightScale scales[] = {{1.0, 0.5, 1.5}, {0.0, -0.25, 0.25}, {std::nullopt, 0, 0.75}};
        for (const auto theme : {resources::Theme::Light, resources::Theme::Dark}) {
            for (const projects::WeightScale& scale : scales) {
                QCPColorGradient gradient = visualizers::gradientFor(
                    scale.centre ? visualizers::Scale::Signed : visualizers::Scale::Magnitude, theme);
                for (int i = 0; i <= 40; ++i) {
                    const double weight = std::lerp(scale.low, scale.high, i / 40.0);
                    const QColor cell(gradient.color(weight, QCPRange(scale.low, scale.high)));
                    const resources::Rgb arc = editor::weightColour(scale, weight, theme);
                    const int apart = std::max(
                        {std::abs(cell.red() - arc.r), std::abs(cell.green() - arc.g), std::abs(cell.blue() - arc.b)});
                    QVERIFY2(apart <= 3, qPrintable(QString("%1: %2").arg(weight).arg(apart)));
                }
            }
        }
    }

    /// A run that is wired otherwise shows no weights on the canvas, which says so.
    void weightsThatAreNotDrawnHaveAReason()
    {
        train();
        QTRY_VERIFY(m_window->workspace().shownMatrices().any());
        const LiveViews& live = m_window->runFollower().live();
        QCOMPARE(live.absence(), QString());
        const auto presets = projects::topologyPresets(project().network.depth());
        const auto other = std::ranges::find(presets, "densenet", &projects::TopologyPreset::name);
        QVERIFY(other != presets.end());
        QVERIFY(m_window->session().perform(projects::SetTopology{{other->name, other->wiring}}).ok());
        QVERIFY2(live.absence().contains("is wired as ANCRe"), qPrintable(live.absence()));
        m_window->session().undo();
        QCOMPARE(live.absence(), QString());
    }

    /// In the panel itself, whatever the project is meanwhile.
    void thePanelSaysWhoseWeightsItShows()
    {
        const auto* whose = heatmap().findChild<QLabel*>("whose");
        QVERIFY(whose->text().startsWith("No run is in front"));
        train();
        QTRY_VERIFY(m_window->workspace().shownMatrices().any());
        QTRY_VERIFY2(whose->text().endsWith(" · ANCRe, ingoing · step 8 · stored"), qPrintable(whose->text()));
        heatmap().findChild<QSlider*>()->setValue(0);
        QVERIFY2(whose->text().contains("step 0, the newest is 8"), qPrintable(whose->text()));
        const auto perform = [this](const projects::Edit& edit) { QVERIFY(m_window->session().perform(edit).ok()); };
        const projects::Topology trained = project().stack().topology;
        perform(projects::SetShortcutState{{0, 2}, projects::ShortcutState::Pruned});
        QVERIFY2(whose->text().contains("\nThe project has other shortcuts"), qPrintable(whose->text()));
        m_window->session().undo();
        QVERIFY(!whose->text().contains('\n'));
        for (const char* name : {"densenet", "plain"}) { // neither has the run's weights
            const auto presets = projects::topologyPresets(project().network.depth());
            const auto other = std::ranges::find(presets, name, &projects::TopologyPreset::name);
            QVERIFY(other != presets.end());
            perform(projects::SetTopology{{other->name, other->wiring}});
            QVERIFY2(whose->text().endsWith(QString::fromStdString("the project as " + other->title + ".")),
                     qPrintable(whose->text()));
            QVERIFY(whose->text().contains(" · ANCRe, ingoing · "));
        }
        m_window->workspace().shownRuns().bringToFront({});
        QVERIFY(whose->text().startsWith("No run is in front"));
    }

    /// The View menu and the heatmap share one choice. The outline continues to show the weights.
    void theCanvasesShowWhatTheHeatmapShows()
    {
        train();
        QTRY_VERIFY(m_window->workspace().shownMatrices().any());
        auto* value = heatmap().findChild<QComboBox*>("value");
        const WindowActions& actions = m_window->actions();
        QVERIFY(actions.showWeights->isChecked());
        actions.showChanges->trigger();
        QCOMPARE(value->currentIndex(), static_cast<int>(CellValue::SinceStart));
        QVERIFY(actions.showChanges->isChecked() && !actions.showWeights->isChecked());
        const auto& frames = m_window->workspace().shownMatrices();
        for (const auto& shown : frames.framesShown()) {
            if (shown.matrix.name.isOfShortcuts()) {
                const auto first = frames.frames().shown(shown.matrix.name, 0, CellValue::Weight);
                const auto last = frames.frames().shown(shown.matrix.name, frames.frames().count(shown.matrix.name) - 1,
                                                        CellValue::Weight);
                for (std::size_t i = 0; i < shown.matrix.values.size(); ++i) {
                    const float change = last.matrix.values[i] - first.matrix.values[i];
                    QVERIFY(std::isnan(change) || std::abs(shown.matrix.values[i] - change) < 1e-6F);
                }
            }
        }
        value->setCurrentIndex(static_cast<int>(CellValue::LogOfRowMax));
        QVERIFY(actions.showLogs->isChecked());
        actions.showLogs->trigger();
        QVERIFY(actions.showLogs->isChecked()); // it is no switch
        value->setCurrentIndex(static_cast<int>(CellValue::AgainstRun));
        QVERIFY(!actions.showLogs->isChecked() && !actions.showChanges->isChecked());
    }
};

RESIDUA_TEST_IN(QApplication, TestLiveViews)
#include "tst_live_views.moc"
