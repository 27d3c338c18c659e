// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "projects/model/data_source.h"

#include <QDialog>

#include <filesystem>
#include <optional>
#include <string>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace residua::app {

class EngineBridge;

/// Asks for a tokeniser's kind, size and place and learns it from a text; then shows how it cuts that text, until the
/// user takes it or tries another. Closing it, or Cancel, gives up what is under way. Not modal. GUI thread.
class TokeniserDialog : public QDialog {
    Q_OBJECT
public:
    /// Absolute paths; `field` is of JSON Lines. The bridge outlives the dialog.
    struct Subject {
        std::filesystem::path text;
        std::string field = "text";
        std::filesystem::path folder; ///< where a model is proposed to go
    };
    /// The texts that a tokeniser would learn from; nullopt where the source is no text or names none. Relative paths
    /// start at the project's `directory`, where the model goes too; without a directory it goes beside the text.
    [[nodiscard]] static std::optional<Subject> subjectOf(const projects::Source& source,
                                                          const std::filesystem::path& directory);

    TokeniserDialog(EngineBridge& engine, Subject subject, QWidget* parent = nullptr);
    ~TokeniserDialog() override;

signals:
    /// The user takes the model that was learned.
    void chosen(const std::filesystem::path& model, std::int64_t pieces);

public slots:
    void reject() override;

private:
    [[nodiscard]] QFormLayout* makeForm();
    void makeLabels(QVBoxLayout& column);
    void connectEngine();
    void browse();
    void update();
    void begin();
    void tell(const engine::TokeniserProgress& progress);
    void showTrained(const engine::TokeniserReady& ready);
    void end(const QString& problem);
    [[nodiscard]] engine::PieceModel kind() const;
    [[nodiscard]] bool asks(engine::QueryTag tag) const { return m_question == tag; }

    EngineBridge& m_engine;
    Subject m_subject;
    QComboBox* m_kind;
    QSpinBox* m_size;
    QLineEdit* m_place;
    QLabel* m_note;  ///< of the place
    QLabel* m_stage; ///< what is being done
    QProgressBar* m_progress;
    QLabel* m_figures; ///< of what was learned
    QLabel* m_pieces;
    QLabel* m_problem;
    QPushButton* m_train = nullptr;
    QPushButton* m_use = nullptr;
    QPushButton* m_cancel = nullptr;
    bool m_placed = false; ///< by the user: no name is proposed any more
    bool m_givesUp = false;
    std::optional<engine::QueryTag> m_question;
    std::optional<engine::TokeniserReady> m_ready; ///< what is shown
};

} // namespace residua::app
