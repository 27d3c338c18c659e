// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "engine/base/api/events.h"
#include "engine/base/api/session.h"

#include <QDialog>

#include <vector>

class QLineEdit;
class QTableWidget;

namespace residua::app {

/// Edits the named command lines that start an engine elsewhere, one a row. GUI thread.
class RemotesDialog : public QDialog {
    Q_OBJECT
public:
    RemotesDialog(const std::vector<engine::EngineRemote>& places, QWidget* parent);

    /// Returns the rows that are not empty.
    [[nodiscard]] std::vector<engine::EngineRemote> places() const;

private:
    void addRow(const engine::EngineRemote& place);

    QTableWidget* m_table;
};

/// Asks whether a run's place is to be added to the list. Shows the command line that the run's record names, which has
/// not been run; Cancel is the default. GUI thread.
class UnknownRemoteDialog : public AskDialog {
    Q_OBJECT
public:
    /// `proposal` has the name and the command line that the fields begin with, and the folder.
    UnknownRemoteDialog(const engine::RemoteUnknown& unknown, engine::EngineRemote proposal, QWidget* parent);

signals:
    /// Emitted when the user agrees.
    void chosen(const residua::engine::EngineRemote& place);

private:
    void begin() override;

    engine::EngineRemote m_proposal;
    QLineEdit* m_name;
    QLineEdit* m_command;
};

} // namespace residua::app
