// SPDX-License-Identifier: GPL-3.0-or-later
// The other towers around the shown stack: small stacks, their joints and names, and the wires of values.
#include "editor/depth/depth_paint.h"

#include <algorithm>
#include <vector>

namespace residua::editor {
namespace {

using resources::ThemeColours;

constexpr float kNameAside = 8;    ///< screen pixels between the left border, a row's name and the row
constexpr float kWidestName = 160; ///< screen pixels
constexpr float kEnd = 3;          ///< radius in screen pixels of a wire's end at its reader

ImU32 colourOf(const DepthPicture& picture, TowerSpot::Kind kind, std::size_t index, double alpha)
{
    const ThemeColours& c = resources::themeColours(picture.theme);
    return picture.hoveredTower == TowerSpot{kind, index} ? imColour(c.accent) : imColour(c.muted, alpha);
}

void paintWires(ImDrawList& list, const DepthPicture& picture)
{
    const auto& wires = picture.towers->wires();
    for (std::size_t i = 0; i < wires.size(); ++i) {
        const ImU32 colour = colourOf(picture, TowerSpot::Kind::Wire, i, 0.6);
        for (const Point at : wires[i].path) {
            list.PathLineTo(vec(picture.view.toScreen(at)));
        }
        list.PathStroke(colour, 0, 1.5F);
        list.AddCircleFilled(vec(picture.view.toScreen(wires[i].path.back())), kEnd, colour);
    }
}

// Paints a joint as two triangles that meet.
void paintJoint(ImDrawList& list, const DepthPicture& picture, const SmallStack& stack)
{
    const Rect r = picture.view.rectToScreen(stack.placed(stack.scene.boxes().front().rect));
    const ImU32 colour = colourOf(picture, TowerSpot::Kind::Joint, stack.tower, 1);
    const ImVec2 at = vec(r.centre());
    list.AddRectFilled({r.left - 1, r.top - 1}, {r.right + 1, r.bottom + 1},
                       imColour(resources::themeColours(picture.theme).background));
    list.AddTriangleFilled({r.left, r.top}, at, {r.left, r.bottom}, colour);
    list.AddTriangleFilled({r.right, r.top}, {r.right, r.bottom}, at, colour);
}

void paintStack(ImDrawList& list, const DepthPicture& picture, const SmallStack& stack)
{
    static const LiveWeights noWeights;
    static const projects::Selection nothing;
    const Rect r = picture.view.rectToScreen(stack.area);
    if (r.right < 0 || r.left > picture.width || r.bottom < 0 || r.top > picture.height) {
        return;
    }
    if (picture.hoveredTower == TowerSpot{TowerSpot::Kind::Stack, stack.tower}) {
        list.AddRectFilled({r.left, r.top}, {r.right, r.bottom},
                           imColour(resources::themeColours(picture.theme).accent, 0.12), 4);
    }
    const Viewport view = picture.view.within(stack.at, stack.scale);
    std::vector<DepthPort> ports = depthPorts(stack.project.stack().topology, picture.theme);
    ports.resize(std::min<std::size_t>(ports.size(), 1)); // thin arcs, one for each shortcut
    DepthPicture small{stack.scene,  view,         nothing,       noWeights,     stack.project, ports,
                       std::nullopt, std::nullopt, picture.theme, picture.width, picture.height};
    small.isSmall = true;
    if (stack.scene.arcs().size() * picture.towers->stacks().size() <= kMostStrokes) {
        paintArcs(list, small);
    }
    paintRow(list, small);
    paintLoops(list, small, {-1, -1});
    if (stack.isJoined) {
        paintJoint(list, picture, stack);
    }
}

} // namespace

void paintTowers(ImDrawList& list, const DepthPicture& picture)
{
    paintWires(list, picture);
    for (const SmallStack& stack : picture.towers->stacks()) {
        paintStack(list, picture, stack);
    }
}

// A name stays at the border of the canvas while its row begins beyond it.
void paintTowerTexts(ImDrawList& list, const DepthPicture& picture)
{
    const ThemeColours& c = resources::themeColours(picture.theme);
    const auto& rows = picture.towers->rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Rect r = picture.view.rectToScreen(rows[i].area);
        const float y = picture.view.toScreen({0, rows[i].middle}).y;
        const float width =
            std::min(textWidth(kTextSize, rows[i].name), std::max(r.left - 2 * kNameAside, kWidestName / 2));
        const float left = std::max(r.left - kNameAside - width, kNameAside);
        const float half = kTextSize / 2 + 3;
        list.AddRectFilled({left - 2, y - half}, {left + width + 2, y + half}, imColour(c.background, 0.85), 3);
        centredText(list, kTextSize, {left + width / 2, y}, width,
                    imColour(i == picture.towers->shownRow() ? c.text : c.muted), rows[i].name);
    }
    const std::string text = picture.towers->describe(picture.hoveredTower);
    if (!text.empty()) {
        paintBadge(list, {pointerPosition(), {text}, imColour(c.text)}, picture.theme, picture.width, picture.height);
    }
}

} // namespace residua::editor
