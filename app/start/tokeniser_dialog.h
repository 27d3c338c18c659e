// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "app/properties/field_form.h"
#include "engine/base/api/session.h"
#include "projects/model/data_source.h"

#include <QLabel>

#include <filesystem>
#include <optional>
#include <string>

namespace residua::app {

class EngineBridge;

/// Asks for a tokeniser's kind, size and file and trains it on a text. Then shows the tokens of that text, until the
/// user accepts the tokeniser or tries another. Closing the dialog, or Cancel, stops running work. Not modal. GUI
/// thread.
class TokeniserDialog : public AskDialog {
    Q_OBJECT
public:
    /// Absolute paths; `field` is for JSON Lines.
    struct Subject {
        std::filesystem::path text;
        std::string field = "text";
        std::filesystem::path folder; ///< proposed folder of the model
    };
    /// Returns the texts for training a tokeniser; nullopt if the source is not text or has no path. Relative paths
    /// start at the project's `directory`, which is also the folder of the model; without one it goes beside the text.
    [[nodiscard]] static std::optional<Subject> subjectOf(const projects::Source& source,
                                                          const std::filesystem::path& directory);

    TokeniserDialog(EngineBridge& engine, Subject subject, QWidget* parent = nullptr);

signals:
    /// Emitted when the user accepts the trained model.
    void chosen(const std::filesystem::path& model, std::int64_t pieces);

public slots:
    void reject() override;

private:
    void makeLabels();
    void browse();
    void update();
    void begin() override;
    void showStage(double share);
    void showTrained(const engine::TokeniserReady& ready);
    void end(const QString& problem);
    [[nodiscard]] engine::TokeniserTraining training() const;

    EngineBridge& m_engine;
    Subject m_subject;
    FieldForm m_fields;
    QLabel* m_note = new QLabel(this);    ///< about the file
    QLabel* m_stage = new QLabel(this);   ///< the current stage
    QLabel* m_figures = new QLabel(this); ///< of the trained tokeniser
    QLabel* m_pieces = new QLabel(this);
    QPushButton* m_use;
    QPushButton* m_cancel;
    bool m_givesUp = false;
    std::optional<engine::QueryTag> m_question;
    std::optional<engine::TokeniserReady> m_ready; ///< the shown result
};

} // namespace residua::app
