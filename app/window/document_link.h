// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_tree.h"
#include "editor/canvas/canvas.h"
#include "engine/api/values.h"

#include <QObject>
#include <QTimer>

#include <optional>
#include <vector>

namespace residua::app {

class Analysis;
class DocumentSession;
class Workspace;

/// Keeps the workspace's views in step with the open document and with each other: every view is a picture of
/// the document and changes it only by the edits that pass through here; all show one selection. GUI thread.
class DocumentLink : public QObject {
    Q_OBJECT
public:
    DocumentLink(DocumentSession& session, Analysis& analysis, Workspace& workspace, QObject* parent = nullptr);

    [[nodiscard]] const Place& place() const { return m_place; }
    /// Makes `place` the selection of all views.
    void choose(const Place& place);
    /// Performs it, or tells why not.
    void applyEdit(const projects::Edit& edit);
    void setRuns(std::vector<engine::RunInfo> runs);
    /// Brings every view up to date now.
    void refresh();

signals:
    void placeChanged();
    void refused(const QString& reason);

private:
    void openAnew();
    void applyProperty(const Property& property, const QVariant& value);
    void answer(const editor::Request& request);
    void prune(const projects::Shortcut& shortcut);
    void showAnalysis();
    void showPlace();
    void showHovered(std::optional<projects::Shortcut> shortcut);
    void showSelection();

    DocumentSession& m_session;
    Analysis& m_analysis;
    Workspace& m_workspace;
    DocumentSnapshot m_document; ///< as the views show it
    Place m_place;
    projects::Selection m_selection; ///< of the canvases; it may hold more than the place can say
    std::vector<engine::RunInfo> m_runs;
    QTimer m_soon;
};

} // namespace residua::app
