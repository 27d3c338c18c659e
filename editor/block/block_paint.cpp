// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/block/block_paint.h"

#include "editor/block/block_text.h"
#include "editor/canvas/paint_tools.h"
#include "editor/scenes/words.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

namespace residua::editor {
namespace {

using resources::ThemeColours;

constexpr float kCorner = 6;       ///< of a wire, in scene units
constexpr float kStripe = 4;       ///< in the kind's colour, at a node's left
constexpr float kPadding = 10;     ///< inside a node
constexpr float kNamesFrom = 0.7F; ///< the zoom from which ports are named
constexpr float kPortsFrom = 0.5F; ///< the zoom from which ports are drawn
constexpr float kGroundStep = 32;

ImU32 categoryColour(const BlockPicture& picture, const BlockNode& node, double alpha)
{
    return imColour(resources::curveColour(node.category, picture.theme), alpha);
}

void paintGround(ImDrawList& list, const BlockPicture& picture)
{
    const float step = kGroundStep * picture.view.zoom();
    if (step < 20) {
        return;
    }
    const ImU32 colour = imColour(coloursOf(picture).border, 0.7);
    const Rect seen = picture.view.visible(picture.width, picture.height);
    const float left = std::floor(seen.left / kGroundStep) * kGroundStep;
    const float top = std::floor(seen.top / kGroundStep) * kGroundStep;
    for (float x = left; x <= seen.right; x += kGroundStep) {
        for (float y = top; y <= seen.bottom; y += kGroundStep) {
            const Point p = picture.view.toScreen(Point{x, y});
            list.AddRectFilled({p.x - 0.6F, p.y - 0.6F}, {p.x + 0.6F, p.y + 0.6F}, colour);
        }
    }
}

struct Pen {
    ImU32 colour = 0;
    float width = 1;
};

void paintPath(ImDrawList& list, const BlockPicture& picture, const std::vector<Point>& path, const Pen& pen)
{
    const auto on = [&](Point p) { return vec(picture.view.toScreen(p)); };
    list.PathLineTo(on(path.front()));
    for (std::size_t i = 1; i + 1 < path.size(); ++i) {
        const Point corner = path[i];
        const auto towards = [&](Point other) {
            const float length = std::hypot(other.x - corner.x, other.y - corner.y);
            const float part = std::min(kCorner, length / 2) / std::max(length, 1e-3F);
            return Point{corner.x + (other.x - corner.x) * part, corner.y + (other.y - corner.y) * part};
        };
        list.PathLineTo(on(towards(path[i - 1])));
        list.PathBezierQuadraticCurveTo(on(corner), on(towards(path[i + 1])), 6);
    }
    list.PathLineTo(on(path.back()));
    list.PathStroke(pen.colour, 0, pen.width);
}

bool isHovered(const BlockPicture& picture, const BlockWire& wire)
{
    const BlockHit& hit = picture.hovered;
    switch (hit.kind) {
    case BlockHit::Kind::Wire:
        return hit.wire == wire.wire;
    case BlockHit::Kind::Node:
        return hit.node == wire.wire.from.node || hit.node == wire.wire.to.node;
    case BlockHit::Kind::Port:
        return (hit.side == projects::PortSide::Output ? wire.wire.from : wire.wire.to) ==
               projects::PortRef{hit.node, hit.port};
    case BlockHit::Kind::Nothing:
        break;
    }
    return false;
}

void paintWires(ImDrawList& list, const BlockPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    std::vector<std::pair<int, const BlockWire*>> order;
    for (const BlockWire& wire : picture.scene.wires()) {
        if (picture.lifted == wire.wire) {
            continue;
        }
        const bool selected = picture.selection.wires.contains(wire.wire);
        order.emplace_back(selected ? 3 : !wire.error.empty() ? 2 : isHovered(picture, wire) ? 1 : 0, &wire);
    }
    std::ranges::stable_sort(order, {}, &std::pair<int, const BlockWire*>::first);
    const float scale = std::clamp(picture.view.zoom(), 0.7F, 1.4F);
    for (const auto& [rank, wire] : order) {
        const Pen pen = rank == 3   ? Pen{imColour(c.accent), 3 * scale}
                        : rank == 2 ? Pen{imColour(c.error), 2.6F * scale}
                        : rank == 1 ? Pen{imColour(c.text), 2.2F * scale}
                                    : Pen{imColour(c.muted, 0.75), 1.7F * scale};
        paintPath(list, picture, wire->path, pen);
    }
}

void paintPort(ImDrawList& list, const BlockPicture& picture, const BlockNode& node, const BlockPort& port,
               projects::PortSide side)
{
    const ThemeColours& c = coloursOf(picture);
    if (picture.view.zoom() < kPortsFrom && picture.wanted != side) {
        return;
    }
    const float radius = BlockScene::kPortRadius * std::clamp(picture.view.zoom(), 0.6F, 1.5F);
    const ImVec2 at = vec(picture.view.toScreen(port.at));
    const BlockHit& hit = picture.hovered;
    const bool hovered =
        hit.kind == BlockHit::Kind::Port && hit.node == node.id && hit.side == side && hit.port == port.name;
    const bool wanted = picture.wanted == side;
    const ImU32 ground = imColour(c.surface);
    switch (port.state) {
    case BlockPort::State::Wired:
        list.AddCircleFilled(at, radius, imColour(wanted || hovered ? c.accent : c.muted));
        break;
    case BlockPort::State::Free:
    case BlockPort::State::Empty: {
        const bool missing = port.state == BlockPort::State::Empty;
        list.AddCircleFilled(at, radius, ground);
        list.AddCircle(at, radius, imColour(wanted || hovered ? c.accent : missing ? c.error : c.muted), 0, 1.6F);
        break;
    }
    case BlockPort::State::Spare: {
        const ImU32 colour = imColour(wanted || hovered ? c.accent : c.muted, wanted || hovered ? 1 : 0.6);
        const float arm = radius * 0.9F;
        list.AddCircleFilled(at, radius, ground);
        list.AddLine({at.x - arm, at.y}, {at.x + arm, at.y}, colour, 1.4F);
        list.AddLine({at.x, at.y - arm}, {at.x, at.y + arm}, colour, 1.4F);
        break;
    }
    }
    if (hovered || (wanted && port.state != BlockPort::State::Spare)) {
        list.AddCircle(at, radius + 3, imColour(c.accent, hovered ? 1 : 0.45), 0, 1.5F);
    }
}

// The area for the texts of a node.
struct WordRoom {
    float left = 0;
    float right = 0;
    float height = 0;
    float middle = 0;
    float nameSize = 0;
    float smallSize = 0;
    [[nodiscard]] float width() const { return right - left; }
    /// True if there is no room even for the name.
    [[nodiscard]] bool none() const { return height < 9; }
    /// True if there is room for two lines.
    [[nodiscard]] bool card(const BlockNode& node) const
    {
        return node.form == BlockNode::Form::Card && height >= nameSize + smallSize + 5;
    }
};

WordRoom roomIn(const BlockPicture& picture, const BlockNode& node)
{
    const Rect r = picture.view.rectToScreen(node.rect);
    const float zoom = picture.view.zoom();
    const float names = node.namedPorts && zoom >= kNamesFrom ? 12 * zoom : 0;
    return {.left = r.left + (kStripe + kPadding - 2) * std::clamp(zoom, 0.6F, 1.0F),
            .right = r.right - kPadding * std::clamp(zoom, 0.3F, 1.0F),
            .height = r.bottom - r.top - names,
            .middle = (r.top + r.bottom - names) / 2,
            .nameSize = textSize(picture, 13),
            .smallSize = textSize(picture, kLabelSize)};
}

bool sameWord(const std::string& a, const std::string& b)
{
    return std::ranges::equal(a, b,
                              [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Returns the text to the right of a name on one line; empty if it would repeat the name.
std::string lineOf(const BlockNode& node)
{
    const std::string& said = node.detail.empty() || sameWord(node.detail, node.name) ? node.kind : node.detail;
    return sameWord(said, node.name) ? std::string() : said;
}

bool fitsBesideName(const WordRoom& room, const BlockNode& node)
{
    return textWidth(room.nameSize, node.name) + 10 + textWidth(room.smallSize, lineOf(node)) <= room.width();
}

// Paints name, kind and figures in as many lines as fit at this zoom.
void paintWords(ImDrawList& list, const BlockPicture& picture, const BlockNode& node)
{
    const ThemeColours& c = coloursOf(picture);
    const WordRoom room = roomIn(picture, node);
    if (room.none()) {
        return;
    }
    if (!room.card(node)) {
        const float raise = room.height < 2 * room.nameSize ? 1 : 0;
        put(list, ImGui::GetFont(), room.nameSize, {room.left, room.middle - room.nameSize / 2 - raise},
            imColour(c.text), elided(room.nameSize, node.name, room.width()));
        if (node.form == BlockNode::Form::Line && fitsBesideName(room, node)) {
            const std::string line = lineOf(node);
            put(list, ImGui::GetFont(), room.smallSize,
                {room.right - textWidth(room.smallSize, line),
                 room.middle - room.smallSize / 2 + (room.nameSize - room.smallSize) / 4},
                imColour(c.muted), line);
        }
        return;
    }
    const float lines = room.nameSize + room.smallSize + 3;
    const float top = room.middle - lines / 2 - 1; // the font's space above its letters
    const float weights = node.weights.empty() ? 0 : widthOf(*numbers(), room.smallSize, node.weights);
    put(list, ImGui::GetFont(), room.nameSize, {room.left, top}, imColour(c.text),
        elided(room.nameSize, node.name, room.width() - (weights > 0 ? weights + 8 : 0)));
    put(list, numbers(), room.smallSize, {room.right - weights, top + (room.nameSize - room.smallSize) / 2},
        imColour(c.muted), node.weights);
    const std::string line = node.detail.empty() ? node.kind : node.kind + "  " + node.detail;
    put(list, ImGui::GetFont(), room.smallSize, {room.left, top + room.nameSize + 3}, imColour(c.muted),
        elided(room.smallSize, line, room.width()));
}

void paintPortNames(ImDrawList& list, const BlockPicture& picture, const BlockNode& node)
{
    if (!node.namedPorts || picture.view.zoom() < kNamesFrom) {
        return;
    }
    const float size = textSize(picture, 10);
    for (const BlockPort& port : node.inputs) {
        const Point at = picture.view.toScreen(port.at);
        put(list, ImGui::GetFont(), size,
            {at.x - textWidth(size, port.name) / 2, at.y - size - 5 * picture.view.zoom()},
            imColour(coloursOf(picture).muted), port.name);
    }
}

void paintNode(ImDrawList& list, const BlockPicture& picture, const BlockNode& node)
{
    const ThemeColours& c = coloursOf(picture);
    const Rect r = picture.view.rectToScreen(node.rect);
    if (r.right < 0 || r.bottom < 0 || r.left > picture.width || r.top > picture.height) {
        return;
    }
    const float zoom = picture.view.zoom();
    const float rounding = (node.form == BlockNode::Form::Line ? 9.0F : 7.0F) * std::min(zoom, 1.4F);
    const bool selected = picture.selection.nodes.contains(node.id);
    const bool hovered = picture.hovered.kind == BlockHit::Kind::Node && picture.hovered.node == node.id;
    list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, imColour(hovered ? c.raised : c.surface), rounding);
    list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, categoryColour(picture, node, 0.07), rounding);
    list.PushClipRect({r.left, r.top}, {r.left + kStripe * std::min(zoom, 1.4F), r.bottom}, true);
    list.AddRectFilled({r.left, r.top}, {r.left + 3 * rounding, r.bottom}, categoryColour(picture, node, 0.9),
                       rounding);
    list.PopClipRect();
    const ImU32 border = selected              ? imColour(c.accent)
                         : !node.error.empty() ? imColour(c.error)
                                               : imColour(hovered ? c.muted : c.border);
    list.AddRect({r.left, r.top}, {r.right, r.bottom}, border, rounding, 0,
                 selected || !node.error.empty() ? 2.2F : 1.2F);
    paintWords(list, picture, node);
    paintPortNames(list, picture, node);
    for (const BlockPort& port : node.inputs) {
        paintPort(list, picture, node, port, projects::PortSide::Input);
    }
    for (const BlockPort& port : node.outputs) {
        paintPort(list, picture, node, port, projects::PortSide::Output);
    }
}

std::string nameOf(const BlockScene& scene, const projects::PortRef& port)
{
    const BlockNode* node = scene.node(port.node);
    return (node != nullptr ? node->name : std::string("?")) + "." + port.port;
}

// Returns the full shape on an output if it is known.
std::string carriedBy(const BlockScene& scene, const projects::PortRef& output)
{
    const projects::Shape* shape = scene.shapeOf(output);
    return shape != nullptr ? shape->text() : translate("Canvas", "its shape is not known yet");
}

std::vector<std::string> wordsFor(const BlockScene& scene, const BlockHit& hit)
{
    const BlockNode* node = scene.node(hit.node);
    if (hit.kind == BlockHit::Kind::Wire) {
        std::vector<std::string> lines{nameOf(scene, hit.wire.from) + " > " + nameOf(scene, hit.wire.to),
                                       carriedBy(scene, hit.wire.from)};
        if (const BlockWire* wire = scene.wire(hit.wire); wire != nullptr && !wire->error.empty()) {
            lines.push_back(wire->error);
        }
        return lines;
    }
    if (node == nullptr) {
        return {};
    }
    if (hit.kind == BlockHit::Kind::Port) {
        const projects::PortRef ref{hit.node, hit.port};
        std::vector<std::string> lines{nameOf(scene, ref)};
        if (hit.side == projects::PortSide::Output) {
            lines.push_back(carriedBy(scene, ref));
            return lines;
        }
        const auto wire = std::ranges::find(scene.wires(), ref, [](const BlockWire& each) { return each.wire.to; });
        const BlockPort* port = scene.port(ref, projects::PortSide::Input);
        lines.push_back(
            wire != scene.wires().end()                                 ? filled(translate("Canvas", "reads %1 %2"),
                                                                                 {nameOf(scene, wire->wire.from), carriedBy(scene, wire->wire.from)})
            : port != nullptr && port->state == BlockPort::State::Spare ? translate("Canvas", "one more input")
                                                                        : translate("Canvas", "is not wired"));
        return lines;
    }
    std::vector<std::string> lines{node->name, node->kind + ": " + node->summary};
    if (!node->detail.empty()) {
        lines.push_back(node->detail);
    }
    if (!node->weights.empty()) {
        lines.push_back(filled(translate("Canvas", "%1 parameters"), {node->weights}));
    }
    return lines;
}

} // namespace

std::string wordsBeside(const BlockPicture& picture, const BlockNode& node)
{
    const WordRoom room = roomIn(picture, node);
    if (room.none() || room.card(node)) {
        return {};
    }
    if (node.form == BlockNode::Form::Line) {
        return fitsBesideName(room, node) ? std::string() : lineOf(node);
    }
    std::string words = sameWord(node.kind, node.name) ? std::string() : node.kind;
    for (const std::string& more : {node.detail, node.weights}) {
        words += words.empty() || more.empty() ? more : "  " + more;
    }
    return words;
}

void paintBlock(ImDrawList& list, const BlockPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    list.AddRectFilled({0, 0}, {picture.width, picture.height}, imColour(c.background));
    if (picture.scene.graph().empty()) {
        paintNote(list,
                  translate("Canvas",
                            "No block to show: select a layer, the stem or the head, or double-click one on the "
                            "depth canvas"),
                  picture.theme, picture.width, picture.height);
        return;
    }
    paintGround(list, picture);
    if (picture.scene.nodes().empty()) {
        paintNote(list,
                  translate("Canvas", "Empty. Press Tab, double-click here or drag from the palette to add a node"),
                  picture.theme, picture.width, picture.height);
        return;
    }
    paintWires(list, picture);
    for (const BlockNode& node : picture.scene.nodes()) {
        paintNode(list, picture, node);
    }
    paintBlockLabels(list, picture);
}

void paintWirePreview(ImDrawList& list, const BlockPicture& picture, const WirePreview& preview)
{
    const ThemeColours& c = coloursOf(picture);
    const bool good = !preview.check || (preview.check->possible && preview.check->fits);
    const ImU32 colour = imColour(good ? c.accent : c.error);
    const bool up = picture.wanted == projects::PortSide::Input;
    const float reach =
        std::clamp(std::abs(preview.pointer.y - preview.from.y) / 2, 20.0F, 90.0F) * (up ? -1.0F : 1.0F);
    list.AddBezierCubic(vec(preview.from), {preview.from.x, preview.from.y + reach},
                        {preview.pointer.x, preview.pointer.y - reach}, vec(preview.pointer), colour, 2.4F);
    std::vector<std::string> lines{preview.title};
    if (preview.check) {
        if (!preview.check->carries.empty()) {
            lines.push_back(preview.check->carries);
        }
        if (!preview.check->message.empty()) {
            lines.push_back(preview.check->message);
        }
    }
    paintBadge(list, {preview.pointer, lines, colour}, picture.theme, picture.width, picture.height);
}

void paintBlockBadge(ImDrawList& list, const BlockPicture& picture, Point pointer)
{
    const std::vector<std::string> lines = wordsFor(picture.scene, picture.hovered);
    if (!lines.empty()) {
        paintBadge(list, {pointer, lines, imColour(coloursOf(picture).text)}, picture.theme, picture.width,
                   picture.height);
    }
}

void paintBlockMap(ImDrawList& list, const BlockPicture& picture, const Minimap& map)
{
    const Rect bounds = picture.scene.bounds();
    paintMinimapPanel(list, map, picture.theme);
    for (const BlockNode& node : picture.scene.nodes()) {
        const Rect r = map.toPanel(node.rect, bounds);
        const bool selected = picture.selection.nodes.contains(node.id);
        list.AddRectFilled({r.left, r.top}, {std::max(r.right, r.left + 2), std::max(r.bottom, r.top + 1)},
                           selected              ? imColour(coloursOf(picture).accent)
                           : !node.error.empty() ? imColour(coloursOf(picture).error)
                                                 : categoryColour(picture, node, 0.7));
    }
    paintMinimapFrame(list, map, map.toPanel(picture.view.visible(picture.width, picture.height), bounds),
                      picture.theme);
}

void paintBlockBox(ImDrawList& list, const BlockPicture& picture, const Rect& screenArea)
{
    const ThemeColours& c = coloursOf(picture);
    list.AddRectFilled({screenArea.left, screenArea.top}, {screenArea.right, screenArea.bottom},
                       imColour(c.accent, 0.12));
    list.AddRect({screenArea.left, screenArea.top}, {screenArea.right, screenArea.bottom}, imColour(c.accent));
}

} // namespace residua::editor
