// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/weights_dialog.h"

#include "app/engine/background.h"
#include "app/engine/engine_bridge.h"
#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/path_kind.h"
#include "engine/runs/results/teaching.h"
#include "projects/nodes/towers.h"

#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>

#include <algorithm>
#include <utility>

namespace residua::app {
namespace {

constexpr int kWeightsWidth = 560;
constexpr int kWeightsHeight = 200; ///< pixels of the table

QTreeWidget* makeWeightsTable(QWidget* parent)
{
    auto* const table = new QTreeWidget(parent);
    table->setObjectName(QStringLiteral("weightsTable"));
    table->setAccessibleName(WeightsDialog::tr("What of the file fits"));
    table->setHeaderLabels(
        {WeightsDialog::tr("Parameter"), WeightsDialog::tr("Tensor of the file"), WeightsDialog::tr("Fits")});
    table->setRootIsDecorated(false);
    table->setUniformRowHeights(true);
    table->setMinimumHeight(kWeightsHeight);
    table->hide();
    return table;
}

} // namespace

WeightsDialog::Words WeightsDialog::wordsOf(Kind kind)
{
    if (kind == Kind::Teach) {
        return {tr("Teach by a trained run"),
                tr("Makes a run of the project whose network learns from the outputs of a trained one too: a frozen "
                   "tower has its weights, and a loss of soft targets compares the outputs. The project stays as it "
                   "is."),
                {}};
    }
    return {tr("Begin with the weights of a file"),
            tr("Makes a run of the project. The tensors that fit its network by name, here or in the architecture of "
               "Hugging Face, and by shape become its checkpoint of step 0."),
            {}};
}

WeightsDialog::WeightsDialog(EngineBridge& engine, Kind kind, std::function<std::optional<OntoProject>()> open,
                             QWidget* parent)
    : AskDialog(QStringLiteral("weights"), wordsOf(kind), kWeightsWidth, parent),
      m_engine(engine),
      m_kind(kind),
      m_open(std::move(open)),
      m_fields(form(), QStringLiteral("weights")),
      m_table(makeWeightsTable(this))
{
    addRows();
    add(m_table, 1);
    m_fields.onEdited([this] { forget(); });
    connect(&m_fields.chooser(sourceKey()), &QPushButton::clicked, this, &WeightsDialog::chooseSource);
    update();
}

void WeightsDialog::addRows()
{
    if (m_kind == Kind::Teach) {
        m_fields.add(engine::Teaching{});
    }
    m_fields.add(engine::LoadWeightsRequest{});
    auto& output = m_fields.editor<QLineEdit>("output");
    output.setPlaceholderText(tr("among the project's"));
    acceptNewPath(output, onlyPaths({PathKind::Folder, PathKind::Project}, tr("a folder, in which a run is made")));
    connect(&m_fields.chooser("output"), &QPushButton::clicked, this, [this, &output] {
        const QString parent = QFileDialog::getExistingDirectory(this, tr("A new run in a folder of"));
        takeChosen(output, parent.isEmpty() ? parent : parent + QStringLiteral("/run"));
    });
    auto& tower = m_fields.editor<QComboBox>("tower");
    const std::optional<OntoProject> onto = m_open();
    tower.addItem(QString());
    for (std::size_t index = 1; onto && index < projects::towerCount(onto->project); ++index) {
        tower.addItem(QString::fromStdString(projects::towerAt(onto->project, index).name));
    }
    tower.setEditText(onto ? QString::fromStdString(onto->tower) : QString());
    tower.lineEdit()->setPlaceholderText(tr("the whole project"));
    if (m_kind == Kind::Teach) { // its file and its tower are the teacher's
        form().setRowVisible(m_fields.editor<QLineEdit>("file").parentWidget(), false);
    }
    form().setRowVisible(&tower, m_kind == Kind::Load && tower.count() > 1);
    acceptPaths(m_fields.editor<QLineEdit>(sourceKey()),
                m_kind == Kind::Teach ? onlyPaths({PathKind::Run}, tr("a run's folder"))
                                      : onlyPaths({PathKind::Tensors}, tr("a .safetensors file")));
}

void WeightsDialog::setSource(const QString& path)
{
    m_fields.editor<QLineEdit>(sourceKey()).setText(QDir::toNativeSeparators(path));
}

void WeightsDialog::chooseSource()
{
    auto& source = m_fields.editor<QLineEdit>(sourceKey());
    takeChosen(source, m_kind == Kind::Teach
                           ? QFileDialog::getExistingDirectory(this, tr("The teacher's run"), source.text())
                           : QFileDialog::getOpenFileName(this, tr("A file of tensors"), source.text(),
                                                          tr("Tensors (*.safetensors)")));
}

void WeightsDialog::forget()
{
    if (m_phase == Phase::Makes) {
        return;
    }
    m_engine.drop(std::exchange(m_question, {}));
    ++m_look;
    m_phase = Phase::Asks;
    m_table->hide();
    setDone({});
    update();
}

void WeightsDialog::update()
{
    const bool named = !m_fields.editor<QLineEdit>(sourceKey()).text().trimmed().isEmpty();
    goButton().setText(m_phase == Phase::Asks || m_phase == Phase::Looks ? tr("Show what fits") : tr("Make the run"));
    goButton().setEnabled(named && (m_phase == Phase::Asks || m_phase == Phase::Shows));
}

void WeightsDialog::begin()
{
    const std::optional<OntoProject> onto = m_open();
    if (!onto) {
        refuse(tr("The run is made in the project's folder: open a project, or save this one, first."));
        return;
    }
    m_phase = m_phase == Phase::Shows ? Phase::Makes : Phase::Looks;
    engine::LoadWeightsRequest request;
    m_fields.read(request);
    request.file = absolutePath(QString::fromStdString(request.file.string()));
    if (!request.runDirectory.empty()) {
        request.runDirectory = absolutePath(QString::fromStdString(request.runDirectory.string()));
    }
    request.project = onto->project;
    request.projectDirectory = onto->directory;
    request.dryRun = m_phase == Phase::Looks;
    setBusy();
    if (m_kind == Kind::Teach) {
        beginTeaching(request);
    } else {
        ask(request);
    }
}

/// Reads the teacher's run, then asks for the student's.
void WeightsDialog::beginTeaching(const engine::LoadWeightsRequest& request)
{
    engine::Teaching teaching;
    m_fields.read(teaching);
    teaching.run = absolutePath(QString::fromStdString(teaching.run.string()));
    inBackground(
        this, [student = request.project, teaching] { return engine::taughtStudent(student, teaching); },
        [this, request, look = m_look](const Result<engine::TaughtStudent>& taught) {
            if (look != m_look) {
                return; // the fields have changed meanwhile
            }
            if (!taught) {
                refuse(QString::fromStdString(taught.error().text()));
                return;
            }
            engine::LoadWeightsRequest asked = request;
            asked.file = taught->weights.file;
            asked.tower = taught->weights.tower;
            asked.project = taught->weights.project;
            ask(asked);
        });
}

void WeightsDialog::ask(const engine::LoadWeightsRequest& request)
{
    m_question = m_engine.ask(
        request, this, [this](const engine::LoadWeightsReady& ready) { take(ready); },
        [this](const engine::QueryFailed& failed) { refuse(QString::fromStdString(failed.error.text())); },
        [this](const engine::QueryProgress& progress) {
            if (progress.share >= 0) {
                setShare(progress.share);
            }
        });
}

void WeightsDialog::take(const engine::LoadWeightsReady& ready)
{
    m_question = {};
    if (m_phase == Phase::Makes) {
        emit made(ready);
        accept();
        return;
    }
    m_table->clear();
    for (const engine::LoadWeightsReady::Row& row : ready.rows) {
        m_table->addTopLevelItem(
            new QTreeWidgetItem({QString::fromStdString(row.parameter), QString::fromStdString(row.tensor),
                                 row.fits ? tr("fits") : QString::fromStdString(row.message)}));
    }
    for (const std::string& name : ready.unused) {
        m_table->addTopLevelItem(new QTreeWidgetItem({QString(), QString::fromStdString(name), tr("left over")}));
    }
    m_table->resizeColumnToContents(0);
    m_table->resizeColumnToContents(1);
    m_table->show();
    const auto fitting = std::ranges::count(ready.rows, true, &engine::LoadWeightsReady::Row::fits);
    QStringList lines{
        tr("%1 of %2 parameters have their numbers from the file; %3 of its tensors are left over. All "
           "else starts as the project says.")
            .arg(formatWhole(fitting), formatWhole(std::ssize(ready.rows)), formatWhole(std::ssize(ready.unused)))};
    for (const std::string& note : ready.notes) {
        lines << QString::fromStdString(note);
    }
    m_phase = Phase::Shows;
    setDone(lines.join(QLatin1Char('\n')));
    update();
}

void WeightsDialog::refuse(const QString& reason)
{
    m_question = {};
    m_phase = Phase::Asks;
    m_table->hide();
    AskDialog::refuse(reason);
    update();
}

} // namespace residua::app
