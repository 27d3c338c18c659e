// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/fetch_dialog.h"

#include <QComboBox>
#include <QFormLayout>
#include <QPushButton>

#include <utility>

namespace residua::app {

namespace {

constexpr int kFetchWidth = 460;

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

} // namespace residua::app
