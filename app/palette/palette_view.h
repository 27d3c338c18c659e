// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/palette/palette_model.h"
#include "projects/edit/history.h"

#include <QStringList>
#include <QWidget>

#include <functional>
#include <vector>

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
    void setContext(projects::ProjectSnapshot project, const Place& selection);
    /// What the project costs as it is, to compare with.
    void setCostNow(const std::optional<projects::Cost>& cost);
    /// The user's own blocks.
    void setLibrary(const std::vector<projects::BlockFile>& blocks);
    /// A function that is given each item which the user takes up, with the target and the position that it was dropped
    /// at (nullptr: it was chosen here). Where it returns false, the item's edit is asked for.
    using Taker = std::function<bool(const PaletteItem& item, QWidget* target, QPoint position)>;
    void setTaker(Taker taker) { m_taker = std::move(taker); }
    void focusSearch();
    /// The item that the keys are at; nullptr where they are at none.
    [[nodiscard]] const PaletteItem* current() const;

signals:
    void chosen(const residua::projects::DocumentChange& change);
    void refused(const QString& reason);
    /// The user asks what the item computes.
    void explainRequested(const residua::app::PaletteItem& item);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void openMenu(const QPoint& position);
    void search(const QString& text);
    void choose(const PaletteItem* item, QWidget* target = nullptr, QPoint position = {});
    void keepExpanded();
    void showCost();

    PaletteModel& m_model;
    Taker m_taker;
    QStringList m_expanded; ///< groups, while the model is reset
    QSortFilterProxyModel* m_filter;
    QLineEdit* m_search;
    QTreeView* m_tree;
    QLabel* m_summary;
    QWidget* m_costs;
    QGridLayout* m_grid;
};

} // namespace residua::app
