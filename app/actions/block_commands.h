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

/// Keeps the block canvas's bar in step with what the canvas shows, and does what it offers; puts what is taken from
/// the palette where it is dropped, and keeps blocks in the project and in the user's library. GUI thread.
class BlockCommands : public QObject {
    Q_OBJECT
public:
    /// `library`: the folder of the user's own blocks.
    BlockCommands(const WindowActions& actions, DocumentSession& session, Workspace& workspace,
                  DocumentViews& documents, EditCommands& commands, std::filesystem::path library, QObject* parent);

signals:
    void noted(const QString& text);
    void refused(const QString& reason);

private:
    void connectBar();
    /// Asks for the name to keep the block under that is shown.
    void openSavePopup();
    void showLibrary();
    [[nodiscard]] bool takeNode(const PaletteItem& item, QWidget* target, QPoint position);
    void saveToProject(const QString& name, bool useInLayer);
    void saveToLibrary(const QString& name);
    /// The block that is shown, under another name, with its picture.
    [[nodiscard]] projects::BlockFile shownAs(const QString& name) const;
    void showBar();
    /// The layer that was selected last, while it is made of the graph that is shown.
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
