// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/document/document_session.h"
#include "app/runs/layers_panel.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"

#include <cstdint>
#include <set>
#include <variant>
#include <vector>

namespace residua::app {

void addLayersCommands(const WindowParts& parts)
{
    LayersPanel& panel = parts.workspace.view<LayersPanel>();
    const auto show = [&panel, &session = parts.session] {
        if (session.isOpen()) {
            panel.setProject(session.history().projectSnapshot());
        }
    };
    QObject::connect(&parts.session, &DocumentSession::opened, &panel, show);
    QObject::connect(&parts.session, &DocumentSession::changed, &panel, show);
    QObject::connect(&panel, &LayersPanel::layersChosen, &parts.documents,
                     [&documents = parts.documents](const std::vector<std::int64_t>& layers) {
                         documents.choose(layers.empty() ? Place(ProjectPlace{}) : Place(LayersPlace{layers}));
                     });
    QObject::connect(&parts.documents, &DocumentViews::placeChanged, &panel, [&panel, &documents = parts.documents] {
        const bool isOfLayers = std::holds_alternative<LayersPlace>(documents.place()) ||
                                std::holds_alternative<LoopPlace>(documents.place());
        const std::set<std::int64_t> layers = isOfLayers ? documents.selection().layers : std::set<std::int64_t>();
        panel.choose({layers.begin(), layers.end()});
    });
}

} // namespace residua::app
