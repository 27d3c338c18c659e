// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>
#include <QStyledItemDelegate>

#include <map>

namespace residua::app {

class RunsModel;

/// Draws the names in the list of runs. A name that does not fit is shortened so that it differs from all others. GUI
/// thread.
class RunNameDelegate final : public QStyledItemDelegate {
    Q_OBJECT
public:
    /// Draws the names of `runs`, which must outlive the delegate.
    explicit RunNameDelegate(const RunsModel& runs, QObject* parent = nullptr);

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    [[nodiscard]] QString shown(const QString& name, const QFontMetrics& metrics, int width) const;

    const RunsModel& m_runs;
    mutable std::map<int, QHash<QString, QString>> m_shown; ///< by width, the shortened form of each name
};

} // namespace residua::app
