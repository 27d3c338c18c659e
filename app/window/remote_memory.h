// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QVariantMap>

#include <filesystem>
#include <optional>

namespace residua::app {

class DocumentSession;
class RunController;

/// Remembers the place that the user has chosen for each project's runs, and sets it when the project is opened. A
/// project without a choice trains in the window's engine. While a run of another project is under way, the place stays
/// until that run ends. GUI thread.
class RemoteMemory : public QObject {
public:
    enum class Storage { Settings, Session }; ///< Session: forgotten when the window is destroyed

    RemoteMemory(Storage storage, const DocumentSession& session, RunController& controller, QObject* parent);

private:
    void onOpened();
    void onChosen();
    void onStateChanged();
    void restore();
    void keep();

    Storage m_storage;
    const DocumentSession& m_session;
    RunController& m_controller;
    QVariantMap m_names;                        ///< of the places, by the project's path
    std::optional<std::filesystem::path> m_due; ///< the project whose place is still to be set
    std::filesystem::path m_project;            ///< the open project; empty for a draft
    QString m_chosen;                           ///< name of the open project's place; empty: the window's engine
};

} // namespace residua::app
