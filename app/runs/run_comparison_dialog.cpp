// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/run_comparison_dialog.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "engine/base/api/values.h"
#include "projects/depth/depth_names.h"
#include "projects/model/field.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/shown_runs.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPushButton>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace residua::app {

namespace {

constexpr QSize kSize(900, 680);
constexpr int kCurvesHeight = 270;
constexpr int kNumberWidth = 130;
constexpr int kMark = 10;                  ///< pixels, of a run's colour
constexpr int kMostWidth = 260;            ///< of a head, which has a run's name
constexpr std::size_t kLosses = 12;        ///< number of steps at which losses are compared
constexpr std::size_t kCoefficients = 200; ///< maximum number shown, with the largest differences

/// Returns a title that distinguishes the two runs. Runs of one project have the same name, so it includes the time.
QString titleOf(const engine::RunInfo& info)
{
    return RunComparisonDialog::tr("%1, %2").arg(
        QString::fromStdString(info.name),
        formatMoment(QString::fromStdString(info.created), QDateTime::currentDateTime()));
}

void addRow(QTreeWidgetItem* group, const QStringList& cells)
{
    auto* item = new QTreeWidgetItem(group, cells);
    for (int column = 1; column < cells.size(); ++column) {
        item->setFont(column, numberFont());
        item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        item->setToolTip(column, cells.at(column));
    }
    item->setToolTip(0, cells.front());
}

void addNumber(QTreeWidgetItem* group, const QString& title, double first, double second)
{
    constexpr int kDigits = 6;
    constexpr int kMostDecimals = 12;
    const double largest = std::max(std::abs(first), std::abs(second));
    const bool hasMagnitude = largest > 0 && std::isfinite(largest);
    const int before = hasMagnitude ? static_cast<int>(std::floor(std::log10(largest))) + 1 : 1;
    const int decimals = std::clamp(kDigits - before, 0, kMostDecimals);
    const auto text = [decimals](double number) {
        return std::isfinite(number) ? QString::number(number, 'f', decimals) : QStringLiteral("—");
    };
    addRow(group, {title, text(first), text(second), text(second - first)});
}

void addResults(QTreeWidget& tree, const RunComparison& comparison)
{
    auto* results = new QTreeWidgetItem(&tree, {RunComparisonDialog::tr("Results")});
    addRow(results, {RunComparisonDialog::tr("Steps"),
                     formatWhole(comparison.first.step),
                     formatWhole(comparison.second.step),
                     {}});
    addNumber(results, RunComparisonDialog::tr("Loss"), comparison.first.loss(), comparison.second.loss());
    addNumber(results, RunComparisonDialog::tr("Validation loss"), comparison.first.validationLoss(),
              comparison.second.validationLoss());
    for (const engine::MetricTraits& metric : engine::ratingColumns(std::array{comparison.first, comparison.second})) {
        addNumber(results, QString::fromStdString(projects::headline(metric.title)), comparison.first.last(metric.name),
                  comparison.second.last(metric.name));
    }
    auto* losses = new QTreeWidgetItem(&tree, {RunComparisonDialog::tr("Training loss by step")});
    for (const LossPair& pair : lossesBeside(comparison, kLosses)) {
        addNumber(losses, formatWhole(pair.step), pair.first, pair.second);
    }
}

void addChanges(QTreeWidget& tree, const std::vector<projects::Change>& changes)
{
    auto* project = new QTreeWidgetItem(
        &tree, {changes.empty() ? RunComparisonDialog::tr("The projects are the same")
                                : RunComparisonDialog::tr("Project: %1 differences").arg(changes.size())});
    for (const projects::Change& change : changes) {
        addRow(project, {QString::fromStdString(change.placeText()),
                         QString::fromStdString(change.before),
                         QString::fromStdString(change.after),
                         {}});
    }
}

void addCoefficients(QTreeWidget& tree, const std::vector<CoefficientChange>& coefficients)
{
    auto* weights = new QTreeWidgetItem(&tree, {coefficients.empty()
                                                    ? RunComparisonDialog::tr("No coefficients in common")
                                                    : RunComparisonDialog::tr("Coefficients, largest change first")});
    const std::size_t shown = std::min(coefficients.size(), kCoefficients);
    for (std::size_t i = 0; i < shown; ++i) {
        const CoefficientChange& change = coefficients[i];
        addNumber(weights,
                  QString::fromStdString(change.matrix.text() + "  " +
                                         nameOf(projects::Shortcut{change.source, change.target})),
                  static_cast<double>(change.first), static_cast<double>(change.second));
    }
}

/// Returns the tree of the differences: results, losses, the projects' fields and coefficients.
QTreeWidget* differencesOf(const RunComparison& comparison, QWidget* parent)
{
    auto* tree = new QTreeWidget(parent);
    tree->setAccessibleName(RunComparisonDialog::tr("Differences between two runs"));
    tree->setUniformRowHeights(true);
    tree->ensurePolished(); // otherwise its rows would lack the look's spacing
    tree->setHeaderLabels({RunComparisonDialog::tr("What"), titleOf(comparison.first), titleOf(comparison.second),
                           RunComparisonDialog::tr("Difference")});
    addResults(*tree, comparison);
    addChanges(*tree, comparison.changes);
    addCoefficients(*tree, comparison.coefficients);
    tree->expandAll();
    for (int column = 0; column < tree->columnCount(); ++column) {
        tree->header()->setSectionResizeMode(column, column == 0 ? QHeaderView::Stretch : QHeaderView::Interactive);
        tree->headerItem()->setTextAlignment(column, (column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        tree->headerItem()->setToolTip(column, tree->headerItem()->text(column));
        tree->header()->resizeSection(column,
                                      std::clamp(tree->header()->sectionSizeHint(column), kNumberWidth, kMostWidth));
    }
    tree->header()->setStretchLastSection(false);
    return tree;
}

/// Returns a plot with the losses of both runs.
visualizers::LossView* curvesOf(const RunComparison& comparison, const RunColours& colours, resources::Theme theme,
                                QWidget* parent)
{
    auto* overlaid = new visualizers::ShownRuns(parent);
    auto* curves = new visualizers::LossView(*overlaid, parent);
    curves->setTheme(theme);
    for (const auto& [info, steps, colour] :
         {std::tuple{&comparison.first, &comparison.firstSteps, colours.first},
          std::tuple{&comparison.second, &comparison.secondSteps, colours.second}}) {
        overlaid->overlay(info->directory);
        overlaid->paint(info->directory, colour);
        overlaid->begin(info->directory, {.name = titleOf(*info)});
        overlaid->add(info->directory, {.steps = *steps});
    }
    return curves;
}

} // namespace

RunColours coloursOf(const RunComparison& comparison, const visualizers::ShownRuns& shown)
{
    const auto* const first = shown.find(comparison.first.directory);
    const auto* const second = shown.find(comparison.second.directory);
    const bool firstHas = first && first->overlaid;
    const bool secondHas = second && second->overlaid;
    const auto other = [](std::size_t taken) -> std::size_t { return taken == 0 ? 1 : 0; };
    if (firstHas && secondHas) { // two runs of one group have one colour in the plots
        return {first->colour, first->colour != second->colour ? second->colour : other(first->colour)};
    }
    return firstHas    ? RunColours{first->colour, other(first->colour)}
           : secondHas ? RunColours{other(second->colour), second->colour}
                       : RunColours{};
}

RunComparisonDialog::RunComparisonDialog(const RunComparison& comparison, const RunColours& colours,
                                         resources::Theme theme, QWidget* parent)
    : QDialog(parent)
{
    setObjectName(QStringLiteral("runComparison"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Two runs compared"));
    resizeWithinScreen(*this, kSize);
    QTreeWidget* tree = differencesOf(comparison, this);
    for (const auto& [column, colour] : {std::pair{1, colours.first}, std::pair{2, colours.second}}) {
        QPixmap mark(kMark, kMark);
        mark.fill(toColour(resources::curveColour(colour, theme)));
        tree->headerItem()->setIcon(column, mark);
    }
    QWidget* curves = curvesOf(comparison, colours, theme, this);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(curves);
    split->addWidget(tree);
    split->setSizes({kCurvesHeight, kSize.height() - kCurvesHeight});
    split->setChildrenCollapsible(false);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* sides = buttons->addButton(tr("Side by side"), QDialogButtonBox::ActionRole);
    visualizers::setNames(*sides, "sideBySide", {},
                          tr("Show both wirings and their weights at one step, on one scale"));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(sides, &QPushButton::clicked, this,
            [this, both = std::vector{comparison.first.directory, comparison.second.directory}] {
                emit sidesRequested(both);
                close();
            });
    visualizers::makeColumn(this, {}, {split, buttons});
}

} // namespace residua::app
