// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/block/block_library.h"
#include "app/properties/place.h"

#include <QObject>

#include <cstdint>
#include <optional>

namespace residua::app {

class DocumentViews;
class DocumentSession;
class EditCommands;
class SavePopup;
class Workspace;
struct PaletteItem;
struct WindowActions;

/// Updates the block canvas's bar and runs its commands. Adds palette items where they are dropped, and saves blocks to
/// the project and to the user's library. GUI thread.
class BlockCommands : public QObject {
    Q_OBJECT
public:
    /// `library` is the folder of the user's own blocks.
    BlockCommands(const WindowActions& actions, DocumentSession& session, Workspace& workspace,
                  DocumentViews& documents, EditCommands& commands, std::filesystem::path library, QObject* parent);

signals:
    void noted(const QString& text);
    void refused(const QString& reason);

private:
    void connectBar();
    /// Asks for the name under which to save the shown block.
    void openSavePopup();
    void showLibrary();
    [[nodiscard]] bool takeNode(const PaletteItem& item, QWidget* target, QPoint position);
    void saveToProject(const QString& name, bool useInLayer);
    void saveToLibrary(const QString& name);
    /// Returns the shown block under another name, with its node positions.
    [[nodiscard]] projects::BlockFile shownAs(const QString& name) const;
    void showBar();
    /// Returns the layer that was selected last, while it uses the shown graph.
    [[nodiscard]] std::optional<std::int64_t> layer() const;
    void leave();

    DocumentSession& m_session;
    Workspace& m_workspace;
    DocumentViews& m_documents;
    EditCommands& m_commands;
    BlockLibrary m_library;
    SavePopup* m_save;
    std::int64_t m_layer = 0;
};

} // namespace residua::app
