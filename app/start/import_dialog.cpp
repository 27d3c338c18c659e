// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/import_dialog.h"

#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/engine/engine_bridge.h"
#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/path_kind.h"
#include "engine/base/api/data_summary.h"
#include "projects/model/data_source.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>

#include <utility>

namespace residua::app {

namespace {

constexpr int kImportWidth = 560;
constexpr int kImportRowSpacing = 8; ///< pixels
constexpr int kTableHeight = 240;    ///< pixels

} // namespace

ImportDialog::ImportDialog(EngineBridge& engine, std::filesystem::path projects, QWidget* parent)
    : AskDialog(QStringLiteral("import"), {tr("Import a model"), {}, tr("Import")}, kImportWidth, parent),
      m_engine(engine),
      m_projects(std::move(projects)),
      m_folder(new QLineEdit(this)),
      m_name(new QLineEdit(this)),
      m_data(new QLineEdit(this)),
      m_place(new QLabel(this)),
      m_table(makeTable()),
      m_cancel(buttons().button(QDialogButtonBox::Cancel))
{
    m_place->setProperty("role", QStringLiteral("muted"));
    m_place->setWordWrap(true);
    m_place->setTextFormat(Qt::PlainText); // it contains names that may come from other people
    addRows();
    add(m_place);
    add(m_table, 1);
    m_folder->setFocus();
    update();
}

void ImportDialog::ask(engine::ImportRequest request)
{
    m_question = m_engine.ask(
        std::move(request), this, [this](const engine::ImportReady& made) { take(made); },
        [this](const engine::QueryFailed& failed) {
            end(m_givenUp ? givenUpText() : QString::fromStdString(failed.error.text()));
            std::vector<std::string> lines = failed.notes;
            lines.insert(lines.end(), failed.details.begin(), failed.details.end());
            showDetails(lines);
        },
        [this](const engine::QueryProgress& progress) {
            if (!m_givenUp) {
                setShare(progress.share);
            }
        });
    update();
}

QTreeWidget* ImportDialog::makeTable()
{
    auto* table = new QTreeWidget(this);
    table->setObjectName(QStringLiteral("importTable"));
    table->setAccessibleName(tr("What of the model does not fit"));
    table->setHeaderHidden(true);
    table->setRootIsDecorated(false);
    table->setUniformRowHeights(true);
    table->setMinimumHeight(kTableHeight);
    table->hide();
    return table;
}

void ImportDialog::addRows()
{
    m_folder->setObjectName(QStringLiteral("importFolder"));
    m_folder->setAccessibleName(tr("Model"));
    m_data->setAccessibleName(tr("Data"));
    m_folder->setPlaceholderText(tr("Its folder, or one .safetensors file"));
    m_folder->setToolTip(tr("A folder with config.json and model.safetensors, or one .safetensors file"));
    m_name->setObjectName(QStringLiteral("importName"));
    m_data->setObjectName(QStringLiteral("importData"));
    m_data->setPlaceholderText(tr("May be left empty"));
    m_data->setToolTip(tr("A text, table or JSON Lines, also compressed, Parquet, a .bin, a folder of such or of "
                          "pictures"));
    auto* browseModels = new QPushButton(tr("Browse…"), this);
    browseModels->setAccessibleName(tr("Browse for the model's folder"));
    auto* browseTensors = new QPushButton(tr("File…"), this);
    browseTensors->setAccessibleName(tr("Browse for a file of tensors"));
    auto* browseTexts = new QPushButton(tr("Browse…"), this);
    browseTexts->setAccessibleName(tr("Browse for data"));
    auto* browseFolders = new QPushButton(tr("Folder…"), this);
    browseFolders->setAccessibleName(tr("Browse for a folder of data"));
    form().setVerticalSpacing(kImportRowSpacing);
    form().addRow(tr("Model"), fieldRow(m_folder, {browseModels, browseTensors}));
    form().addRow(tr("Name"), m_name);
    form().addRow(tr("Data"), fieldRow(m_data, {browseTexts, browseFolders}));
    connect(browseModels, &QPushButton::clicked, this, &ImportDialog::browseModel);
    connect(browseTensors, &QPushButton::clicked, this, &ImportDialog::browseFile);
    connect(browseTexts, &QPushButton::clicked, this, &ImportDialog::browseData);
    connect(browseFolders, &QPushButton::clicked, this, &ImportDialog::browseDataFolder);
    connect(m_folder, &QLineEdit::textChanged, this, &ImportDialog::update);
    connect(m_name, &QLineEdit::textChanged, this, &ImportDialog::update);
    for (const QLineEdit* field : {m_folder, m_name, m_data}) {
        connect(field, &QLineEdit::textChanged, this, [this] { // what is told is about other input
            tell({});
            m_table->hide();
        });
    }
    connect(m_name, &QLineEdit::textEdited, this, [this] { m_named = true; });
    acceptPaths(*m_folder, onlyPaths({PathKind::Model, PathKind::Tensors, PathKind::Folder},
                                     tr("a model's folder, or one .safetensors file")));
    acceptPaths(*m_data, onlyData());
}

void ImportDialog::setFolder(const QString& folder)
{
    m_folder->setText(QDir::toNativeSeparators(folder));
}

bool ImportDialog::namesFile() const
{
    const QString path = m_folder->text().trimmed();
    return path.endsWith(QStringLiteral(".safetensors"), Qt::CaseInsensitive) && !QFileInfo(path).isDir();
}

void ImportDialog::browseFile()
{
    const QString chosen =
        QFileDialog::getOpenFileName(this, tr("A file of tensors"), m_folder->text(), tr("Tensors (*.safetensors)"));
    if (!chosen.isEmpty()) {
        setFolder(chosen);
    }
}

void ImportDialog::browseModel()
{
    const QString chosen = QFileDialog::getExistingDirectory(this, tr("A model's folder"), m_folder->text());
    if (!chosen.isEmpty()) {
        setFolder(chosen);
    }
}

void ImportDialog::browseData()
{
    const QString chosen =
        QFileDialog::getOpenFileName(this, tr("Data"), m_data->text(), fileFilter(tr("Data"), projects::kDataEndings));
    takeChosen(*m_data, chosen);
}

void ImportDialog::browseDataFolder()
{
    const QString chosen = QFileDialog::getExistingDirectory(this, tr("A folder of data"), m_data->text());
    takeChosen(*m_data, chosen);
}

void ImportDialog::update()
{
    const QString model = m_folder->text().trimmed();
    const bool file = namesFile();
    if (!m_named) {
        m_name->setText(model.isEmpty() || file ? QString() : QFileInfo(QDir(model).absolutePath()).fileName());
    }
    const QString name = m_name->text().trimmed();
    const bool named = file || (!model.isEmpty() && !name.isEmpty());
    goButton().setEnabled(named && !m_question && !m_looks);
    m_cancel->setEnabled(!m_givenUp);
    m_name->setEnabled(!file);
    m_data->setEnabled(!file);
    m_place->setText(place(model, name));
}

/// Returns the folder of the import, for a message.
QString ImportDialog::place(const QString& model, const QString& name) const
{
    if (namesFile()) {
        return tr("A file of tensors goes onto the open project, which shows what of it fits.");
    }
    if (name.isEmpty() || model.isEmpty()) {
        return tr("GPT-2, Llama, Mistral, Qwen2, Qwen3, Pythia, OLMo 2, Ouro, BERT, ALBERT and ViT as Hugging Face's "
                  "transformers saves them.");
    }
    const auto folder = freeProjectFolder(m_projects, name.toStdString());
    return tr("The project comes to %1, its weights as the checkpoint of step 0 of a run.")
        .arg(QDir::toNativeSeparators(QString::fromStdString(folder.string())));
}

void ImportDialog::begin()
{
    if (namesFile()) {
        emit fileChosen(absolutePath(m_folder->text()));
        accept();
        return;
    }
    m_table->hide();
    setBusy();
    engine::ImportRequest request;
    request.folder = absolutePath(m_folder->text());
    request.projectDirectory = freeProjectFolder(m_projects, m_name->text().trimmed().toStdString());
    const QString path = m_data->text().trimmed();
    if (path.isEmpty()) {
        ask(std::move(request));
    } else {
        lookAtData(absolutePath(path), std::move(request));
        update();
    }
}

/// Finds out what the data are, which may read a large folder, and then has the engine import.
void ImportDialog::lookAtData(const std::filesystem::path& path, engine::ImportRequest request)
{
    m_looks = true;
    inBackground(
        this, [path] { return engine::dataAt(path); },
        [this, request = std::move(request)](const Result<projects::Source>& source) {
            m_looks = false;
            if (m_givenUp || !source) {
                end(m_givenUp ? givenUpText() : QString::fromStdString(source.error().text()));
                return;
            }
            engine::ImportRequest asked = request;
            asked.data = *source;
            ask(std::move(asked));
        });
}

QString ImportDialog::givenUpText()
{
    return tr("The import was given up; nothing of it is left.");
}

/// An import that was complete before it was cancelled is kept, but not opened.
void ImportDialog::take(const engine::ImportReady& made)
{
    if (m_givenUp) {
        end(tr("The import was complete before it could be given up: the project is %1.")
                .arg(QDir::toNativeSeparators(QString::fromStdString(made.projectDirectory.string()))));
        return;
    }
    m_question.reset();
    emit imported(made);
    accept();
}

/// Shows all details of an error whose text has only the first.
void ImportDialog::showDetails(const std::vector<std::string>& details)
{
    m_table->clear();
    for (const std::string& line : details) {
        m_table->addTopLevelItem(new QTreeWidgetItem({QString::fromStdString(line)}));
    }
    m_table->setVisible(!details.empty());
}

void ImportDialog::end(const QString& problem)
{
    m_question.reset();
    m_givenUp = false;
    refuse(problem);
    update();
}

/// Cancels running work first; the engine reports when it is removed.
void ImportDialog::reject()
{
    if (!m_question && !m_looks) {
        QDialog::reject();
        return;
    }
    if (!std::exchange(m_givenUp, true)) {
        setBusy(); // until the engine or the look at the data has ended
        if (m_question) {
            m_engine.giveUp(*m_question);
        }
    }
    update();
}

} // namespace residua::app
