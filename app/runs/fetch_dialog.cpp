// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/fetch_dialog.h"

#include "app/look/theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {

namespace {

constexpr int kFetchWidth = 460;
constexpr int kFetchSteps = 1000; ///< of the progress bar

} // namespace

FetchDialog::FetchDialog(GoOnSource source, QWidget* parent)
    : QDialog(parent),
      m_source(std::move(source)),
      m_step(new QComboBox(this)),
      m_reason(new QLabel(this)),
      m_progress(new QProgressBar(this))
{
    setObjectName(QStringLiteral("fetchDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Fetch a checkpoint of %1").arg(QString::fromStdString(m_source.info.name)));
    setMinimumWidth(kFetchWidth);
    growWithContent(*this);
    auto* words = new QLabel(tr("Copies a checkpoint from %1 into the run's folder on this machine. Forks, retrofits, "
                                "factors, exports and the weights of single features are made from it here.")
                                 .arg(QString::fromStdString(m_source.distant.place)),
                             this);
    words->setWordWrap(true);
    words->setProperty("role", QStringLiteral("muted"));
    m_step->setObjectName(QStringLiteral("fetchStep"));
    m_source.checkpoints = std::exchange(m_source.distant.steps, {});
    listCheckpoints(*m_step, m_source);
    m_reason->setObjectName(QStringLiteral("fetchReason"));
    m_reason->setWordWrap(true);
    m_reason->setProperty("role", QStringLiteral("error"));
    m_reason->hide();
    m_progress->setObjectName(QStringLiteral("fetchProgress"));
    m_progress->setAccessibleName(tr("Share of the checkpoint that is here"));
    m_progress->hide();
    auto* form = new QFormLayout;
    form->addRow(tr("Checkpoint"), m_step);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_go = buttons->addButton(tr("Fetch"), QDialogButtonBox::AcceptRole);
    m_go->setObjectName(QStringLiteral("fetchGo"));
    m_go->setDefault(true);
    auto* column = new QVBoxLayout(this);
    column->addWidget(words);
    column->addLayout(form);
    column->addWidget(m_reason);
    column->addWidget(m_progress);
    column->addStretch();
    column->addWidget(buttons);
    connect(m_go, &QPushButton::clicked, this, &FetchDialog::fetch);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void FetchDialog::choose(std::int64_t step)
{
    m_step->setCurrentIndex(m_step->findData(QVariant::fromValue<qlonglong>(step)));
    m_go->click();
}

void FetchDialog::fetch()
{
    m_reason->hide();
    m_progress->setRange(0, 0); // until the first bytes are here
    m_progress->show();
    m_step->setEnabled(false);
    m_go->setEnabled(false); // until the request is completed or fails
    emit chosen({{}, m_source.info.directory, m_step->currentData().toLongLong()});
}

void FetchDialog::setShare(double share)
{
    m_progress->setRange(0, kFetchSteps);
    m_progress->setValue(static_cast<int>(kFetchSteps * share));
}

void FetchDialog::refuse(const QString& reason)
{
    m_progress->hide();
    m_reason->setText(reason);
    m_reason->show();
    m_step->setEnabled(true);
    m_go->setEnabled(true);
}

} // namespace residua::app
