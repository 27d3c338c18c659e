// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/help/help_page.h"
#include "app/help/help_window.h"
#include "app/inspector/inspector.h"
#include "app/palette/palette_view.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "resources/help.h"

#include <QApplication>
#include <QCoreApplication>

#include <string>

namespace residua::app {
namespace {

class HelpCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(HelpCommands)
public:
    explicit HelpCommands(const WindowParts& parts);

private:
    void explainSelected();
    void explain(const std::string& word);

    HelpWindow* m_help = nullptr;
};

} // namespace

HelpCommands::HelpCommands(const WindowParts& parts) : CommandGroup(parts)
{
    connect(m_actions.explain, &QAction::triggered, this, &HelpCommands::explainSelected);
    connect(m_actions.methods, &QAction::triggered, this, [this] { explain(std::string(resources::kHelpIndex)); });
    connect(m_actions.fiveMinutes, &QAction::triggered, this, [this] { explain("five-minutes"); });
    connect(&m_workspace.view<Inspector>(), &Inspector::explainRequested, this, &HelpCommands::explain);
    connect(&m_workspace.view<PaletteView>(), &PaletteView::explainRequested, this,
            [this](const PaletteItem& item) { explain(helpWordOf(item)); });
}

/// Explains the palette's item if the palette has the keyboard focus, else the selected place.
void HelpCommands::explainSelected()
{
    const PaletteView& palette = m_workspace.view<PaletteView>();
    const PaletteItem* const item = palette.isAncestorOf(QApplication::focusWidget()) ? palette.current() : nullptr;
    if (item) {
        explain(helpWordOf(*item));
    } else if (m_session.isOpen() && m_workspace.isVisible()) {
        explain(helpWordOf(m_session.project(), m_documents.place()));
    } else {
        explain({});
    }
}

void HelpCommands::explain(const std::string& word)
{
    if (!m_help) {
        m_help = new HelpWindow(m_look, m_window);
    }
    m_help->explain(word);
    m_help->show();
    m_help->raise();
    m_help->activateWindow();
}

void addHelpCommands(const WindowParts& parts)
{
    new HelpCommands(parts);
}

} // namespace residua::app
