// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <QDialog>

#include <vector>

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

} // namespace residua::app
