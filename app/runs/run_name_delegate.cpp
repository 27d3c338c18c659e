// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/run_name_delegate.h"

#include "app/records/runs_model.h"
#include "visualizers/plot/series.h"

#include <QApplication>
#include <QStyle>

namespace residua::app {

namespace {

constexpr std::size_t kMostWidths = 32; ///< a column that is dragged has many widths

void collect(const RunsModel& runs, const QModelIndex& parent, QStringList& names)
{
    for (int row = 0; row < runs.rowCount(parent); ++row) {
        const QModelIndex index = runs.index(row, RunsModel::Name, parent);
        if (runs.runAt(index) != nullptr) { // the title of a group has what its runs have in common
            names << index.data().toString();
        }
        collect(runs, index, names);
    }
}

} // namespace

RunNameDelegate::RunNameDelegate(const RunsModel& runs, QObject* parent) : QStyledItemDelegate(parent), m_runs(runs)
{
    const auto forget = [this] { m_shown.clear(); };
    connect(&runs, &RunsModel::modelReset, this, forget);
    connect(&runs, &RunsModel::dataChanged, this, forget);
}

void RunNameDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    const QStyle& style = option->widget ? *option->widget->style() : *QApplication::style();
    const int margin = style.pixelMetric(QStyle::PM_FocusFrameHMargin, option, option->widget) + 1;
    const QRect room = style.subElementRect(QStyle::SE_ItemViewItemText, option, option->widget);
    option->text = shown(option->text, option->fontMetrics, room.width() - 2 * margin);
}

QString RunNameDelegate::shown(const QString& name, const QFontMetrics& metrics, int width) const
{
    if (width <= 0 || metrics.horizontalAdvance(name) <= width) {
        return name;
    }
    if (m_shown.size() > kMostWidths) {
        m_shown.clear();
    }
    const auto [found, isNew] = m_shown.try_emplace(width);
    if (isNew) {
        QStringList names;
        collect(m_runs, {}, names);
        const QStringList cut = visualizers::distinctNames(names, metrics, width);
        for (qsizetype i = 0; i < names.size(); ++i) {
            found->second.insert(names[i], cut[i]);
        }
    }
    return found->second.value(name, name);
}

} // namespace residua::app
