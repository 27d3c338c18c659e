// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/inspector/cost_view.h"
#include "app/start/asked_data.h"
#include "engine/base/api/data_summary.h"
#include "projects/commands/new_project.h"
#include "projects/edit/edit.h"

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStringList>
#include <QTextBrowser>
#include <QTimer>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

class QFormLayout;
class QSpinBox;

namespace residua::app {

class EngineBridge;
class MixtureEditor;

/// Asks for a new project: its data, with their amount, the epochs and a preview; depth, width and topology, with their
/// costs. Data are read on another thread; outdated readings are cancelled. Not modal. GUI thread.
class NewProjectDialog : public QDialog {
    Q_OBJECT
public:
    /// `device` is the device that would train; its bytes are 0 if unknown. `engine` must outlive the dialog.
    NewProjectDialog(EngineBridge& engine, const CostView::Device& device, QWidget* parent = nullptr);
    ~NewProjectDialog() override;

    /// Sets the path of the data, a file or a folder, and their kind by its name (projects::sourceAt).
    void setData(const QString& path);

signals:
    void created(const residua::projects::Project& project);

private:
    using Wanted = std::shared_ptr<std::atomic<bool>>; ///< false once the running preview is outdated

    void layOut();
    [[nodiscard]] QFormLayout* makeDataForm();
    [[nodiscard]] QFormLayout* makeNetworkForm();
    void connectFields();
    void chooseKind();
    void propose();
    void browseFile();
    void browseFolder();
    void browseModel();
    void trainTokeniser();
    void changeMixture(const Result<projects::Edit>& edit);
    void update();
    [[nodiscard]] QString proposedName() const;
    void showCost(const Result<projects::Project>& project);
    void readData();
    void allowCreation();
    void takeClasses(const CountedClasses& classes);
    /// Any: the kind follows what is found. Typed: the path may be incomplete.
    enum class KindOfData { Any, Chosen, Typed };
    void lookAt(const QString& path, KindOfData kind);
    [[nodiscard]] QString stillMissing() const;
    [[nodiscard]] std::string uncountedModel() const;
    void showData(const Result<engine::DataPreview>& preview);
    void create();
    [[nodiscard]] projects::TokeniserKind tokeniserKind() const;
    /// True if there is data to read; for files, if a path is given.
    [[nodiscard]] bool namesData() const;
    [[nodiscard]] projects::Source source() const;
    [[nodiscard]] projects::NewProject wanted() const;

    EngineBridge& m_engine;
    QStringList m_taken; ///< the names of the recent projects' folders
    QLineEdit* m_name = new QLineEdit(this);
    bool m_isNamed = false; ///< by the user, else by the data
    QComboBox* m_kind = new QComboBox(this);
    QLineEdit* m_path = new QLineEdit(this);
    QPushButton* m_browse = new QPushButton(tr("File…"), this);
    QPushButton* m_browseFolder = new QPushButton(tr("Folder…"), this); ///< for a folder of texts
    QLineEdit* m_key;                                                   ///< key or column of records
    QLineEdit* m_label;                                                 ///< column of the label in tables
    MixtureEditor* m_parts;
    QComboBox* m_tokeniser = new QComboBox(this);
    QPushButton* m_train = new QPushButton(tr("Train one…"), this); ///< trains a tokeniser
    QLineEdit* m_model = new QLineEdit(this);                       ///< file of a tokeniser, if it has one
    QSpinBox* m_vocabulary;
    QFormLayout* m_dataForm = nullptr;
    QLabel* m_amount = new QLabel(this); ///< tokens, epochs
    QTextBrowser* m_preview = new QTextBrowser(this);
    QComboBox* m_recipe = new QComboBox(this); ///< network and training at a paper's size, or the example for such data
    QSpinBox* m_depth;
    QSpinBox* m_width;
    QComboBox* m_topology = new QComboBox(this);
    QSpinBox* m_steps;
    QSpinBox* m_batch;
    QSpinBox* m_sequence;
    QFormLayout* m_networkForm = nullptr;
    CostView* m_cost;
    QLabel* m_total = new QLabel(this); ///< FLOP of all steps
    QLabel* m_problem = new QLabel(this);
    QPushButton* m_create = nullptr;
    QTimer m_soon;
    Wanted m_wanted;
    projects::Project m_mixture;               ///< the project whose data is the edited mixture
    std::optional<engine::DataSummary> m_data; ///< of the chosen data, once it is read
    projects::Source m_read;                   ///< source of m_data or of the running reading
    CountedClasses m_classes;
    std::optional<projects::Source> m_found; ///< in the file or folder that was looked into last
    QString m_lookedAt;                      ///< the path of that file or folder
    bool m_reading = false;
    bool m_isUnreadable = false; ///< the chosen data cannot be trained on
    std::string m_counted;       ///< the tokeniser's file for which the vocabulary was set
};

} // namespace residua::app
