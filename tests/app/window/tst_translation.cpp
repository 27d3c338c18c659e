// SPDX-License-Identifier: GPL-3.0-or-later
// Panels and canvases write the texts of the translator.
#include "app/properties/property.h"
#include "app/runs/go_on_dialog.h"
#include "editor/block/block_wiring.h"
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/matrix_scene.h"
#include "editor/scenes/words.h"
#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QComboBox>
#include <QDockWidget>
#include <QTranslator>

#include <imgui.h>

using namespace residua;
using namespace residua::app;

namespace {

/// Every text in brackets.
class Brackets : public QTranslator {
public:
    [[nodiscard]] bool isEmpty() const override { return false; }
    [[nodiscard]] QString translate(const char*, const char* text, const char*, int) const override
    {
        return QLatin1Char('[') + QString::fromUtf8(text) + QLatin1Char(']');
    }
};

} // namespace

class TestTranslation : public WindowHarness {
    Q_OBJECT

private slots:
    void initTestCase() { QVERIFY(QCoreApplication::installTranslator(&m_brackets)); }
    void cleanupTestCase() { QCoreApplication::removeTranslator(&m_brackets); }

    void cleanup() { m_window.reset(); }

    void placesAreFilledWhereverTheyStand()
    {
        QCOMPARE(editor::filled("%2 of %1", {"%2", "b"}), std::string("b of %2"));
        QCOMPARE(editor::filled("none", {"a"}), std::string("none"));
    }

    void fieldsAreTranslated()
    {
        const auto properties = propertiesOf(quickExample(), SectionPlace{Section::Training});
        const auto batch = std::ranges::find(properties, std::string("/training/batch"), &Property::key);
        QVERIFY(batch != properties.end());
        QCOMPARE(batch->title, QString("[Batch]"));
        QCOMPARE(batch->unit, QString("[examples]"));
        QVERIFY(batch->help.startsWith('['));
    }

    void inputsOfAFactorisationAreTranslated()
    {
        const projects::Project trained = quickExample();
        const GoOnDialog dialog(GoOnKind::Factorise, {{}, trained, {8}, {}}, trained);
        const auto* const inputs = dialog.findChild<QComboBox*>(QStringLiteral("goOnInputs"));
        QVERIFY(inputs);
        QCOMPARE(inputs->currentText(), QString("[a batch of the data]"));
    }

    /// The window's canvases have set the translator of their context.
    void canvasesAreTranslated()
    {
        openWindowOn(quickExample());
        QVERIFY(ImGui::GetCurrentContext() != nullptr);
        editor::DepthScene scene;
        scene.rebuild(project(), {}, {});
        QCOMPARE(scene.box(0)->subtitle, std::string("[stem]"));
        projects::Project gated = project();
        const auto presets = projects::topologyPresets(gated.network);
        gated.stack().topology = {
            "rezero", std::ranges::find(presets, std::string("rezero"), &projects::TopologyPreset::name)->wiring};
        editor::MatrixScene matrix;
        matrix.rebuild(gated);
        QVERIFY(matrix.note().starts_with("[“rezero” wires depth"));
        QCOMPARE(m_window->workspace().docks().front()->windowTitle(), QString("[Outline]"));
    }

    void blocksAreTranslated()
    {
        openWindowOn(quickExample());
        QVERIFY(ImGui::GetCurrentContext() != nullptr);
        projects::Graph graph = projects::GraphBuilder()
                                    .node("input", "input")
                                    .node("norm", "rms_norm")
                                    .node("again", "rms_norm", {{"share", std::string("norm")}})
                                    .node("attention", "attention", {{"rope", false}})
                                    .node("what", "linear")
                                    .node("output", "output")
                                    .build();
        const auto named = [&graph](const char* name) {
            return std::ranges::find(graph.nodes, std::string(name), &projects::Node::name);
        };
        named("what")->kind = "of another program";
        projects::Project changed = project();
        changed.network.blocks.front().graph = graph;
        const auto ref = projects::GraphRef::block(changed.network.blocks.front().name);
        editor::BlockScene scene;
        scene.rebuild({changed, {}}, ref);
        QCOMPARE(scene.node(named("what")->id)->summary,
                 std::string("[a kind of node that this program does not know]"));
        QVERIFY(scene.node(named("again")->id)->detail.find("[shares norm]") != std::string::npos);
        QVERIFY(scene.node(named("attention")->id)->detail.find("[no rope]") != std::string::npos);
        QVERIFY(editor::shortText({.dims = {projects::kBatch}, .element = projects::Element::Token})
                    .starts_with("[tokens] "));
        editor::BlockWiring wiring;
        editor::BlockHit pressed;
        pressed.kind = editor::BlockHit::Kind::Port;
        pressed.node = named("norm")->id;
        pressed.side = projects::PortSide::Output;
        pressed.port = "out";
        wiring.begin(scene, pressed);
        QVERIFY(wiring.title(scene, {}).starts_with("[norm: drop on a port"));
    }

private:
    Brackets m_brackets;
};

RESIDUA_TEST_IN(QApplication, TestTranslation)
#include "tst_translation.moc"
