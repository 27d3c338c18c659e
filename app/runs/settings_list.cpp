// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/settings_list.h"

#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QHeaderView>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <map>
#include <utility>

namespace residua::app {

namespace {

constexpr int kPointerRole = Qt::UserRole;

enum Column { Setting, Before, After };

QStringList cellsOf(const projects::Change& change)
{
    const auto held = [](const std::string& text) {
        return text.empty() ? QStringLiteral("—") : QString::fromStdString(text);
    };
    return {QString::fromStdString(change.placeText()), held(change.before), held(change.after)};
}

QTreeWidgetItem* itemOf(const QStringList& cells)
{
    auto* item = new QTreeWidgetItem(cells);
    for (int column = 0; column < cells.size(); ++column) {
        item->setToolTip(column, cells.at(column));
    }
    return item;
}

/// A line for the setting; lines below it where it is more than one difference.
QTreeWidgetItem* itemOf(const projects::SettingChange& setting)
{
    if (setting.changes.size() == 1) {
        return itemOf(cellsOf(setting.changes.front()));
    }
    const QString place = QString::fromStdString(setting.changes.front().place.front());
    auto* item =
        itemOf({SettingsList::tr("%1: %n differences", nullptr, static_cast<int>(setting.changes.size())).arg(place)});
    for (const projects::Change& change : setting.changes) {
        item->addChild(itemOf(cellsOf(change)));
    }
    return item;
}

} // namespace

SettingsList::SettingsList(QWidget* parent) : QWidget(parent)
{
    visualizers::setNames(*m_tree, "settings", tr("Settings that differ"));
    m_tree->setUniformRowHeights(true);
    m_tree->header()->setStretchLastSection(true);
    m_tree->header()->setSectionResizeMode(Setting, QHeaderView::ResizeToContents);
    m_empty->setWordWrap(true);
    setRole(*m_empty, QStringLiteral("muted"));
    visualizers::makeColumn(this, visualizers::kNoMargins, {{m_tree, 1}, m_empty});
    connect(m_tree, &QTreeWidget::itemChanged, this, &SettingsList::chosenChanged);
}

void SettingsList::setTitles(const QString& before, const QString& after)
{
    m_tree->setHeaderLabels({tr("Setting"), before, after});
}

void SettingsList::setInvitation(const QString& text)
{
    m_empty->setText(text);
}

void SettingsList::setSettings(std::vector<projects::SettingChange> settings, Qt::CheckState state)
{
    std::map<QString, Qt::CheckState> before;
    for (int row = 0; row < m_tree->topLevelItemCount(); ++row) {
        const QTreeWidgetItem* item = m_tree->topLevelItem(row);
        before[item->data(Setting, kPointerRole).toString()] = item->checkState(Setting);
    }
    const QSignalBlocker quiet(m_tree);
    m_settings = std::move(settings);
    m_tree->clear();
    for (const projects::SettingChange& setting : m_settings) {
        QTreeWidgetItem* item = itemOf(setting);
        const QString pointer = QString::fromStdString(setting.pointer);
        const auto known = before.find(pointer);
        item->setData(Setting, kPointerRole, pointer);
        item->setCheckState(Setting, known == before.end() ? state : known->second);
        m_tree->addTopLevelItem(item);
    }
    m_tree->setVisible(!m_settings.empty());
    m_empty->setVisible(m_settings.empty());
    emit chosenChanged();
}

std::vector<projects::SettingChange> SettingsList::chosen() const
{
    std::vector<projects::SettingChange> chosen;
    for (std::size_t i = 0; i < m_settings.size(); ++i) {
        if (m_tree->topLevelItem(static_cast<int>(i))->checkState(Setting) == Qt::Checked) {
            chosen.push_back(m_settings[i]);
        }
    }
    return chosen;
}

} // namespace residua::app
