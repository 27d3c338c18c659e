// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "app/runs/go_on_dialog.h"
#include "engine/api/session.h"

#include <cstdint>

class QComboBox;

namespace residua::app {

/// Asks which checkpoint of a run on another machine is copied to this one, and shows the progress. It stays open until
/// the copy is complete, to show errors; closing it before cancels the copy. Not modal.
class FetchDialog : public AskDialog {
    Q_OBJECT
public:
    /// Precondition: `source` has checkpoints to fetch.
    explicit FetchDialog(GoOnSource source, QWidget* parent = nullptr);

    /// Chooses the checkpoint of `step`, as the user does.
    void choose(std::int64_t step);
    void refuse(const QString& reason) override;

signals:
    void chosen(const residua::engine::FetchCheckpoint& request);

private:
    void begin() override;

    GoOnSource m_source;
    QComboBox* m_step;
};

} // namespace residua::app
