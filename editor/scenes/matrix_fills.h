// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/live_weights.h"
#include "editor/scenes/matrix_scene.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/mix_port.h"
#include "projects/model/project.h"
#include "resources/colours.h"

#include <cstdint>
#include <optional>

namespace residua::editor {

inline constexpr double kSummedAlpha = 0.15;  ///< opacity of cells that are read without a weight of their own
inline constexpr double kUnknownAlpha = 0.45; ///< opacity of cells whose weight is not known

/// The data that determine the colours of a matrix's cells.
struct MatrixView {
    const MatrixScene& scene;
    const LiveWeights& weights;
    const projects::Project& project;
    projects::MixPort port = projects::MixPort::Input;
    LiveMeasure measure = LiveMeasure::Mean;
    resources::Theme theme = resources::Theme::Light;
};

/// The colours of cells, with values that are looked up once for many cells. Valid as long as the data.
class CellFills {
public:
    explicit CellFills(const MatrixView& of)
        : m_of(of), m_weights(of.weights.port(of.port, of.measure)), m_each(modulesPerLayer(of.project))
    {
    }

    [[nodiscard]] std::optional<float> weightOf(const projects::Shortcut& shortcut) const
    {
        return m_weights.of(shortcut);
    }
    /// Returns a rank. A block of cells is drawn like its cell with the highest rank. Negative if there is no cell.
    [[nodiscard]] double strengthOf(const projects::Shortcut& shortcut) const;
    [[nodiscard]] resources::Rgb colourOf(const projects::Shortcut& shortcut) const;
    [[nodiscard]] double opacityOf(const projects::Shortcut& shortcut) const;

private:
    MatrixView m_of;
    PortWeights m_weights;
    std::int64_t m_each;
};

/// Returns black or white, whichever is more legible on the colour.
[[nodiscard]] resources::Rgb inkOn(resources::Rgb ground);

} // namespace residua::editor
