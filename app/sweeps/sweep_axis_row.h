// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/sweeps/sweep_fields.h"
#include "projects/edit/history.h"
#include "projects/model/project.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QWidget>

#include <string>
#include <vector>

namespace residua::app {

class PaletteModel;
class SweepTicks;

/// One field of a sweep: the choice of the field, its values, proposals for them, a button that removes it, and below
/// them the values to tick.
class SweepAxisRow : public QWidget {
    Q_OBJECT
public:
    /// `number` is the index of the field from 1, for its name. `palette` has the topologies with their prices.
    SweepAxisRow(int number, const PaletteModel& palette, QWidget* parent = nullptr);

    /// Updates the row, except for a field that has keyboard focus. Proposals are made for `project`.
    void setAxis(const projects::SweepAxis& axis, projects::ProjectSnapshot project);
    /// Sets the fields to choose from.
    void setFields(const std::vector<SweepField>& fields);
    /// Shows the values to tick, with the prices that are known now.
    void showTicks();
    void focusField();

protected:
    void resizeEvent(QResizeEvent* event) override;

signals:
    void changed(const residua::projects::SweepAxis& axis);
    void removeRequested();

private:
    void commit();
    void propose();

    [[nodiscard]] std::string chosenField() const;

    const PaletteModel& m_palette;
    projects::SweepAxis m_axis;
    projects::ProjectSnapshot m_project; ///< may be null at first
    QComboBox* m_field = new QComboBox(this);
    QLineEdit* m_values = new QLineEdit(this);
    QMenu* m_proposals = new QMenu(this);
    SweepTicks* m_ticks;
    QBoxLayout* m_line = new QBoxLayout(QBoxLayout::LeftToRight);
};

} // namespace residua::app
