// SPDX-License-Identifier: GPL-3.0-or-later
// Texts beside the nodes: shapes at their wires, and errors.
#include "editor/scenes/block_labels.h"
#include "editor/block/block_text.h"

#include <vector>

namespace residua::editor {
namespace {

using resources::ThemeColours;

constexpr float kErrorWidth = 240;

void paintShape(ImDrawList& list, const BlockPicture& picture, const BlockWire& wire, BlockLabels& labels)
{
    const ThemeColours& c = coloursOf(picture);
    const float size = textSize(picture, kLabelSize);
    const float width = widthOf(*numbers(), size, wire.shape) + 4;
    if (const auto plate = labels.claim(labelPlaces(picture.view, wire.path, width, size + 1))) {
        list.AddRectFilled({plate->left, plate->top}, {plate->right, plate->bottom}, imColour(c.background, 0.85), 3);
        put(list, numbers(), size, {plate->left + 2, plate->top}, imColour(wire.error.empty() ? c.muted : c.error),
            wire.shape);
    }
}

// Paints the texts that do not fit into a small node to its right or left.
void paintWordsBeside(ImDrawList& list, const BlockPicture& picture, const BlockNode& node, BlockLabels& labels)
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
            labels.claim({from(r.right + kGap), from(r.left - 2 * kGap - width)}, BlockLabels::Wires::Avoid)) {
        put(list, ImGui::GetFont(), size, {place->left, place->top}, imColour(coloursOf(picture).muted), words);
    }
}

// Paints an error beside, below or above the node if that covers nothing, else to its right.
void paintError(ImDrawList& list, const BlockPicture& picture, const BlockNode& node, BlockLabels& labels)
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
    BlockLabels labels(picture.scene, picture.view);
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
