// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/problems_view.h"

#include "app/look/icons.h"
#include "app/look/theme.h"

#include <QLabel>
#include <QListWidget>
#include <QVBoxLayout>

namespace residua::app {

ProblemsView::ProblemsView(const Look& look, QWidget* parent)
    : QWidget(parent),
      m_look(look),
      m_heading(new QLabel(tr("Problems"), this)),
      m_none(new QLabel(this)),
      m_list(new QListWidget(this))
{
    setObjectName(QStringLiteral("problems"));
    setAttribute(Qt::WA_StyledBackground);
    m_heading->setProperty("role", QStringLiteral("group"));
    m_none->setText(tr("None: this project trains."));
    m_none->setProperty("role", QStringLiteral("muted"));
    m_list->setObjectName(QStringLiteral("problemsList"));
    m_list->setAccessibleName(tr("Problems"));
    m_list->setWordWrap(true);
    m_list->setLayoutMode(QListView::Batched); // there may be one for each of a thousand layers
    m_list->setIconSize({16, 16});
    m_list->setTextElideMode(Qt::ElideNone);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 2, 6, 8);
    layout->setSpacing(4);
    layout->addWidget(m_heading);
    layout->addWidget(m_none);
    layout->addWidget(m_list, 1);
    layout->addStretch();
    const auto jump = [this](QListWidgetItem* item) {
        emit jumpRequested(m_problems.at(static_cast<std::size_t>(m_list->row(item))).path);
    };
    connect(m_list, &QListWidget::itemClicked, this, jump);
    connect(m_list, &QListWidget::itemActivated, this, jump);
    connect(&look, &Look::changed, this, &ProblemsView::fill);
    fill();
}

void ProblemsView::setProblems(const std::vector<projects::Problem>& problems)
{
    if (problems != m_problems) {
        m_problems = problems;
        fill();
    }
}

void ProblemsView::fill()
{
    m_list->clear();
    const auto iconOf = [this](const QString& name) { return themedIcon(name, m_look.theme().colour(name)); };
    const QIcon errors = iconOf(QStringLiteral("error"));
    const QIcon warnings = iconOf(QStringLiteral("warning"));
    for (const projects::Problem& problem : m_problems) {
        const bool error = problem.severity == projects::Severity::Error;
        auto* item = new QListWidgetItem(error ? errors : warnings, QString::fromStdString(problem.text()), m_list);
        item->setToolTip(QString::fromStdString(problem.text()));
        item->setData(Qt::AccessibleTextRole, (error ? tr("Error: %1") : tr("Warning: %1")).arg(item->text()));
    }
    m_none->setVisible(m_problems.empty());
    m_list->setVisible(!m_problems.empty());
    m_heading->setText(m_problems.empty() ? tr("Problems") : tr("Problems (%1)").arg(m_problems.size()));
}

} // namespace residua::app
