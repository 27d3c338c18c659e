// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from workspace.h, because only the pages of a study read and set a view.

#include "engine/runs/results/study_page.h"

#include <filesystem>

namespace residua::app {

class Workspace;

/// Returns what the workspace shows: the canvas and the panels in front, the choices above the plots, the filter and
/// the columns of the runs, the hidden curves, and the ranges of the plots that are zoomed. `folder` has the runs. GUI
/// thread.
[[nodiscard]] engine::PageView keptView(Workspace& workspace, const std::filesystem::path& folder);

/// Brings the view's canvas and panels to the front. Skips names that the workspace lacks.
void bringForward(Workspace& workspace, const engine::PageView& view);
/// Shows the view's columns of the runs, and hides the curves that it hides, those of later runs when they come.
void showColumnsAndCurves(Workspace& workspace, const engine::PageView& view, const std::filesystem::path& folder);
/// Sets the choices of the view that the workspace has now, and removes them from it. Others may come later.
void takeChoices(Workspace& workspace, engine::PageView& view);
/// Zooms the plots as the view has them, and shows everything in the others.
void zoomPlots(Workspace& workspace, const engine::PageView& view);

} // namespace residua::app
