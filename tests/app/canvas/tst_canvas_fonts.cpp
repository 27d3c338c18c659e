// SPDX-License-Identifier: GPL-3.0-or-later
// No text of a canvas has a "?" in place of a character.
#include "app/canvas/canvas_widget.h"
#include "editor/scenes/block_node.h"
#include "projects/model/topology.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <imgui.h>

#include <set>
#include <string>
#include <utility>

using namespace residua;

namespace {

/// Returns all texts of the canvases: node names in blocks and palette, presets, and the canvases' own words.
std::vector<std::string> texts()
{
    std::vector<std::string> all{"·  →  −  ×N  …  ≤ ≥ Σ τ ℓ ² ³ ½ ‖x‖ “x” √d ±1 – — §"};
    for (const projects::NodeKind& kind : projects::nodeKinds()) {
        all.insert(all.end(), {kind.title, kind.summary, kind.category});
        for (const projects::ParamSpec& param : kind.params) {
            for (const std::string_view words : {param.title, param.more.unit, param.help}) {
                all.emplace_back(words);
            }
        }
    }
    for (const projects::TopologyPreset& preset : projects::topologyPresets(4)) {
        all.insert(all.end(), {preset.title, preset.summary, preset.source});
    }
    for (const projects::Example& example : projects::examples()) {
        for (const projects::Block& block : example.project.network.blocks) {
            for (const auto& node :
                 editor::describeBlock(example.project, projects::GraphRef::block(block.name)).nodes) {
                all.insert(all.end(), {node.name, node.kind, node.summary, node.detail, node.weights});
            }
        }
    }
    return all;
}

} // namespace

class TestCanvasFonts : public QObject {
    Q_OBJECT

private slots:
    void everyCharacterHasAGlyph()
    {
        ImFontAtlas atlas;
        app::loadCanvasFonts(atlas, 1);
        QVERIFY(atlas.Build());
        QCOMPARE(atlas.Fonts.Size, 2);
        if (atlas.ConfigData.Size < 4) {
            QSKIP("the system lacks the fonts");
        }
        std::set<char32_t> used;
        for (const std::string& text : texts()) {
            for (const char32_t c : QString::fromStdString(text).toStdU32String()) {
                used.insert(c);
            }
        }
        QVERIFY(used.contains(U'ᵀ')); // of "y = x Wᵀ"
        for (const char32_t c : used) {
            for (const ImFont* font : {atlas.Fonts[0], atlas.Fonts[1]}) {
                QVERIFY2(font->FindGlyphNoFallback(static_cast<ImWchar>(c)),
                         qPrintable(QString("U+%1").arg(static_cast<uint>(c), 4, 16)));
            }
        }
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestCanvasFonts)
#include "tst_canvas_fonts.moc"
