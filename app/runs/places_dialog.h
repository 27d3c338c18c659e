// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "engine/api/events.h"
#include "engine/api/session.h"

#include <QDialog>

#include <vector>

class QLineEdit;
class QTableWidget;

namespace residua::app {

/// Edits the named command lines that start an engine elsewhere, one a row. GUI thread.
class PlacesDialog : public QDialog {
    Q_OBJECT
public:
    PlacesDialog(const std::vector<engine::EnginePlace>& places, QWidget* parent);

    /// Returns the rows that are not empty.
    [[nodiscard]] std::vector<engine::EnginePlace> places() const;

private:
    void addRow(const engine::EnginePlace& place);

    QTableWidget* m_table;
};

/// Asks whether a run's place is to be added to the list. Shows the command line that the run's record names, which has
/// not been run; Cancel is the default. GUI thread.
class UnknownPlaceDialog : public AskDialog {
    Q_OBJECT
public:
    /// `proposal` has the name and the command line that the fields begin with, and the folder.
    UnknownPlaceDialog(const engine::PlaceUnknown& unknown, engine::EnginePlace proposal, QWidget* parent);

signals:
    /// Emitted when the user agrees.
    void chosen(const residua::engine::EnginePlace& place);

private:
    void begin() override;

    engine::EnginePlace m_proposal;
    QLineEdit* m_name;
    QLineEdit* m_command;
};

} // namespace residua::app
