// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_model.h"

#include <QPersistentModelIndex>
#include <QTimer>
#include <QTreeView>

#include <optional>
#include <vector>

namespace residua::app {

/// The outline: everything on the canvas and more, readable and editable by keyboard and screen reader.
class OutlineView : public QTreeView {
    Q_OBJECT
public:
    explicit OutlineView(OutlineModel& model, QWidget* parent = nullptr);

    /// Selects the row of `place` and expands its parents, without emitting a signal. Collapses what earlier calls have
    /// expanded, except for what the user has used since.
    void showPlace(const Place& place);
    /// Returns the target of a command in the outline: the shortcut, the node or the layers of the current row. Returns
    /// nullopt for a row of another kind, and while a value is edited.
    [[nodiscard]] std::optional<Place> thing() const;

signals:
    /// Emitted when the user moves to a row.
    void placeChosen(const residua::app::Place& place);

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitNames();
    void expandTo(const QModelIndex& index);

    OutlineModel& m_outline;
    std::vector<QPersistentModelIndex> m_expanded; ///< by showPlace()
    QTimer m_widen;                                ///< many rows may be added at once
    bool m_following = false;                      ///< true while showPlace() runs
};

} // namespace residua::app
