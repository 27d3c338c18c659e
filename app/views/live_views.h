// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/shortcuts/live_weights.h"
#include "visualizers/heatmap/heatmap_frames.h"

#include <QObject>

#include <vector>

namespace residua::visualizers {
class ShownMatrices;
} // namespace residua::visualizers

namespace residua::app {

class DocumentSession;
class Workspace;

/// The weights of the run in front on the canvases and in the outline, as the heatmap shows them: at the same step, in
/// the same colours, and on the canvases as their change or as logarithms where the heatmap does. They are shown while
/// the document's wiring is that which they were learned under; which shortcuts it has may differ, for a shortcut that
/// the run has not has no weight. GUI thread.
class LiveViews : public QObject {
    Q_OBJECT
public:
    LiveViews(const DocumentSession& session, Workspace& workspace, QObject* parent = nullptr);

    /// Canvases show each weight's share of what its layer reads; the outline goes on showing the weight.
    void setRowShares(bool shown);

private:
    [[nodiscard]] bool fits() const;
    void onDocumentChanged();
    void update();
    void take(const std::vector<visualizers::HeatmapFrames::Shown>& frames, editor::LiveWeights& live) const;

    const DocumentSession& m_session;
    Workspace& m_workspace;
    const visualizers::ShownMatrices& m_matrices;
    editor::LiveWeights m_live;
    bool m_rowShares = false;
    bool m_fits = false; ///< whether weights are shown, where there are any
};

} // namespace residua::app
