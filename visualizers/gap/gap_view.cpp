// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/gap/gap_view.h"

#include "projects/schema/method_keys.h"
#include "visualizers/gap/gap_bars.h"
#include "visualizers/gap/start_losses.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/plot/plot_style.h"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <set>
#include <utility>

namespace residua::visualizers {
namespace {

using projects::LowRankMethod;

constexpr double kShares[] = {0.5, 0.25, 0.1, 0.05};
constexpr int kSeeds = 3;
constexpr int kMostSeeds = 20;
constexpr int kRowHeight = 22;
constexpr int kProgressWidth = 110;
constexpr int kLeastTable = 120;
constexpr int kAnyWidth = 1000;   ///< of each part of a splitter that shares what there is
constexpr int kLeastForAll = 900; ///< pixels, of bars, table and losses together
constexpr int kLow = 270;         ///< pixels: below that the losses stand beside the bars

/// True if the method takes only seconds for models that fit in a window. The user selects the others when needed.
bool isQuick(LowRankMethod method)
{
    return method == LowRankMethod::Spectral || method == LowRankMethod::ReluSvd || method == LowRankMethod::Exact;
}

} // namespace

class GapView::Impl {
public:
    Impl(const ShownRuns& runs, GapView* of);

    void show();
    void showMarks();
    void showState();
    [[nodiscard]] std::vector<LowRankMethod> methods() const;
    [[nodiscard]] std::vector<std::size_t> order() const
    {
        return ordered(gap, static_cast<engine::GapOrder>(sorting->currentIndex()));
    }

    void fitParts();

    GapView* const view;
    GapBars* bars = new GapBars(view);
    QScrollBar* scroll = new QScrollBar(Qt::Horizontal, view); ///< over the weights, if there are more than fit
    QSplitter* upper = new QSplitter(Qt::Horizontal, view);    ///< of bars and table
    PlotChoice* part = new PlotChoice(view);                   ///< that is shown where there is no room for all
    PlotChoice* subject = new PlotChoice(view);
    PlotChoice* rank = new PlotChoice(view);
    QToolButton* choice = new QToolButton(view);
    PlotChoice* measure = new PlotChoice(view);
    PlotChoice* sorting = new PlotChoice(view);
    QPushButton* compute = new QPushButton(view);
    QProgressBar* progress = new QProgressBar(view);
    QSpinBox* seeds = new QSpinBox(view);
    QPushButton* train = new QPushButton(view);
    QTableView* table = new QTableView(view);
    GapModel model;
    StartLosses* losses;
    TurningSplit* split = new TurningSplit(kLow, view); ///< of bars, table and losses
    QLabel* state = new QLabel(view);
    QLabel* empty = inviteOver(*bars, tr("Compute: how far each weight in two factors is from the full one, by how the "
                                         "factors start."));
    std::vector<QAction*> actions; ///< one per kMethods
    engine::Gap gap;
    QString told;
    std::function<bool(const WeightPlace&)> marked;
    Work work = Work::Rests;

private:
    void fillChoices();
    void layOut();
    void connectControls();
    void choose(std::size_t weight);
    void nameTraining();
};

GapView::Impl::Impl(const ShownRuns& runs, GapView* of) : view(of), losses(new StartLosses(runs, of))
{
    fillChoices();
    layOut();
    connectControls();
    nameTraining();
    show();
}

void GapView::Impl::fillChoices()
{
    part->addItems({tr("bars"), tr("table"), tr("losses")});
    setNames(*part, "gapPart", tr("What is shown"));
    subject->addItems({tr("as drawn"), tr("as the run in front learned them"), tr("as that run started")});
    setNames(*subject, "gapSubject", tr("Which weights"));
    rank->addItem(tr("ranks of the project"));
    for (const double share : kShares) {
        rank->addItem(tr("rank scale %1").arg(share), share);
    }
    setNames(*rank, "gapRank", tr("Rank of the factors"));
    auto* menu = new QMenu(choice);
    for (const projects::LowRankTraits& traits : projects::kLowRankMethods) {
        QAction* action = menu->addAction(QString::fromStdString(projects::titleOf(traits.method)));
        action->setCheckable(true);
        action->setChecked(isQuick(traits.method));
        actions.push_back(action);
    }
    choice->setMenu(menu);
    choice->setPopupMode(QToolButton::InstantPopup);
    choice->setText(tr("Methods"));
    setNames(*choice, "gapMethods", {},
             tr("Which starts are compared; LFAI and LFAI-WS take much longer than the others"));
    measure->addItems({tr("function error"), tr("weight error"), tr("correlation"), tr("seconds")});
    setNames(*measure, "gapMeasure", tr("What the bars show"));
    sorting->addItems({tr("by layer"), tr("by size"), tr("by error")});
    setNames(*sorting, "gapSort", tr("Order of the weights"));
    seeds->setRange(1, kMostSeeds);
    seeds->setValue(kSeeds);
    setNames(*seeds, "gapSeeds", tr("Seeds of each start"));
    setNames(*train, "gapTrain", {},
             tr("A sweep over the chosen methods and so many seeds; their losses are drawn below"));
    compute->setObjectName(QStringLiteral("gapCompute"));
    progress->setTextVisible(true);
    progress->setFixedWidth(kProgressWidth);
}

void GapView::Impl::layOut()
{
    view->setAccessibleName(tr("Gap of low-rank weights"));
    table->setModel(&model);
    setNames(*table, "gapTable", tr("Gap of each weight"));
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    bars->setMinimumHeight(kLeastPlotHeight);
    table->setMinimumWidth(kLeastTable);
    losses->hide();
    state->setObjectName(QStringLiteral("gapState"));
    state->setWordWrap(true);
    state->setContentsMargins(8, 0, 8, 4);
    auto* scrolled = new QWidget(view);
    makeColumn(scrolled, kNoRoom, {{bars, 1}, scroll});
    setNames(*scroll, "gapScroll", tr("Weights that are shown"));
    scroll->hide();
    upper->addWidget(scrolled);
    upper->addWidget(table);
    upper->setStretchFactor(0, 1);
    upper->setStretchFactor(1, 1);
    upper->setSizes({kAnyWidth, kAnyWidth});
    upper->setChildrenCollapsible(false);
    split->setObjectName(QStringLiteral("gapSplit"));
    split->addWidget(upper);
    split->addWidget(losses);
    split->setShares({2 * kAnyWidth, kAnyWidth}, {kAnyWidth, kAnyWidth});
    auto* column = new QVBoxLayout(view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* controls = new ControlRows;
    for (QWidget* control : std::initializer_list<QWidget*>{part, subject, rank, choice, compute, progress, measure,
                                                            sorting, seeds, train}) {
        controls->addWidget(control);
    }
    column->addLayout(controls);
    column->addWidget(split, 1);
    column->addWidget(state);
}

void GapView::Impl::connectControls()
{
    QObject::connect(compute, &QPushButton::clicked, view,
                     [this] { emit(work == Work::Computes ? view->stopRequested() : view->computeRequested()); });
    QObject::connect(train, &QPushButton::clicked, view, &GapView::trainRequested);
    for (PlotChoice* drawn : {measure, sorting}) {
        QObject::connect(drawn, &QComboBox::currentIndexChanged, view, [this] { show(); });
    }
    QObject::connect(seeds, &QSpinBox::valueChanged, view, [this] { nameTraining(); });
    for (QAction* action : actions) {
        QObject::connect(action, &QAction::toggled, view, [this] { nameTraining(); });
    }
    QObject::connect(bars, &GapBars::weightClicked, view, [this](std::size_t weight) { choose(weight); });
    QObject::connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, view,
                     [this](const QModelIndex& current) {
                         const auto weight = current.isValid() ? model.row(current.row()).weight : std::nullopt;
                         if (weight) {
                             choose(*weight);
                         }
                     });
    QObject::connect(losses, &StartLosses::emptyChanged, view, [this] { fitParts(); });
    QObject::connect(part, &QComboBox::currentIndexChanged, view, [this] { fitParts(); });
    QObject::connect(scroll, &QScrollBar::valueChanged, bars, &GapBars::showFrom);
    QObject::connect(bars, &GapBars::roomChanged, view, [this](int shown, int all) {
        scroll->setPageStep(shown);
        scroll->setMaximum(all - shown);
        scroll->setVisible(all > shown);
    });
}

void GapView::Impl::choose(std::size_t weight)
{
    emit view->weightChosen(placeOfWeight(gap.weights[weight].name));
}

std::vector<LowRankMethod> GapView::Impl::methods() const
{
    std::vector<LowRankMethod> chosen;
    for (std::size_t i = 0; i < actions.size(); ++i) {
        if (actions[i]->isChecked()) {
            chosen.push_back(projects::kLowRankMethods[i].method);
        }
    }
    return chosen;
}

void GapView::Impl::nameTraining()
{
    const int count = static_cast<int>(methods().size()) * seeds->value();
    seeds->setSuffix(tr(" seeds", nullptr, seeds->value()));
    train->setText(tr("Queue %n runs", nullptr, count));
    train->setEnabled(count > 0);
    compute->setEnabled(work == Work::Computes || !methods().empty());
}

void GapView::Impl::show()
{
    model.setGap(gap, order());
    bars->setGap(gap, order(), static_cast<GapMeasure>(measure->currentIndex()));
    empty->setVisible(gap.weights.empty());
    fitParts();
    showMarks();
    showState();
}

/// Shows the bars, the table and the losses together, or one of them in a panel where they would be too narrow. The
/// losses stand below the others where there is height for them.
void GapView::Impl::fitParts()
{
    enum Part { Bars, Table, Losses };
    const bool isWide = view->width() >= kLeastForAll;
    const bool isHigh = split->height() >= kLow;
    const bool areLosses = part->currentIndex() == Losses && !losses->isEmpty();
    const bool isTable = part->currentIndex() == Table && !gap.weights.empty();
    part->setVisible(!isWide);
    losses->setVisible(!losses->isEmpty() && (isWide || isHigh || areLosses));
    upper->setVisible(isWide || isHigh || !areLosses);
    bars->parentWidget()->setVisible(isWide || !isTable);
    table->setVisible(!gap.weights.empty() && (isWide || isTable));
}

void GapView::Impl::showMarks()
{
    std::set<std::size_t> weights;
    for (std::size_t i = 0; marked && i < gap.weights.size(); ++i) {
        if (marked(placeOfWeight(gap.weights[i].name))) {
            weights.insert(i);
        }
    }
    bars->mark(weights);
    QItemSelectionModel& selection = *table->selectionModel();
    const QModelIndex current = selection.currentIndex();
    const auto at = current.isValid() ? model.row(current.row()).weight : std::nullopt;
    if (weights.empty()) {
        selection.clearSelection();
    } else if (!at || !weights.contains(*at)) { // otherwise the user is in one of its rows
        const QSignalBlocker quiet(selection);
        const QModelIndex first = model.index(model.firstRowOf(*weights.begin()), 0);
        selection.setCurrentIndex(first, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        table->scrollTo(first);
        table->viewport()->update();
    }
}

void GapView::Impl::showState()
{
    const bool computes = work == Work::Computes;
    compute->setText(computes ? tr("Stop") : tr("Compute"));
    progress->setVisible(computes);
    progress->setRange(0, static_cast<int>(gap.fits.size())); // if empty, the progress bar is indeterminate
    progress->setValue(static_cast<int>(gap.done()));
    progress->setFormat(tr("%1 of %2").arg(gap.done()).arg(gap.fits.size()));
    QStringList lines;
    if (!told.isEmpty()) {
        lines << told;
    }
    for (const std::string& note : gap.notes) {
        lines << QString::fromStdString(note);
    }
    for (std::size_t i = 0; i < gap.fits.size(); ++i) {
        if (gap.fits[i].state == engine::GapFit::State::Failed) { // the table shows the others
            lines << QString::fromStdString(gap.weights[i / gap.methods.size()].name + ": " + gap.fits[i].note);
            break;
        }
    }
    state->setText(lines.join(QLatin1Char('\n')));
    state->setVisible(!lines.isEmpty());
    nameTraining();
}

GapView::GapView(const ShownRuns& runs, QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(runs, this))
{
}

GapView::~GapView()
{
    m_impl->table->setModel(nullptr); // the model is destroyed before the table
}

GapView::Asked GapView::asked() const
{
    const QVariant share = m_impl->rank->currentData();
    return {static_cast<Subject>(m_impl->subject->currentIndex()), m_impl->methods(),
            share.isValid() ? std::optional(share.toDouble()) : std::nullopt, m_impl->seeds->value()};
}

void GapView::setGap(const engine::Gap& gap)
{
    m_impl->gap = gap;
    m_impl->show();
}

void GapView::setWork(Work work)
{
    m_impl->work = work;
    m_impl->showState();
}

void GapView::tell(const QString& text)
{
    m_impl->told = text;
    m_impl->showState();
}

void GapView::mark(std::function<bool(const WeightPlace&)> which)
{
    m_impl->marked = std::move(which);
    m_impl->showMarks();
}

void GapView::resizeEvent(QResizeEvent* event)
{
    PlotView::resizeEvent(event);
    m_impl->fitParts();
}

void GapView::setTheme(resources::Theme theme)
{
    m_impl->bars->setTheme(theme);
    setMuted(*m_impl->empty, theme);
    setMuted(*m_impl->state, theme);
}

CsvText GapView::csvText() const
{
    return [csv = QString::fromStdString(csvOf(m_impl->gap, m_impl->order()))](QTextStream& out) { out << csv; };
}

QCustomPlot& GapView::plot() const
{
    return *m_impl->bars;
}

} // namespace residua::visualizers
