// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/live_views.h"

#include "app/canvas/canvas_widget.h"
#include "app/window/workspace.h"

namespace residua::app {

void LiveViews::show(const std::vector<editor::LiveValues>& values, const projects::Project& project)
{
    for (const editor::LiveValues& live : values) {
        m_live.take(live, project);
    }
    publish();
}

void LiveViews::showFeature(const std::vector<editor::LiveValues>& values, const projects::Project& project)
{
    m_live.clear(editor::LiveMeasure::Feature);
    show(values, project);
}

void LiveViews::clear()
{
    m_live.clear();
    publish();
}

void LiveViews::publish()
{
    const auto live = std::make_shared<const editor::LiveWeights>(m_live);
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setLive(live);
        canvas->refresh();
    }
    m_workspace.outlineModel().setLive(live);
}

} // namespace residua::app
