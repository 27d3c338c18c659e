// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/start/tokeniser_dialog.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "projects/commands/commands.h"

#include <QCoreApplication>
#include <QPointer>

#include <cstdint>
#include <string>

namespace residua::app {

namespace {

class TokeniserCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(TokeniserCommands)
public:
    explicit TokeniserCommands(const WindowParts& parts);

    /// Opens the dialog, or brings the open dialog to the front.
    void ask();

private:
    void use(const std::filesystem::path& model, std::int64_t pieces);

    QPointer<TokeniserDialog> m_dialog;
};

/// Returns the model's path as a project stores it: relative if it is inside the project.
std::string modelPath(const std::filesystem::path& model, const std::filesystem::path& directory)
{
    if (directory.empty()) {
        return model.string();
    }
    const std::filesystem::path relative =
        model.lexically_normal().lexically_relative(std::filesystem::absolute(directory).lexically_normal());
    return relative.empty() || *relative.begin() == ".." ? model.string() : relative.string();
}

} // namespace

TokeniserCommands::TokeniserCommands(const WindowParts& parts) : CommandGroup(parts)
{
    connect(&m_workspace.view<Inspector>(), &Inspector::offerTaken, this, &TokeniserCommands::ask);
    connect(&m_session, &DocumentSession::opened, this, [this] { delete m_dialog; }); // it was about another document
}

void TokeniserCommands::ask()
{
    if (m_dialog) {
        m_dialog->raise();
        m_dialog->activateWindow();
        return;
    }
    const auto subject = TokeniserDialog::subjectOf(m_session.project().data.source, m_session.directory());
    if (!subject) {
        refuse(tr("A tokeniser is learned from a text or JSON Lines: name their file first."));
        return;
    }
    m_dialog = new TokeniserDialog(m_engine, *subject, m_workspace.window());
    connect(m_dialog, &TokeniserDialog::chosen, this, &TokeniserCommands::use);
    m_dialog->show();
}

void TokeniserCommands::use(const std::filesystem::path& model, std::int64_t pieces)
{
    const auto edit = projects::useTokeniser(m_session.project(), {.kind = projects::TokeniserKind::SentencePiece,
                                                                   .model = modelPath(model, m_session.directory()),
                                                                   .vocabulary = pieces});
    if (edit) {
        m_documents.applyEdit(*edit);
    } else {
        refuse(QString::fromStdString(edit.error().text()));
    }
}

void addTokeniserCommands(const WindowParts& parts)
{
    new TokeniserCommands(parts);
}

} // namespace residua::app
