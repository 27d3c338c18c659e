// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "app/properties/field_form.h"
#include "app/runs/go_on_dialog.h"
#include "engine/base/api/session.h"

#include <QLineEdit>
#include <QTableWidget>

namespace residua::app {

/// Asks for interventions on the parallel streams of a run's network, and shows their effects in a table. It stays open
/// for other requests; closing it cancels the one that is carried out. Not modal.
class InterventionDialog : public AskDialog {
    Q_OBJECT
public:
    explicit InterventionDialog(GoOnSource source, QWidget* parent = nullptr);

    void showAnswer(const engine::InterventionReady& measured);

signals:
    void chosen(const residua::engine::InterventionRequest& request);

private:
    [[nodiscard]] engine::InterventionRequest request() const;
    /// Shows the rows that the chosen interventions use.
    void update();
    void begin() override;

    GoOnSource m_source;
    FieldForm m_fields;
    QLineEdit* m_streams = new QLineEdit(this);
    QLineEdit* m_after = new QLineEdit(this);
    QTableWidget* m_table = new QTableWidget(this);
    projects::InterventionKind m_asked = projects::InterventionKind::Streams; ///< by the last request
};

} // namespace residua::app
