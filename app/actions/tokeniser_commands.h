// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>

#include <cstdint>
#include <filesystem>

namespace residua::app {

class DocumentSession;
class DocumentViews;
class EngineBridge;
class TokeniserDialog;
class Workspace;

/// Trains a tokeniser on the open project's text and sets it in the document. GUI thread.
class TokeniserCommands : public QObject {
    Q_OBJECT
public:
    TokeniserCommands(DocumentSession& session, EngineBridge& engine, DocumentViews& documents, Workspace& workspace,
                      QObject* parent = nullptr);

    /// Opens the dialog, or brings the open dialog to the front.
    void ask();

signals:
    void refused(const QString& reason);

private:
    void use(const std::filesystem::path& model, std::int64_t pieces);

    DocumentSession& m_session;
    EngineBridge& m_engine;
    DocumentViews& m_documents;
    Workspace& m_workspace;
    QPointer<TokeniserDialog> m_dialog;
};

} // namespace residua::app
