// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/problems_view.h"

#include "app/look/theme.h"
#include "projects/commands/commands.h"
#include "visualizers/plot/arrange.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {

namespace {

constexpr std::size_t kMostCured = 12; ///< cures are tried on copies of the project
constexpr int kBatch = 20;             ///< lines that are laid out before other events are processed
constexpr int kWordsLeft = 22;         ///< pixels; start of a line's text after its icon

} // namespace

ProblemsView::ProblemsView(const Look& look, QWidget* parent) : QWidget(parent), m_look(look)
{
    setObjectName(QStringLiteral("problems"));
    setAttribute(Qt::WA_StyledBackground);
    m_heading->setProperty("role", QStringLiteral("group"));
    visualizers::makeRemark(*m_none, "noProblems");
    visualizers::setNames(*m_list, "problemsList", tr("Problems"));
    m_list->setWordWrap(true);
    m_list->setLayoutMode(QListView::Batched); // there may be one for each of a thousand layers
    m_list->setBatchSize(kBatch);
    m_list->setIconSize({16, 16});
    m_list->setTextElideMode(Qt::ElideNone);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    visualizers::makeColumn(this, {QMargins(12, 2, 6, 8), 4}, {m_heading, m_none, {m_list, 1}, visualizers::rest()});
    const auto jump = [this](QListWidgetItem* item) {
        if (const QVariant problem = item->data(Qt::UserRole); problem.isValid()) {
            emit jumpRequested(m_problems.at(problem.toULongLong()).path);
        }
    };
    connect(m_list, &QListWidget::itemClicked, this, jump);
    connect(m_list, &QListWidget::itemActivated, this, jump);
    connect(&look, &Look::changed, this, &ProblemsView::fill);
    fill();
}

void ProblemsView::setProblems(const projects::Project& project, const std::vector<projects::Problem>& problems,
                               DataCheck::State ofData)
{
    m_none->setText(ofData == DataCheck::State::Reading ? tr("None so far. The data are being read …")
                    : ofData == DataCheck::State::TooLarge
                        ? tr("None so far. The data are large: a run reads them first.")
                        : tr("None: this project trains."));
    if (problems == m_problems) {
        return;
    }
    m_problems = problems;
    m_cures.clear();
    for (const auto& cure : projects::curesOf(project, problems, kMostCured)) {
        m_cures.push_back(cure ? QString::fromStdString(cure->title) : QString());
    }
    fill();
}

/// Returns the button of a problem for a line of its own below the problem's, so that clicks on the text still lead to
/// the place.
QWidget* ProblemsView::cureCell(const projects::Problem& problem, const QString& title)
{
    auto* cell = new QWidget;
    auto* row = new QHBoxLayout(cell);
    row->setContentsMargins(kWordsLeft, 0, 4, 4);
    auto* button = new QPushButton(title, cell);
    button->setObjectName(QStringLiteral("cure"));
    button->setAutoDefault(true); // Return presses it
    button->setToolTip(QString::fromStdString(problem.text()));
    row->addWidget(button);
    row->addStretch();
    connect(button, &QPushButton::clicked, this, [this, problem] { emit cureRequested(problem); });
    button->ensurePolished(); // its line is as high as the style wants it
    return cell;
}

void ProblemsView::fill()
{
    m_list->clear();
    std::vector<std::pair<QListWidgetItem*, QWidget*>> cells;
    const auto iconOf = [this](const QString& name) { return themedIcon(name, m_look.theme().colour(name)); };
    const QIcon errors = iconOf(QStringLiteral("error"));
    const QIcon warnings = iconOf(QStringLiteral("warning"));
    for (std::size_t i = 0; i < m_problems.size(); ++i) {
        const projects::Problem& problem = m_problems[i];
        const bool error = problem.severity == projects::Severity::Error;
        auto* item = new QListWidgetItem(error ? errors : warnings, QString::fromStdString(problem.text()), m_list);
        item->setToolTip(QString::fromStdString(problem.text()));
        item->setData(Qt::UserRole, static_cast<qulonglong>(i));
        item->setData(Qt::AccessibleTextRole, (error ? tr("Error: %1") : tr("Warning: %1")).arg(item->text()));
        if (i < m_cures.size() && !m_cures[i].isEmpty()) {
            auto* line = new QListWidgetItem(m_list);
            line->setFlags(Qt::NoItemFlags);
            cells.emplace_back(line, cureCell(problem, m_cures[i]));
            line->setSizeHint(cells.back().second->sizeHint());
        }
    }
    // The widgets are added last, because a list with a widget lays out all of its lines for each further line.
    for (const auto& [line, cell] : cells) {
        m_list->setItemWidget(line, cell);
    }
    m_none->setVisible(m_problems.empty());
    m_list->setVisible(!m_problems.empty());
    m_heading->setText(m_problems.empty() ? tr("Problems") : tr("Problems (%1)").arg(m_problems.size()));
}

} // namespace residua::app
