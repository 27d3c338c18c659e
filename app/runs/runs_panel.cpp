// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/runs_panel.h"

#include "app/look/icons.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

namespace residua::app {

namespace {

QToolButton* panelButton(const QString& icon, const QString& text, const QString& toolTip, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setIcon(themedIcon(icon));
    button->setText(text);
    button->setToolTip(toolTip);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    return button;
}

} // namespace

RunsPanel::RunsPanel(RunsModel& model, QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_table(new QTableView(this)),
      m_empty(new QLabel(this)),
      m_show(panelButton(QStringLiteral("topology"), tr("Show coefficients"),
                         tr("Show this run's coefficients on the canvas and in the heatmap (Enter)"), this)),
      m_resume(panelButton(QStringLiteral("run"), tr("Resume"), tr("Go on from the run's last checkpoint"), this))
{
    setObjectName(QStringLiteral("runsPanel"));
    setAttribute(Qt::WA_StyledBackground);
    m_empty->setText(tr("No runs yet. Press Run, and the first one stands here."));
    m_empty->setProperty("role", QStringLiteral("muted"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_table->setModel(&model);
    m_table->setAccessibleName(tr("Runs"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(26);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(RunsModel::Name, QHeaderView::Stretch);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(8, 4, 8, 4);
    bar->addWidget(m_show);
    bar->addWidget(m_resume);
    bar->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_empty, 1);
    layout->addWidget(m_table, 1);
    layout->addLayout(bar);

    const auto show = [this] {
        if (const engine::RunInfo* run = current()) {
            emit showRequested(run->directory);
        }
    };
    connect(m_table, &QTableView::activated, this, show);
    connect(m_show, &QToolButton::clicked, this, show);
    connect(m_resume, &QToolButton::clicked, this, [this] {
        if (const engine::RunInfo* run = current()) {
            emit resumeRequested(run->directory);
        }
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPanel::updateState);
    connect(&model, &RunsModel::modelReset, this, &RunsPanel::updateState);
    connect(&model, &RunsModel::dataChanged, this, &RunsPanel::updateState);
    updateState();
}

const engine::RunInfo* RunsPanel::current() const
{
    const QModelIndex index = m_table->currentIndex();
    const auto row = static_cast<std::size_t>(index.row());
    return index.isValid() && row < m_model.runs().size() ? &m_model.runs()[row] : nullptr;
}

void RunsPanel::updateState()
{
    const bool any = !m_model.runs().empty();
    m_empty->setVisible(!any);
    m_table->setVisible(any);
    m_show->setVisible(any);
    m_resume->setVisible(any);
    const engine::RunInfo* run = current();
    m_show->setEnabled(run != nullptr);
    m_resume->setEnabled(run && run->step < run->steps &&
                         (run->status == engine::RunStatus::Stopped || run->status == engine::RunStatus::Failed ||
                          run->status == engine::RunStatus::Interrupted));
}

} // namespace residua::app
