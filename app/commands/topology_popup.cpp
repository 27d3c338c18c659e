// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/topology_popup.h"

#include "app/commands/command_palette.h"
#include "app/palette/palette_model.h"
#include "visualizers/plot/arrange.h"

#include <QApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace residua::app {

namespace {

enum TopologyColumn { Title, Price, TopologyColumns };
constexpr int kKeyRole = Qt::UserRole;
constexpr QSize kTopologySize(440, 460);
constexpr int kMargin = 8;

bool matches(const QString& searched, const QString& text)
{
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    return std::ranges::all_of(words,
                               [&](const QString& word) { return searched.contains(word, Qt::CaseInsensitive); });
}

QList<QStandardItem*> headingOf(const QString& source)
{
    auto* item = new QStandardItem(source.isEmpty() ? TopologyPopup::tr("General") : source);
    QFont font = item->font();
    font.setBold(true);
    item->setFont(font);
    item->setFlags(Qt::NoItemFlags);
    auto* rest = new QStandardItem;
    rest->setFlags(Qt::NoItemFlags);
    return {item, rest};
}

QList<QStandardItem*> rowOf(const QModelIndex& topology, const PaletteItem& item)
{
    auto* name = new QStandardItem(item.title);
    name->setData(QString::fromStdString(item.key), kKeyRole);
    name->setToolTip(topology.data(Qt::ToolTipRole).toString());
    const QString added = topology.siblingAtColumn(PaletteModel::Added).data().toString();
    auto* price = new QStandardItem(added.isEmpty() ? QString() : TopologyPopup::tr("%1 parameters").arg(added));
    price->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return {name, price};
}

} // namespace

TopologyPopup::TopologyPopup(const PaletteModel& palette, QWidget* window)
    : TypedPopup(window), m_palette(palette), m_rows(new QStandardItemModel(0, TopologyColumns, this))
{
    setObjectName(QStringLiteral("topologyPopup"));
    setAccessibleName(tr("Topologies"));
    field().setObjectName(QStringLiteral("topologySearch"));
    field().setPlaceholderText(tr("Search the topologies"));
    field().setAccessibleName(tr("Search the topologies"));
    list().setAccessibleName(tr("Topologies"));
    list().setModel(m_rows);
    list().header()->setStretchLastSection(false);
    list().header()->setSectionResizeMode(Title, QHeaderView::Stretch);
    list().header()->setSectionResizeMode(Price, QHeaderView::ResizeToContents);
    visualizers::makeColumn(this, {QMargins(kMargin, kMargin, kMargin, kMargin), -1}, {&field(), {&list(), 1}});
    connect(&field(), &QLineEdit::textChanged, this, [this](const QString& text) { fill(text, text); });
    connect(&palette, &QAbstractItemModel::dataChanged, this, [this] { // prices are worked out after they are asked for
        if (isVisible()) {
            fill(field().text(), list().currentIndex().siblingAtColumn(Title).data().toString());
        }
    });
}

void TopologyPopup::open(const QWidget& below, const QString& current)
{
    field().clear();
    fill({}, current);
    const QWidget* window = parentWidget();
    const QPoint place = below.mapTo(window, below.rect().bottomLeft());
    popUp(
        {place, QSize(kTopologySize.width(), std::min(kTopologySize.height(), window->height() - place.y() - kMargin))},
        QApplication::focusWidget());
}

void TopologyPopup::fill(const QString& text, const QString& title)
{
    std::vector<std::pair<QString, std::vector<QModelIndex>>> groups;
    const QModelIndex topologies = m_palette.index(0, 0);
    for (int row = 0; row < m_palette.rowCount(topologies); ++row) {
        const QModelIndex topology = m_palette.index(row, PaletteModel::Name, topologies);
        if (!matches(topology.data(PaletteModel::kSearchRole).toString(), text)) {
            continue;
        }
        const QString& source = m_palette.itemAt(topology)->source;
        auto group = std::ranges::find(groups, source, &std::pair<QString, std::vector<QModelIndex>>::first);
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {source, {}});
        }
        group->second.push_back(topology);
    }
    m_rows->setRowCount(0);
    const QStringList words = title.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    const auto rankOf = [&](const QString& name) { // the least is marked
        const bool isSame = name.compare(title, Qt::CaseInsensitive) == 0;
        return isSame ? -1 : matchRank({name}, words).value_or(std::numeric_limits<int>::max());
    };
    QModelIndex marked;
    for (const auto& [source, members] : groups) {
        m_rows->appendRow(headingOf(source));
        for (const QModelIndex& member : members) {
            m_rows->appendRow(rowOf(member, *m_palette.itemAt(member)));
            const QModelIndex row = m_rows->index(m_rows->rowCount() - 1, Title);
            if (!marked.isValid() || rankOf(row.data().toString()) < rankOf(marked.data().toString())) {
                marked = row;
            }
        }
    }
    list().setCurrentIndex(marked);
    list().scrollTo(marked);
}

void TopologyPopup::take()
{
    const QString key = list().currentIndex().siblingAtColumn(Title).data(kKeyRole).toString();
    if (!key.isEmpty()) {
        leave();
        emit chosen(key);
    }
}

} // namespace residua::app
