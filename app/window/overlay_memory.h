// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <filesystem>

namespace residua::visualizers {
class ShownRuns;
} // namespace residua::visualizers

namespace residua::app {

class DocumentSession;
class RunsModel;

/// Remembers in the user's settings which runs of each project are overlaid, and in which colours, and overlays them
/// again when the project's runs are listed first. GUI thread.
class OverlayMemory : public QObject {
    Q_OBJECT
public:
    OverlayMemory(const DocumentSession& session, const RunsModel& runs, visualizers::ShownRuns& shown,
                  QObject* parent);

private:
    void restore();
    void keep() const;

    const DocumentSession& m_session;
    const RunsModel& m_runs;
    visualizers::ShownRuns& m_shown;
    std::filesystem::path m_restored; ///< the project whose overlays are those that are shown; empty: none
};

} // namespace residua::app
