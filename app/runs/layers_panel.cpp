// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/layers_panel.h"

#include "app/engine/background.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "projects/base/whole_file.h"
#include "visualizers/heatmap/shown_effects.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/runs/shown_runs.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelection>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace residua::app {

namespace {

constexpr int kSoonAfterChange = 200; ///< milliseconds
constexpr int kLayerRowHeight = 26;
constexpr int kTextColumns = 3; ///< layer, block, shape; then kLayerColumns
constexpr int kDigitsOfNumber = 4;

/// A cell that sorts by a number; unknown numbers are the largest.
class NumberCell : public QTableWidgetItem {
public:
    NumberCell(const QString& text, double number) : QTableWidgetItem(text), m_number(number)
    {
        setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        setFont(numberFont());
    }
    bool operator<(const QTableWidgetItem& other) const override
    {
        const double theirs = static_cast<const NumberCell&>(other).m_number;
        return std::isnan(theirs) ? !std::isnan(m_number) : m_number < theirs;
    }

private:
    double m_number;
};

QString cellText(double value, const engine::LayerColumn& column)
{
    const bool isCount = column.value == &engine::LayerRow::parameters || column.value == &engine::LayerRow::flops;
    return std::isnan(value) ? QStringLiteral("—")
           : isCount         ? formatCount(value)
                             : QString::number(value, 'g', kDigitsOfNumber);
}

} // namespace

LayersPanel::LayersPanel(const visualizers::ShownRuns& runs, const visualizers::ShownMatrices& matrices,
                         const visualizers::ShownEffects& effects, QWidget* parent)
    : QWidget(parent),
      m_runs(runs),
      m_matrices(matrices),
      m_whose(new QLabel(this)),
      m_table(new QTableWidget(0, kTextColumns + static_cast<int>(std::size(engine::kLayerColumns)), this))
{
    setObjectName(QStringLiteral("layersPanel"));
    setAttribute(Qt::WA_StyledBackground);
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonAfterChange);
    m_whose->setProperty("role", QStringLiteral("muted"));
    visualizers::setNames(*m_table, "layersTable", tr("Layers"));
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(kLayerRowHeight);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setSortIndicator(0, Qt::AscendingOrder);
    m_table->setContextMenuPolicy(Qt::NoContextMenu); // the panel's
    QStringList titles{tr("Layer"), tr("Block"), tr("Shape")};
    for (const engine::LayerColumn& column : engine::kLayerColumns) {
        titles << tr(column.title);
    }
    m_table->setHorizontalHeaderLabels(titles);
    for (int i = 0; i < static_cast<int>(std::size(engine::kLayerColumns)); ++i) {
        QTableWidgetItem& head = *m_table->horizontalHeaderItem(kTextColumns + i);
        head.setToolTip(tr(engine::kLayerColumns[i].help));
        head.setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    auto* save = new QToolButton(this);
    save->setText(tr("CSV…"));
    save->setToolTip(tr("Save the table as CSV"));
    auto* line = visualizers::makeRow(nullptr, {QMargins(8, 4, 8, 2), -1}, {{m_whose, 1}, save});
    visualizers::makeColumn(this, visualizers::kNoRoom, {line, {m_table, 1}});
    connect(save, &QToolButton::clicked, this, &LayersPanel::saveCsv);
    connect(&m_soon, &QTimer::timeout, this, &LayersPanel::read);
    connect(&m_runs, &visualizers::ShownRuns::frontChanged, this, &LayersPanel::readSoon);
    connect(&m_matrices, &visualizers::ShownMatrices::changed, this, &LayersPanel::readSoon);
    connect(&effects, &visualizers::ShownEffects::changed, this, &LayersPanel::readSoon);
    connect(m_table, &QTableWidget::itemSelectionChanged, this, [this] {
        m_chosen.clear();
        for (const QModelIndex& row : m_table->selectionModel()->selectedRows()) {
            m_chosen.push_back(row.data(Qt::UserRole).toLongLong());
        }
        std::ranges::sort(m_chosen);
        emit layersChosen(m_chosen);
    });
}

void LayersPanel::setProject(projects::ProjectSnapshot project)
{
    m_project = std::move(project);
    readSoon();
}

void LayersPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_stale) {
        read();
    }
}

void LayersPanel::readSoon()
{
    m_stale = true;
    if (isVisible() && !m_soon.isActive()) { // a run that trains changes often, and is read now and then
        m_soon.start();
    }
}

void LayersPanel::read()
{
    if (!isVisible()) {
        return;
    }
    m_stale = false;
    m_whose->setText(m_runs.front().empty()
                         ? tr("Train the project to see norms, weights and effects.")
                         : tr("Shapes and costs of the project; norms and weights of %1").arg(m_matrices.whose()));
    const auto work = [project = m_project, run = m_runs.front(), step = m_matrices.step(),
                       tower = m_matrices.tower()] {
        std::vector<engine::LayerRow> layers = engine::layersOf(*project);
        if (!run.empty()) {
            engine::readLayers(layers, run, step, tower);
        }
        return layers;
    };
    inBackground(this, work, [this, asked = ++m_asked](std::vector<engine::LayerRow> layers) {
        if (asked == m_asked) {
            m_layers = std::move(layers);
            fill();
        }
    });
}

void LayersPanel::fill()
{
    const QSignalBlocker quiet(m_table);
    m_table->setSortingEnabled(false);
    m_table->setRowCount(static_cast<int>(m_layers.size()));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const engine::LayerRow& layer = m_layers[static_cast<std::size_t>(row)];
        auto* number = new NumberCell(QString::fromStdString(layer.name), static_cast<double>(layer.layer));
        number->setData(Qt::UserRole, static_cast<qlonglong>(layer.layer));
        m_table->setItem(row, 0, number);
        m_table->setItem(row, 1, new QTableWidgetItem(QString::fromStdString(layer.block)));
        m_table->setItem(row, 2, new QTableWidgetItem(QString::fromStdString(layer.shape)));
        int column = kTextColumns;
        for (const engine::LayerColumn& of : engine::kLayerColumns) {
            m_table->setItem(row, column++, new NumberCell(cellText(layer.*of.value, of), layer.*of.value));
        }
    }
    m_table->setSortingEnabled(true);
    showChosen();
}

void LayersPanel::choose(const std::vector<std::int64_t>& layers)
{
    if (layers != m_chosen) {
        m_chosen = layers;
        showChosen();
    }
}

void LayersPanel::showChosen()
{
    const QSignalBlocker quiet(m_table);
    QItemSelection rows;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const QModelIndex index = m_table->model()->index(row, 0);
        if (std::ranges::binary_search(m_chosen, index.data(Qt::UserRole).toLongLong())) {
            rows.select(index, index);
        }
    }
    m_table->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    if (!rows.isEmpty()) {
        m_table->scrollTo(rows.indexes().front());
    }
}

QString LayersPanel::csv() const
{
    return QString::fromStdString(engine::layersCsv(m_layers));
}

void LayersPanel::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu;
    menu.addAction(tr("Copy the table as CSV"), this, [this] { QGuiApplication::clipboard()->setText(csv()); });
    menu.addAction(tr("Save as CSV…"), this, &LayersPanel::saveCsv);
    menu.exec(event->globalPos());
}

void LayersPanel::saveCsv()
{
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save the layers"), QStringLiteral("layers.csv"), tr("CSV (*.csv)"));
    if (path.isEmpty()) {
        return;
    }
    const Status written = writeOutput(path.toStdString(), csv().toStdString());
    m_whose->setText(written ? tr("Wrote %1.").arg(path) : QString::fromStdString(written.error().text()));
}

} // namespace residua::app
