// SPDX-License-Identifier: GPL-3.0-or-later
// The first minutes of a new user, by mouse and keyboard only, and the obstacles then.
#include "app/help/help_window.h"
#include "app/inspector/inspector.h"
#include "app/launch/screenshot.h"
#include "app/outline/outline_model.h"
#include "app/outline/outline_view.h"
#include "app/sweeps/sweep_panel.h"
#include "app/views/document_views.h"
#include "projects/cost/cost.h"
#include "projects/model/graph.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/plot/export_dialog.h"
#include "visualizers/runs/loss_view.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QFrame>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QSlider>
#include <QTableView>
#include <QTemporaryDir>
#include <QWindow>

#include <set>

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

    /// README.md, "Five minutes", in its order; the training is made short.
    void theFiveMinutesOfTheReadme()
    {
        openTheCard();
        wireByHand();
        runAndScrub();
        compare();
        pruneAndFreeze();
        wireQkv();
        sweepAField();
        takeItAlong();
    }

    /// The first wish of a first start.
    void aPlainNetworkGetsALongShortcut()
    {
        QTest::mouseClick(m_window->findChildren<QFrame*>(QStringLiteral("card")).front(), Qt::LeftButton);
        CanvasWidget& canvas = m_window->workspace().canvas();
        const auto mix = [this] { return std::get<projects::DepthMix>(project().stack().topology.wiring); };
        const auto box = [&](std::int64_t layer, editor::LayerPart part) {
            return pointOf(canvas.canvas().locate(editor::LayerTarget{layer, part}));
        };
        QTRY_VERIFY(!box(3, editor::LayerPart::Handle).isNull());
        waitUntilStill(canvas, [&] { return box(3, editor::LayerPart::Centre); });
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
        auto* search = visible<QLineEdit>(QStringLiteral("topologySearch"));
        QVERIFY(search);
        QTest::keyClicks(search, QStringLiteral("plain residual"));
        QTest::keyClick(search, Qt::Key_Return);
        QTRY_COMPARE(project().stack().topology.preset, std::string("plain"));
        QTRY_VERIFY(m_window->workspace().canvas().surface()->hasFocus());
        QCOMPARE(m_window->workspace().frontCanvas(), &m_window->workspace().canvas()); // no block was opened
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

    /// Canvases and outline show the weights of a run.
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
        QTRY_VERIFY(!runs.empty() && runs.front().status == engine::RunStatus::Finished);
        QTRY_COMPARE(scrubber->maximum(), 8);
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
    [[nodiscard]] CanvasWidget& canvas() { return m_window->workspace().canvas(); }
    [[nodiscard]] const projects::DepthMix& mix() const
    {
        return std::get<projects::DepthMix>(project().stack().topology.wiring);
    }
    [[nodiscard]] QPoint box(std::int64_t layer, editor::LayerPart part = editor::LayerPart::Centre)
    {
        return pointOf(canvas().canvas().locate(editor::LayerTarget{layer, part}));
    }

    /// 1. "Open the card Plain residual … 8 transformer layers on a residual stream, the sum that everyone uses."
    void openTheCard()
    {
        for (QFrame* card : m_window->findChildren<QFrame*>(QStringLiteral("card"))) {
            if (card->accessibleName().startsWith("Plain residual")) {
                QTest::mouseClick(card, Qt::LeftButton);
                break;
            }
        }
        QVERIFY(m_window->session().isOpen());
        QCOMPARE(project().name, std::string("Plain residual"));
        QCOMPARE(project().network.depth(), std::int64_t{8});
        QVERIFY(isRunningSum(mix()));
        const std::pair<const char*, const char*> quick[] = {{"/training/steps", "24"},
                                                             {"/training/batch", "4"},
                                                             {"/training/sequence_length", "16"},
                                                             {"/training/observe_every", "8"},
                                                             {"/training/validate_every", "0"},
                                                             {"/network/width", "32"},
                                                             {"/training/learning_rate/peak", "0.01"}};
        for (const auto& [field, value] : quick) {
            QVERIFY2(m_window->session().perform(projects::SetField{field, {value}}).ok(), field);
        }
    }

    /// 2. Drag, Tab, Ctrl+Z, a double click, F1.
    void wireByHand()
    {
        waitUntilStill(canvas(), [this] { return box(3); });
        const auto before = projects::costOf(project())->total.parameters;
        drag(canvas(), box(3, editor::LayerPart::Handle), box(7));
        QTRY_VERIFY(mix().states.contains({3, 7})); // a learned weight of its own
        QCOMPARE(projects::costOf(project())->total.parameters, before + 1);
        typeOnCanvas("i:i+2");
        QTRY_VERIFY(mix().states.contains({2, 4}) && mix().states.contains({0, 2}));
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_VERIFY(!mix().states.contains({2, 4}) && mix().states.contains({3, 7}));
        typeOnCanvas("1:5");
        QTRY_VERIFY(mix().states.contains({1, 5}));
        waitUntilStill(canvas(), [this] { return box(2); });
        QTest::mouseMove(canvas().surface(), box(2));
        QTest::mouseClick(canvas().surface(), Qt::LeftButton, {}, box(2));
        QTest::mouseDClick(canvas().surface(), Qt::LeftButton, {}, box(2));
        QTRY_COMPARE(m_window->workspace().frontCanvas(), &m_window->workspace().block());
        QTest::keyClick(m_window->workspace().block().surface(), Qt::Key_Escape); // what is selected, then the block
        QTest::keyClick(m_window->workspace().block().surface(), Qt::Key_Escape);
        QTRY_COMPARE(m_window->workspace().frontCanvas(), &canvas());
        QTest::keyClick(m_window.get(), Qt::Key_F1);
        QTRY_VERIFY(m_window->findChild<HelpWindow*>() && m_window->findChild<HelpWindow*>()->isVisible());
        m_window->findChild<HelpWindow*>()->close();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    void typeOnCanvas(const QString& text)
    {
        QTest::keyClick(canvas().surface(), Qt::Key_Tab);
        QLineEdit* field = nullptr;
        QTRY_VERIFY((field = canvas().findChild<QLineEdit*>()) != nullptr && field->isVisible());
        QTest::keyClicks(field, text);
        QTest::keyClick(field, Qt::Key_Return);
    }

    /// Waits until so many runs are there, all of them finished.
    void awaitRuns(std::size_t count)
    {
        const auto& runs = m_window->workspace().runsModel().runs();
        QTRY_VERIFY(m_window->runs().phase() == RunPhase::Idle && runs.size() == count &&
                    std::ranges::all_of(
                        runs, [](const engine::RunInfo& run) { return run.status == engine::RunStatus::Finished; }));
    }

    [[nodiscard]] QString weightOf(const projects::Shortcut& shortcut) const
    {
        OutlineModel& model = m_window->workspace().outlineModel();
        return model.indexOf(ShortcutsPlace{{shortcut}}).siblingAtColumn(OutlineModel::Value).data().toString();
    }

    /// 3. "The loss falls; the arc takes the colour … of its learned weight; the heatmap below shows the same number,
    /// and its scrubber moves both through the steps."
    void runAndScrub()
    {
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        awaitRuns(1);
        auto& loss = m_window->workspace().view<visualizers::LossView>();
        QTRY_VERIFY(loss.csv().count('\n') > 24);
        const QStringList rows = loss.csv().split('\n', Qt::SkipEmptyParts);
        const auto lossAt = [&](qsizetype row) { return rows[row].section(',', 2, 2).toDouble(); };
        QVERIFY2(lossAt(24) + lossAt(23) < lossAt(1) + lossAt(2), qPrintable(loss.csv()));
        auto& heatmap = m_window->workspace().view<visualizers::HeatmapView>();
        auto* scrubber = heatmap.findChild<QSlider*>();
        QTRY_VERIFY(scrubber->maximum() > 0);
        const QString learned = weightOf({3, 7});
        const QString cell = heatmap.csv().split('\n').filter(QRegularExpression(",24,3,7,")).value(0).section(',', -1);
        QCOMPARE(QString::number(learned.toDouble(), 'g', 3), QString::number(cell.toDouble(), 'g', 3));
        QTest::keyClick(scrubber, Qt::Key_Home);
        QTRY_COMPARE(weightOf({3, 7}).toDouble(), 1.0); // where it starts
        QTest::keyClick(scrubber, Qt::Key_End);
        QTRY_COMPARE(weightOf({3, 7}), learned);
    }

    void chooseTopology(const char* title)
    {
        auto* chooser = m_window->findChild<QComboBox*>(QStringLiteral("topologyChooser"));
        chooser->setFocus();
        chooser->showPopup();
        auto* search = visible<QLineEdit>(QStringLiteral("topologySearch"));
        QVERIFY(search);
        QTest::keyClicks(search, QLatin1String(title));
        QTest::keyClick(search, Qt::Key_Return);
        QTRY_VERIFY(canvas().surface()->hasFocus());
    }

    /// 4. "Choose ANCRe, ingoing in the toolbar and run again: the new curve is drawn beside the first. Choose relative
    /// to … above the plot."
    void compare()
    {
        chooseTopology("ANCRe, ingoing");
        QCOMPARE(project().stack().topology.preset, std::string("ancre-ingoing"));
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        awaitRuns(2);
        const auto& shown = m_window->workspace().shownRuns();
        QTRY_VERIFY(std::ranges::count_if(shown.runs(), &visualizers::ShownRuns::Run::overlaid) == 2);
        auto& loss = m_window->workspace().view<visualizers::LossView>();
        auto* baseline = loss.findChild<QComboBox*>(QStringLiteral("baseline"));
        QTRY_COMPARE(baseline->count(), 3);
        baseline->setCurrentIndex(1);
        QTRY_VERIFY(!shown.baselineLabel().isEmpty());
        baseline->setCurrentIndex(0);
        QTRY_VERIFY(shown.baselineLabel().isEmpty());
    }

    [[nodiscard]] QPoint arc(const projects::Shortcut& shortcut) { return pointOf(canvas().canvas().locate(shortcut)); }

    [[nodiscard]] projects::ShortcutState stateOf(const projects::Shortcut& shortcut) const
    {
        const auto found = mix().states.find(shortcut);
        return found == mix().states.end() ? projects::ShortcutState::Learned : found->second;
    }

    /// 5. "Delete prunes an arc in the project, F freezes it." tst_going_on has "Go on without the selection".
    void pruneAndFreeze()
    {
        const std::pair<projects::Shortcut, std::pair<Qt::Key, projects::ShortcutState::Kind>> wanted[] = {
            {{0, 8}, {Qt::Key_Delete, projects::ShortcutState::Pruned}},
            {{0, 7}, {Qt::Key_F, projects::ShortcutState::Frozen}}};
        for (const auto& [shortcut, how] : wanted) {
            waitUntilStill(canvas(), [&] { return arc(shortcut); });
            click(canvas(), arc(shortcut));
            QTRY_VERIFY2(m_window->documents().selection().shortcuts == std::set{shortcut},
                         projects::textOf(shortcut).c_str());
            QTest::keyClick(canvas().surface(), how.first);
            QTRY_VERIFY(stateOf(shortcut) == how.second);
        }
        QVERIFY(stateOf({0, 7}).hold == projects::ShortcutState::Hold::Number); // what the run in front has learned
    }

    /// A topology with ports of its own: the block gets the inputs q, k and v.
    void wireQkv()
    {
        chooseTopology("DeepCrossAttention");
        const std::string block = project().stack().segments.front().block;
        const auto& nodes = std::ranges::find(project().network.blocks, block, &projects::Block::name)->graph.nodes;
        const auto inputs = std::ranges::count(nodes, std::string("input"), &projects::Node::kind);
        QVERIFY2(inputs >= 3, "q, k and v come apart");
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(project().stack().topology.preset, std::string("ancre-ingoing"));
    }

    /// As the system tells a window of a click, so that menus open.
    void rightClick(QWidget& widget)
    {
        QTest::mouseClick(m_window->windowHandle(), Qt::RightButton, {},
                          widget.mapTo(m_window.get(), widget.rect().center()));
    }

    /// The help's five minutes: "Right-click a value in the inspector to sweep that."
    void sweepAField()
    {
        auto& outline = m_window->workspace().view<OutlineView>();
        const QModelIndex row = m_window->workspace().outlineModel().indexOf(SectionPlace{Section::Training});
        outline.scrollTo(row);
        QTest::mouseClick(outline.viewport(), Qt::LeftButton, {}, outline.visualRect(row).center());
        QLineEdit* batch = nullptr;
        const auto find = [&] {
            const auto fields = m_window->workspace().view<Inspector>().findChildren<QLineEdit*>();
            const auto found = std::ranges::find(fields, QString("Batch"), &QLineEdit::accessibleName);
            batch = found == fields.end() ? nullptr : *found;
            return batch != nullptr && batch->isVisible();
        };
        QTRY_VERIFY(find());
        rightClick(*batch);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(menu->actions().front()).center());
        auto& panel = m_window->workspace().view<SweepPanel>();
        QTRY_VERIFY(panel.isVisible());
        QTRY_COMPARE(project().sweeps.back().axes.back().field, std::string("/training/batch"));
        auto* values = panel.findChild<QLineEdit*>(QStringLiteral("sweepValues1"));
        QVERIFY(values);
        values->setFocus();
        values->selectAll();
        QTest::keyClicks(values, "2, 8");
        QTest::keyClick(values, Qt::Key_Return);
        auto* queue = panel.findChild<QPushButton*>(QStringLiteral("queueSweep"));
        const QAbstractItemModel& grid = *panel.findChild<QTableView*>(QStringLiteral("sweepGrid"))->model();
        QTRY_COMPARE(grid.rowCount(), 2);
        QCOMPARE(queue->text(), SweepPanel::tr("Queue %n runs", nullptr, 2));
        QTRY_VERIFY(queue->isEnabled());
        QTest::mouseClick(queue, Qt::LeftButton);
        awaitRuns(4);
        std::set<std::string> members; // as their run.json says
        for (const engine::RunInfo& run : m_window->workspace().runsModel().runs()) {
            if (run.membership) {
                QCOMPARE(run.membership->point.front().field, std::string("/training/batch"));
                members.insert(run.membership->label());
            }
        }
        QCOMPARE(members, (std::set<std::string>{"2", "8"}));
        auto& pareto = m_window->workspace().view<visualizers::ParetoView>();
        QTRY_COMPARE(pareto.csv().split('\n', Qt::SkipEmptyParts).size(), 1 + 4);
    }

    /// 6. "Export figure … draws the network with its weights for a paper. Save the project."
    void takeItAlong()
    {
        const QTemporaryDir figures;
        m_window->actions().exportFigure->trigger();
        auto* const dialog = m_window->findChild<visualizers::ExportDialog*>();
        QVERIFY(dialog);
        dialog->findChild<QLineEdit*>("exportFolder")->setText(figures.path());
        dialog->findChild<QPushButton*>("exportGo")->click();
        QTRY_VERIFY(QFile::exists(figures.filePath("network.pdf")));
        QTest::keyClick(m_window.get(), Qt::Key_S, Qt::ControlModifier);
        QVERIFY(!m_window->session().modified());
        const auto saved = projects::loadProject(m_window->session().directory());
        QVERIFY(saved.ok());
        QCOMPARE(saved->project, project());
    }
};

RESIDUA_TEST_IN(QApplication, TestFirstMinutes)
#include "tst_first_minutes.moc"
