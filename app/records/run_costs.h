// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "visualizers/pareto/pareto_view.h"

#include <QObject>
#include <QTimer>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::app {

class RunsModel;

/// Each run of a project with its costs so far, which are read off the GUI thread. A run is read again only when it has
/// grown or ended. Losses and status follow the list at once.
class RunCosts : public QObject {
    Q_OBJECT
public:
    /// Follows the runs in the list, which must outlive this object.
    explicit RunCosts(const RunsModel& runs, QObject* parent = nullptr);

signals:
    void changed(const std::vector<residua::visualizers::ParetoRun>& runs);

private:
    struct Known {
        std::int64_t step = 0;
        engine::RunStatus status{};
        visualizers::ParetoRun costs; ///< without what the list knows
    };

    /// Reads the runs after a delay, because a live run reports its step far more often than necessary.
    void readSoon();
    void read();
    /// Emits changed() with the costs that are known, if they are others than before.
    void tell();

    const RunsModel& m_runs;
    std::map<std::string, Known> m_known;       ///< by directory
    std::vector<visualizers::ParetoRun> m_told; ///< by the last changed()
    QTimer m_soon;
    bool m_reading = false;
};

} // namespace residua::app
