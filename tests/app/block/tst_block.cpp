// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of a block as a person works on it: mouse and keyboard, on a real screen.
#include "app/actions/edit_commands.h"
#include "app/outline/outline_view.h"
#include "app/palette/palette_model.h"
#include "app/properties/property.h"
#include "app/views/document_views.h"
#include "editor/block/block_canvas.h"
#include "projects/check/validate.h"
#include "projects/library/presets.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/examples.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QClipboard>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>

using namespace residua;
using namespace residua::app;
using projects::NodeId;
using projects::PortRef;

namespace {

projects::Project threeBlocks()
{
    projects::Project project = projects::findExample("linear-ancre")->project;
    const auto& presets = projects::blockPresets();
    const auto mlp = std::ranges::find(presets, "mlp", &projects::BlockPreset::name);
    project.network.blocks = {{"mlp", "mlp", mlp->graph}};
    project.stack().segments = {{"mlp", 3}};
    return project;
}

} // namespace

class TestBlock : public WindowHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(threeBlocks(), {1300, 900}); }

    void cleanup() { m_window.reset(); }

    void aDoubleClickOpensAndEscLeaves()
    {
        CanvasWidget& depth = m_window->workspace().canvas();
        QTRY_VERIFY(depth.canvas().locate(editor::LayerTarget{2, editor::LayerPart::Centre}).has_value());
        waitUntilStill(depth, [&] {
            return pointOf(depth.canvas().locate(editor::LayerTarget{2, editor::LayerPart::Centre}));
        });
        const QPoint layer = pointOf(depth.canvas().locate(editor::LayerTarget{2, editor::LayerPart::Centre}));
        QTest::mouseMove(depth.surface(), layer);
        QTest::mouseClick(depth.surface(), Qt::LeftButton, {}, layer);
        QTest::mouseDClick(depth.surface(), Qt::LeftButton, {}, layer);
        QTRY_VERIFY(block().isVisible());
        QCOMPARE(canvas().graph(), kMlpBlock);
        QTRY_COMPARE(button("blockLayer")->text(), QString("Layer 2"));
        QVERIFY(m_window->findChild<QLabel*>("blockNote")->text().contains("3 layers"));
        QTest::keyClick(block().surface(), Qt::Key_Escape);
        QTRY_VERIFY(depth.isVisible());
        QVERIFY(!block().isVisible());
    }

    /// A renamed block stays selected in the inspector and shown on the canvas.
    void aRenamedBlockIsStillTheSame()
    {
        openBlock();
        m_window->documents().choose(GraphPlace{kMlpBlock});
        QVERIFY(m_window->documents().applyEdit(projects::RenameBlock{"mlp", "feed"}) == DocumentViews::Applied::Yes);
        m_window->documents().refresh();
        const auto renamed = projects::GraphRef::block("feed");
        QVERIFY(m_window->documents().place() == Place(GraphPlace{renamed}));
        QCOMPARE(canvas().graph(), renamed);
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_VERIFY(m_window->documents().place() == Place(GraphPlace{kMlpBlock}));
    }

    void aNodeIsTypedWiredFoundFaultyAndTakenBack()
    {
        const projects::Project before = project();
        openBlock();
        QTest::keyClick(block().surface(), Qt::Key_Tab);
        auto* typing = m_window->findChildren<QLineEdit*>("typingText").last();
        QTRY_VERIFY(typing->isVisible());
        QTest::keyClicks(typing, "linear");
        QTest::keyClick(typing, Qt::Key_Return);
        QTRY_VERIFY(node("linear").has_value());
        QTRY_COMPARE(m_window->actions().undo->text(), QString("&Undo Add linear"));
        const NodeId added = *node("linear");
        QVERIFY(m_window->documents().place() == Place(NodePlace{kMlpBlock, added}));

        // Its output has 64 features where `down` still takes what `up` makes: wiring it there is no fault …
        drag(port({*node("up"), "out"}, projects::PortSide::Output), port({added, "in"}, projects::PortSide::Input));
        QTRY_VERIFY(wired({*node("up"), "out"}, {added, "in"}));
        // … but a sum of both is: the canvas draws the wire all the same, and says what is wrong.
        QTest::keyClick(block().surface(), Qt::Key_Tab);
        QTRY_VERIFY(typing->isVisible());
        QTest::keyClicks(typing, "multiply");
        QTest::keyClick(typing, Qt::Key_Return);
        QTRY_VERIFY(node("multiply").has_value());
        const NodeId product = *node("multiply");
        drag(port({*node("up"), "out"}, projects::PortSide::Output), port({product, "in1"}, projects::PortSide::Input));
        drag(port({added, "out"}, projects::PortSide::Output), port({product, "in2"}, projects::PortSide::Input));
        QTRY_VERIFY(wired({added, "out"}, {product, "in2"}));
        const auto problems = projects::validate(project());
        QVERIFY(std::ranges::any_of(problems, [](const projects::Problem& problem) {
            return problem.place.find("linear.out > multiply.in2") != std::string::npos;
        }));

        for (int step = 0; step < 5; ++step) {
            QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        }
        QCOMPARE(project(), before);
        QVERIFY(m_window->session().document().layout.positions.empty());
    }

    void aWireThatWouldGoRoundIsRefused()
    {
        openBlock();
        const projects::Project before = project();
        drag(port({*node("down"), "out"}, projects::PortSide::Output),
             port({*node("up"), "in"}, projects::PortSide::Input));
        // Requests are carried out in order: a wire that comes later may make an earlier one valid.
        const PortRef input{*node("input"), "out"};
        const PortRef down{*node("down"), "in"};
        drag(port(input, projects::PortSide::Output), port(down, projects::PortSide::Input));
        QTRY_VERIFY(wired(input, down));
        m_window->session().undo();
        QCOMPARE(project(), before);
        QVERIFY(!m_window->session().history().canUndo());
    }

    void anInputTakesOneWire()
    {
        openBlock();
        const PortRef input{*node("input"), "out"};
        const PortRef down{*node("down"), "in"};
        drag(port(input, projects::PortSide::Output), port(down, projects::PortSide::Input));
        QTRY_VERIFY(wired(input, down));
        QVERIFY(!wired({*node("relu"), "out"}, down));
        // And a wire that is picked up at its end and dropped beside it is gone.
        const QPoint end = port(down, projects::PortSide::Input);
        drag(end, QPoint(30, 30));
        QTRY_VERIFY(!wired(input, down));
    }

    void nodesAreSelectedCopiedMovedAndDeleted()
    {
        openBlock();
        click(nodePoint("relu"));
        QTRY_VERIFY(m_window->documents().place() == Place(NodePlace{kMlpBlock, *node("relu")}));
        QTest::keyClick(block().surface(), Qt::Key_Up);
        QTRY_VERIFY(m_window->documents().place() == Place(NodePlace{kMlpBlock, *node("down")}));
        QTest::keyClick(block().surface(), Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QGuiApplication::clipboard()->text().contains("\"down\""));
        QTest::keyClick(block().surface(), Qt::Key_V, Qt::ControlModifier);
        QTRY_VERIFY(node("down2").has_value());
        QTest::keyClick(block().surface(), Qt::Key_D, Qt::ControlModifier);
        QTRY_VERIFY(node("down3").has_value());
        QTest::keyClick(block().surface(), Qt::Key_Delete);
        QTRY_VERIFY(!node("down3").has_value());

        const QPoint from = nodePoint("down2"); // a copy is in sight
        QVERIFY(block().rect().contains(from));
        drag(from, from + QPoint(-120, 40));
        QTRY_COMPARE(m_window->actions().undo->text(), QString("&Undo Move down2"));
        QTRY_VERIFY((nodePoint("down2") - from - QPoint(-120, 40)).manhattanLength() < 16);
        QTest::keyClick(block().surface(), Qt::Key_A, Qt::ControlModifier);
        QTest::keyClick(block().surface(), Qt::Key_Delete);
        QTRY_VERIFY(graph().nodes.empty());
    }

    void severalNodesStaySelectedFromOneEditToTheNext()
    {
        openBlock();
        emit block().requested(
            editor::SelectionChanged{{{}, {}, {*node("up"), *node("relu"), *node("down")}, {}, kMlpBlock}});
        for (const projects::Alignment alignment : {projects::Alignment::Left, projects::Alignment::Top}) {
            const auto before = m_window->session().document().layout;
            m_window->editCommands().align(alignment); // the second moves what the first had selected
            QVERIFY(m_window->session().document().layout != before);
        }
        m_window->session().undo();
        QCoreApplication::processEvents();
        m_window->editCommands().deleteSelection();
        QVERIFY(!node("up") && !node("relu") && !node("down"));
    }

    void aNodeLandsWhereItIsDropped()
    {
        openBlock();
        const PaletteModel model;
        const QModelIndexList found = model.match(model.index(0, 0), PaletteModel::kSearchRole, "RMS norm", 1,
                                                  Qt::MatchStartsWith | Qt::MatchRecursive);
        QCOMPARE(found.size(), 1);
        const std::unique_ptr<QMimeData> data(model.mimeData(found));
        const QPoint at(block().width() / 6, block().height() / 3);
        QDragEnterEvent enter(at, Qt::CopyAction, data.get(), Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&block(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(at, Qt::CopyAction, data.get(), Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&block(), &drop);
        QTRY_VERIFY(node("rms_norm").has_value());
        waitUntilStill(block(), [&] { return nodePoint("rms_norm"); });
        const QPoint landed = nodePoint("rms_norm");
        QVERIFY2((landed - at).manhattanLength() < 60, // beside what stands there
                 qPrintable(QString("dropped at %1, %2 and landed at %3, %4 of %5 × %6")
                                .arg(at.x())
                                .arg(at.y())
                                .arg(landed.x())
                                .arg(landed.y())
                                .arg(block().width())
                                .arg(block().height())));
    }

    void aFormulaIsCheckedAsItIsTyped()
    {
        openBlock();
        QTest::keyClick(block().surface(), Qt::Key_Tab);
        auto* typing = m_window->findChildren<QLineEdit*>("typingText").last();
        QTRY_VERIFY(typing->isVisible());
        QTest::keyClicks(typing, "x * sigmoid(gate)");
        QTest::keyClick(typing, Qt::Key_Return);
        QTRY_VERIFY(node("expression").has_value());
        waitUntilStill(block(), [&] { return nodePoint("expression"); });
        QTest::keyClick(block().surface(), Qt::Key_Return); // to its values
        QLineEdit* field = nullptr;
        QTRY_VERIFY((field = visible<QLineEdit>("property:param.formula")) != nullptr && field->hasFocus());
        QTest::keyClick(field, Qt::Key_End);
        QTest::keyClicks(field, " + ");
        auto* complaint = m_window->findChild<QLabel*>("property:param.formula:complaint");
        QVERIFY(complaint && complaint->isVisible());
        QVERIFY(complaint->text().contains("column"));
        QTest::keyClick(field, Qt::Key_Return);
        QVERIFY(std::get<std::string>(graph().find(*node("expression"))->params.at("formula")) == "x * sigmoid(gate)");
        QTest::keyClicks(field, "bias");
        QVERIFY(!complaint->isVisible());
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_COMPARE(inputPortsOf(*graph().find(*node("expression")), graph()).size(), std::size_t(3));
    }

    void theOutlineWiresAndDeletesWithoutTheCanvas()
    {
        OutlineModel& model = m_window->workspace().outlineModel();
        const NodePlace down{kMlpBlock, *node("down")};
        const auto properties = propertiesOf(project(), down);
        const auto input = std::ranges::find(properties, "input.in", &Property::key);
        QVERIFY(input != properties.end());
        QCOMPARE(input->choices.at(input->value.toInt()), QString("relu"));
        QVERIFY(!input->choices.contains("output")); // which reads it
        const QModelIndex row = model.indexOf(down);
        QVERIFY(row.isValid());
        QModelIndex wire;
        for (int i = 0; i < model.rowCount(row); ++i) {
            if (model.index(i, OutlineModel::Name, row).data().toString() == "Input") {
                wire = model.index(i, OutlineModel::Value, row);
            }
        }
        QCOMPARE(wire.data().toString(), QString("relu"));
        QVERIFY(model.setData(wire, input->choices.indexOf("input"), Qt::EditRole));
        QVERIFY(wired({*node("input"), "out"}, {down.node, "in"}));
        QCOMPARE(m_window->actions().undo->text(), QString("&Undo Wire input in"));
        const auto& places = m_window->session().document().layout.positions;
        QVERIFY(places.contains(kMlpBlock) && places.at(kMlpBlock).size() == graph().nodes.size()); // none has moved

        OutlineView& outline = m_window->workspace().view<OutlineView>();
        QTRY_VERIFY(model.indexOf(NodePlace{kMlpBlock, *node("relu")}).isValid());
        outline.setFocus();
        outline.setCurrentIndex(model.indexOf(NodePlace{kMlpBlock, *node("relu")}));
        QTest::keyClick(&outline, Qt::Key_Delete);
        QVERIFY(!node("relu").has_value());
        QCOMPARE(m_window->actions().undo->text(), QString("&Undo Delete relu"));
    }

    void aBlockIsKeptInTheProjectAndInTheLibrary()
    {
        m_window->documents().choose(LayersPlace{{2}});
        openBlock();
        QTest::mouseClick(button("blockSave"), Qt::LeftButton);
        auto* name = m_window->findChild<QLineEdit*>("saveName");
        QTRY_VERIFY(name->isVisible());
        QCOMPARE(name->text(), QString("mlp2"));
        name->setText("mlp");
        QVERIFY(!m_window->findChild<QPushButton*>("saveToProject")->isEnabled());
        name->setText("mine/yours");
        QTest::mouseClick(m_window->findChild<QPushButton*>("saveToLibrary"), Qt::LeftButton);
        const QDir folder(m_folder->filePath("blocks"));
        QCOMPARE(folder.entryList({"*.json"}).size(), 1);
        QVERIFY(paletteHas("mine/yours"));

        QTest::mouseClick(button("blockSave"), Qt::LeftButton);
        QTRY_VERIFY(name->isVisible());
        name->setText("special");
        QTest::keyClick(name, Qt::Key_Return);
        QTRY_COMPARE(canvas().graph(), projects::GraphRef::block("special"));
        QCOMPARE(project().network.blockOfLayer(2)->name, std::string("special"));
        QCOMPARE(project().network.blockOfLayer(1)->name, std::string("mlp"));
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(project(), threeBlocks());
    }

    void unreadableLibraryBlocksAreNamed()
    {
        m_window.reset();
        QDir().mkpath(m_folder->filePath("blocks"));
        QFile broken(m_folder->filePath("blocks/broken.json"));
        QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("{\"schema\": 1, \"blok\": {}}") > 0);
        broken.close();
        openWindow();
        QTRY_VERIFY(m_window->bannerText().contains("broken.json"));
    }

private:
    CanvasWidget& block() const { return m_window->workspace().block(); }
    editor::BlockCanvas& canvas() const { return m_window->workspace().blockCanvas(); }
    const projects::Graph& graph() const { return *findGraph(project(), kMlpBlock); }
    QToolButton* button(const char* name) const { return m_window->findChild<QToolButton*>(name); }

    std::optional<NodeId> node(const std::string& name) const
    {
        const auto found = std::ranges::find(graph().nodes, name, &projects::Node::name);
        return found == graph().nodes.end() ? std::nullopt : std::optional(found->id);
    }

    bool wired(const PortRef& from, const PortRef& to) const
    {
        return std::ranges::find(graph().wires, projects::Wire{from, to}) != graph().wires.end();
    }

    bool paletteHas(const QString& title) const
    {
        const auto* tree = m_window->findChild<QAbstractItemView*>("paletteTree");
        return !tree->model()
                    ->match(tree->model()->index(0, 0), Qt::DisplayRole, title, 1,
                            Qt::MatchExactly | Qt::MatchRecursive)
                    .isEmpty();
    }

    void openBlock()
    {
        m_window->workspace().showCanvas(WorkspaceView::Block);
        QVERIFY(block().drawable());
        QCOMPARE(canvas().graph(), kMlpBlock);
        waitUntilStill(block(), [&] { return nodePoint("up"); });
    }

    QPoint nodePoint(const std::string& name) const
    {
        const auto id = node(name);
        return id ? pointOf(canvas().locate(*id)) : QPoint();
    }
    QPoint port(const PortRef& ref, projects::PortSide side) const
    {
        waitUntilStill(block(), [&] { return pointOf(canvas().locate(editor::PortTarget{ref, side})); });
        return pointOf(canvas().locate(editor::PortTarget{ref, side}));
    }
    void click(QPoint at) const { WindowHarness::click(block(), at); }
    void drag(QPoint from, QPoint to) const { WindowHarness::drag(block(), from, to); }
};

RESIDUA_TEST_IN(QApplication, TestBlock)
#include "tst_block.moc"
