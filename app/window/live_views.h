// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/shortcuts/live_weights.h"
#include "engine/api/values.h"
#include "projects/model/topology.h"

#include <QObject>

#include <cstdint>
#include <vector>

namespace residua::app {

class DocumentSession;
class Workspace;

/// The live weights of the run in front on the canvases and in the outline: taken once, shared by all. They are shown
/// while the document has the topology that they were learned under. GUI thread.
class LiveViews : public QObject {
    Q_OBJECT
public:
    LiveViews(const DocumentSession& session, Workspace& workspace, QObject* parent = nullptr);

    /// The newest of a single feature's weights; what was shown of another goes.
    void showFeature(int feature, const std::vector<engine::Matrix>& history);

private:
    void show(const std::vector<engine::Matrix>& matrices);
    void clear();
    void onDocumentChanged();
    void publish();

    const DocumentSession& m_session;
    Workspace& m_workspace;
    editor::LiveWeights m_live;
    projects::Topology m_topology; ///< under which the shown weights were learned
    std::int64_t m_depth = 0;      ///< layers of the document, as it was last seen
};

} // namespace residua::app
