// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QKeySequence>
#include <QList>

#include <vector>

class QAction;
class QSettings;

namespace residua::app {

/// The keys of the window's commands: their defaults, what the user made of them, and which clash. Sets them on
/// the actions, whose tooltips end with the key. An action's object name is its name in the settings.
class KeyBindings : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Command, Keys, Clash, ColumnCount };
    /// An action with this property yields its key to others while they are enabled: no clash.
    static constexpr const char* kYields = "yieldsKeys";

    /// The keys that the actions have now are the defaults.
    explicit KeyBindings(const QList<QAction*>& actions, QObject* parent = nullptr);

    [[nodiscard]] QList<QKeySequence> keysOf(const QAction* action) const;
    [[nodiscard]] bool isDefault(int row) const;
    void setKeys(int row, const QList<QKeySequence>& keys);
    void reset(int row);
    void resetAll();
    /// The other commands that answer to a key of the command in `row`, but where one of the two gives way (kYields).
    [[nodiscard]] QList<QAction*> clashesOf(int row) const;

    void load(const QSettings& settings);
    /// Writes the keys that differ from the defaults.
    void store(QSettings& settings) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    /// Sets the keys of a command, `value` being a QKeySequence; an empty one takes the key away.
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

/// An action's words without the mark of its mnemonic.
[[nodiscard]] QString plainText(const QAction& action);

} // namespace residua::app
