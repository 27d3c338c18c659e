// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_tree.h"
#include "editor/canvas/canvas.h"
#include "projects/commands/document_change.h"

#include <QObject>
#include <QTimer>

#include <optional>
#include <vector>

namespace residua::app {

class Analysis;
class CanvasWidget;
class DocumentSession;
class Workspace;

/// Keeps the workspace's views in step with the open document and with each other: every view is a picture of
/// the document and changes it only by the edits that pass through here; all show one selection. GUI thread.
class DocumentViews : public QObject {
    Q_OBJECT
public:
    DocumentViews(DocumentSession& session, Analysis& analysis, Workspace& workspace, QObject* parent = nullptr);

    [[nodiscard]] const Place& place() const { return m_place; }
    /// Makes `place` the selection of all views.
    void choose(const Place& place);
    [[nodiscard]] const projects::Selection& selection() const { return m_state.selection; }
    void select(const projects::Selection& selection);
    [[nodiscard]] const std::vector<editor::LayerRun>& folds() const { return m_state.folds; }
    /// Draws these runs of layers as one box each.
    void fold(std::vector<editor::LayerRun> folds);

    enum class Applied { Yes, Refused };
    /// Performs the edit, or tells why it cannot be done.
    Applied applyEdit(const projects::Edit& edit);
    /// Performs what a command gave, or tells why it gave nothing. All views show it before anything else is done;
    /// where the edit is refused, the selection stays.
    void perform(const Result<projects::DocumentChange>& change);
    /// Brings every view up to date now.
    void refresh();

signals:
    void placeChanged();
    void refused(const QString& reason);
    void noted(const QString& text); ///< why a command does nothing, or what was taken from the palette

private:
    void openAnew();
    void connectPanels();
    void followRenames();
    void showOutline();
    void applyProperty(const Property& property, const QVariant& value);
    [[nodiscard]] projects::Edit keepingPlaces(const projects::Edit& edit) const;
    void answer(const CanvasWidget& canvas, const editor::Request& request);
    void showAnalysis();
    void showPlace();
    void showHovered(std::optional<projects::Shortcut> shortcut, const CanvasWidget* over);
    void showState();

    DocumentSession& m_session;
    Analysis& m_analysis;
    Workspace& m_workspace;
    DocumentSnapshot m_document; ///< as the views show it
    Place m_place;
    editor::ViewState m_state; ///< of the canvases; its selection may hold more than the place names
    QTimer m_soon;
};

} // namespace residua::app
