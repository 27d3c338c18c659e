// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/matrix_fills.h"

namespace residua::editor {

using projects::Shortcut;

double CellFills::strengthOf(const Shortcut& shortcut) const
{
    const MatrixCell cell = m_of.scene.cell(shortcut);
    if (isRead(cell)) {
        if (const auto shade = m_weights.of(shortcut)) {
            return 1 + m_of.weights.scale(m_of.measure).strength(*shade);
        }
    }
    switch (cell) {
    case MatrixCell::Outside:
        return -1;
    case MatrixCell::Empty:
    case MatrixCell::Pruned:
        return 0;
    case MatrixCell::Summed:
        return 0.1;
    case MatrixCell::Fixed:
        return 0.2;
    case MatrixCell::Learned:
    case MatrixCell::Frozen:
        break;
    }
    return 0.3;
}

resources::Rgb CellFills::colourOf(const Shortcut& shortcut) const
{
    const resources::ThemeColours& c = resources::themeColours(m_of.theme);
    const MatrixCell cell = m_of.scene.cell(shortcut);
    if (isRead(cell)) {
        if (const auto shade = m_weights.of(shortcut)) {
            return weightColour(m_of.weights.scale(m_of.measure), *shade, m_of.theme);
        }
    }
    switch (cell) {
    case MatrixCell::Outside:
    case MatrixCell::Empty:
    case MatrixCell::Pruned:
        return c.surface;
    case MatrixCell::Summed:
    case MatrixCell::Fixed:
        return c.muted;
    case MatrixCell::Learned:
    case MatrixCell::Frozen:
        break;
    }
    return resources::curveColour(0, m_of.theme);
}

double CellFills::opacityOf(const Shortcut& shortcut) const
{
    const MatrixCell cell = m_of.scene.cell(shortcut);
    if (cell == MatrixCell::Empty || cell == MatrixCell::Pruned) {
        return 1;
    }
    if (cell == MatrixCell::Summed) {
        return kSummedAlpha;
    }
    const bool runs = m_of.weights.isActive(projects::layerOf(shortcut.target, m_each));
    return (m_weights.of(shortcut) ? 1.0 : kUnknownAlpha) * (runs ? 1.0 : 0.35);
}

resources::Rgb inkOn(resources::Rgb ground)
{
    const int light = 299 * ground.r + 587 * ground.g + 114 * ground.b;
    return light > 140000 ? resources::Rgb{10, 14, 22} : resources::Rgb{255, 255, 255};
}

} // namespace residua::editor
