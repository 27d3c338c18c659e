// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/theory/theory_view.h"

#include "visualizers/plot/arrange.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/plot/plot_style.h"

#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLabel>
#include <QSpinBox>
#include <QTableWidget>
#include <QVBoxLayout>

#include <cmath>
#include <initializer_list>
#include <tuple>

namespace residua::visualizers {
namespace {

constexpr int kDigits = 6;
constexpr std::size_t kGrns = 3;
constexpr int kLow = 230;  ///< pixels: below that the table stands beside the plot
constexpr int kFrame = 22; ///< the table's own, with a scroll bar
constexpr int kMostDimension = 10000;
constexpr int kMostLayers = 1000;
constexpr double kLeastKappa = 0.01;
constexpr double kMostLambda = 1e6;

/// The entries of the choices, in order.
enum ModelChoice { ProjectsModel, NumbersModel };
enum AxisChoice { RankAxis, ComplexityAxis };

QString cellText(double value)
{
    return std::isnan(value) ? QStringLiteral("—") : QString::number(value, 'g', kDigits);
}

} // namespace

class TheoryView::Impl {
public:
    explicit Impl(TheoryView* of);

    void fillTable();
    void showAll(bool shown);
    void showGains();
    [[nodiscard]] bool byRank() const { return axis->currentIndex() == RankAxis; }
    [[nodiscard]] const TheoryNumbers::Gains& gains() const { return byRank() ? numbers.byRank : numbers.byComplexity; }
    [[nodiscard]] double xOf(std::size_t point) const;

    TheoryView* const view;
    TheoryNumbers numbers;
    PlotChoice* model = new PlotChoice(view);
    PlotChoice* axis = new PlotChoice(view);
    QSpinBox* dimension = new QSpinBox(view);
    QSpinBox* rank = new QSpinBox(view);
    QSpinBox* layers = new QSpinBox(view);
    QDoubleSpinBox* kappa = new QDoubleSpinBox(view);
    QDoubleSpinBox* lambdaMax = new QDoubleSpinBox(view);
    QLabel* about = new QLabel(view);
    CurvePlot* plot = new CurvePlot(view);
    QTableWidget* table = new QTableWidget(view);
    QLabel* notes = new QLabel(view);
    QLabel* reason = inviteOver(*plot, {});

private:
    void makeControls(ControlRows& row);
    void connectControls();
};

TheoryView::Impl::Impl(TheoryView* of) : view(of)
{
    view->setAccessibleName(tr("Theory"));
    plot->setAccessibleName(tr("Gains over a residual network"));
    plot->setMinimumHeight(kLeastPlotHeight);
    setNames(*table, "theoryTable", tr("What theorems say of each kind of network"));
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setShowGrid(false);
    table->verticalHeader()->hide();
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    for (QLabel* label : {about, notes}) {
        makeRemark(*label);
        label->setContentsMargins(8, 4, 8, 0);
        label->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    }
    notes->setObjectName(QStringLiteral("theoryNotes"));
    auto* split = new TurningSplit(kLow, view);
    split->addWidget(plot);
    split->addWidget(table);
    split->setShares({1000, 1000}, {1000, 500});
    auto* controls = new ControlRows;
    makeControls(*controls);
    auto* column = makeColumn(view, {QMargins(), 2}, {controls, about, notes, {split, 1}});
    column->addStretch(0); // below a table without a plot
    connectControls();
}

void TheoryView::Impl::makeControls(ControlRows& row)
{
    const TheoryView::Model start;
    model->addItems({tr("model of the project"), tr("model of these numbers")});
    setNames(*model, "theoryModel", tr("Which model"));
    axis->addItems({tr("gains by rank"), tr("gains by complexity")});
    setNames(*axis, "theoryAxis", tr("What the gains are drawn over"));
    dimension->setRange(2, kMostDimension);
    dimension->setValue(static_cast<int>(start.dimension));
    rank->setRange(1, static_cast<int>(start.dimension) - 1);
    rank->setValue(static_cast<int>(start.rank));
    layers->setRange(1, kMostLayers);
    layers->setValue(static_cast<int>(start.layers));
    kappa->setRange(kLeastKappa, 1);
    kappa->setSingleStep(0.05);
    kappa->setValue(start.kappa);
    lambdaMax->setRange(kLeastKappa, kMostLambda);
    lambdaMax->setValue(start.lambdaMax);
    const std::tuple<QAbstractSpinBox*, const char*, QString, QString> boxes[] = {
        {dimension, "theoryDimension", tr("d"), tr("Dimension of inputs and outputs")},
        {rank, "theoryRank", tr("r*"), tr("Collective rank of the residual network, below d")},
        {layers, "theoryLayers", tr("T"), tr("Number of layers")},
        {kappa, "theoryKappa", tr("κ"), tr("Complexity of the target: least over largest eigenvalue of A − I")},
        {lambdaMax, "theoryLambda", tr("λ max"), tr("Largest eigenvalue of A − I")}};
    row.addWidget(model);
    for (const auto& [box, name, caption, what] : boxes) {
        setNames(*box, name, what, what);
        box->setKeyboardTracking(false);
        row.addWidget(captioned(caption, *box));
        box->parentWidget()->hide(); // shown for a model of these numbers
    }
    row.addWidget(axis);
}

void TheoryView::Impl::connectControls()
{
    const auto ask = [this] { emit view->askedChanged(); };
    QObject::connect(model, &QComboBox::currentIndexChanged, view, [this, ask] {
        for (QWidget* box : std::initializer_list<QWidget*>{dimension, rank, layers, kappa, lambdaMax}) {
            box->parentWidget()->setVisible(model->currentIndex() == NumbersModel);
        }
        ask();
    });
    QObject::connect(dimension, &QSpinBox::valueChanged, rank, [this](int d) { rank->setMaximum(d - 1); });
    for (QSpinBox* box : {dimension, rank, layers}) {
        QObject::connect(box, &QSpinBox::valueChanged, view, ask);
    }
    for (QDoubleSpinBox* box : {kappa, lambdaMax}) {
        QObject::connect(box, &QDoubleSpinBox::valueChanged, view, ask);
    }
    QObject::connect(axis, &QComboBox::currentIndexChanged, view, [this] { showGains(); });
}

double TheoryView::Impl::xOf(std::size_t point) const
{
    const auto count = static_cast<double>(point + 1);
    return byRank() ? count : count / static_cast<double>(numbers.byComplexity.size());
}

/// Draws the gains, with a mark at the model's own number.
void TheoryView::Impl::showGains()
{
    PlotSpec spec{.xLabel = (byRank() ? tr("collective rank r*") : tr("complexity λ min / λ max")).toStdString(),
                  .yLabel = tr("excess risk saved, at least").toStdString()};
    for (std::size_t i = 0; i < kGrns; ++i) {
        const std::string name = "GRN-v" + std::to_string(i + 1);
        PlotCurve& curve = spec.curves.emplace_back(PlotCurve{.name = name, .colour = i, .group = name, .place = i});
        curve.reading = tr("risk saved").toStdString();
        curve.width = 1.8;
        for (std::size_t point = 0; point < gains().size(); ++point) {
            curve.points.append(xOf(point), gains()[point][i]);
        }
    }
    const double own = byRank() ? numbers.rank : numbers.complexity;
    if (!gains().empty() && own > xOf(0)) {
        spec.bands = {{xOf(0), {}}, {own, (byRank() ? tr("r* of this model") : tr("κ of this model")).toStdString()}};
    }
    plot->setXText([byRank = byRank()](double x) {
        return byRank ? QStringLiteral("r* ") + QString::number(std::floor(x), 'f', 0)
                      : QStringLiteral("κ ") + QString::number(x, 'f', 2);
    });
    plot->setSpec(std::move(spec));
    plot->showAll();
}

void TheoryView::Impl::fillTable()
{
    table->setRowCount(static_cast<int>(numbers.rows.size()));
    table->setColumnCount(1 + static_cast<int>(numbers.columns.size()));
    table->setHorizontalHeaderLabels(QStringList{QString()} + numbers.columns);
    for (int row = 0; row < table->rowCount(); ++row) {
        const TheoryNumbers::Row& shown = numbers.rows[static_cast<std::size_t>(row)];
        table->setItem(row, 0, new QTableWidgetItem(shown.name));
        for (std::size_t i = 0; i < shown.values.size(); ++i) {
            auto* cell = new QTableWidgetItem(cellText(shown.values[i]));
            cell->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            table->setItem(row, 1 + static_cast<int>(i), cell);
        }
    }
    const int height = table->rowCount() * table->verticalHeader()->defaultSectionSize();
    table->setMaximumHeight(table->horizontalHeader()->sizeHint().height() + height + kFrame);
}

void TheoryView::Impl::showAll(bool shown)
{
    table->setVisible(shown);
    plot->setVisible(!shown || !numbers.byRank.empty()); // an empty figure is hidden; the notes tell the reason
    axis->setVisible(shown && !numbers.byRank.empty());
    about->setVisible(shown);
    notes->setVisible(shown && !numbers.notes.isEmpty());
    reason->setVisible(!shown);
}

TheoryView::TheoryView(QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(this))
{
    setReason({});
}

TheoryView::~TheoryView() = default;

std::optional<TheoryView::Model> TheoryView::asked() const
{
    if (m_impl->model->currentIndex() == ProjectsModel) {
        return std::nullopt;
    }
    return Model{m_impl->dimension->value(), m_impl->rank->value(), m_impl->layers->value(), m_impl->kappa->value(),
                 m_impl->lambdaMax->value()};
}

void TheoryView::setNumbers(const TheoryNumbers& numbers)
{
    m_impl->numbers = numbers;
    m_impl->about->setText(numbers.about);
    m_impl->notes->setText(numbers.notes.join(QLatin1Char('\n')));
    m_impl->fillTable();
    m_impl->showAll(true);
    m_impl->showGains();
}

void TheoryView::setReason(const QString& reason)
{
    m_impl->numbers = {};
    m_impl->reason->setText(reason);
    m_impl->showAll(false);
    m_impl->showGains();
}

void TheoryView::setTheme(resources::Theme theme)
{
    m_impl->plot->setTheme(theme);
    setMuted(*m_impl->reason, theme);
}

CsvText TheoryView::csvText() const
{
    const TheoryNumbers::Gains gains = m_impl->gains();
    std::vector<double> at(gains.size());
    for (std::size_t point = 0; point < at.size(); ++point) {
        at[point] = m_impl->xOf(point);
    }
    return [gains, at, first = m_impl->byRank() ? "collective_rank" : "kappa"](QTextStream& out) {
        out << first << ",g1,g2,g3\n";
        for (std::size_t point = 0; point < at.size(); ++point) {
            const auto& [v1, v2, v3] = gains[point];
            out << at[point] << ',' << v1 << ',' << v2 << ',' << v3 << '\n';
        }
    };
}

QCustomPlot& TheoryView::plot() const
{
    return *m_impl->plot;
}

} // namespace residua::visualizers
