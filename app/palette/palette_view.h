// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/palette/palette_model.h"

#include <QWidget>

class QGridLayout;
class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QTreeView;

namespace residua::app {

/// Topologies, blocks and node kinds with a search. Enter, double-click or a drag takes one up; what that would
/// cost, and the change against now, stands below before anything is chosen.
class PaletteView : public QWidget {
    Q_OBJECT
public:
    explicit PaletteView(PaletteModel& model, QWidget* parent = nullptr);

    /// Lets items be dropped on `target` and whatever lies in it.
    void acceptDropsOn(QWidget& target);
    void setContext(const projects::Project& project, const Place& selection);
    void focusSearch();

signals:
    void chosen(const residua::projects::Edit& edit);
    void refused(const QString& reason);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    [[nodiscard]] const PaletteItem* current() const;
    void search(const QString& text);
    void choose(const PaletteItem* item);
    void showCost();

    PaletteModel& m_model;
    QSortFilterProxyModel* m_filter;
    QLineEdit* m_search;
    QTreeView* m_tree;
    QLabel* m_summary;
    QWidget* m_costs;
    QGridLayout* m_grid;
};

} // namespace residua::app
