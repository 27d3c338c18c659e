// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_tree.h"
#include "editor/canvas/canvas.h"
#include "projects/commands/commands.h"

#include <QObject>
#include <QTimer>

#include <optional>
#include <vector>

namespace residua::visualizers {
class ShownRuns;
}

namespace residua::app {

class Analysis;
class CanvasWidget;
class DocumentSession;
class RunController;
class SchedulePage;
class Workspace;

/// Updates the workspace's views from the open document and from each other. Every view shows the document and changes
/// it only by the edits that pass through here. All views share one selection. GUI thread.
class DocumentViews : public QObject {
    Q_OBJECT
public:
    DocumentViews(DocumentSession& session, Analysis& analysis, Workspace& workspace, QObject* parent = nullptr);

    [[nodiscard]] const projects::Project& project() const;
    [[nodiscard]] const Place& place() const { return m_place; }
    /// Selects `place` in all views.
    void choose(const Place& place);
    [[nodiscard]] const projects::Selection& selection() const { return m_state.selection; }
    void select(const projects::Selection& selection);
    [[nodiscard]] const std::vector<editor::LayerRun>& folds() const { return m_state.folds; }
    /// Draws these ranges of layers as one box each.
    void fold(std::vector<editor::LayerRun> folds);

    enum class Applied { Yes, Refused };
    /// Applies the edit of the shown tower's view, or reports why it fails.
    Applied applyEdit(const projects::Edit& edit);
    /// Applies an edit of the whole document, or reports why it fails.
    Applied applyWholeEdit(const projects::Edit& edit);
    /// Applies the result of a command, or reports its error. All views are updated before this returns. If the edit
    /// fails, the selection stays.
    void perform(const Result<projects::DocumentChange>& change);
    /// Updates every view now.
    void refresh();

signals:
    void placeChanged();
    void refused(const QString& reason);
    void noted(const QString& text); ///< the reason why a command has no effect, or the item taken from the palette

private:
    void openAnew();
    void openTower();
    void choosePointer(const std::string& pointer);
    Applied report(const Status& done);
    void connectPanels();
    void followRenames();
    void showOutline();
    void applyProperty(const Property& property, const QVariant& value);
    [[nodiscard]] Result<projects::Edit> editOf(const Property& property, const QVariant& value);
    [[nodiscard]] projects::Edit keepingPlaces(const projects::Edit& edit) const;
    void answer(const CanvasWidget& canvas, const editor::Request& request);
    void showAnalysis();
    void showPlace();
    void showHovered(std::optional<projects::Shortcut> shortcut, const CanvasWidget* over);
    void showState();

    DocumentSession& m_session;
    Analysis& m_analysis;
    Workspace& m_workspace;
    DocumentSnapshot m_document; ///< as shown by the views
    Place m_place;
    editor::ViewState m_state; ///< of the canvases; its selection may contain more than the place
    QTimer m_soon;
    projects::ProjectSnapshot m_unscaled;    ///< before the user began to change the steps
    std::optional<std::uint64_t> m_scaledAt; ///< the revision that the last change of the steps made
};

/// Connects the page to the document: shows its stages, the step of the training run and the losses at the borders of
/// the run in front, and applies the page's edits. The arguments must outlive the page or be destroyed with it. GUI
/// thread.
void connectSchedule(const DocumentSession& session, const Analysis& analysis, const RunController& controller,
                     DocumentViews& documents, const visualizers::ShownRuns& shown, SchedulePage& page);

} // namespace residua::app
