// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/checkpoint_dialogs.h"

#include "app/look/field_row.h"
#include "app/look/path_kind.h"
#include "projects/base/text.h"
#include "visualizers/plot/arrange.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include <utility>

namespace residua::app {
namespace {

constexpr int kFetchWidth = 460;

constexpr int kExportWidth = 480;

} // namespace

FetchDialog::FetchDialog(GoOnSource source, QWidget* parent)
    : AskDialog(
          QStringLiteral("fetch"),
          {tr("Fetch a checkpoint of %1").arg(QString::fromStdString(source.info.name)),
           tr("Copies a checkpoint from %1 into the run's folder on this machine. Forks, retrofits, factors, exports "
              "and the weights of single features are made from it here.")
               .arg(QString::fromStdString(source.distant.place)),
           tr("Fetch")},
          kFetchWidth, parent),
      m_source(std::move(source)),
      m_fields(form(), QStringLiteral("fetch"))
{
    m_fields.add(engine::FetchCheckpoint{});
    m_source.checkpoints = std::exchange(m_source.distant.steps, {});
    listCheckpoints(step(), m_source);
}

QComboBox& FetchDialog::step() const
{
    return m_fields.editor<QComboBox>("step");
}

void FetchDialog::choose(std::int64_t step)
{
    this->step().setCurrentIndex(this->step().findData(QVariant::fromValue<qlonglong>(step)));
    goButton().click();
}

void FetchDialog::begin()
{
    step().setEnabled(false);
    setBusy(); // until the request is completed or fails
    engine::FetchCheckpoint request;
    request.runDirectory = m_source.info.directory;
    m_fields.read(request);
    emit chosen(request);
}

void FetchDialog::refuse(const QString& reason)
{
    step().setEnabled(true);
    AskDialog::refuse(reason);
}

ExportDialog::ExportDialog(GoOnSource source, std::filesystem::path proposal, QWidget* parent)
    : AskDialog(QStringLiteral("export"),
                {tr("Export the network of %1").arg(QString::fromStdString(source.info.name)), {}, tr("Export")},
                kExportWidth, parent),
      m_source(std::move(source)),
      m_proposal(std::move(proposal)),
      m_fields(form(), QStringLiteral("export")),
      m_words(new QLabel(this))
{
    m_fields.add(engine::ExportRequest{});
    listCheckpoints(m_fields.editor<QComboBox>("from"), m_source);
    visualizers::makeRemark(*m_words, "exportWords");
    auto& otherData = m_fields.editor<QCheckBox>("other-data");
    otherData.setText(tr("Export though the data are not those it was trained on"));
    add(m_words);
    add(&otherData);
    connect(&m_fields.chooser("output"), &QPushButton::clicked, this, &ExportDialog::chooseFolder);
    acceptNewPath(m_fields.editor<QLineEdit>("output"),
                  onlyPaths({PathKind::Folder, PathKind::Project, PathKind::Run, PathKind::Model},
                            tr("a folder, in which a new one is made")));
    connect(&m_fields.editor<QComboBox>("to"), &QComboBox::currentIndexChanged, this, &ExportDialog::update);
    update();
}

engine::ExportRequest ExportDialog::request() const
{
    engine::ExportRequest request;
    m_fields.read(request);
    if (request.format == engine::ExportFormat::HuggingFace && !m_source.project.towers.empty()) {
        request.tower = m_source.project.network.name; // a model of transformers is one network: the shown one
    }
    request.of.runDirectory = m_source.info.directory;
    return request;
}

/// Shows the files that are written and the limits of the format, and proposes a folder unless the user has named one.
void ExportDialog::update()
{
    const engine::ExportFormatInfo& info = engine::infoOf(request().format);
    m_words->setText(tr("Writes %1. %2 To train on here, resume the run.")
                         .arg(QCoreApplication::translate("ExportFormat", info.makes),
                              QCoreApplication::translate("ExportFormat", info.lost)));
    if (auto& folderField = m_fields.editor<QLineEdit>("output"); !folderField.isModified()) {
        const std::filesystem::path folder = freePath(m_proposal.string() + "-" + info.key);
        folderField.setText(QDir::toNativeSeparators(QString::fromStdString(folder.string())));
    }
}

void ExportDialog::chooseFolder()
{
    auto& folder = m_fields.editor<QLineEdit>("output");
    const QFileInfo present(folder.text());
    const QString parent = QFileDialog::getExistingDirectory(this, tr("Export into a new folder of"), present.path());
    if (!parent.isEmpty()) {
        folder.setText(QDir::toNativeSeparators(parent + QLatin1Char('/') + present.fileName()));
        folder.setModified(true);
    }
}

void ExportDialog::begin()
{
    const engine::ExportRequest asked = request();
    if (!asked.folder.is_absolute()) {
        refuse(tr("Name the new folder from the root."));
        return;
    }
    setBusy(); // until the request is completed or fails
    emit chosen(asked);
}

} // namespace residua::app
