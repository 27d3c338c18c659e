// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/matrix_scene.h"

#include "editor/scenes/words.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"
#include "projects/layers/shortcut_edits.h"

#include <algorithm>
#include <cmath>

namespace residua::editor {
namespace {

using projects::DepthMix;
using projects::Shortcut;

std::string noteFor(const projects::Project& project)
{
    const std::int64_t depth = modulesOf(project);
    if (!std::holds_alternative<DepthMix>(project.stack().topology.wiring)) {
        return filled(translate("Canvas", "“%1” wires depth without shortcuts of its own, so it has no matrix. "
                                          "Choose ANCRe, DCA or another mix above the canvas to have one."),
                      {project.stack().topology.preset});
    }
    if (depth == 0) {
        return translate("Canvas", "No layers yet: press Tab and type, for example, 4 mlp");
    }
    if (depth > MatrixScene::kDeepest) {
        return filled(
            translate("Canvas", "The matrix shows up to %1 rows; this stack has %2. The depth canvas shows them all."),
            {groupedText(MatrixScene::kDeepest), groupedText(depth)});
    }
    return {};
}

MatrixCell cellOf(projects::ShortcutKind kind)
{
    switch (kind) {
    case projects::ShortcutKind::Frozen:
        return MatrixCell::Frozen;
    case projects::ShortcutKind::Pruned:
        return MatrixCell::Pruned;
    case projects::ShortcutKind::Learned:
        return MatrixCell::Learned;
    case projects::ShortcutKind::Stream:
        return MatrixCell::Summed;
    case projects::ShortcutKind::Fixed:
        break;
    }
    return MatrixCell::Fixed;
}

} // namespace

bool isRead(MatrixCell cell)
{
    return cell == MatrixCell::Fixed || cell == MatrixCell::Learned || cell == MatrixCell::Frozen;
}

void MatrixScene::rebuild(const projects::Project& project)
{
    ++m_revision;
    m_depth = modulesOf(project);
    m_note = noteFor(project);
    m_ports = portsOf(project.stack().topology);
    m_size = 0;
    m_columns = 0;
    m_hasSummed = false;
    if (m_note.empty()) {
        fill(std::get<DepthMix>(project.stack().topology.wiring));
    }
}

void MatrixScene::fill(const DepthMix& mix)
{
    m_size = projects::possibleSources(mix, m_depth + 1, m_depth).empty() ? m_depth : m_depth + 1;
    m_columns = newestEntryBefore(mix, m_size) + 1;
    m_cells.assign(static_cast<std::size_t>(m_size * m_size), MatrixCell::Outside);
    const MatrixCell open = isRunningSum(mix) ? MatrixCell::Summed : MatrixCell::Empty;
    for (std::int64_t target = 1; target <= m_size; ++target) {
        const auto row = m_cells.begin() + static_cast<std::ptrdiff_t>(indexOf({0, target}));
        for (const std::int64_t source : projects::possibleSources(mix, target, m_depth)) {
            row[source] = open; // there may be half a million, all of them inside
        }
        const projects::DepthReader reader = projects::readerOf(mix, target, m_depth);
        // A pruned middle is not among the sources.
        if (reader.middle && std::ranges::binary_search(reader.sources, reader.middle->first)) {
            for (std::int64_t source = reader.middle->first; source <= reader.middle->last; ++source) {
                mark({source, target}, MatrixCell::Summed);
            }
        }
    }
    for (const projects::DrawnShortcut& drawn : drawnShortcuts(mix, m_depth)) {
        mark(drawn.shortcut, cellOf(drawn.kind));
    }
    m_hasSummed = std::ranges::find(m_cells, MatrixCell::Summed) != m_cells.end();
}

bool MatrixScene::isInside(const Shortcut& shortcut) const
{
    return shortcut.source >= 0 && shortcut.source < m_size && shortcut.target >= 1 && shortcut.target <= m_size;
}

void MatrixScene::mark(const Shortcut& shortcut, MatrixCell cell)
{
    if (isInside(shortcut)) { // an invalid document may contain shortcuts outside the grid
        m_cells[indexOf(shortcut)] = cell;
    }
}

MatrixCell MatrixScene::cell(const Shortcut& shortcut) const
{
    return isInside(shortcut) ? m_cells[indexOf(shortcut)] : MatrixCell::Outside;
}

float MatrixScene::topOf(std::int64_t target) const
{
    return static_cast<float>(target - 1) * kCell + (target > m_depth ? kFinalGap : 0.0F);
}

Rect MatrixScene::rectOf(const Shortcut& shortcut) const
{
    const float left = static_cast<float>(shortcut.source) * kCell;
    const float top = topOf(shortcut.target);
    return {left, top, left + kCell, top + kCell};
}

Rect MatrixScene::bounds() const
{
    const float bottom = static_cast<float>(m_size) * kCell + (m_size > m_depth ? kFinalGap : 0.0F);
    return {0, 0, static_cast<float>(m_columns) * kCell, bottom};
}

std::optional<Shortcut> MatrixScene::hitTest(Point point) const
{
    const Range columns = columnsIn(point.x, point.x);
    const Range targets = targetsIn(point.y, point.y);
    if (columns.first > columns.last || targets.first > targets.last) {
        return std::nullopt;
    }
    const Shortcut shortcut{columns.first, targets.first};
    const bool hit = rectOf(shortcut).contains(point) && cell(shortcut) != MatrixCell::Outside;
    return hit ? std::optional(shortcut) : std::nullopt;
}

std::vector<Shortcut> MatrixScene::stroke(Point from, Point to) const
{
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    const auto pieces = std::clamp(static_cast<int>(length / (kCell / 4)), 1, 100000);
    std::vector<Shortcut> passed;
    for (int i = 0; i <= pieces; ++i) {
        const float t = static_cast<float>(i) / static_cast<float>(pieces);
        const auto hit = hitTest({from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t});
        if (hit && (passed.empty() || passed.back() != *hit)) {
            passed.push_back(*hit);
        }
    }
    return passed;
}

MatrixScene::Range MatrixScene::columnsIn(float left, float right) const
{
    if (right < 0) {
        return {};
    }
    const auto last = static_cast<std::int64_t>(std::floor(right / kCell));
    return {static_cast<std::int64_t>(std::floor(std::max(left, 0.0F) / kCell)), std::min(last, m_columns - 1)};
}

MatrixScene::Range MatrixScene::targetsIn(float top, float bottom) const
{
    if (bottom < 0) {
        return {};
    }
    const auto targetAt = [this](float y) {
        const bool final = y >= topOf(m_size);
        return final ? m_size + (y > topOf(m_size) + kCell ? 1 : 0)
                     : std::min(static_cast<std::int64_t>(std::floor(y / kCell)) + 1, m_size);
    };
    return {targetAt(std::max(top, 0.0F)), std::min(targetAt(bottom), m_size)};
}

} // namespace residua::editor
