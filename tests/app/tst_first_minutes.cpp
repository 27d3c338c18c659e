// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does in the first minutes, and what stands in the way then: mouse and keyboard only.
#include "app/outline/outline_model.h"
#include "app/window/document_views.h"
#include "app/window/screenshot.h"
#include "projects/cost/cost.h"
#include "projects/library/presets.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_view.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QFrame>
#include <QPushButton>
#include <QSlider>

using namespace residua;
using namespace residua::app;

namespace {

projects::Project observedProject()
{
    projects::Project project = quickExample();
    project.training.observeEvery = 1;
    return project;
}

} // namespace

class TestFirstMinutes : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_project = newProject(observedProject());
        QVERIFY(!m_project.empty());
        openWindow();
    }

    void cleanup() { m_window.reset(); }

    /// The first wish of a first start.
    void aPlainNetworkGetsALongShortcut()
    {
        QTest::mouseClick(m_window->findChildren<QFrame*>(QStringLiteral("card")).front(), Qt::LeftButton);
        CanvasWidget& canvas = m_window->workspace().canvas();
        const auto mix = [this] { return std::get<projects::DepthMix>(project().topology.wiring); };
        const auto box = [&](std::int64_t layer, editor::LayerPart part) {
            return pointOf(canvas.canvas().locate(editor::LayerTarget{layer, part}));
        };
        QTRY_VERIFY(!box(3, editor::LayerPart::Handle).isNull());
        settle(canvas, [&] { return box(3, editor::LayerPart::Centre); });
        const QPoint before = box(3, editor::LayerPart::Centre);
        const auto cost = projects::costOf(project())->total.parameters;
        drag(canvas, box(3, editor::LayerPart::Handle), box(7, editor::LayerPart::Centre));
        const projects::Shortcut drawn{3, 7};
        QTRY_VERIFY(mix().states.contains(drawn));
        QVERIFY(isRunningSum(mix()));
        QCOMPARE(projects::costOf(project())->total.parameters, cost + 1);
        QTRY_VERIFY(canvas.canvas().locate(drawn).has_value());
        QCOMPARE(box(3, editor::LayerPart::Centre), before); // boxes keep still
        QTest::keyClick(canvas.surface(), Qt::Key_Delete);
        QTRY_VERIFY(!mix().states.contains(drawn));
    }

    /// The list of topologies: Return chooses, and does nothing else.
    void aTopologyIsChosenByReturn()
    {
        m_window->openProject(m_project);
        auto* chooser = m_window->findChild<QComboBox*>(QStringLiteral("topologyChooser"));
        chooser->setFocus();
        chooser->showPopup();
        QTRY_VERIFY(QApplication::activePopupWidget());
        QAbstractItemView* list = chooser->view();
        list->setCurrentIndex(list->model()->index(0, 0));
        QTest::keyClick(list, Qt::Key_Return);
        QTRY_COMPARE(project().topology.preset, std::string("plain"));
        QTRY_VERIFY(m_window->workspace().canvas().surface()->hasFocus());
        QCOMPARE(&m_window->workspace().currentCanvas(), &m_window->workspace().canvas()); // no block was opened
    }

    void aProblemOffersItsCure()
    {
        m_window->openProject(m_project);
        QVERIFY(m_window->session().perform(projects::SetField{"/training/batch", {"0"}}).ok());
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        QVERIFY(m_window->bannerText().contains("batch"));
        QTRY_VERIFY(visible<QPushButton>(QStringLiteral("cure")));
        QTest::mouseClick(visible<QPushButton>(QStringLiteral("cure")), Qt::LeftButton);
        QCOMPARE(project().training.batch, std::int64_t{1});
        QVERIFY(m_window->bannerText().isEmpty()); // its cause is gone
    }

    void savingDoesNotReplaceWhatAnotherProgramWrote()
    {
        m_window->openProject(m_project);
        projects::Project other = observedProject();
        other.name = "From elsewhere";
        QVERIFY(projects::saveProject(m_project, {other, {}}).ok());
        QTRY_VERIFY(m_window->bannerText().contains("Another program"));
        QVERIFY(m_window->session().perform(projects::SetField{"/training/steps", {"9"}}).ok());
        QTest::keyClick(m_window.get(), Qt::Key_S, Qt::ControlModifier);
        QCOMPARE(projects::loadProject(m_project)->project.name, other.name);
        QVERIFY(m_window->bannerText().contains("replace"));
        for (QPushButton* button : m_window->findChildren<QPushButton*>()) {
            if (button->isVisible() && button->text() == "Save over them") {
                button->click();
                break;
            }
        }
        QCOMPARE(projects::loadProject(m_project)->project.training.steps, std::int64_t{9});
        QVERIFY(m_window->bannerText().isEmpty());
    }

    /// The window opens, says what is wrong, and another project can be opened.
    void aProjectThatCannotBeReadIsToldInTheWindow()
    {
        const std::filesystem::path broken = folder("broken");
        std::filesystem::create_directories(broken);
        QFile file(QString::fromStdString((broken / projects::kProjectFile).string()));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("{") == 1);
        file.close();
        LaunchOptions options;
        options.project = QString::fromStdString(broken.string());
        QVERIFY(openAtStart(*m_window, options).ok());
        QVERIFY(m_window->bannerText().contains("broken"));
        options.verb = LaunchVerb::Screenshot; // a picture of it would be one of something else
        QVERIFY(!openAtStart(*m_window, options).ok());
    }

    /// What the canvases and the outline show of a run's weights.
    void weightsFollowTheScrubberAndComeBackWithUndo()
    {
        m_window->openProject(m_project);
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        const auto weight = [this] {
            OutlineModel& model = m_window->workspace().outlineModel();
            const QModelIndex row = model.indexOf(ShortcutsPlace{{{0, 2}}});
            return row.siblingAtColumn(OutlineModel::Value).data().toString();
        };
        auto& heatmap = m_window->workspace().view<visualizers::HeatmapView>();
        auto* scrubber = heatmap.findChild<QSlider*>();
        const auto& runs = m_window->workspace().runsModel().runs();
        QTRY_VERIFY_WITH_TIMEOUT(!runs.empty() && runs.front().status == engine::RunStatus::Finished, kPatience);
        QTRY_COMPARE_WITH_TIMEOUT(scrubber->maximum(), 8, kPatience);
        const QString last = weight();
        QVERIFY(last.toDouble() > 0);
        scrubber->setValue(0);
        QCOMPARE(weight().toDouble(), 0.5); // of two sources, before the first step
        QVERIFY(weight() != last);
        scrubber->setValue(scrubber->maximum());
        QCOMPARE(weight(), last);
        // Another shortcut pruned takes nothing of this one's weight; another wiring does, until it is undone.
        QVERIFY(m_window->session().perform(projects::SetShortcutState{{0, 3}, projects::ShortcutState::Pruned}).ok());
        QTRY_COMPARE(weight(), last);
        QVERIFY(m_window->session().perform(projects::SetTopology{}).ok());
        QTRY_VERIFY(weight() != last);
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(weight(), last);
    }

private:
    std::filesystem::path m_project;
};

RESIDUA_TEST_IN(QApplication, TestFirstMinutes)
#include "tst_first_minutes.moc"
