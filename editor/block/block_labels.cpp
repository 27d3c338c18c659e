// SPDX-License-Identifier: GPL-3.0-or-later
// Texts beside the nodes: shapes at their wires, and errors.
#include "editor/block/block_paint.h"
#include "editor/block/block_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace residua::editor {
namespace {

using resources::ThemeColours;

constexpr float kErrorWidth = 240;

// Texts outside of nodes. They must not cover each other or a node, and should not cover a wire.
class Labels {
public:
    explicit Labels(const BlockPicture& picture)
    {
        for (const BlockNode& node : picture.scene.nodes()) {
            m_taken.push_back(picture.view.rectToScreen(node.rect));
        }
        for (const BlockWire& wire : picture.scene.wires()) {
            for (std::size_t i = 1; i < wire.path.size(); ++i) {
                const Point a = picture.view.toScreen(wire.path[i - 1]);
                const Point b = picture.view.toScreen(wire.path[i]);
                m_wires.push_back({std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)});
            }
        }
    }
    enum class Wires { Spare, Avoid };
    /// Returns the first of `places` that is free, also of wires. With Wires::Spare, falls back to the first place that
    /// is free except for wires.
    std::optional<Rect> claim(const std::vector<Rect>& places, Wires wires = Wires::Spare)
    {
        const auto hits = [](const std::vector<Rect>& others, const Rect& r) {
            return std::ranges::any_of(others, [&](const Rect& other) { return other.overlaps(r); });
        };
        for (const bool overWires : {false, true}) {
            if (overWires && wires == Wires::Avoid) {
                break;
            }
            for (const Rect& place : places) {
                if (!hits(m_taken, place) && (overWires || !hits(m_wires, place))) {
                    m_taken.push_back(place);
                    return place;
                }
            }
        }
        return std::nullopt;
    }

private:
    std::vector<Rect> m_taken;
    std::vector<Rect> m_wires;
};

// Returns places beside a vertical piece of the wire, above or below a horizontal one, with the longest pieces first.
std::vector<Rect> labelPlaces(const BlockPicture& picture, const std::vector<Point>& path, float width, float height)
{
    constexpr float kAside = 4;
    std::vector<std::pair<float, std::size_t>> pieces;
    for (std::size_t i = 1; i < path.size(); ++i) {
        pieces.emplace_back(-(std::abs(path[i].x - path[i - 1].x) + std::abs(path[i].y - path[i - 1].y)), i);
    }
    std::ranges::stable_sort(pieces);
    std::vector<Rect> places;
    for (const auto& [length, i] : pieces) {
        const Point a = picture.view.toScreen(path[i - 1]);
        const Point b = picture.view.toScreen(path[i]);
        const Point c{(a.x + b.x) / 2, (a.y + b.y) / 2};
        const bool upright = std::abs(a.x - b.x) < 1;
        const float needed = upright ? height + 2 : width;
        if (-length * picture.view.zoom() < needed) {
            continue;
        }
        const auto plate = [&](float left, float top) { places.push_back({left, top, left + width, top + height}); };
        if (upright) {
            plate(c.x + kAside, c.y - height / 2);
            plate(c.x - kAside - width, c.y - height / 2);
        } else {
            plate(c.x - width / 2, c.y - kAside + 1 - height);
            plate(c.x - width / 2, c.y + kAside - 1);
        }
    }
    return places;
}

void paintShape(ImDrawList& list, const BlockPicture& picture, const BlockWire& wire, Labels& labels)
{
    const ThemeColours& c = coloursOf(picture);
    const float size = textSize(picture, kLabelSize);
    const float width = widthOf(*numbers(), size, wire.shape) + 4;
    if (const auto plate = labels.claim(labelPlaces(picture, wire.path, width, size + 1))) {
        list.AddRectFilled({plate->left, plate->top}, {plate->right, plate->bottom}, imColour(c.background, 0.85), 3);
        put(list, numbers(), size, {plate->left + 2, plate->top}, imColour(wire.error.empty() ? c.muted : c.error),
            wire.shape);
    }
}

// Paints the texts that do not fit into a small node to its right or left.
void paintWordsBeside(ImDrawList& list, const BlockPicture& picture, const BlockNode& node, Labels& labels)
{
    constexpr float kGap = 6;
    const std::string words = wordsBeside(picture, node);
    if (words.empty()) {
        return;
    }
    const float size = textSize(picture, kLabelSize);
    const float width = textWidth(size, words);
    const Rect r = picture.view.rectToScreen(node.rect);
    const float top = (r.top + r.bottom - size) / 2;
    const auto from = [&](float left) { return Rect{left, top, left + width + kGap, top + size}; };
    if (const auto place =
            labels.claim({from(r.right + kGap), from(r.left - 2 * kGap - width)}, Labels::Wires::Avoid)) {
        put(list, ImGui::GetFont(), size, {place->left, place->top}, imColour(coloursOf(picture).muted), words);
    }
}

// Paints an error beside, below or above the node if that covers nothing, else to its right, so that errors are always
// visible.
void paintError(ImDrawList& list, const BlockPicture& picture, const BlockNode& node, Labels& labels)
{
    constexpr float kGap = 10;
    constexpr float kLineHeight = kTextSize + 4;
    const ThemeColours& c = coloursOf(picture);
    const std::vector<std::string> lines = wrapped(kTextSize, node.error, kErrorWidth);
    float width = 0;
    for (const std::string& line : lines) {
        width = std::max(width, textWidth(kTextSize, line) + 16);
    }
    const float height = kLineHeight * static_cast<float>(lines.size()) + 6;
    const Rect r = picture.view.rectToScreen(node.rect);
    const float top = (r.top + r.bottom - height) / 2;
    const float left = (r.left + r.right - width) / 2;
    std::vector<Rect> places;
    for (const Point corner : {Point{r.right + kGap, top}, Point{r.left - kGap - width, top},
                               Point{left, r.bottom + kGap}, Point{left, r.top - kGap - height}}) {
        const Rect place{corner.x, corner.y, corner.x + width, corner.y + height};
        if (place.left >= 0 && place.right <= picture.width && place.top >= 0 && place.bottom <= picture.height) {
            places.push_back(place);
        }
    }
    const Rect fallback{r.right + kGap, top, r.right + kGap + width, top + height};
    const Rect plate = labels.claim(places).value_or(fallback);
    list.AddRectFilled({plate.left, plate.top}, {plate.right, plate.bottom}, imColour(c.surface), 5);
    list.AddRectFilled({plate.left, plate.top}, {plate.right, plate.bottom}, imColour(c.error, 0.12), 5);
    list.AddRect({plate.left, plate.top}, {plate.right, plate.bottom}, imColour(c.error, 0.6), 5);
    float y = plate.top + 4;
    for (const std::string& line : lines) {
        put(list, ImGui::GetFont(), kTextSize, {plate.left + 8, y}, imColour(c.error), line);
        y += kLineHeight;
    }
}

} // namespace

void paintBlockLabels(ImDrawList& list, const BlockPicture& picture)
{
    Labels labels(picture);
    for (const BlockNode& node : picture.scene.nodes()) { // before the shapes, so that errors get the free places
        if (!node.error.empty()) {
            paintError(list, picture, node, labels);
        }
    }
    for (const BlockWire& wire : picture.scene.wires()) {
        if (wire.labelled && !wire.shape.empty()) {
            paintShape(list, picture, wire, labels);
        }
    }
    for (const BlockNode& node : picture.scene.nodes()) {
        paintWordsBeside(list, picture, node, labels);
    }
}

} // namespace residua::editor
