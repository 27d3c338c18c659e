// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/checkpoint_dialogs.h"

#include "app/look/field_row.h"
#include "projects/base/free_name.h"

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
      m_step(new QComboBox(this))
{
    m_step->setObjectName(QStringLiteral("fetchStep"));
    m_source.checkpoints = std::exchange(m_source.distant.steps, {});
    listCheckpoints(*m_step, m_source);
    form().addRow(tr("Checkpoint"), m_step);
}

void FetchDialog::choose(std::int64_t step)
{
    m_step->setCurrentIndex(m_step->findData(QVariant::fromValue<qlonglong>(step)));
    goButton().click();
}

void FetchDialog::begin()
{
    m_step->setEnabled(false);
    setBusy(); // until the request is completed or fails
    emit chosen({{}, m_source.info.directory, m_step->currentData().toLongLong()});
}

void FetchDialog::refuse(const QString& reason)
{
    m_step->setEnabled(true);
    AskDialog::refuse(reason);
}

ExportDialog::ExportDialog(GoOnSource source, std::filesystem::path proposal, QWidget* parent)
    : AskDialog(QStringLiteral("export"),
                {tr("Export the network of %1").arg(QString::fromStdString(source.info.name)), {}, tr("Export")},
                kExportWidth, parent),
      m_source(std::move(source)),
      m_proposal(std::move(proposal)),
      m_format(new QComboBox(this)),
      m_step(new QComboBox(this)),
      m_folder(new QLineEdit(this)),
      m_otherData(new QCheckBox(tr("Export though the data are not those it was trained on"), this)),
      m_words(new QLabel(this))
{
    m_format->setObjectName(QStringLiteral("exportFormat"));
    for (const engine::ExportFormatInfo& info : engine::kExportFormats) {
        m_format->addItem(QCoreApplication::translate("ExportFormat", info.title), m_format->count());
    }
    m_step->setObjectName(QStringLiteral("exportStep"));
    listCheckpoints(*m_step, m_source);
    m_folder->setObjectName(QStringLiteral("exportFolder"));
    m_folder->setAccessibleName(tr("New folder"));
    m_words->setObjectName(QStringLiteral("exportWords"));
    m_words->setWordWrap(true);
    m_words->setProperty("role", QStringLiteral("muted"));
    auto* other = new QPushButton(tr("Choose…"), this);
    form().addRow(tr("As"), m_format);
    form().addRow(tr("From checkpoint"), m_step);
    form().addRow(tr("New folder"), fieldRow(m_folder, {other}));
    add(m_words);
    add(m_otherData);
    connect(other, &QPushButton::clicked, this, &ExportDialog::chooseFolder);
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::update);
    update();
}

engine::ExportFormat ExportDialog::format() const
{
    return static_cast<engine::ExportFormat>(m_format->currentData().toInt());
}

/// Shows the files that are written and the limits of the format, and proposes a folder unless the user has named one.
void ExportDialog::update()
{
    const engine::ExportFormatInfo& info = engine::infoOf(format());
    m_words->setText(tr("Writes %1. %2 To train on here, resume the run.")
                         .arg(QCoreApplication::translate("ExportFormat", info.makes),
                              QCoreApplication::translate("ExportFormat", info.lost)));
    if (!m_folder->isModified()) {
        const std::filesystem::path folder = freePath(m_proposal.string() + "-" + info.key);
        m_folder->setText(QDir::toNativeSeparators(QString::fromStdString(folder.string())));
    }
}

void ExportDialog::chooseFolder()
{
    const QFileInfo present(m_folder->text());
    const QString parent = QFileDialog::getExistingDirectory(this, tr("Export into a new folder of"), present.path());
    if (!parent.isEmpty()) {
        m_folder->setText(QDir::toNativeSeparators(parent + QLatin1Char('/') + present.fileName()));
        m_folder->setModified(true);
    }
}

void ExportDialog::begin()
{
    engine::ExportRequest request;
    const auto otherData = m_otherData->isChecked() ? engine::OtherData::Accept : engine::OtherData::Refuse;
    request.of = {m_source.info.directory, {}, otherData, m_step->currentData().toLongLong()};
    request.folder = QDir::fromNativeSeparators(m_folder->text().trimmed()).toStdString();
    request.format = format();
    if (!request.folder.is_absolute()) {
        refuse(tr("Name the new folder from the root."));
        return;
    }
    setBusy(); // until the request is completed or fails
    emit chosen(request);
}

} // namespace residua::app
