// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on what is selected, where no canvas can be drawn: outline, menu and keys do the same.
#include "app/outline/outline_view.h"
#include "app/properties/place.h"
#include "app/schedule/schedule_panel.h"
#include "app/schedule/schedule_ribbon.h"
#include "app/window/document_views.h"
#include "app/window/edit_commands.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>

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
        project.network.stack = {{"mlp", 4}};
        const std::filesystem::path path = newProject(project);
        QVERIFY(!path.empty());
        openWindow();
        m_window->openProject(path);
        QVERIFY(!m_window->workspace().canvas().drawable());
        QCoreApplication::processEvents();
    }

    void cleanup() { m_window.reset(); }

    /// A published schedule, with all that it sets, is one edit, undone as one.
    void aPublishedScheduleIsOneEdit()
    {
        const projects::Document before = m_window->session().document();
        auto* preset = m_window->workspace().schedule().findChild<QComboBox*>("schedulePreset");
        for (const char* const title : {"LEMON", "Progressive layer dropping"}) {
            const int index = preset->findText(QString::fromLatin1(title));
            QVERIFY(index > 0);
            emit preset->activated(index);
            QCoreApplication::processEvents();
            QVERIFY(project().schedule != before.project.schedule);
            QCOMPARE(m_window->workspace().schedule().ribbon().shown(), project().schedule);
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
        m_window->workspace().showCanvas(view);
        record([&] { // from the menu
            m_window->documents().choose(place);
            m_window->actions().prune->trigger();
        });
        record([&] { // by the canvas's key
            m_window->documents().choose(place);
            QTest::keyClick(m_window->workspace().currentCanvas().surface(), Qt::Key_Delete);
        });
        QCOMPARE(after.size(), std::size_t{3});
        QVERIFY(after[0] == after[1] && after[1] == after[2]);
        QVERIFY(after[0] != before);
    }

    void whatIsNotInSightIsNotDeleted()
    {
        const projects::Document before = m_window->session().document();
        m_window->documents().choose(LayersPlace{{2}});
        m_window->workspace().showCanvas(WorkspaceView::Block); // the inside of the layer
        m_window->editCommands().deleteSelection();
        m_window->workspace().showCanvas(WorkspaceView::Matrix); // shows no layers
        m_window->editCommands().deleteSelection();
        m_window->documents().choose(NodePlace{kMlpBlock, node("relu")});
        m_window->workspace().showCanvas(WorkspaceView::Depth);
        m_window->editCommands().deleteSelection();
        QVERIFY(m_window->session().document() == before);
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
        QVERIFY(&m_window->workspace().currentCanvas() == &m_window->workspace().block());
        commands.giveUp(); // with nothing selected it leads out
        QVERIFY(&m_window->workspace().currentCanvas() == &m_window->workspace().canvas());
    }

private:
    projects::NodeId node(const std::string& name) const
    {
        return std::ranges::find(findGraph(project(), kMlpBlock)->nodes, name, &projects::Node::name)->id;
    }
};

RESIDUA_TEST_IN(QApplication, TestEditCommands)
#include "tst_edit_commands.moc"
