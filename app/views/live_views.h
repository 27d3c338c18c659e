// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/live_weights.h"
#include "projects/model/topology.h"
#include "visualizers/heatmap/heatmap_frames.h"

#include <QObject>
#include <QString>

#include <map>
#include <set>

namespace residua::visualizers {
class ShownMatrices;
} // namespace residua::visualizers

namespace residua::app {

class DocumentSession;
class Workspace;

/// Shows the weights of the run in front on the canvases and in the outline, like the heatmap: at the same step and in
/// the same colours, and on the canvases as their change or as logarithms if the heatmap does so. The effects of a
/// knock-out of that run are shown under the pointer, or on request as colours. Both are shown while
/// the document's wiring is that of the run. Its shortcuts may differ; a shortcut that the run lacks has no weight. GUI
/// thread.
class LiveViews : public QObject {
    Q_OBJECT
public:
    LiveViews(const DocumentSession& session, Workspace& workspace, QObject* parent = nullptr);

    /// The numbers that colour the shortcuts on the canvases. The outline always shows the weights.
    enum class Colours {
        Weights,
        RowShares, ///< each weight's share of its layer's inputs
        Effects,   ///< the rise of the loss without each shortcut; weights while no effects are known
    };
    void setColours(Colours colours);
    /// Returns the numbers that the canvases show.
    [[nodiscard]] editor::LiveWeights drawn() const;

    /// Returns the reason why the weights of the run in front are not drawn; empty if they are, or if it has none.
    [[nodiscard]] QString absence() const;

    /// Returns the shortcuts frozen at what the run in front has learned at the shown step: its coefficients, as they
    /// are before a softmax, or frozenAsLearned() if they are more than one number each (per feature, per port, gated).
    /// Empty without a run whose weights are drawn. Lacks shortcuts whose coefficients the run has not recorded.
    [[nodiscard]] std::map<projects::Shortcut, projects::ShortcutState>
    frozenAsShown(const std::set<projects::Shortcut>& shortcuts) const;

private:
    [[nodiscard]] bool fits() const;
    [[nodiscard]] QString remark() const;
    void onDocumentChanged();
    void update();
    void takeEffects(editor::LiveWeights& live) const;

    const DocumentSession& m_session;
    Workspace& m_workspace;
    const visualizers::ShownMatrices& m_matrices;
    editor::LiveWeights m_live;     ///< as the heatmap shows them
    editor::LiveWeights m_recorded; ///< the weights themselves, as the outline shows them
    Colours m_colours = Colours::Weights;
    bool m_fits = false; ///< true if weights are shown when there are any
};

} // namespace residua::app
