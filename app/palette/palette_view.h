// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/palette/palette_model.h"
#include "projects/edit/history.h"

#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QStringList>
#include <QTreeView>
#include <QWidget>

#include <functional>
#include <vector>

class QGridLayout;

namespace residua::app {

/// Topologies, blocks and node kinds with a search. Enter, double-click or a drag applies one. Its cost, and the change
/// from the current cost, are shown below before it is applied.
class PaletteView : public QWidget {
    Q_OBJECT
public:
    explicit PaletteView(PaletteModel& model, QWidget* parent = nullptr);

    /// Lets items be dropped on `target` and its children.
    void acceptDropsOn(QWidget& target);
    void setContext(projects::ProjectSnapshot project, const Place& selection, std::size_t shown = 0);
    /// Sets the current cost of the project, for comparison.
    void setCostNow(const std::optional<projects::Cost>& cost);
    /// Sets the user's own blocks.
    void setLibrary(const std::vector<projects::BlockFile>& blocks) { m_model.setLibrary(blocks); }
    /// A function that receives each item that the user applies, with the target and position of a drop (null if it was
    /// chosen here). If it returns false, the item's edit is requested.
    using Taker = std::function<bool(const PaletteItem& item, QWidget* target, QPoint position)>;
    void setTaker(Taker taker) { m_taker = std::move(taker); }
    void focusSearch();
    /// Returns the current item of the keyboard, or null.
    [[nodiscard]] const PaletteItem* current() const;

signals:
    void chosen(const residua::projects::DocumentChange& change);
    void refused(const QString& reason);
    /// Emitted when the user requests an explanation of the item.
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
    QStringList m_expanded; ///< expanded groups while the model is reset
    QSortFilterProxyModel* m_filter = new QSortFilterProxyModel(this);
    QLineEdit* m_search = new QLineEdit(this);
    QTreeView* m_tree = new QTreeView(this);
    QLabel* m_summary = new QLabel(this);
    QWidget* m_costs = new QWidget(this);
    QGridLayout* m_grid;
};

} // namespace residua::app
