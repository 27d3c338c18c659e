// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/loss_view.h"

#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/stages.h"
#include "projects/base/text.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/runs/run_plot.h"

#include <QAbstractTableModel>
#include <QHeaderView>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <vector>

namespace residua::visualizers {
namespace {

constexpr int kMostRows = 6;           ///< of the table that are seen at once
constexpr double kTableShare = 0.4;    ///< of the height: the most that the table takes from the plot
constexpr int kLeastForBoth = 560;     ///< extent of a plot with the table or another plot beside it
constexpr int kAnyWidth = 1000;        ///< of each plot, which share what there is
constexpr int kFrame = 22;             ///< the table's own, with a scroll bar
constexpr qsizetype kLongestName = 28; ///< letters of a run's name in the header

QString text(double number, int digits = 4)
{
    return std::isnan(number) ? QStringLiteral("–") : QString::number(number, 'f', digits);
}

QString percent(double share)
{
    return std::isnan(share) ? text(share) : text(100 * share, 1) + QStringLiteral(" %");
}

/// Cuts the middle of a long name.
QString shortened(const QString& name)
{
    return name.size() <= kLongestName
               ? name
               : name.left(kLongestName / 2) + QStringLiteral("…") + name.right(kLongestName / 2);
}

/// NaN means that there is no value.
bool same(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

bool same(const engine::StageTransition& a, const engine::StageTransition& b)
{
    return a.step == b.step && a.name == b.name && a.note == b.note && a.steps == b.steps && same(a.before, b.before) &&
           same(a.after, b.after) && same(a.validationBefore, b.validationBefore) &&
           same(a.validationAfter, b.validationAfter) && same(a.secondsPerStep, b.secondsPerStep) &&
           same(a.shareOfFlop, b.shareOfFlop) && same(a.shareOfTime, b.shareOfTime);
}

/// The stage transitions as rows: step, stage, loss before, after, jump, and shares of FLOP and time.
class TransitionsModel : public QAbstractTableModel {
    Q_DECLARE_TR_FUNCTIONS(TransitionsModel)
public:
    /// Changes unchanged rows in place, so that selection and scrolling survive while a run grows. The header names
    /// `run` unless that is empty.
    void setTransitions(std::vector<engine::StageTransition> transitions, const QString& run);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_transitions.size());
    }
    [[nodiscard]] int columnCount(const QModelIndex& parent) const override { return parent.isValid() ? 0 : Columns; }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    enum { Stage = 1, Columns = 11 };

    std::vector<engine::StageTransition> m_transitions;
    QString m_run;
};

/// The accuracy of the overlaid runs, a view of its own, because it is exported by its own menu.
class AccuracyView : public PlotView {
public:
    AccuracyView(ShownRuns& runs, QWidget* parent)
        : PlotView(parent),
          m_curves(new RunPlot(runs, {{engine::metric::kLoss, &engine::StepRecord::loss}}, {},
                               {.number = std::string("accuracy/train"),
                                .title = LossView::tr("training"),
                                .label = LossView::tr("accuracy"),
                                .beside = {{"accuracy/validation", LossView::tr("validation")}}},
                               LossView::tr("Run the project to see its accuracy from the first validation on."), this))
    {
        setAccessibleName(LossView::tr("Accuracy"));
        m_curves->plot().setAccessibleName(LossView::tr("Accuracy plot"));
        makeColumn(this, kNoMargins, {m_curves});
    }

    void setTheme(resources::Theme theme) override { m_curves->setTheme(theme); }
    [[nodiscard]] CsvText csvText() const override { return m_curves->csvText(); }

protected:
    [[nodiscard]] QCustomPlot& plot() const override { return m_curves->plot(); }

private:
    RunPlot* m_curves;
};

} // namespace

void TransitionsModel::setTransitions(std::vector<engine::StageTransition> transitions, const QString& run)
{
    if (run != m_run) {
        m_run = run;
        emit headerDataChanged(Qt::Horizontal, Stage, Stage);
    }
    const int had = rowCount();
    const int have = static_cast<int>(transitions.size());
    if (have < had) {
        beginRemoveRows({}, have, had - 1);
        m_transitions.resize(transitions.size());
        endRemoveRows();
    }
    for (int row = 0; row < std::min(had, have); ++row) {
        engine::StageTransition& shown = m_transitions[static_cast<std::size_t>(row)];
        const engine::StageTransition& now = transitions[static_cast<std::size_t>(row)];
        if (!same(shown, now)) {
            shown = now;
            emit dataChanged(index(row, 0), index(row, Columns - 1));
        }
    }
    if (have > had) {
        beginInsertRows({}, had, have - 1);
        m_transitions = std::move(transitions);
        endInsertRows();
    }
}

QVariant TransitionsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue((index.column() == Stage ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    const engine::StageTransition& transition = m_transitions[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole && index.column() == Stage && !transition.note.empty()) {
        return QString::fromStdString(transition.name + ": " + transition.note);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const QString cells[] = {QString::fromStdString(groupedText(transition.step)),
                             QString::fromStdString(transition.name),
                             QString::fromStdString(groupedText(transition.steps)),
                             text(transition.before),
                             text(transition.after),
                             (transition.jump() > 0 ? QStringLiteral("+") : QString()) + text(transition.jump()),
                             text(transition.validationBefore),
                             text(transition.validationAfter),
                             text(transition.secondsPerStep, 3),
                             percent(transition.shareOfFlop),
                             percent(transition.shareOfTime)};
    return cells[index.column()];
}

/// Short titles, so that every column fits a panel of usual width. Tooltips explain them.
QVariant TransitionsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    const bool asked = role == Qt::DisplayRole || role == Qt::ToolTipRole;
    if (orientation != Qt::Horizontal || !asked || section < 0 || section >= Columns) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    const QString stage = m_run.isEmpty() ? tr("stage") : tr("stage of %1").arg(shortened(m_run));
    const QString titles[] = {tr("at step"),
                              stage,
                              tr("steps"),
                              tr("loss before"),
                              tr("loss after"),
                              tr("jump"),
                              tr("validation before"),
                              tr("validation after"),
                              tr("s/step"),
                              tr("FLOP"),
                              tr("time")};
    const QString meanings[] = {tr("The last step before it"),
                                m_run.isEmpty() ? tr("What trains in it") : tr("What trains in it: %1").arg(m_run),
                                tr("Steps done in it"),
                                tr("Training loss before the transition"),
                                tr("Training loss after it, on the same batches"),
                                tr("By how much the training loss jumps"),
                                tr("Validation loss before the transition"),
                                tr("Validation loss after it, on the same batches"),
                                tr("Seconds a step"),
                                tr("Share of the run's FLOP so far"),
                                tr("Share of the run's time so far")};
    return role == Qt::DisplayRole ? titles[section] : meanings[section];
}

class LossView::Impl {
public:
    Impl(ShownRuns& runs, LossView* view);

    void showTransitions();
    void fitTable();
    void fitAccuracy();

    RunPlot* curves;
    AccuracyView* accuracy;
    QSplitter* both;
    bool classifies = false;
    QTableView* table;
    TransitionsModel transitions;
};

LossView::Impl::Impl(ShownRuns& runs, LossView* view)
    : curves(new RunPlot(runs, {{engine::metric::kLoss, &engine::StepRecord::loss}}, {},
                         {.number = engine::metric::kLoss,
                          .title = tr("training"),
                          .label = tr("loss"),
                          .beside = {{engine::metric::kValidationLoss, tr("validation")},
                                     {engine::metric::kStageLoss, tr("validation of the stage"), Stroke::Dotted}},
                          .bounded = true},
                         tr("Run the project, or tick runs in their list, to see the loss."), view)),
      accuracy(new AccuracyView(runs, view)),
      both(new QSplitter(Qt::Horizontal, view)),
      table(new QTableView(view))
{
    view->setAccessibleName(tr("Loss"));
    curves->plot().setAccessibleName(tr("Loss plot"));
    table->setModel(&transitions);
    table->setAccessibleName(tr("Stage transitions"));
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->verticalHeader()->hide();
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->setShowGrid(false);
    table->hide();
    curves->putBelow(table);
    auto* column = new QVBoxLayout(view);
    column->setContentsMargins(0, 0, 0, 0);
    both->setObjectName(QStringLiteral("lossAndAccuracy"));
    both->setChildrenCollapsible(false);
    both->addWidget(accuracy);
    both->insertWidget(0, curves); // last, because a splitter lowers what it takes, and the losses come first
    both->setSizes({kAnyWidth, kAnyWidth});
    accuracy->hide();
    column->addWidget(both);
    QObject::connect(curves, &RunPlot::refreshed, view, [this] { showTransitions(); });
    QObject::connect(curves, &RunPlot::turned, view, [this] { fitTable(); });
}

void LossView::Impl::showTransitions()
{
    transitions.setTransitions(curves->transitions(), curves->stagedName());
    fitTable();
}

/// Makes the table as high as its rows: one at least, and at most as many as leave the plot most of the room. Beside a
/// low plot it has the plot's height, and is hidden where the plot would become narrow.
void LossView::Impl::fitTable()
{
    const int row = table->verticalHeader()->defaultSectionSize();
    const int frame = table->horizontalHeader()->sizeHint().height() + kFrame;
    const int wanted = frame + std::clamp(transitions.rowCount(), 1, kMostRows) * row;
    const int share = static_cast<int>(kTableShare * curves->height());
    const bool beside = curves->isLow();
    table->setMaximumHeight(beside ? QWIDGETSIZE_MAX : std::clamp(share, frame + row, wanted));
    table->setVisible(transitions.rowCount() > 0 && (!beside || curves->width() >= kLeastForBoth));
}

/// Puts the accuracy beside the losses, or below them in a narrow panel, or hides it where there is room for neither.
void LossView::Impl::fitAccuracy()
{
    const QSize room = both->parentWidget()->size();
    const bool beside = room.width() >= kLeastForBoth;
    both->setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
    accuracy->setVisible(classifies && (beside || room.height() >= kLeastForBoth));
}

LossView::LossView(ShownRuns& runs, QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(runs, this)) {}

LossView::~LossView() = default;

void LossView::resizeEvent(QResizeEvent* event)
{
    PlotView::resizeEvent(event);
    m_impl->fitAccuracy();
    m_impl->fitTable();
}

void LossView::showAccuracy(bool shown)
{
    m_impl->classifies = shown;
    m_impl->fitAccuracy();
}

void LossView::setTheme(resources::Theme theme)
{
    m_impl->curves->setTheme(theme);
    m_impl->accuracy->setTheme(theme);
}

CsvText LossView::csvText() const
{
    return m_impl->curves->csvText();
}

QCustomPlot& LossView::plot() const
{
    return m_impl->curves->plot();
}

} // namespace residua::visualizers
