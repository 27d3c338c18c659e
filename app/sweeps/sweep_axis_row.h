// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/history.h"
#include "projects/model/project.h"

#include <QStringList>
#include <QWidget>

class QBoxLayout;
class QComboBox;
class QLineEdit;
class QMenu;

namespace residua::app {

/// One field of a sweep: the choice of the field, its values, proposals for them, and a button that removes it.
class SweepAxisRow : public QWidget {
    Q_OBJECT
public:
    /// `number` is the index of the field from 1, for its name.
    explicit SweepAxisRow(int number, QWidget* parent = nullptr);

    /// Updates the row, except for a field that has keyboard focus. Proposals are made for `project`.
    void setAxis(const projects::SweepAxis& axis, projects::ProjectSnapshot project);
    /// Sets the fields to choose from.
    void setFields(const QStringList& fields);
    void focusField();

protected:
    void resizeEvent(QResizeEvent* event) override;

signals:
    void changed(const residua::projects::SweepAxis& axis);
    void removeRequested();

private:
    void commit();
    void propose();

    projects::SweepAxis m_axis;
    projects::ProjectSnapshot m_project; ///< may be null at first
    QComboBox* m_field;
    QLineEdit* m_values;
    QMenu* m_proposals;
    QBoxLayout* m_line;
};

} // namespace residua::app
