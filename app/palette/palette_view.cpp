// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/palette/palette_view.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QDropEvent>
#include <QGridLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMimeData>
#include <QVBoxLayout>

#include <array>

namespace residua::app {

namespace {

double parametersOf(const projects::Cost& cost)
{
    return static_cast<double>(cost.parameters);
}
double flopsOf(const projects::Cost& cost)
{
    return cost.trainFlops;
}
double memoryOf(const projects::Cost& cost)
{
    return cost.memoryBytes();
}

struct Figure {
    const char* title;
    double (*value)(const projects::Cost&);
    QString (*format)(double);
};
constexpr std::array<Figure, 3> kFigures{{
    {QT_TRANSLATE_NOOP("residua::app::PaletteView", "Parameters"), parametersOf, formatCount},
    {QT_TRANSLATE_NOOP("residua::app::PaletteView", "Training FLOP"), flopsOf, formatCount},
    {QT_TRANSLATE_NOOP("residua::app::PaletteView", "Memory"), memoryOf, formatBytes},
}};

} // namespace

PaletteView::PaletteView(PaletteModel& model, QWidget* parent)
    : QWidget(parent), m_model(model), m_grid(new QGridLayout(m_costs))
{
    setObjectName(QStringLiteral("palette"));
    setAttribute(Qt::WA_StyledBackground);
    m_filter->setSourceModel(&model);
    m_filter->setFilterRole(PaletteModel::kSearchRole);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_filter->setRecursiveFilteringEnabled(true);
    visualizers::setNames(*m_search, "paletteSearch", tr("Search the palette"));
    m_search->setPlaceholderText(tr("Search topologies, blocks, nodes"));
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    visualizers::setNames(*m_tree, "paletteTree", tr("Palette"));
    m_tree->setModel(m_filter);
    m_tree->setHeaderHidden(true);
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(12);
    m_tree->setIconSize({16, 16});
    m_tree->setDragEnabled(true);
    m_tree->setDragDropMode(QAbstractItemView::DragOnly);
    m_tree->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(PaletteModel::Name, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(PaletteModel::Added, QHeaderView::ResizeToContents);
    m_tree->expand(m_filter->index(0, 0));
    visualizers::makeRemark(*m_summary);
    m_summary->setContentsMargins(10, 6, 10, 0);
    m_costs->setObjectName(QStringLiteral("paletteCosts"));
    m_grid->setContentsMargins(10, 4, 10, 8);
    m_grid->setColumnStretch(0, 1);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(2);

    auto* top = visualizers::makeColumn(nullptr, {QMargins(8, 8, 8, 6), -1}, {m_search});
    visualizers::makeColumn(this, visualizers::kNoRoom, {top, {m_tree, 1}, m_summary, m_costs});
    connect(m_search, &QLineEdit::textChanged, this, &PaletteView::search);
    connect(m_search, &QLineEdit::returnPressed, this, [this] { choose(current()); });
    connect(m_tree, &QTreeView::activated, this, [this] { choose(current()); });
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, &PaletteView::showCost);
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_tree, &QTreeView::customContextMenuRequested, this, &PaletteView::openMenu);
    keepExpanded();
    showCost();
}

void PaletteView::acceptDropsOn(QWidget& target)
{
    target.setAcceptDrops(true);
    target.installEventFilter(this);
}

void PaletteView::setContext(projects::ProjectSnapshot project, const Place& selection, std::size_t shown)
{
    m_model.setContext(std::move(project), selection, shown);
    showCost();
}

void PaletteView::setCostNow(const std::optional<projects::Cost>& cost)
{
    if (cost != m_model.costNow()) {
        m_model.setCostNow(cost);
        showCost();
    }
}

/// Keeps the open groups open when blocks are added or removed.
void PaletteView::keepExpanded()
{
    connect(&m_model, &PaletteModel::modelAboutToBeReset, this, [this] {
        m_expanded.clear();
        for (int row = 0; row < m_filter->rowCount(); ++row) {
            if (m_tree->isExpanded(m_filter->index(row, 0))) {
                m_expanded << m_filter->index(row, 0).data().toString();
            }
        }
    });
    connect(&m_model, &PaletteModel::modelReset, this, [this] {
        for (int row = 0; row < m_filter->rowCount(); ++row) {
            m_tree->setExpanded(m_filter->index(row, 0),
                                m_expanded.contains(m_filter->index(row, 0).data().toString()));
        }
    });
}

void PaletteView::focusSearch()
{
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
}

const PaletteItem* PaletteView::current() const
{
    return m_model.itemAt(m_filter->mapToSource(m_tree->currentIndex()));
}

void PaletteView::openMenu(const QPoint& position)
{
    const PaletteItem* const item = m_model.itemAt(m_filter->mapToSource(m_tree->indexAt(position)));
    if (!item) {
        return;
    }
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("What this computes"), this, [this, asked = *item] { emit explainRequested(asked); });
    menu->popup(m_tree->viewport()->mapToGlobal(position));
}

/// The first match becomes the current one, so that Enter applies it.
void PaletteView::search(const QString& text)
{
    m_filter->setFilterFixedString(text);
    if (text.isEmpty()) {
        m_tree->collapseAll();
        m_tree->expand(m_filter->index(0, 0));
        return;
    }
    m_tree->expandAll();
    m_tree->setCurrentIndex(m_filter->index(0, 0, m_filter->index(0, 0)));
}

void PaletteView::choose(const PaletteItem* item, QWidget* target, QPoint position)
{
    if (!item || (m_taker && m_taker(*item, target, position))) {
        return;
    }
    const auto change = m_model.changeFor(*item);
    if (change) {
        emit chosen(*change);
    } else {
        emit refused(QString::fromStdString(change.error().text()));
    }
}

void PaletteView::showCost()
{
    while (QLayoutItem* line = m_grid->takeAt(0)) {
        delete line->widget();
        delete line;
    }
    const PaletteItem* item = current();
    m_summary->setVisible(item != nullptr);
    const auto cost = item && item->kind != PaletteKind::Node ? m_model.costWith(*item) : std::nullopt;
    m_costs->setVisible(cost.has_value());
    if (item) {
        m_summary->setText(item->source.isEmpty() ? item->summary : tr("%1 %2.").arg(item->summary, item->source));
    }
    if (!cost) {
        return;
    }
    int row = 0;
    for (const Figure& figure : kFigures) {
        auto* title = new QLabel(tr(figure.title), m_costs);
        title->setProperty("role", QStringLiteral("muted"));
        auto* value = new QLabel(figure.format(figure.value(*cost)), m_costs);
        const auto& now = m_model.costNow();
        auto* change = new QLabel(
            now ? formatChange(figure.value(*cost) - figure.value(*now), figure.format) : QString(), m_costs);
        for (QLabel* number : {value, change}) {
            number->setFont(numberFont());
            number->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        }
        change->setToolTip(tr("Change against the project as it is"));
        m_grid->addWidget(title, row, 0);
        m_grid->addWidget(value, row, 1);
        m_grid->addWidget(change, row++, 2);
    }
}

bool PaletteView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_search) {
        const auto* key = event->type() == QEvent::KeyPress ? static_cast<QKeyEvent*>(event) : nullptr;
        if (key && (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up)) {
            m_tree->setFocus(Qt::OtherFocusReason);
            return true;
        }
    } else if (event->type() == QEvent::DragEnter || event->type() == QEvent::DragMove ||
               event->type() == QEvent::Drop) {
        auto* drop = static_cast<QDropEvent*>(event); // a drag event is a drop event that has not ended
        if (const PaletteItem* item = m_model.itemOf(*drop->mimeData())) {
            drop->acceptProposedAction();
            if (event->type() == QEvent::Drop) {
                choose(item, static_cast<QWidget*>(watched), drop->position().toPoint());
            }
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace residua::app
