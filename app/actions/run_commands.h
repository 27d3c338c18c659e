// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/runs/export_dialog.h"
#include "app/runs/go_on_dialog.h"

#include <QObject>
#include <QPointer>

#include <string>

namespace residua::engine {
struct FactoriseReady;
struct RetrofitReady;
} // namespace residua::engine

namespace residua::app {

class DocumentSession;
class EngineBridge;
class FetchCommands;
class RunController;
class Workspace;

/// The commands on the run selected in the list: continues it, lets its model continue texts, exports its network, and
/// stops it if another process trains it. GUI thread.
class RunCommands : public QObject {
    Q_OBJECT
public:
    RunCommands(const DocumentSession& session, EngineBridge& engine, RunController& controller, FetchCommands& fetch,
                Workspace& workspace, QWidget* window);

signals:
    void refused(const QString& reason);
    void noted(const QString& text);

private:
    void connectSamples();
    void showRunToSample();
    void ask(const std::string& run, GoOnKind kind);
    void open(GoOnKind kind, GoOnSource source);
    void closeDialogs();
    void carryOut(const GoOnRequest& request);
    void connectExport();
    void askToExport(const std::string& run);
    void exportNetwork(const engine::ExportRequest& request);
    void askWhereToStop(const std::string& run);
    void stop(const std::string& run, std::int64_t step);
    void tellRetrofit(const engine::RetrofitReady& made);
    void tellFactors(const engine::FactoriseReady& made);
    void done(const QString& text);

    const DocumentSession& m_session;
    EngineBridge& m_engine;
    RunController& m_controller;
    FetchCommands& m_fetch;
    Workspace& m_workspace;
    QWidget* m_window;
    QPointer<GoOnDialog> m_dialog; ///< the open dialog
    QPointer<ExportDialog> m_exportDialog;
    engine::QueryTag m_export{}; ///< of the last request
    engine::QueryTag m_sample{}; ///< of the last request
    std::string m_sampled;       ///< the run that m_sample is about
    std::string m_shown;         ///< the run whose texts are shown
    QString m_shownName;         ///< its name in the panel
    std::string m_known;         ///< the run whose task the panel knows
};

} // namespace residua::app
