// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QDialog>
#include <QKeySequence>
#include <QList>
#include <QSortFilterProxyModel>
#include <QTableView>

#include <vector>

class QAction;
class QLineEdit;
class QSettings;

namespace residua::app {

/// The keys of the window's commands: their defaults, the user's changes, and clashes. Sets them on the actions, whose
/// tooltips end with the key. An action's object name is its name in the settings.
class KeyBindings : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Command, Keys, Clash, ColumnCount };
    /// An action with this property yields its key to other enabled actions, so there is no clash.
    static constexpr const char* kYields = "yieldsKeys";

    /// The current keys of the actions are the defaults.
    explicit KeyBindings(const QList<QAction*>& actions, QObject* parent = nullptr);

    [[nodiscard]] QList<QKeySequence> keysOf(const QAction* action) const;
    [[nodiscard]] bool isDefault(int row) const;
    void setKeys(int row, const QList<QKeySequence>& keys);
    void reset(int row);
    void resetAll();
    /// Returns the other commands with a key of the command in `row`, unless one of the two yields it (kYields).
    [[nodiscard]] QList<QAction*> clashesOf(int row) const;

    void load(const QSettings& settings);
    /// Stores the keys that differ from the defaults.
    void store(QSettings& settings) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    /// Sets the keys of a command to `value`, a QKeySequence; an empty one removes the keys.
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    void keysChanged();

private:
    struct Binding {
        QAction* action = nullptr;
        QList<QKeySequence> defaults;
        QList<QKeySequence> keys;
    };
    static void apply(const Binding& binding);

    std::vector<Binding> m_bindings;
};

/// Returns an action's text without the mnemonic mark.
[[nodiscard]] QString plainText(const QAction& action);

/// Every command with its keys: double-click or Enter, then the new key. Changes apply at once; not modal.
class KeysDialog : public QDialog {
    Q_OBJECT
public:
    explicit KeysDialog(KeyBindings& bindings, QWidget* parent = nullptr);

private:
    void resetSelected();

    KeyBindings& m_bindings;
    QSortFilterProxyModel* m_filter = new QSortFilterProxyModel(this);
    QTableView* m_table = new QTableView(this);
};

} // namespace residua::app
