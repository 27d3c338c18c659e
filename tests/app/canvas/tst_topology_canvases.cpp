// SPDX-License-Identifier: GPL-3.0-or-later
// Depth canvas and matrix in the window: layers folded, named, copied and typed by mouse and keyboard alone.
#include "app/actions/edit_commands.h"
#include "app/outline/outline_view.h"
#include "app/palette/palette_view.h"
#include "app/views/document_views.h"
#include "projects/shipped/examples.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/plot/export_dialog.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QDropEvent>
#include <QFile>
#include <QGuiApplication>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPointer>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTreeView>

#include <algorithm>
#include <memory>

using namespace residua;
using namespace residua::app;

class TestTopologyCanvases : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project chosen = projects::findExample("linear-ancre")->project;
        chosen.network.stack().segments.front().repeat = 6;
        chosen.network.stack().segments.resize(1);
        auto& mix = std::get<projects::DepthMix>(chosen.stack().topology.wiring);
        mix.sources = projects::ExplicitSources{{{0, 1}, {1, 2}, {2, 3}}};
        openWindowOn(chosen);
        m_depth = &m_window->workspace().canvas();
        QVERIFY(m_depth->drawable());
        QTRY_VERIFY(m_depth->canvas().locate(editor::LayerTarget{1, editor::LayerPart::Centre}).has_value());
        waitUntilStill();
    }

    void cleanup() { m_window.reset(); }

    /// As a user does it: a right click on an arc, and a choice.
    void anArcHasAMenuOfItsOwn()
    {
        CanvasWidget& canvas = m_window->workspace().canvas();
        const projects::Shortcut shortcut{1, 2};
        waitUntilStill(canvas, [&] { return pointOf(canvas.canvas().locate(shortcut)); });
        rightClick(canvas, pointOf(canvas.canvas().locate(shortcut)));
        QMenu* menu = nullptr;
        QTRY_VERIFY((menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) != nullptr);
        QCOMPARE(m_window->documents().selection().shortcuts, (std::set<projects::Shortcut>{shortcut}));
        QAction* const freeze = m_window->actions().freeze;
        QVERIFY(menu->actions().contains(freeze));
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(freeze).center());
        const auto& mix = std::get<projects::DepthMix>(project().stack().topology.wiring);
        QTRY_VERIFY(mix.states.contains(shortcut));
    }

    void eachCanvasIsExportedAsAFigure()
    {
        QTemporaryDir folder;
        const std::pair<const char*, QString> canvases[] = {
            {"depth", "network"}, {"matrix", "matrix"}, {"block", "block"}};
        for (const auto& [canvas, name] : canvases) {
            m_window->findChild<QAction*>(canvas)->trigger();
            m_window->findChild<QAction*>("exportFigure")->trigger();
            const QPointer dialog = m_window->findChild<visualizers::ExportDialog*>();
            QVERIFY(dialog);
            QCOMPARE(dialog->findChild<QLineEdit*>("exportName")->text(), name);
            const auto* const weights = dialog->findChild<QCheckBox*>("exportWeights");
            QVERIFY(!weights->isEnabled() && !weights->isChecked()); // nothing is trained
            QVERIFY2(weights->text().contains(": "), qPrintable(weights->text()));
            QVERIFY(dialog->choice().weights);
            dialog->findChild<QLineEdit*>("exportFolder")->setText(folder.path());
            auto* const format = dialog->findChild<QComboBox*>("exportFormat");
            format->setCurrentIndex(format->findData("svg"));
            dialog->findChild<QDoubleSpinBox*>("exportCentimetres")->setValue(6);
            dialog->findChild<QPushButton*>("exportGo")->click();
            QTRY_VERIFY(!dialog);
            QFile file(folder.filePath(name + ".svg"));
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray svg = file.readAll();
            QVERIFY(svg.contains("width=\"6cm\"") && svg.contains("<text"));
            QVERIFY(name != "network" || svg.contains("<title>1:2</title>"));
        }
    }

    void aLayerAndTheGroundHaveMenusToo()
    {
        CanvasWidget& canvas = m_window->workspace().canvas();
        const auto box = [&] { return pointOf(canvas.canvas().locate(editor::LayerTarget{3})); };
        waitUntilStill(canvas, box);
        const auto names = [](QMenu* menu) {
            QStringList found;
            for (const QAction* action : menu->actions()) {
                found << action->objectName();
            }
            menu->close();
            return found;
        };
        rightClick(canvas, box());
        QTRY_VERIFY(qobject_cast<QMenu*>(QApplication::activePopupWidget()));
        const QStringList layer = names(qobject_cast<QMenu*>(QApplication::activePopupWidget()));
        QVERIFY(layer.contains("openBlock") && layer.contains("duplicate") && layer.contains("group"));
        QVERIFY(!layer.contains("freeze"));
        QTRY_VERIFY(!QApplication::activePopupWidget());
        rightClick(canvas, {6, canvas.height() / 2});
        QTRY_VERIFY(qobject_cast<QMenu*>(QApplication::activePopupWidget()));
        const QStringList ground = names(qobject_cast<QMenu*>(QApplication::activePopupWidget()));
        QVERIFY(ground.contains("typeToAdd") && !ground.contains("openBlock"));
    }

    void aKeyFoldsAndAClickUnfolds()
    {
        QTest::keyClick(m_depth->surface(), Qt::Key_X);
        QTRY_VERIFY(m_depth->canvas().locate(editor::LayerTarget{3, editor::LayerPart::Fold}).has_value());
        QVERIFY(!m_window->isWindowModified()); // a state of the view
        waitUntilStill();
        click(*m_depth, pointOf(m_depth->canvas().locate(editor::LayerTarget{3, editor::LayerPart::Fold})));
        QTRY_VERIFY(!m_depth->canvas().locate(editor::LayerTarget{3, editor::LayerPart::Fold}).has_value());
    }

    void tabAddsByTyping()
    {
        type(Qt::Key_Tab, {}, "0:4, 1:5");
        QTRY_VERIFY(reads({0, 4}) && reads({1, 5}));
        QCOMPARE(m_window->documents().place(), Place(ShortcutsPlace{{{0, 4}, {1, 5}}}));
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(!reads({0, 4}) && !reads({1, 5})); // one step
    }

    void enterTakesTheOfferThatWasBegun()
    {
        type(Qt::Key_Tab, {}, "densef"); // no wiring, but the beginning of one
        QTRY_COMPARE(QString::fromStdString(project().stack().topology.preset), QString("denseformer"));
    }

    void aDoubleClickOnEmptyGroundAddsByTyping()
    {
        const QPoint empty(40, m_depth->surface()->height() - 20);
        QTest::mouseMove(m_depth->surface(), empty);
        QTest::mouseClick(m_depth->surface(), Qt::LeftButton, {}, empty);
        QTest::mouseDClick(m_depth->surface(), Qt::LeftButton, {}, empty);
        QTest::mouseRelease(m_depth->surface(), Qt::LeftButton, {}, empty);
        QTRY_VERIFY(field() != nullptr);
        QTest::keyClicks(field(), "i:i+3");
        QTest::keyClick(field(), Qt::Key_Return);
        QTRY_VERIFY(reads({0, 3}) && reads({3, 6}));
    }

    void quickStepsOfAKeyAreTakenTogether()
    {
        selectLayers({1});
        int selections = 0;
        const auto counting = connect(m_depth, &CanvasWidget::requested, this, [&](const editor::Request& request) {
            selections += std::holds_alternative<editor::SelectionChanged>(request) ? 1 : 0;
        });
        for (int i = 0; i < 4; ++i) {
            QTest::keyClick(m_depth->surface(), Qt::Key_Right); // no frame is drawn between them
        }
        QTRY_COMPARE(m_window->documents().place(), Place(LayersPlace{{5}}));
        disconnect(counting);
        QVERIFY2(selections < 4, "the panels follow every step, though only the last is seen");
    }

    void aSelectionOfBothKindsOutlastsAnEdit()
    {
        const projects::Selection both{{2, 3}, {{0, 1}, {1, 2}}, {}};
        emit m_depth->requested(editor::SelectionChanged{both});
        m_window->documents().applyEdit(projects::SetShortcutState{{0, 1}, projects::ShortcutState::Frozen});
        QCoreApplication::processEvents();
        m_window->editCommands().duplicate();
        QTRY_COMPARE(project().network.depth(), std::int64_t{8}); // its layers are still there
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(m_window->documents().place(), Place(ShortcutsPlace{{{0, 1}, {1, 2}}}));
        m_window->documents().applyEdit(projects::RemoveShortcut{{1, 2}});
        QCoreApplication::processEvents();
        QCOMPARE(m_window->documents().place(), Place(ShortcutsPlace{{{0, 1}}})); // what is left of it
    }

    void keysGoFromPanelToPanel()
    {
        m_depth->surface()->setFocus();
        QVERIFY(!m_depth->surface()->accessibleName().isEmpty()); // it has the keys: a screen reader asks it
        const auto panel = [this] {
            for (QDockWidget* dock : m_window->workspace().docks()) {
                if (dock->isAncestorOf(QApplication::focusWidget())) {
                    return dock->objectName();
                }
            }
            return QApplication::focusWidget() == m_depth->surface() ? QStringLiteral("canvas") : QString();
        };
        QStringList visited;
        do {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
            visited << panel();
        } while (visited.last() != "canvas" && visited.size() < 20);
        QVERIFY2(visited.contains("outlineDock") && visited.contains("inspectorDock") && visited.last() == "canvas",
                 qPrintable(visited.join(' ')));
        QTest::keyClick(m_depth->surface(), Qt::Key_F6, Qt::ShiftModifier);
        QCOMPARE(panel(), visited.at(visited.size() - 2));
    }

    void layersAreNamedAndTheNameTakenAway()
    {
        selectLayers({2, 3, 4});
        type(Qt::Key_G, Qt::ControlModifier, "middle");
        const auto& groups = m_window->session().document().layout.groups;
        QTRY_COMPARE(groups, (std::vector<projects::LayerGroup>{{"middle", 2, 4}}));
        QTest::keyClick(m_depth->surface(), Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(groups.empty());
    }

    void layersAreCopiedPastedDuplicatedAndDeleted()
    {
        selectLayers({1, 2});
        QTest::keyClick(m_depth->surface(), Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QGuiApplication::clipboard()->text().contains("\"stack\""));
        QTest::keyClick(m_depth->surface(), Qt::Key_V, Qt::ControlModifier);
        QTRY_COMPARE(project().network.depth(), std::int64_t{8});
        QVERIFY(reads({3, 4})); // 1:2 came along
        selectLayers({1, 2});
        QTest::keyClick(m_depth->surface(), Qt::Key_D, Qt::ControlModifier);
        QTRY_COMPARE(project().network.depth(), std::int64_t{10});
        selectLayers({1, 2, 3, 4, 5});
        QTest::keyClick(m_depth->surface(), Qt::Key_Delete);
        QTRY_COMPARE(project().network.depth(), std::int64_t{5});
        for (int i = 0; i < 3; ++i) {
            QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        }
        QCOMPARE(project().network.depth(), std::int64_t{6});
        QVERIFY(!m_window->isWindowModified());
    }

    void shortcutsGoFromOneLayerToAnother()
    {
        m_window->documents().choose(ShortcutsPlace{{{1, 2}}});
        m_depth->surface()->setFocus();
        QTest::keyClick(m_depth->surface(), Qt::Key_C, Qt::ControlModifier);
        selectLayers({4});
        QTest::keyClick(m_depth->surface(), Qt::Key_V, Qt::ControlModifier);
        QTRY_VERIFY(reads({4, 5}));
    }

    void boxAndAdditiveSelection()
    {
        QWidget* surface = m_depth->surface();
        const QPoint first = pointOf(m_depth->canvas().locate(editor::LayerTarget{1, editor::LayerPart::Centre}));
        const QPoint third = pointOf(m_depth->canvas().locate(editor::LayerTarget{3, editor::LayerPart::Centre}));
        const QPoint below(first.x() - 8, first.y() + 60);
        QTest::mouseMove(surface, below);
        QTest::mousePress(surface, Qt::LeftButton, {}, below);
        QTest::mouseMove(surface, QPoint(third.x(), third.y() + 30));
        QTest::mouseMove(surface, third);
        QTest::mouseRelease(surface, Qt::LeftButton, {}, third);
        QTRY_COMPARE(m_window->documents().place(), Place(LayersPlace{{1, 2, 3}}));
        QTest::mouseClick(surface, Qt::LeftButton, Qt::ShiftModifier,
                          pointOf(m_depth->canvas().locate(editor::LayerTarget{5, editor::LayerPart::Centre})));
        QTRY_COMPARE(m_window->documents().place(), Place(LayersPlace{{1, 2, 3, 5}}));
    }

    void thePaletteDropsOnDepthAndMatrix()
    {
        auto* tree = m_window->workspace().view<PaletteView>().findChild<QTreeView*>(QStringLiteral("paletteTree"));
        const QAbstractItemModel& model = *tree->model();
        const std::vector<std::pair<CanvasWidget*, QString>> drops{{m_depth, "GRN-v1"},
                                                                   {&m_window->workspace().matrix(), "DenseFormer"}};
        for (const auto& [canvas, title] : drops) {
            const QModelIndexList found =
                model.match(model.index(0, 0, model.index(0, 0)), Qt::DisplayRole, title, 1, Qt::MatchExactly);
            QCOMPARE(found.size(), 1);
            const std::unique_ptr<QMimeData> data(model.mimeData(found));
            QDragEnterEvent enter({60, 60}, Qt::CopyAction, data.get(), Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(canvas, &enter);
            QVERIFY(enter.isAccepted());
            QDropEvent drop(QPointF(60, 60), Qt::CopyAction, data.get(), Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(canvas, &drop);
            QCOMPARE(QString::fromStdString(project().stack().topology.preset), title.toLower());
        }
    }

    void theFieldForTypingIsAsHighAsWhatItOffers()
    {
        m_depth->surface()->setFocus();
        QTest::keyClick(m_depth->surface(), Qt::Key_Tab);
        QTRY_VERIFY(field() != nullptr);
        auto* frame = field()->parentWidget();
        const auto* list = frame->findChild<QTreeView*>();
        const int most = frame->height();
        const auto noRowIsIdle = [list] {
            const int rows = list->model()->rowCount();
            return rows > 0 ? list->height() >= 24 && list->height() <= 24 * rows + 12 : !list->isVisible();
        };
        QVERIFY(noRowIsIdle());
        QTest::keyClicks(field(), "dense");
        QTRY_VERIFY(noRowIsIdle() && frame->height() < most);
        QTest::keyClicks(field(), "?!");
        QTRY_VERIFY(noRowIsIdle());
        field()->selectAll();
        QTest::keyClick(field(), Qt::Key_Delete);
        QTRY_COMPARE(frame->height(), most);
        QVERIFY(m_depth->rect().contains(frame->geometry()));
        QTest::keyClick(field(), Qt::Key_Escape);
    }

private:
    static void rightClick(CanvasWidget& canvas, QPoint at)
    {
        QTest::mouseMove(canvas.surface(), at);
        QTest::mouseClick(canvas.surface(), Qt::RightButton, {}, at);
    }

    void selectLayers(const std::vector<std::int64_t>& layers)
    {
        m_window->documents().choose(LayersPlace{layers});
        m_depth->surface()->setFocus();
    }

    /// The field for typing, while it is open.
    QLineEdit* field() const
    {
        auto* edit = m_depth->findChild<QLineEdit*>(QStringLiteral("typingText"));
        return edit && edit->isVisible() ? edit : nullptr;
    }

    void type(Qt::Key key, Qt::KeyboardModifiers modifiers, const QString& text)
    {
        m_depth->surface()->setFocus();
        QTest::keyClick(m_depth->surface(), key, modifiers);
        QTRY_VERIFY(field() != nullptr);
        QTest::keyClicks(field(), text);
        QTest::keyClick(field(), Qt::Key_Return);
    }

    using WindowHarness::waitUntilStill;
    void waitUntilStill()
    {
        waitUntilStill(*m_depth, [&] {
            return pointOf(m_depth->canvas().locate(editor::LayerTarget{3, editor::LayerPart::Centre}));
        });
    }

    CanvasWidget* m_depth = nullptr;
};

RESIDUA_TEST_IN(QApplication, TestTopologyCanvases)
#include "tst_topology_canvases.moc"
