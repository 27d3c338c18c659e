// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "app/properties/field_form.h"
#include "app/runs/go_on_dialog.h"
#include "engine/base/api/session.h"
#include "resources/colours.h"

#include <optional>

namespace residua::visualizers {
class VisitsView;
}

namespace residua::app {

/// Asks for measures of a loop over its visits, and shows them as curves. It is about a run's network, or about the
/// open project with its initial weights. It stays open for other requests; closing it cancels the one that is carried
/// out. Not modal.
class VisitsDialog : public AskDialog {
    Q_OBJECT
public:
    /// Without a `source`, it is about `open`, the open project, alone.
    VisitsDialog(std::optional<GoOnSource> source, projects::Project open, std::string tower, resources::Theme theme,
                 QWidget* parent = nullptr);

    void showAnswer(const engine::VisitsReady& measured);

signals:
    void chosen(const residua::engine::VisitsRequest& request);

private:
    void begin() override;

    std::optional<GoOnSource> m_source;
    projects::Project m_open;
    std::string m_tower;
    FieldForm m_fields;
    visualizers::VisitsView* m_view;
};

} // namespace residua::app
