// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "app/properties/field_form.h"
#include "app/runs/go_on_dialog.h"
#include "engine/base/api/session.h"

#include <cstdint>

class QComboBox;
class QLabel;

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
    [[nodiscard]] QComboBox& step() const;

    GoOnSource m_source;
    FieldForm m_fields;
};

/// Asks for the checkpoint, format and folder of the export of a run's network, and shows the limits of the format. It
/// stays open until the export is complete, to show errors; closing it before cancels the export. Not modal.
class ExportDialog : public AskDialog {
    Q_OBJECT
public:
    /// The default folder is `proposal` with the name of the format.
    ExportDialog(GoOnSource source, std::filesystem::path proposal, QWidget* parent = nullptr);

signals:
    void chosen(const residua::engine::ExportRequest& request);

private:
    void update();
    void begin() override;
    void chooseFolder();
    [[nodiscard]] engine::ExportRequest request() const;

    GoOnSource m_source;
    std::filesystem::path m_proposal;
    FieldForm m_fields;
    QLabel* m_words;
};

} // namespace residua::app
