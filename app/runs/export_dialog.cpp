// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/export_dialog.h"

#include "app/look/theme.h"
#include "projects/base/free_name.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {

namespace {

constexpr int kExportWidth = 480;

} // namespace

ExportDialog::ExportDialog(GoOnSource source, std::filesystem::path proposal, QWidget* parent)
    : QDialog(parent),
      m_source(std::move(source)),
      m_proposal(std::move(proposal)),
      m_format(new QComboBox(this)),
      m_step(new QComboBox(this)),
      m_folder(new QLineEdit(this)),
      m_otherData(new QCheckBox(tr("Export though the data are not those it was trained on"), this)),
      m_words(new QLabel(this)),
      m_reason(new QLabel(this)),
      m_progress(new QProgressBar(this))
{
    setObjectName(QStringLiteral("exportDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Export the network of %1").arg(QString::fromStdString(m_source.info.name)));
    setMinimumWidth(kExportWidth);
    growWithContent(*this);
    fill();
    auto* other = new QPushButton(tr("Choose…"), this);
    auto* place = new QHBoxLayout;
    place->addWidget(m_folder, 1);
    place->addWidget(other);
    auto* form = new QFormLayout;
    form->addRow(tr("As"), m_format);
    form->addRow(tr("From checkpoint"), m_step);
    form->addRow(tr("New folder"), place);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_go = buttons->addButton(tr("Export"), QDialogButtonBox::AcceptRole);
    m_go->setObjectName(QStringLiteral("exportGo"));
    m_go->setDefault(true);
    auto* column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(m_words);
    column->addWidget(m_otherData);
    column->addWidget(m_reason);
    column->addWidget(m_progress);
    column->addStretch();
    column->addWidget(buttons);
    connect(m_go, &QPushButton::clicked, this, &ExportDialog::choose);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(other, &QPushButton::clicked, this, &ExportDialog::chooseFolder);
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::update);
    update();
}

void ExportDialog::fill()
{
    m_format->setObjectName(QStringLiteral("exportFormat"));
    for (const engine::ExportFormatInfo& info : engine::exportFormats()) {
        m_format->addItem(QCoreApplication::translate("ExportFormat", info.title), static_cast<int>(info.format));
    }
    m_step->setObjectName(QStringLiteral("exportStep"));
    listCheckpoints(*m_step, m_source);
    m_folder->setObjectName(QStringLiteral("exportFolder"));
    m_folder->setAccessibleName(tr("New folder"));
    m_words->setObjectName(QStringLiteral("exportWords"));
    m_words->setWordWrap(true);
    m_words->setProperty("role", QStringLiteral("muted"));
    m_reason->setObjectName(QStringLiteral("exportReason"));
    m_reason->setWordWrap(true);
    m_reason->setProperty("role", QStringLiteral("error"));
    m_reason->hide();
    m_progress->setAccessibleName(tr("Progress"));
    m_progress->setRange(0, 0); // the duration is unknown
    m_progress->hide();
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

void ExportDialog::choose()
{
    engine::ExportRequest request;
    request.runDirectory = m_source.info.directory;
    request.step = m_step->currentData().toLongLong();
    request.folder = QDir::fromNativeSeparators(m_folder->text().trimmed()).toStdString();
    request.format = format();
    request.otherData = m_otherData->isChecked() ? engine::OtherData::Accept : engine::OtherData::Refuse;
    if (!request.folder.is_absolute()) {
        refuse(tr("Name the new folder from the root."));
        return;
    }
    m_reason->hide();
    m_progress->show();
    m_go->setEnabled(false); // until the request is completed or fails
    emit chosen(request);
}

void ExportDialog::refuse(const QString& reason)
{
    m_progress->hide();
    m_reason->setText(reason);
    m_reason->show();
    m_go->setEnabled(true);
}

} // namespace residua::app
