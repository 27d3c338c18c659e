// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/theory/theory_view.h"

#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/turning_split.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>

#include <cmath>

namespace residua::visualizers {
namespace {

constexpr int kDigits = 6;
constexpr int kLow = 230;  ///< pixels: below that the table stands beside the plot
constexpr int kFrame = 22; ///< the table's own, with a scroll bar

QString cellText(double value)
{
    return std::isnan(value) ? QStringLiteral("—") : QString::number(value, 'g', kDigits);
}

} // namespace

class TheoryView::Impl {
public:
    explicit Impl(TheoryView* view);

    void style();
    void fillTable();
    void showAll(bool shown);

    TheoryNumbers numbers;
    QLabel* about;
    CurvePlot* plot;
    QTableWidget* table;
    QLabel* notes;
    QLabel* reason;
    std::array<Curve, 3> curves; ///< GRN-v1 to -v3; the plot points into them
    std::array<CurvePlot::Id, 3> lines{};
    resources::Theme theme = resources::Theme::Light;
};

TheoryView::Impl::Impl(TheoryView* view)
    : about(new QLabel(view)),
      plot(new CurvePlot(view)),
      table(new QTableWidget(view)),
      notes(new QLabel(view)),
      reason(inviteOver(*plot, {}))
{
    view->setAccessibleName(tr("Theory"));
    plot->setAccessibleName(tr("Gains over a residual network by collective rank"));
    plot->setMinimumHeight(kLeastPlotHeight);
    plot->xAxis->setLabel(tr("collective rank r*"));
    plot->yAxis->setLabel(tr("excess risk saved, at least"));
    plot->setXText([](double x) { return QStringLiteral("r* ") + QString::number(std::floor(x), 'f', 0); });
    for (std::size_t i = 0; i < curves.size(); ++i) {
        lines[i] = plot->add(curves[i], {});
    }
    table->setObjectName(QStringLiteral("theoryTable"));
    table->setAccessibleName(tr("What theorems say of each kind of network"));
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setShowGrid(false);
    table->verticalHeader()->hide();
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    for (QLabel* label : {about, notes}) {
        label->setProperty("role", QStringLiteral("muted"));
        label->setWordWrap(true);
        label->setContentsMargins(8, 4, 8, 0);
        label->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    }
    notes->setObjectName(QStringLiteral("theoryNotes"));
    auto* split = new TurningSplit(kLow, view);
    split->addWidget(plot);
    split->addWidget(table);
    split->setShares({1000, 1000}, {1000, 500});
    auto* column = new QVBoxLayout(view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(about);
    column->addWidget(notes);
    column->addWidget(split, 1);
    column->addStretch(0); // below a table without a plot
    style();
}

void TheoryView::Impl::style()
{
    for (std::size_t i = 0; i < curves.size(); ++i) {
        const QString name = QStringLiteral("GRN-v%1").arg(i + 1);
        plot->setLook(lines[i], {.group = name,
                                 .name = name,
                                 .place = i,
                                 .reading = tr("risk saved"),
                                 .colour = resources::curveColour(i, theme),
                                 .width = 1.8});
    }
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
    plot->setVisible(!shown || !numbers.gains.empty()); // an empty figure is hidden; the notes tell the reason
    about->setVisible(shown);
    notes->setVisible(shown && !numbers.notes.isEmpty());
    reason->setVisible(!shown);
}

TheoryView::TheoryView(QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(this))
{
    setReason({});
}

TheoryView::~TheoryView() = default;

void TheoryView::setNumbers(const TheoryNumbers& numbers)
{
    m_impl->numbers = numbers;
    for (std::size_t i = 0; i < m_impl->curves.size(); ++i) {
        m_impl->curves[i].clear();
        double rank = 0;
        for (const auto& gains : numbers.gains) {
            m_impl->curves[i].append(++rank, gains[i]);
        }
    }
    m_impl->about->setText(numbers.about);
    m_impl->notes->setText(numbers.notes.join(QLatin1Char('\n')));
    m_impl->fillTable();
    m_impl->showAll(true);
    // The project's own rank.
    m_impl->plot->setBands({{1, {}}, {static_cast<double>(numbers.rank), tr("r* of this project")}});
    m_impl->plot->refresh();
    m_impl->plot->showAll();
}

void TheoryView::setReason(const QString& reason)
{
    m_impl->numbers = {};
    for (Curve& curve : m_impl->curves) {
        curve.clear();
    }
    m_impl->reason->setText(reason);
    m_impl->showAll(false);
    m_impl->plot->setBands({});
    m_impl->plot->refresh();
}

void TheoryView::setTheme(resources::Theme theme)
{
    m_impl->theme = theme;
    m_impl->plot->setTheme(theme);
    setMuted(*m_impl->reason, theme);
    m_impl->style();
}

CsvText TheoryView::csvText() const
{
    return [gains = m_impl->numbers.gains](QTextStream& out) {
        out << "collective_rank,g1,g2,g3\n";
        int rank = 0;
        for (const auto& [v1, v2, v3] : gains) {
            out << ++rank << ',' << v1 << ',' << v2 << ',' << v3 << '\n';
        }
    };
}

QCustomPlot& TheoryView::plot() const
{
    return *m_impl->plot;
}

} // namespace residua::visualizers
