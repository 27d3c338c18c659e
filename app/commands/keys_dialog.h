// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/key_bindings.h"

#include <QDialog>

class QLineEdit;
class QSortFilterProxyModel;
class QTableView;

namespace residua::app {

/// Every command with its keys: double-click or Enter, then the new key. Changes apply at once; not modal.
class KeysDialog : public QDialog {
    Q_OBJECT
public:
    explicit KeysDialog(KeyBindings& bindings, QWidget* parent = nullptr);

private:
    void resetSelected();

    KeyBindings& m_bindings;
    QSortFilterProxyModel* m_filter;
    QTableView* m_table;
};

} // namespace residua::app
