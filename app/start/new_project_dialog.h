// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/inspector/cost_view.h"
#include "engine/api/data_summary.h"
#include "projects/commands/new_project.h"
#include "projects/edit/edit.h"

#include <QDialog>
#include <QTimer>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace residua::app {

class EngineBridge;
class MixtureEditor;

/// Asks for a new project: its data, with how much of it there is, how often training goes through it and what is fed;
/// depth, width and topology, with what they cost. Data are read on another thread; what is no longer asked for is
/// given up. Not modal. GUI thread.
class NewProjectDialog : public QDialog {
    Q_OBJECT
public:
    /// `deviceBytes`: of the device that would train; 0: not known. The bridge outlives the dialog.
    NewProjectDialog(EngineBridge& engine, const CostView::Device& device, QWidget* parent = nullptr);
    ~NewProjectDialog() override;

    /// Sets the data's place, a file or a folder, and their kind by its name (projects::sourceAt).
    void setData(const QString& path);

signals:
    void created(const residua::projects::Project& project);

private:
    using Wanted = std::shared_ptr<std::atomic<bool>>; ///< false once the preview under way is no longer wanted

    void layOut();
    [[nodiscard]] QFormLayout* makeDataForm();
    [[nodiscard]] QFormLayout* makeNetworkForm();
    void connectFields();
    void chooseKind();
    void browseFile();
    void browseFolder();
    void browseModel();
    void trainTokeniser();
    void changeMixture(const Result<projects::Edit>& edit);
    void update();
    void showCost(const Result<projects::Project>& project);
    void readData();
    [[nodiscard]] QString stillMissing() const;
    [[nodiscard]] std::string uncountedModel() const;
    void showData(const Result<engine::DataPreview>& preview);
    void create();
    [[nodiscard]] projects::TokeniserKind tokeniserKind() const;
    /// Whether there is anything to read; for files, whether one is named.
    [[nodiscard]] bool namesData() const;
    [[nodiscard]] projects::Source source() const;
    [[nodiscard]] projects::NewProject wanted() const;

    EngineBridge& m_engine;
    QLineEdit* m_name;
    QComboBox* m_kind;
    QLineEdit* m_path;
    QPushButton* m_browse;
    QPushButton* m_browseFolder; ///< of texts
    QLineEdit* m_key;            ///< the key or column of records
    MixtureEditor* m_parts;
    QComboBox* m_tokeniser;
    QPushButton* m_train; ///< a tokeniser
    QLineEdit* m_model;   ///< the file of a tokeniser that has one
    QSpinBox* m_vocabulary;
    QFormLayout* m_dataForm = nullptr;
    QLabel* m_amount; ///< tokens, epochs
    QPlainTextEdit* m_preview;
    QSpinBox* m_depth;
    QSpinBox* m_width;
    QComboBox* m_topology;
    QSpinBox* m_steps;
    QSpinBox* m_batch;
    QSpinBox* m_sequence;
    QFormLayout* m_networkForm = nullptr;
    CostView* m_cost;
    QLabel* m_total; ///< FLOP of all steps
    QLabel* m_problem;
    QPushButton* m_create = nullptr;
    QTimer m_soon;
    Wanted m_wanted;
    projects::Project m_mixture;               ///< whose data are the mixture that is being put together
    std::optional<engine::DataSummary> m_data; ///< of the data that is chosen, once it is read
    projects::Source m_read;                   ///< the source that m_data, or a reading under way, belongs to
    bool m_reading = false;
    std::string m_counted; ///< the tokeniser's file that the vocabulary was set for
};

} // namespace residua::app
