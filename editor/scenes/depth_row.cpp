// SPDX-License-Identifier: GPL-3.0-or-later
// The row of the depth canvas: its boxes, and the brackets of loops and groups below them.
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/words.h"
#include "projects/depth/depth_names.h"
#include "projects/layers/layer_edits.h"
#include "projects/model/objective.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace residua::editor {
namespace {

constexpr float kBracketGap = 14; // below the boxes, and between stacked brackets
constexpr float kBracketHeight = 24;

const LayerRun* foldOf(const std::vector<LayerRun>& folds, std::int64_t stored)
{
    const auto fold = std::ranges::lower_bound(folds, stored, {}, &LayerRun::last);
    return fold != folds.end() && fold->first <= stored ? &*fold : nullptr;
}

std::string visitsText(const projects::Loop& loop)
{
    return (loop.draw == projects::VisitDraw::All ? "×" : "×1–") + std::to_string(loop.visits);
}

} // namespace

std::vector<std::int64_t> LayerBox::layers() const
{
    std::vector<std::int64_t> all;
    for (std::int64_t visit = 0; visit < visits; ++visit) {
        for (std::int64_t each = layer; each <= lastLayer; ++each) {
            all.push_back(each + visit * apart);
        }
    }
    return all;
}

bool LayerBox::holdsOneOf(const std::set<std::int64_t>& layers) const
{
    for (std::int64_t visit = 0; visit < visits && !layers.empty(); ++visit) {
        const auto from = layers.lower_bound(layer + visit * apart);
        if (from != layers.end() && *from <= lastLayer + visit * apart) {
            return true;
        }
    }
    return false;
}

void DepthScene::addBox(LayerBox box, float width, float gap)
{
    const float left = m_boxes.empty() ? 0 : m_boxes.back().rect.right + gap;
    box.rect = {left, 0, left + width, kBoxHeight};
    m_boxOf.insert(m_boxOf.end(), static_cast<std::size_t>(box.lastModule - box.module + 1),
                   static_cast<std::uint32_t>(m_boxes.size()));
    m_boxes.push_back(std::move(box));
}

void DepthScene::addBoxes(const projects::Project& project, const std::vector<LayerRun>& folds)
{
    const std::int64_t each = modulesPerLayer(project);
    const bool halves = each == 2;
    const bool isJoint = projects::valueNameFrom(project.network.input).has_value(); // not a field of the data
    addBox({.title = "0",
            .subtitle = isJoint ? translate("Canvas", "joint") : translate("Canvas", "stem"),
            .graph = projects::GraphRef::stem(),
            .rect = {}},
           kBoxWidth, 0);
    const projects::Stack& stack = project.stack();
    std::int64_t number = 0;
    const std::vector<std::string> blocks = projects::blocksOfLayers(stack.segments);
    for (const projects::LayerVisit& at : executionOf(stack)) {
        ++number;
        const LayerRun* const fold = foldOf(folds, at.layer);
        const projects::Loop* const loop = stack.loopOf(at.layer);
        const bool isMember = fold != nullptr && (loop == nullptr ? fold->first < at.layer : at.visit > 1);
        if (isMember) { // a fold outside loops has a box for all of its modules
            for (std::int64_t module = projects::firstModule(number, each);
                 loop != nullptr && module <= projects::lastModule(number, each); ++module) {
                const std::int64_t first = stack.numberOf({at.layer, 1});
                m_boxOf.push_back(m_boxOf[static_cast<std::size_t>(module - (number - first) * each)]);
            }
            continue;
        }
        const std::string& block = blocks[static_cast<std::size_t>(at.layer - 1)];
        const bool asOne = fold != nullptr && loop == nullptr;
        const std::int64_t last = asOne ? number + fold->last - fold->first : number;
        LayerBox box{.layer = number,
                     .lastLayer = last,
                     .module = projects::firstModule(number, each),
                     .lastModule = projects::lastModule(last, each),
                     .title = fold != nullptr && loop != nullptr ? std::to_string(at.layer) : layerName(stack, number),
                     .subtitle = block,
                     .graph = projects::GraphRef::block(block),
                     .rect = {}};
        if (asOne) {
            box.title += "–" + layerName(stack, last);
        } else if (fold != nullptr) {
            box.visits = loop->visits;
            box.apart = loop->order == projects::VisitOrder::Cycle ? loop->last - loop->first + 1 : 1;
        }
        if (asOne || !halves) {
            addBox(std::move(box), kBoxWidth, kGap);
        } else {
            addHalves(std::move(box));
        }
    }
    const bool isCompared = project.network.ownLoss != projects::OwnLoss::None; // with the examples' target
    const std::string_view gives = isCompared ? projects::traitsOf(project.network.objective).predicts : "output";
    addBox({.layer = m_layers + 1,
            .lastLayer = m_layers + 1,
            .module = m_modules + 1,
            .lastModule = m_modules + 1,
            .title = translate("Canvas", "head"),
            .subtitle = translate("Canvas", std::string(gives).c_str()),
            .graph = projects::GraphRef::head(),
            .rect = {}},
           kBoxWidth, kGap);
}

/// Adds a box for each half of the layer.
void DepthScene::addHalves(LayerBox box)
{
    LayerBox second = box;
    box.lastModule = box.module;
    box.title += "a";
    box.subtitle = translate("Canvas", "attention");
    box.joinsNext = true;
    addBox(std::move(box), kHalfWidth, kGap);
    second.module = second.lastModule;
    second.title += "f";
    second.subtitle = translate("Canvas", "ffn");
    addBox(std::move(second), kHalfWidth, 0);
}

void DepthScene::addBrackets(const projects::Stack& stack, const std::vector<projects::LayerGroup>& groups,
                             const std::vector<LayerRun>& folds)
{
    m_brackets.clear();
    m_loops.clear();
    std::vector<float> ends; // of the last bracket at each level
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        if (!stack.isSound(i)) {
            continue;
        }
        const projects::Loop& loop = stack.loops[i];
        const bool folded = foldOf(folds, loop.first) != nullptr;
        LoopBracket bracket{.loop = i,
                            .first = stack.numberOf({loop.first, 1}),
                            .last = stack.numberOf({loop.last, loop.visits}),
                            .visits = visitsText(loop),
                            .folded = folded,
                            .rect = {},
                            .begins = {}};
        bracket.rect = below(bracket.first, bracket.last, ends);
        for (std::int64_t visit = 2; visit <= loop.visits && !folded && loop.order == projects::VisitOrder::Cycle;
             ++visit) {
            bracket.begins.push_back(boxesOf(stack.numberOf({loop.first, visit})).front().rect.left);
        }
        m_loops.push_back(std::move(bracket));
    }
    for (const projects::LayerGroup& group : groups) {
        const std::int64_t first = std::max<std::int64_t>(group.first, 1);
        const std::int64_t last = std::min(group.last, m_layers);
        if (first <= last) { // else its layers are no longer in the stack
            m_brackets.push_back({{group.name, first, last}, below(first, last, ends)});
        }
    }
}

/// Returns the area of a bracket below these executed layers, at the first level that is free there. `ends` are the
/// right ends of the last brackets at the levels.
Rect DepthScene::below(std::int64_t first, std::int64_t last, std::vector<float>& ends) const
{
    float left = boxesOf(first).front().rect.left;
    float right = boxesOf(last).back().rect.right;
    for (std::int64_t layer = first; layer <= last; ++layer) { // a folded loop shows later layers further left
        left = std::min(left, boxesOf(layer).front().rect.left);
        right = std::max(right, boxesOf(layer).back().rect.right);
    }
    const auto free = std::find_if(ends.begin(), ends.end(), [left](float end) { return end < left; });
    const auto level = static_cast<float>(std::distance(ends.begin(), free));
    if (free == ends.end()) {
        ends.push_back(right);
    } else {
        *free = right;
    }
    const float top = kBoxHeight + kBracketGap + level * (kBracketHeight + kBracketGap);
    return {left, top, right, top + kBracketHeight};
}

} // namespace residua::editor
