// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/runs/go_on_dialog.h"
#include "engine/api/session.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace residua::app {

/// Asks from which checkpoint, as what and where a run's network is exported, and says what is lost. It stays open
/// until that is done, to say what stands in its way; closed before, the export is given up. Not modal.
class ExportDialog : public QDialog {
    Q_OBJECT
public:
    /// `proposal`: where its folder goes, under a name of the format.
    ExportDialog(GoOnSource source, std::filesystem::path proposal, QWidget* parent = nullptr);

    /// The request is refused: says why, and another can be made.
    void refuse(const QString& reason);

signals:
    void chosen(const residua::engine::ExportRequest& request);

private:
    void fill();
    void update();
    void choose();
    void chooseFolder();
    [[nodiscard]] engine::ExportFormat format() const;

    GoOnSource m_source;
    std::filesystem::path m_proposal;
    QComboBox* m_format;
    QComboBox* m_step;
    QLineEdit* m_folder;
    QCheckBox* m_otherData;
    QLabel* m_words;
    QLabel* m_reason;
    QProgressBar* m_progress;
    QPushButton* m_go = nullptr;
};

} // namespace residua::app
