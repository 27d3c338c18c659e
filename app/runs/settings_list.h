// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/commands/commands.h"

#include <QLabel>
#include <QTreeWidget>
#include <QWidget>

#include <vector>

namespace residua::app {

/// Settings that differ between two projects, a line each, and which of them are chosen. GUI thread.
class SettingsList : public QWidget {
    Q_OBJECT
public:
    explicit SettingsList(QWidget* parent = nullptr);

    /// The headings over what a setting is and over what it would be.
    void setTitles(const QString& before, const QString& after);
    /// Sets the text that is shown if there are no settings.
    void setInvitation(const QString& text);
    /// What was chosen or left out before stays so; `state` is that of the settings that are new.
    void setSettings(std::vector<projects::SettingChange> settings, Qt::CheckState state);
    [[nodiscard]] std::vector<projects::SettingChange> chosen() const;

signals:
    void chosenChanged();

private:
    std::vector<projects::SettingChange> m_settings;
    QTreeWidget* m_tree = new QTreeWidget(this);
    QLabel* m_empty = new QLabel(this);
};

} // namespace residua::app
