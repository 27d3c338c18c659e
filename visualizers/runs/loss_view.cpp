// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/loss_view.h"

#include "engine/runs/results/run_reader.h"
#include "visualizers/runs/run_plot.h"
#include "visualizers/runs/transitions_model.h"

#include <QHeaderView>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace residua::visualizers {
namespace {

constexpr int kMostRows = 6;        ///< of the table that are seen at once
constexpr double kTableShare = 0.4; ///< of the height: the most that the table takes from the plot
constexpr int kLeastForBoth = 560;  ///< extent of a plot with the table or another plot beside it
constexpr int kAnyWidth = 1000;     ///< of each plot, which share what there is
constexpr int kFrame = 22;          ///< the table's own, with a scroll bar

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
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(m_curves);
    }

    void setTheme(resources::Theme theme) override { m_curves->setTheme(theme); }
    [[nodiscard]] CsvText csvText() const override { return m_curves->csvText(); }

protected:
    [[nodiscard]] QCustomPlot& plot() const override { return m_curves->plot(); }

private:
    RunPlot* m_curves;
};

} // namespace

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
