// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on what is selected, where no canvas can be drawn: outline, menu and keys do the same.
#include "app/actions/edit_commands.h"
#include "app/outline/outline_view.h"
#include "app/properties/place.h"
#include "app/schedule/schedule_page.h"
#include "app/schedule/schedule_ribbon.h"
#include "app/views/document_views.h"
#include "projects/commands/typing.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/shipped/examples.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>

#include <algorithm>
#include <functional>
#include <vector>

using namespace residua;
using namespace residua::app;

class TestEditCommands : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project project = projects::findExample("linear-ancre")->project;
        const auto& presets = projects::blockPresets();
        project.network.blocks = {
            {"mlp", "mlp", std::ranges::find(presets, "mlp", &projects::BlockPreset::name)->graph}};
        project.stack().segments = {{"mlp", 4}};
        openWindowOn(project);
        QVERIFY(!m_window->workspace().canvas().drawable());
        QCoreApplication::processEvents();
    }

    void cleanup() { m_window.reset(); }

    /// A published schedule, with all that it sets, is one edit, undone as one.
    void aPublishedScheduleIsOneEdit()
    {
        const projects::Document before = m_window->session().document();
        m_window->workspace().showCanvas(WorkspaceView::Schedule);
        auto* preset = m_window->workspace().schedule().findChild<QComboBox*>("schedulePreset");
        for (const char* const title : {"LEMON", "Progressive layer dropping"}) {
            const int index = preset->findText(QString::fromLatin1(title));
            QVERIFY(index > 0);
            emit preset->activated(index);
            QCoreApplication::processEvents();
            QVERIFY(project().stack().schedule != before.project.stack().schedule);
            QCOMPARE(m_window->workspace().schedule().ribbon().shown(), project().stack().schedule);
            m_window->session().undo();
            QCoreApplication::processEvents();
            QVERIFY(m_window->session().document() == before);
        }
        QVERIFY(!m_window->actions().undo->isEnabled());
    }

    void deleteMeansTheSameWhereverItIsPressed_data()
    {
        QTest::addColumn<QString>("thing");
        QTest::addColumn<QString>("title");
        QTest::newRow("shortcut") << "shortcut"
                                  << "Prune shortcut 0:2";
        QTest::newRow("layers") << "layers"
                                << "Remove a layer";
        QTest::newRow("node") << "node"
                              << "Delete relu";
    }

    void deleteMeansTheSameWhereverItIsPressed()
    {
        QFETCH(QString, thing);
        QFETCH(QString, title);
        const Place place = thing == "shortcut" ? Place(ShortcutsPlace{{{0, 2}}})
                            : thing == "layers" ? Place(LayersPlace{{2}})
                                                : Place(NodePlace{kMlpBlock, node("relu")});
        const WorkspaceView view = thing == "node" ? WorkspaceView::Block : WorkspaceView::Depth;
        const projects::Document before = m_window->session().document();
        std::vector<projects::Document> after;
        const auto record = [&](const std::function<void()>& press) {
            press();
            QCOMPARE(m_window->actions().undo->text(), "&Undo " + title);
            after.push_back(m_window->session().document());
            m_window->session().undo();
            QCoreApplication::processEvents();
            QVERIFY(m_window->session().document() == before);
        };
        record([&] { // in the outline, whichever canvas is in front
            OutlineView& outline = m_window->workspace().view<OutlineView>();
            outline.setFocus();
            outline.setCurrentIndex(m_window->workspace().outlineModel().indexOf(place));
            QTest::keyClick(&outline, Qt::Key_Delete);
        });
        for (const WorkspaceView front : {WorkspaceView::Depth, WorkspaceView::Matrix, WorkspaceView::Block}) {
            m_window->workspace().showCanvas(front);
            record([&] { // from the menu, whichever canvas is in front
                m_window->documents().choose(place);
                m_window->actions().prune->trigger();
            });
        }
        m_window->workspace().showCanvas(view);
        record([&] { // by the canvas's key
            m_window->documents().choose(place);
            QTest::keyClick(m_window->workspace().frontCanvas()->surface(), Qt::Key_Delete);
        });
        QCOMPARE(after.size(), std::size_t{5});
        QVERIFY(std::ranges::all_of(after, [&](const auto& each) { return each == after[0]; }));
        QVERIFY(after[0] != before);
    }

    /// Where things of the stack and of a graph are selected together, the canvas in front says which are meant.
    void theCanvasInFrontDecidesWhereTheSelectionIsBoth()
    {
        const projects::Selection both{.layers = {2}, .nodes = {node("relu")}, .graph = kMlpBlock};
        for (const auto& [view, depth] :
             {std::pair(WorkspaceView::Depth, std::int64_t{3}), std::pair(WorkspaceView::Block, std::int64_t{4})}) {
            m_window->workspace().showCanvas(view);
            m_window->documents().select(both);
            m_window->editCommands().deleteSelection();
            QCOMPARE(project().network.depth(), depth);
            m_window->session().undo();
            QCoreApplication::processEvents();
        }
    }

    void withTheScheduleInFrontThereIsNoCanvasToActOn()
    {
        const projects::Document before = m_window->session().document();
        EditCommands& commands = m_window->editCommands();
        const auto enabled = [this](const char* name) {
            return m_window->findChild<QAction*>(QLatin1String(name))->isEnabled();
        };
        const std::vector<const char*> names{"prune", "cut",  "duplicate", "group",           "typeToAdd",
                                             "fold",  "tidy", "fit",       "zoomToSelection", "selectAll"};
        m_window->documents().choose(LayersPlace{{2}});
        QVERIFY(std::ranges::all_of(names, enabled));
        m_window->workspace().showCanvas(WorkspaceView::Schedule);
        QVERIFY(std::ranges::none_of(names, enabled));
        commands.deleteSelection();
        commands.typeToAdd();
        commands.group();
        QVERIFY(m_window->session().document() == before);
        for (CanvasWidget* canvas : m_window->workspace().canvases()) {
            const auto* field = canvas->findChild<QLineEdit*>();
            QVERIFY(!field || !field->isVisibleTo(canvas));
        }
        QVERIFY(!m_window->workspace().frontCanvas());
        m_window->workspace().view<OutlineView>().setFocus(); // where the layer can be seen
        QVERIFY(enabled("prune") && enabled("group") && !enabled("fit"));
        commands.deleteSelection();
        QCOMPARE(project().network.depth(), before.project.network.depth() - 1);
    }

    void theOutlineHasTheKeysOfCommands()
    {
        OutlineView& outline = m_window->workspace().view<OutlineView>();
        const auto goTo = [&](const Place& place) {
            outline.setFocus();
            outline.setCurrentIndex(m_window->workspace().outlineModel().indexOf(place));
        };
        goTo(ShortcutsPlace{{{0, 2}}});
        QTest::keyClick(&outline, Qt::Key_F);
        const auto& mix = std::get<projects::DepthMix>(project().stack().topology.wiring);
        QCOMPARE(mix.states.at({0, 2}), projects::ShortcutState::Frozen);
        QCoreApplication::processEvents();
        goTo(LayersPlace{{2}});
        QTest::keyClick(&outline, Qt::Key_D, Qt::ControlModifier);
        QCOMPARE(project().network.depth(), std::int64_t{5});
        QCoreApplication::processEvents();
        goTo(NodePlace{kMlpBlock, node("relu")});
        const std::size_t nodes = findGraph(project(), kMlpBlock)->nodes.size();
        QTest::keyClick(&outline, Qt::Key_X, Qt::ControlModifier);
        QCOMPARE(findGraph(project(), kMlpBlock)->nodes.size(), nodes - 1);
        QTest::keyClick(&outline, Qt::Key_V, Qt::ControlModifier);
        QCOMPARE(findGraph(project(), kMlpBlock)->nodes.size(), nodes);
    }

    void aRowThatIsAValueIsNotDeleted()
    {
        const projects::Document before = m_window->session().document();
        OutlineView& outline = m_window->workspace().view<OutlineView>();
        OutlineModel& model = m_window->workspace().outlineModel();
        outline.setFocus();
        const QModelIndex node = model.indexOf(NodePlace{kMlpBlock, this->node("up")});
        outline.setCurrentIndex(node);
        outline.expand(node);
        QVERIFY(model.rowCount(node) > 0 && model.rowAt(model.index(0, 0, node))->property);
        outline.setCurrentIndex(model.index(0, 0, node));
        QVERIFY(!outline.thing());
        QTest::keyClick(&outline, Qt::Key_Delete);
        m_window->editCommands().cut();
        QVERIFY(m_window->session().document() == before);
    }

    void theBlockCanvasHasAMenu()
    {
        m_window->workspace().showCanvas(WorkspaceView::Block);
        m_window->documents().choose(NodePlace{kMlpBlock, node("relu")});
        CanvasWidget& block = m_window->workspace().block();
        emit block.requested(editor::OpenMenu{{10, 10}});
        auto* menu = block.findChild<QMenu*>(QStringLiteral("canvasMenu"));
        QVERIFY(menu);
        QStringList names;
        for (const QAction* action : menu->actions()) {
            names << action->objectName();
        }
        for (const char* name : {"cut", "copy", "paste", "duplicate", "prune", "tidy", "explain"}) {
            QVERIFY2(names.contains(QLatin1String(name)), name);
        }
        QVERIFY(!names.contains(QStringLiteral("fold")));
        menu->close();
    }

    /// A canvas asks for an edit and the selection after it in one.
    void aRefusedEditLeavesTheSelection()
    {
        m_window->documents().choose(LayersPlace{{2}});
        QSignalSpy refused(&m_window->documents(), &DocumentViews::refused);
        QSignalSpy noted(&m_window->documents(), &DocumentViews::noted);
        const projects::Selection other{.layers = {3}};
        CanvasWidget& canvas = m_window->workspace().canvas();
        emit canvas.requested(editor::RequestEdit{projects::DocumentChange{projects::RemoveBlock{"nope"}, other}});
        QCOMPARE(refused.count(), 1);
        QCOMPARE(m_window->documents().selection().layers, std::set<std::int64_t>{2});
        emit canvas.requested(editor::RequestEdit{Error{"selection", "nothing is selected"}});
        QCOMPARE(noted.count(), 1);
    }

    void layersAreCopiedFoldedAndNamedWithoutACanvas()
    {
        EditCommands& commands = m_window->editCommands();
        m_window->documents().choose(LayersPlace{{1, 2}});
        commands.copy();
        QVERIFY(QGuiApplication::clipboard()->text().contains("\"stack\""));
        commands.paste();
        QCOMPARE(project().network.depth(), std::int64_t{6});
        m_window->documents().choose(LayersPlace{{1, 2}});
        commands.toggleFold();
        QCOMPARE(m_window->documents().folds(), (std::vector<editor::LayerRun>{{1, 2}}));
        commands.duplicate();
        QCOMPARE(project().network.depth(), std::int64_t{8});
        commands.cut();
        QCOMPARE(project().network.depth(), std::int64_t{6});
        m_window->documents().applyEdit(projects::SetStack{{{"mlp", 1}}});
        QCoreApplication::processEvents();
        QVERIFY(m_window->documents().folds().empty()); // those layers are gone
    }

    void aLoopIsMadeChangedAndRemoved()
    {
        EditCommands& commands = m_window->editCommands();
        DocumentViews& documents = m_window->documents();
        const auto loops = [this]() -> const std::vector<projects::Loop>& { return project().stack().loops; };
        documents.choose(LayersPlace{{2, 3}});
        commands.visitMore();
        QVERIFY(loops().empty()); // typing makes a loop
        documents.perform(typed(m_window->session().document(), documents.selection(), "visits 2").change.value());
        QVERIFY(documents.place() == Place(LoopPlace{0}));
        commands.visitMore();
        QCOMPARE(loops().front().visits, std::int64_t{3});
        QVERIFY(documents.place() == Place(LoopPlace{0}));
        commands.visitLess();
        QCOMPARE(loops().front().visits, std::int64_t{2});
        const auto* const problems = m_window->findChild<QLabel*>("placeProblems");
        QVERIFY(problems->isHidden());
        documents.applyEdit(projects::SetField{"/network/loops/0/last", {"9"}});
        QTRY_VERIFY(!problems->isHidden());
        QVERIFY(problems->text().contains("expected layers of the 4"));
        m_window->session().undo();
        QTRY_VERIFY(problems->isHidden());
        documents.choose(LayersPlace{{5}}); // 3@2
        commands.visitOnce();
        QVERIFY(loops().empty());
        QCOMPARE(project().network.depth(), std::int64_t{4});
    }

    void nodesAreSelectedAndCopiedInTheBlockInFront()
    {
        EditCommands& commands = m_window->editCommands();
        m_window->workspace().showCanvas(WorkspaceView::Block);
        commands.selectAll();
        QCOMPARE(m_window->documents().selection().graph, kMlpBlock);
        const std::size_t nodes = m_window->documents().selection().nodes.size();
        QCOMPARE(nodes, findGraph(project(), kMlpBlock)->nodes.size());
        commands.duplicate();
        QCOMPARE(findGraph(project(), kMlpBlock)->nodes.size(), 2 * nodes);
        QCOMPARE(m_window->documents().selection().nodes.size(), nodes); // the copies
        commands.giveUp();
        QVERIFY(m_window->documents().selection().nodes.empty());
        QVERIFY(m_window->workspace().frontCanvas() == &m_window->workspace().block());
        commands.giveUp(); // with nothing selected it leads out
        QVERIFY(m_window->workspace().frontCanvas() == &m_window->workspace().canvas());
    }

private:
    projects::NodeId node(const std::string& name) const
    {
        return std::ranges::find(findGraph(project(), kMlpBlock)->nodes, name, &projects::Node::name)->id;
    }
};

RESIDUA_TEST_IN(QApplication, TestEditCommands)
#include "tst_edit_commands.moc"
