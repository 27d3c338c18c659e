// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_model.h"

#include <QTimer>
#include <QTreeView>

#include <optional>

namespace residua::app {

/// The outline: everything that the canvas shows and more, readable and editable by keyboard and screen reader.
class OutlineView : public QTreeView {
    Q_OBJECT
public:
    explicit OutlineView(OutlineModel& model, QWidget* parent = nullptr);

    /// Selects the row of `place` and unfolds down to it. Tells nobody.
    void showPlace(const Place& place);
    /// What a command is done to that is given here: the shortcut, the node or the layers of the current row; nullopt
    /// for a row of another kind, and while a value is edited.
    [[nodiscard]] std::optional<Place> thing() const;

signals:
    /// The user went to a row.
    void placeChosen(const residua::app::Place& place);

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitNames();

    OutlineModel& m_outline;
    QTimer m_widen;           ///< many rows may come at once
    bool m_following = false; ///< showPlace() is at work
};

} // namespace residua::app
