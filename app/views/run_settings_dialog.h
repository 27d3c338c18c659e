// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <QDialog>

class QPushButton;

namespace residua::app {

class Look;
class SettingsList;

/// The wiring that a run was trained with, to look at, and what its settings differ in from the open document's. The
/// chosen ones are taken over as one edit. Not modal. GUI thread.
class RunSettingsDialog : public QDialog {
    Q_OBJECT
public:
    RunSettingsDialog(const QString& run, projects::Project trained, const Look& look, QWidget* parent = nullptr);

    /// Shows what differs from the document as it is now.
    void setDocument(const projects::Document& document);

signals:
    void editRequested(const residua::projects::Edit& edit);

private:
    QWidget* makeWiring(const Look& look);

    QString m_run;
    projects::Project m_trained;
    SettingsList* m_settings;
    QPushButton* m_use;
};

} // namespace residua::app
