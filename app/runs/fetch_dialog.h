// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/runs/go_on_dialog.h"
#include "engine/api/session.h"

#include <QDialog>

#include <cstdint>

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;

namespace residua::app {

/// Asks which checkpoint of a run on another machine is copied to this one, and shows the progress. It stays open until
/// the copy is complete, to show errors; closing it before cancels the copy. Not modal.
class FetchDialog : public QDialog {
    Q_OBJECT
public:
    /// Precondition: `source` has checkpoints to fetch.
    explicit FetchDialog(GoOnSource source, QWidget* parent = nullptr);

    /// Chooses the checkpoint of `step`, as the user does.
    void choose(std::int64_t step);
    /// Shows the share of the bytes that is here.
    void setShare(double share);
    /// Shows the reason why the request failed. The user can make another request.
    void refuse(const QString& reason);

signals:
    void chosen(const residua::engine::FetchCheckpoint& request);

private:
    void fetch();

    GoOnSource m_source;
    QComboBox* m_step;
    QLabel* m_reason;
    QProgressBar* m_progress;
    QPushButton* m_go = nullptr;
};

} // namespace residua::app
