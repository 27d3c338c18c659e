// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/tower_rows.h"

#include "editor/scenes/words.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <set>
#include <utility>

namespace residua::editor {
namespace {

using projects::Network;
using projects::Project;

constexpr float kScale = 0.5F;                        ///< of a stack beside the shown one, at most
constexpr float kMiddle = DepthScene::kBoxHeight / 2; ///< of the boxes of a row
constexpr float kLeastWidth = 900;                    ///< up to which rows are wider than the shown stack

// In pixels of a canvas of kCanvas pixels that shows all of the shown stack.
constexpr float kCanvas = 1000;
constexpr float kRowHeight = 20;  ///< at least, for the name
constexpr float kRowGap = 14;     ///< between rows
constexpr float kBelowShown = 28; ///< for numbers and controls
constexpr float kVisitsRoom = 28; ///< below a loop, for its visits
constexpr float kVisitsWide = 36; ///< width of a loop, at least, for its visits

/// Returns the stack of a tower; null for the shown one.
template <class Stacks>
auto* find(Stacks& stacks, std::size_t tower)
{
    const auto found = std::ranges::find(stacks, tower, &SmallStack::tower);
    return found == stacks.end() ? nullptr : &*found;
}

Rect moved(const Rect& r, Point by)
{
    return {r.left + by.x, r.top + by.y, r.right + by.x, r.bottom + by.y};
}

bool readsAt(const projects::Graph& graph, const std::string& value)
{
    return std::ranges::any_of(graph.nodes, [&](const projects::Node& node) {
        return projects::roleOf(node) == projects::NodeRole::GraphInput && projects::graphPortOf(node) == value;
    });
}

/// Returns the first layer whose block reads the value: 0 if the stem does, depth + 1 if only the head does.
std::int64_t readerOf(const Network& network, const std::string& value)
{
    if (network.input == value || readsAt(network.stem, value)) {
        return 0;
    }
    std::int64_t layer = 1;
    const projects::Block* block = network.blockOfLayer(layer);
    while (layer <= network.depth() && (block == nullptr || !readsAt(block->graph, value))) {
        block = network.blockOfLayer(++layer);
    }
    return layer;
}

/// Returns the executed layer after which a tower has the value: 0 of its stem, depth + 1 of its head.
std::int64_t layerOf(const Network& network, const std::string& value)
{
    const auto name = projects::valueNameFrom(value);
    if (!name || name->isStates()) {
        return (name ? projects::layerNamed(network.stack(), name->exit) : std::nullopt).value_or(network.depth());
    }
    const std::vector<std::string> atStem = projects::furtherPorts(network.stem);
    return std::ranges::count(atStem, name->port) > 0 ? 0 : network.depth() + 1;
}

/// Returns the row that has the tower.
auto rowOf(const std::vector<TowerRow>& rows, std::size_t tower)
{
    return std::ranges::find_if(rows,
                                [tower](const TowerRow& row) { return std::ranges::count(row.towers, tower) > 0; });
}

} // namespace

Rect SmallStack::placed(const Rect& r) const
{
    return {at.x + r.left * scale, at.y + r.top * scale, at.x + r.right * scale, at.y + r.bottom * scale};
}

void TowerRows::rebuild(const Project& view, std::optional<std::size_t> shown)
{
    std::vector<SmallStack> before = std::exchange(m_stacks, {});
    m_rows.clear();
    m_wires.clear();
    if (view.towers.empty() || !shown || *shown > view.towers.size()) {
        return;
    }
    const Project whole = projects::viewOf(view, *shown);
    chain(whole);
    m_shownRow = static_cast<std::size_t>(rowOf(m_rows, *shown) - m_rows.begin());
    for (const TowerRow& row : m_rows) {
        for (const std::size_t tower : row.towers) {
            if (tower == shown) {
                continue;
            }
            const Network& network = projects::towerAt(whole, tower);
            const auto kept =
                std::ranges::find_if(before, [&](const SmallStack& each) { return each.project.network == network; });
            SmallStack& stack = m_stacks.emplace_back(kept != before.end() ? std::move(*kept) : SmallStack{});
            stack.tower = tower;
            stack.isJoined = tower != row.towers.front();
            if (kept == before.end()) {
                stack.project.network = network;
                std::vector<LayerRun> loops = foldableRuns(network);
                std::erase_if(loops, [&](const LayerRun& run) { return network.stack().loopOf(run.first) == nullptr; });
                stack.scene.rebuild(stack.project, {}, loops);
                stack.scene.setRise(std::min(1.0F, DepthScene::kBoxHeight / std::max(-stack.scene.bounds().top, 1.0F)));
            }
        }
    }
    addWires(whole);
}

void TowerRows::chain(const Project& whole)
{
    for (const std::size_t tower : projects::shownOrder(whole)) {
        const Network& network = projects::towerAt(whole, tower);
        const std::size_t read = projects::towerOfValue(whole, network.input);
        auto row = std::ranges::find_if(m_rows, [read](const TowerRow& each) { return each.towers.back() == read; });
        row = row == m_rows.end() ? m_rows.insert(row, TowerRow{}) : row;
        row->name += (row->towers.empty() ? "" : " › ") +
                     (network.frozen ? filled(translate("Canvas", "%1 (frozen)"), {network.name}) : network.name);
        row->towers.push_back(tower);
    }
}

void TowerRows::addWires(const Project& whole)
{
    const auto add = [&](const std::string& value, ValueWire wire) {
        wire.from = projects::towerOfValue(whole, value);
        if (std::max(wire.from, wire.to) < projects::towerCount(whole)) {
            wire.fromLayer = layerOf(projects::towerAt(whole, wire.from), value);
            m_wires.push_back(std::move(wire));
        }
    };
    for (std::size_t tower = 0; tower < projects::towerCount(whole); ++tower) {
        const Network& network = projects::towerAt(whole, tower);
        const std::vector<std::string> values = projects::readValues(whole, tower);
        for (const std::string& value : std::set<std::string>(values.begin(), values.end())) {
            add(value, {.to = tower,
                        .toLayer = readerOf(network, value),
                        .text = filled(translate("Canvas", "%1 is read by %2"), {value, network.name})});
        }
    }
    for (const projects::Loss& loss : whole.losses) {
        const std::size_t to = projects::towerOfValue(whole, loss.output);
        if (projects::hasTarget(loss.kind) && to < projects::towerCount(whole)) {
            add(loss.target,
                {.to = to,
                 .toLayer = layerOf(projects::towerAt(whole, to), loss.output),
                 .isOfLoss = true,
                 .text = filled(translate("Canvas", "loss %1: %2 against %3"), {loss.name, loss.output, loss.target})});
        }
    }
}

void TowerRows::place(const DepthScene& shown)
{
    if (m_rows.empty()) {
        return;
    }
    const float pixel = std::max(shown.bounds().width(), kLeastWidth) / kCanvas;
    TowerRow& middle = m_rows[m_shownRow];
    move(middle, {-layOut(middle, shown, pixel), 0});
    m_bounds = middle.area;
    m_bounds.bottom += kBelowShown * pixel;
    const auto put = [&](TowerRow& row, float by) {
        move(row, {middle.area.left, by});
        std::optional<Rect> all = m_bounds;
        include(all, row.area);
        m_bounds = *all;
    };
    for (std::size_t row = m_shownRow; row-- > 0;) {
        layOut(m_rows[row], shown, pixel);
        put(m_rows[row], m_bounds.top - kRowGap * pixel - m_rows[row].area.bottom);
    }
    for (std::size_t row = m_shownRow + 1; row < m_rows.size(); ++row) {
        layOut(m_rows[row], shown, pixel);
        put(m_rows[row], m_bounds.bottom + kRowGap * pixel - m_rows[row].area.top);
    }
    placeWires(shown, kRowGap * pixel / 2);
}

// Places the stacks of a row one after another from 0, their boxes in the middle at the height of the shown stack's
// boxes. Returns the place of the shown one.
float TowerRows::layOut(TowerRow& row, const DepthScene& shown, float pixel)
{
    float sum = 0;
    for (const std::size_t tower : row.towers) {
        const SmallStack* const stack = find(m_stacks, tower);
        sum += stack != nullptr ? stack->scene.bounds().width() + DepthScene::kGap : 0;
    }
    const float scale = std::min(kScale, std::max(shown.bounds().width(), kLeastWidth) / std::max(sum, 1.0F));
    const float least = kRowHeight * pixel / 2;
    std::optional<Rect> area = Rect{0, kMiddle - least, 0, kMiddle + least};
    float shownAt = 0;
    for (const std::size_t tower : row.towers) {
        const float next = tower == row.towers.front() ? 0 : area->right + DepthScene::kGap * scale;
        if (SmallStack* const stack = find(m_stacks, tower)) {
            stack->scale = scale;
            stack->at = {next, kMiddle * (1 - scale)};
            stack->area = stack->placed(stack->scene.bounds());
            const bool showsVisits = std::ranges::any_of(stack->scene.loops(), [&](const LoopBracket& loop) {
                return loop.rect.width() * scale > kVisitsWide * pixel;
            });
            stack->area.bottom += showsVisits ? kVisitsRoom * pixel : 0;
            include(area, stack->area);
        } else {
            shownAt = next;
            include(area, moved(shown.bounds(), {next, 0}));
        }
    }
    row.area = *area;
    row.middle = kMiddle;
    return shownAt;
}

void TowerRows::move(TowerRow& row, Point by)
{
    row.area = moved(row.area, by);
    row.middle += by.y;
    for (const std::size_t tower : row.towers) {
        if (SmallStack* const stack = find(m_stacks, tower)) {
            stack->at = {stack->at.x + by.x, stack->at.y + by.y};
            stack->area = moved(stack->area, by);
        }
    }
}

// A wire to a row below goes along the gap above that row. The wires of losses are at the right of all rows.
void TowerRows::placeWires(const DepthScene& shown, float gap)
{
    const auto boxOf = [&](std::size_t tower, std::int64_t layer) {
        const SmallStack* const stack = find(m_stacks, tower);
        const Rect box = (stack != nullptr ? stack->scene : shown).boxesOf(layer).back().rect;
        return stack != nullptr ? stack->placed(box) : box;
    };
    for (ValueWire& wire : m_wires) {
        const Rect from = boxOf(wire.from, wire.fromLayer);
        const Rect to = boxOf(wire.to, wire.toLayer);
        const auto row = rowOf(m_rows, wire.to);
        const bool isBelow = rowOf(m_rows, wire.from) < row;
        const Point start{from.right, from.centre().y};
        if (wire.isOfLoss) {
            m_bounds.right += gap;
            const Point end{to.right, to.centre().y};
            wire.path = {start, {m_bounds.right, start.y}, {m_bounds.right, end.y}, end};
        } else if (!isBelow && wire.toLayer == 0) { // to a joint
            wire.path = {start, {to.left, start.y}};
        } else {
            const float y = isBelow ? row->area.top - gap : from.bottom + gap;
            const Point end{to.centre().x, isBelow ? to.top : to.bottom};
            wire.path = {{from.centre().x, from.bottom}, {from.centre().x, y}, {end.x, y}, end};
        }
    }
}

std::optional<Rect> TowerRows::areaOf(const TowerSpot& spot) const
{
    const SmallStack* const stack = find(m_stacks, spot.index);
    if (stack != nullptr && spot.kind == TowerSpot::Kind::Stack) {
        return stack->area;
    }
    const bool isJoint = stack != nullptr && spot.kind == TowerSpot::Kind::Joint && stack->isJoined;
    return isJoint ? std::optional(stack->placed(stack->scene.boxes().front().rect)) : std::nullopt;
}

TowerSpot TowerRows::hitTest(Point point, float tolerance) const
{
    for (const TowerSpot::Kind kind : {TowerSpot::Kind::Joint, TowerSpot::Kind::Stack}) {
        for (const SmallStack& stack : m_stacks) {
            if (const auto area = areaOf({kind, stack.tower}); area && area->contains(point)) {
                return {kind, stack.tower};
            }
        }
    }
    for (std::size_t i = 0; i < m_wires.size(); ++i) {
        if (distanceTo(m_wires[i].path, point) < tolerance) {
            return {TowerSpot::Kind::Wire, i};
        }
    }
    return {};
}

std::string TowerRows::describe(const TowerSpot& spot) const
{
    const SmallStack* const stack = find(m_stacks, spot.index);
    if (spot.kind == TowerSpot::Kind::Wire || spot.kind == TowerSpot::Kind::Nothing || stack == nullptr) {
        return spot.kind == TowerSpot::Kind::Wire ? m_wires[spot.index].text : std::string();
    }
    const Network& network = stack->project.network;
    if (spot.kind == TowerSpot::Kind::Joint) {
        return filled(translate("Canvas", "joint: %1 is the input of %2"), {network.input, network.name});
    }
    return filled(translate("Canvas", "%1: %2 layers of width %3; a click shows it in detail"),
                  {network.name, groupedText(network.depth()), groupedText(network.stack().width)});
}

} // namespace residua::editor
