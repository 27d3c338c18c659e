// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/new_project_dialog.h"

#include "app/engine/background.h"
#include "app/inspector/mixture_editor.h"
#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/path_kind.h"
#include "app/look/theme.h"
#include "app/look/widgets.h"
#include "app/properties/property.h"
#include "app/start/start_page.h"
#include "app/start/tokeniser_dialog.h"
#include "projects/check/validate.h"
#include "projects/cost/cost.h"
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"
#include "projects/studies/sweep_grid.h"
#include "visualizers/plot/arrange.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace residua::app {
namespace {

constexpr QSize kSize(860, 620);
constexpr int kSoonMilliseconds = 250; ///< delay, because a path is typed letter by letter
constexpr int kRowSpacing = 8;         ///< pixels

} // namespace

NewProjectDialog::NewProjectDialog(EngineBridge& engine, const CostView::Device& device, QWidget* parent)
    : QDialog(parent),
      m_engine(engine),
      m_key(new QLineEdit(QString::fromStdString(projects::JsonLinesData{}.field), this)),
      m_label(new QLineEdit(QString::fromStdString(projects::LabelledTextData{}.label), this)),
      m_parts(new MixtureEditor(MixtureEditor::FieldMenus::Standard, this)),
      m_vocabulary(
          spinBoxOf(tr("Vocabulary"), QStringLiteral("newVocabulary"), "/data/source/tokeniser/vocabulary", this)),
      m_depth(spinBoxOf(tr("Depth"), QStringLiteral("newDepth"), "/network/stack/N/repeat", this)),
      m_width(spinBoxOf(tr("Width"), QStringLiteral("newWidth"), "/network/width", this)),
      m_steps(spinBoxOf(tr("Steps"), QStringLiteral("newSteps"), "/training/steps", this)),
      m_batch(spinBoxOf(tr("Batch"), QStringLiteral("newBatch"), "/training/batch", this)),
      m_sequence(spinBoxOf(tr("Sequence length"), QStringLiteral("newSequence"), "/training/sequence_length", this)),
      m_cost(new CostView(this)),
      m_soon(this)
{
    setObjectName(QStringLiteral("newProjectDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("New project"));
    resizeWithinScreen(*this, kSize);
    for (const QString& folder : recentProjects()) {
        m_taken << QFileInfo(folder).fileName();
    }
    m_cost->setDevice(device);
    m_soon.setObjectName(QStringLiteral("newReading"));
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMilliseconds);
    layOut();
    connectFields();
    acceptPaths(*this, {.problem = onlyData(), .take = [this](const QStringList& paths) { setData(paths.front()); }});
    acceptPaths(*m_model, onlyTokenisers());
    chooseKind();
}

NewProjectDialog::~NewProjectDialog()
{
    if (m_wanted) {
        *m_wanted = false;
    }
}

void NewProjectDialog::setData(const QString& path)
{
    const projects::Source source = projects::sourceAt(path.toStdString());
    m_kind->setCurrentIndex(m_kind->findData(static_cast<int>(source.index())));
    takeChosen(*m_path, path);
    lookAt(path, KindOfData::Any);
}

/// Looks into a file or a folder, because its name may not tell the kind of the data or the size of its pictures, and a
/// part that is held out may lie beside it. If the folder holds the parts of a data set, the path becomes that of the
/// training part, unless it is being typed.
void NewProjectDialog::lookAt(const QString& path, KindOfData kind)
{
    const engine::TableColumns columns{m_key->text().toStdString(), m_label->text().toStdString()};
    const auto look = [path = path.toStdString(), columns] { return engine::dataAt(path, columns); };
    m_lookedAt = m_path->text();
    inBackground(
        this, look,
        [this, kind, shown = m_path->text(), guess = m_kind->currentData()](const Result<projects::Source>& source) {
            const bool isOther = m_path->text() != shown || m_kind->currentData() != guess;
            const QString found = source ? QString::fromStdString(answersIn(*source).path) : QString();
            if (!source || isOther || (kind == KindOfData::Typed && found != shown.trimmed())) {
                return; // the reading of the data says what is wrong with it
            }
            const auto index = static_cast<int>(source->index());
            if (kind == KindOfData::Any) {
                m_kind->setCurrentIndex(m_kind->findData(index));
            }
            if (m_kind->currentData().toInt() == index) {
                m_found = *source;
                if (kind != KindOfData::Typed) {
                    m_lookedAt = found;
                    takeChosen(*m_path, found);
                }
                update();
            }
        });
}

QFormLayout* NewProjectDialog::makeDataForm()
{
    m_name->setObjectName(QStringLiteral("newName"));
    m_kind->setObjectName(QStringLiteral("newData"));
    m_path->setObjectName(QStringLiteral("newPath"));
    m_tokeniser->setObjectName(QStringLiteral("newTokeniser"));
    m_model->setObjectName(QStringLiteral("newModel"));
    fillChoices(*m_kind, "/data/source/kind");
    fillChoices(*m_tokeniser, "/data/source/tokeniser/kind");
    m_mixture.data.source = projects::MixtureData{};
    m_parts->show(m_mixture);
    m_path->setPlaceholderText(tr("A file or folder, or drop one"));
    m_model->setPlaceholderText(tr("Its file: .model, or tokenizer.json"));
    m_browse->setAccessibleName(tr("Browse for the data's file"));
    m_browseFolder->setAccessibleName(tr("Browse for a folder of data"));
    m_path->setAccessibleName(tr("Place"));
    m_tokeniser->setAccessibleName(tr("Tokeniser"));
    m_model->setAccessibleName(tr("Model"));
    visualizers::setNames(*m_key, "newKey", {},
                          tr("The key of JSON Lines, or the column of Parquet or a table, that holds the text"));
    visualizers::setNames(*m_label, "newLabel", {}, tr("The column of the table that holds the label"));
    m_train->setObjectName(QStringLiteral("newTrainTokeniser"));
    auto* browseModels = new QPushButton(tr("Browse…"), this);
    browseModels->setAccessibleName(tr("Browse for the tokeniser's file"));
    connect(browseModels, &QPushButton::clicked, this, &NewProjectDialog::browseModel);
    m_amount->setObjectName(QStringLiteral("newAmount"));
    m_amount->setWordWrap(true);
    m_amount->setTextFormat(Qt::PlainText); // it contains names that may come from other people, like the problem
    visualizers::setNames(*m_preview, "newPreview", tr("The beginning of what is fed"));
    m_preview->setFont(numberFont());
    m_preview->setTabChangesFocus(true);
    m_dataForm = new QFormLayout;
    m_dataForm->setVerticalSpacing(kRowSpacing);
    m_dataForm->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_dataForm->addRow(tr("Name"), m_name);
    m_dataForm->addRow(tr("Data"), m_kind);
    m_dataForm->addRow(tr("Place"), fieldRow(m_path, {m_browse, m_browseFolder}));
    m_dataForm->addRow(tr("Texts"), m_parts);
    m_dataForm->addRow(tr("Key or column"), m_key);
    m_dataForm->addRow(tr("Label's column"), m_label);
    m_dataForm->addRow(tr("Tokeniser"), fieldRow(m_tokeniser, {m_train}));
    m_dataForm->addRow(tr("Model"), fieldRow(m_model, {browseModels}));
    m_dataForm->addRow(tr("Vocabulary"), m_vocabulary);
    return m_dataForm;
}

QFormLayout* NewProjectDialog::makeNetworkForm()
{
    visualizers::setNames(*m_topology, "newTopology", tr("Topology"));
    m_networkForm = new QFormLayout;
    m_networkForm->setVerticalSpacing(kRowSpacing);
    m_networkForm->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    visualizers::setNames(*m_recipe, "newRecipe", tr("Size"));
    m_networkForm->addRow(tr("Size"), m_recipe);
    m_networkForm->addRow(tr("Depth"), m_depth);
    m_networkForm->addRow(tr("Width"), m_width);
    m_networkForm->addRow(tr("Topology"), m_topology);
    m_networkForm->addRow(tr("Steps"), m_steps);
    m_networkForm->addRow(tr("Batch"), m_batch);
    m_networkForm->addRow(tr("Sequence length"), m_sequence);
    return m_networkForm;
}

void NewProjectDialog::layOut()
{
    auto* left = visualizers::makeColumn(nullptr, {}, {makeDataForm(), m_amount, {m_preview, 1}});
    auto* right = visualizers::makeColumn(nullptr, {}, {makeNetworkForm(), visualizers::space(8), m_cost, m_total});
    right->addStretch(1);
    visualizers::makeRemark(*m_total, "newTotal");
    m_problem->setObjectName(QStringLiteral("newProblem"));
    m_problem->setWordWrap(true);
    m_problem->setTextFormat(Qt::PlainText);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_create = buttons->addButton(tr("Create"), QDialogButtonBox::AcceptRole);
    m_create->setObjectName(QStringLiteral("newCreate"));
    m_create->setDefault(true);
    visualizers::makeColumn(this, {}, {{new TwoColumns(left, 3, right, 2, this), 1}, m_problem, buttons});
    connect(m_create, &QPushButton::clicked, this, &NewProjectDialog::create);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void NewProjectDialog::connectFields()
{
    connect(m_name, &QLineEdit::textEdited, this, [this](const QString& text) { m_isNamed = !text.isEmpty(); });
    connect(m_kind, &QComboBox::currentIndexChanged, this, &NewProjectDialog::chooseKind);
    connect(m_recipe, &QComboBox::currentIndexChanged, this, &NewProjectDialog::propose);
    connect(m_browse, &QPushButton::clicked, this, &NewProjectDialog::browseFile);
    connect(m_browseFolder, &QPushButton::clicked, this, &NewProjectDialog::browseFolder);
    connect(m_train, &QPushButton::clicked, this, &NewProjectDialog::trainTokeniser);
    connect(m_parts, &MixtureEditor::editRequested, this,
            [this](const projects::Edit& edit) { changeMixture(Result<projects::Edit>(edit)); });
    connect(m_parts, &MixtureEditor::edited, this, [this](const Property& property, const QVariant& value) {
        changeMixture(property.edit(m_mixture, value));
    });
    connect(&m_soon, &QTimer::timeout, this, &NewProjectDialog::readData);
    for (QComboBox* box : {m_tokeniser, m_topology}) {
        connect(box, &QComboBox::currentIndexChanged, this, &NewProjectDialog::update);
    }
    for (QLineEdit* line : {m_path, m_key, m_label, m_model}) {
        connect(line, &QLineEdit::textChanged, this, &NewProjectDialog::update);
    }
    for (QSpinBox* box : {m_vocabulary, m_depth, m_width, m_steps, m_batch, m_sequence}) {
        connect(box, &QSpinBox::valueChanged, this, &NewProjectDialog::update);
    }
}

projects::TokeniserKind NewProjectDialog::tokeniserKind() const
{
    return static_cast<projects::TokeniserKind>(m_tokeniser->currentData().toInt());
}

bool NewProjectDialog::namesData() const
{
    const AskedData asked = askedOf(source());
    return asked.parts ? !std::get<projects::MixtureData>(m_mixture.data.source).parts.empty()
                       : !asked.path || !m_path->text().trimmed().isEmpty();
}

projects::Source NewProjectDialog::source() const
{
    AnsweredData answers{.path = m_path->text().trimmed().toStdString(),
                         .key = m_key->text().trimmed().toStdString(),
                         .label = m_label->text().trimmed().toStdString(),
                         .parts = std::get<projects::MixtureData>(m_mixture.data.source).parts,
                         .tokeniser = {.kind = tokeniserKind(), .model = m_model->text().trimmed().toStdString()},
                         .vocabulary = m_vocabulary->value()};
    if (projects::hasVocabulary(answers.tokeniser.kind)) {
        answers.tokeniser.vocabulary = answers.vocabulary;
    }
    const std::size_t kind = m_kind->currentData().toULongLong();
    const bool isFound = m_found && m_found->index() == kind && answersIn(*m_found).path == answers.path;
    const projects::Source asked = withAnswers(isFound ? *m_found : newSource(kind), answers);
    return asked == m_classes.of ? withClasses(asked, m_classes.count) : asked;
}

projects::NewProject NewProjectDialog::wanted() const
{
    projects::NewProject wanted;
    const QString typed = m_name->text().trimmed();
    wanted.name = (typed.isEmpty() ? proposedName() : typed).toStdString();
    wanted.source = source();
    wanted.recipe = m_recipe->currentData().toString().toStdString();
    wanted.depth = m_depth->value();
    wanted.width = m_width->value();
    wanted.topology = m_topology->currentData().toString().toStdString();
    wanted.steps = m_steps->value();
    wanted.batch = m_batch->value();
    wanted.sequenceLength = m_sequence->value();
    return wanted;
}

/// For other data, offers the recipes that read such data.
void NewProjectDialog::chooseKind()
{
    const projects::Source chosen = source();
    {
        const QSignalBlocker quiet(m_recipe);
        m_recipe->clear();
        m_recipe->addItem(tr("Small"), QString());
        for (const projects::Recipe& recipe : projects::recipes()) {
            if (projects::fitsRecipe(recipe, chosen)) {
                m_recipe->addItem(QString::fromStdString(recipe.title), QString::fromStdString(recipe.name));
                m_recipe->setItemData(m_recipe->count() - 1, QString::fromStdString(recipe.summary), Qt::ToolTipRole);
            }
        }
    }
    m_networkForm->setRowVisible(m_recipe, m_recipe->count() > 1);
    const QSignalBlocker still(m_vocabulary);
    m_vocabulary->setValue(static_cast<int>(proposedVocabulary(chosen)));
    m_counted.clear(); // a tokeniser's file is counted again
    propose();
}

/// Sets the sizes of the recipe, or of the example that trains on such data.
void NewProjectDialog::propose()
{
    const projects::Source chosen = source();
    const projects::NewProject proposal =
        projects::proposalFor(chosen, m_recipe->currentData().toString().toStdString());
    const auto project = projects::projectFrom(proposal);
    {
        const std::pair<QSpinBox*, std::int64_t> values[] = {{m_depth, proposal.depth},
                                                             {m_width, proposal.width},
                                                             {m_steps, proposal.steps},
                                                             {m_batch, proposal.batch},
                                                             {m_sequence, proposal.sequenceLength}};
        for (const auto& [box, value] : values) {
            const QSignalBlocker quiet(box);
            box->setValue(static_cast<int>(value));
        }
        const QSignalBlocker quiet(m_topology);
        m_topology->clear();
        for (const auto& preset : projects::topologyPresets(project ? project->network : projects::Network{})) {
            m_topology->addItem(QString::fromStdString(preset.title), QString::fromStdString(preset.name));
        }
        m_topology->setCurrentIndex(std::max(m_topology->findData(QString::fromStdString(proposal.topology)), 0));
    }
    m_networkForm->setRowVisible(m_sequence, projects::examplesOf({.source = chosen}).hasTime());
    update();
}

void NewProjectDialog::browseFile()
{
    const QString chosen = QFileDialog::getOpenFileName(this, tr("Data"), m_path->text(),
                                                        fileFilter(m_kind->currentText(), endingsOf(source())));
    takeChosen(*m_path, chosen);
    lookAt(chosen, KindOfData::Chosen);
}

void NewProjectDialog::browseFolder()
{
    const QString chosen = QFileDialog::getExistingDirectory(this, tr("A folder of data"), m_path->text());
    takeChosen(*m_path, chosen);
    lookAt(chosen, KindOfData::Chosen);
}

void NewProjectDialog::browseModel()
{
    const QString chosen = QFileDialog::getOpenFileName(this, tr("A tokeniser's file"), m_model->text(),
                                                        tr("Tokenisers (*.model tokenizer.json *.json);;Any file (*)"));
    takeChosen(*m_model, chosen);
}

void NewProjectDialog::trainTokeniser()
{
    const auto subject = TokeniserDialog::subjectOf(source(), {});
    if (!subject || findChild<TokeniserDialog*>()) {
        return;
    }
    auto* dialog = new TokeniserDialog(m_engine, *subject, this);
    connect(dialog, &TokeniserDialog::chosen, this, [this](const std::filesystem::path& model, std::int64_t pieces) {
        m_tokeniser->setCurrentIndex(m_tokeniser->findData(static_cast<int>(projects::TokeniserKind::SentencePiece)));
        m_model->setText(QDir::toNativeSeparators(QString::fromStdString(model.string())));
        m_vocabulary->setValue(static_cast<int>(pieces));
    });
    dialog->show();
}

void NewProjectDialog::changeMixture(const Result<projects::Edit>& edit)
{
    projects::Document document{m_mixture, {}};
    if (edit && projects::applyEdit(document, *edit)) {
        m_mixture = std::move(document.project);
        m_parts->show(m_mixture);
        update();
    }
}

/// Returns a name that no recent project has: that of the data, or of their kind.
QString NewProjectDialog::proposedName() const
{
    const QString named = nameOfData(source());
    return newName(named.isEmpty() ? m_kind->currentText().section(QLatin1Char(':'), 0, 0) : named, m_taken);
}

void NewProjectDialog::update()
{
    if (const QString name = proposedName(); !m_isNamed && name != m_name->text()) {
        m_name->setText(name);
        m_name->selectAll(); // typed text replaces it
    }
    const AskedData asked = askedOf(source());
    m_dataForm->setRowVisible(m_path->parentWidget(), asked.path);
    m_dataForm->setRowVisible(m_parts, asked.parts);
    m_dataForm->setRowVisible(m_key, asked.key);
    m_dataForm->setRowVisible(m_label, asked.label);
    m_dataForm->setRowVisible(m_tokeniser->parentWidget(), asked.tokeniser);
    m_train->setVisible(asked.path);
    m_train->setEnabled(!m_path->text().trimmed().isEmpty());
    m_dataForm->setRowVisible(m_model->parentWidget(), asked.tokeniser && projects::hasModel(tokeniserKind()));
    m_dataForm->setRowVisible(m_vocabulary,
                              asked.vocabulary || (asked.tokeniser && projects::hasVocabulary(tokeniserKind())));
    const auto project = projects::projectFrom(wanted());
    showCost(project);
    if (project && project->data.source != m_read) {
        m_read = project->data.source;
        if (m_wanted) {
            *m_wanted = false; // a reading of other data that ends before the next begins counts no more
        }
        m_data.reset();
        m_isUnreadable = false;
        m_preview->clear();
        setRole(*m_amount, QString());
        m_amount->setText(namesData() ? tr("Reading the data …") : QString());
        m_soon.start();
    } else if (m_data) {
        showData(engine::DataPreview{*m_data, {}, {}});
    }
    allowCreation();
}

void NewProjectDialog::showCost(const Result<projects::Project>& project)
{
    const auto cost =
        project ? projects::costOf(*project, m_cost->device().kind) : Result<projects::CostReport>(project.error());
    m_cost->setCost(cost ? std::optional(cost->total) : std::nullopt, std::nullopt,
                    formatUnit(project ? project->data : projects::DataSource{}));
    m_total->setText(cost ? totalText(trainingFlops(*project, cost->total), m_cost->device().kind) : QString());
    QString problem = project ? QString() : QString::fromStdString(project.error().text());
    if (project) {
        const auto problems = projects::validate(*project);
        if (projects::hasErrors(problems)) {
            problem = QString::fromStdString(problems.front().text());
        }
    }
    const QString missing = stillMissing();
    setRole(*m_problem, missing.isEmpty() ? QStringLiteral("error") : QStringLiteral("muted"));
    m_problem->setText(missing.isEmpty() ? problem : missing);
    m_problem->setVisible(!m_problem->text().isEmpty());
}

/// Creation waits until every reason against it is gone. A network with a class for each label waits for the files.
void NewProjectDialog::allowCreation()
{
    const bool awaitsClasses = askedOf(source()).classes && !m_data;
    m_create->setEnabled(m_problem->text().isEmpty() && !m_isUnreadable && !awaitsClasses);
}

/// What a person has not chosen yet, which is no error; empty if everything is there.
QString NewProjectDialog::stillMissing() const
{
    const AskedData asked = askedOf(source());
    const bool wantsModel = asked.tokeniser && projects::hasModel(tokeniserKind());
    return !namesData() ? (asked.parts ? tr("Add a text to begin.") : tr("Choose the data's file or folder to begin."))
           : wantsModel && m_model->text().trimmed().isEmpty() ? tr("Choose the tokeniser's file to begin.")
                                                               : QString();
}

/// Returns the tokeniser's file whose vocabulary has not been counted yet, or an empty text.
std::string NewProjectDialog::uncountedModel() const
{
    const std::string model = m_model->text().trimmed().toStdString();
    const bool asked = askedOf(source()).tokeniser && projects::hasModel(tokeniserKind());
    return asked && model != m_counted ? model : std::string();
}

/// Reads one source at a time. The next reading begins when the last one has ended or was cancelled.
void NewProjectDialog::readData()
{
    if (m_wanted) {
        *m_wanted = false;
    }
    if (m_reading || !namesData()) {
        return; // the running reading is cancelled, and starts the next when it ends
    }
    if (!projects::projectFrom(wanted())) {
        return;
    }
    if (askedOf(source()).path && m_path->text() != m_lookedAt) {
        lookAt(m_path->text().trimmed(), KindOfData::Typed);
    }
    m_wanted = std::make_shared<std::atomic<bool>>(true);
    m_reading = true;
    const auto read = [asked = wanted(), known = m_classes, wanted = m_wanted, model = uncountedModel()] {
        return readAsked(asked, known, model, [&wanted] { return wanted->load(); });
    };
    inBackground(this, read, [this, wanted = m_wanted](const ReadData& looked) {
        const Result<engine::DataPreview>& preview = looked.preview;
        m_reading = false;
        if (!wanted->load()) {
            readData();
            return;
        }
        if (looked.tokeniser) {
            const auto tokens = static_cast<int>(looked.tokeniser->vocabulary);
            m_counted = looked.model;
            if (m_vocabulary->value() != tokens) {
                m_vocabulary->setValue(tokens); // triggers another reading of the data
                return;
            }
        }
        m_data = preview ? std::optional(preview->summary) : std::nullopt;
        takeClasses(looked.classes);
        if (preview) {
            m_preview->setHtml(previewHtml(*preview, *m_preview->document()));
        }
        showData(preview);
    });
}

/// The network gets an output for each class of the data.
void NewProjectDialog::takeClasses(const CountedClasses& classes)
{
    if (classes.count == 0 || classes == m_classes) {
        return;
    }
    m_classes = classes;
    const auto project = projects::projectFrom(wanted());
    m_read = project ? project->data.source : m_read; // it has been read with them
    showCost(project);
}

void NewProjectDialog::showData(const Result<engine::DataPreview>& preview)
{
    m_isUnreadable = !preview;
    allowCreation();
    setRole(*m_amount, preview ? QString() : QStringLiteral("error"));
    m_amount->setText(preview ? amountText(preview->summary, wanted())
                              : QString::fromStdString(preview.error().text()));
}

/// Checks at least the beginning of the data if they have not been read yet.
void NewProjectDialog::create()
{
    const auto project = projects::projectFrom(wanted());
    if (!project) {
        return;
    }
    const auto finish = [this, project = *project](const Status& readable) {
        if (!readable) {
            showData(readable.error());
        } else if (isVisible()) {
            emit created(project);
            close();
        }
    };
    const AskedData asked = askedOf(project->data.source);
    if (m_data || !(asked.path || asked.parts)) {
        finish(Done{});
        return;
    }
    m_create->setEnabled(false);
    inBackground(
        this, [source = project->data.source] { return engine::checkReadable(source, {}); }, finish);
}

} // namespace residua::app
