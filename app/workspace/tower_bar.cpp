// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/tower_bar.h"

#include "app/properties/place.h"
#include "projects/nodes/towers.h"

#include <QSignalBlocker>

#include <vector>

namespace residua::app {

TowerBar::TowerBar(QWidget* parent) : QTabBar(parent)
{
    setObjectName(QStringLiteral("towers"));
    setAccessibleName(tr("Towers"));
    setDocumentMode(true);
    setExpanding(false);
    setUsesScrollButtons(true);
    setElideMode(Qt::ElideNone);
    setVisible(false);
    connect(this, &QTabBar::currentChanged, this, [this](int tab) {
        if (tab >= 0) {
            emit towerChosen(tabData(tab).value<std::size_t>());
        }
    });
}

void TowerBar::setTowers(const projects::Project& whole, std::size_t shown)
{
    const QSignalBlocker blocker(this);
    const std::vector<std::size_t> order = whole.towers.empty() ? std::vector<std::size_t>() : shownOrder(whole);
    while (count() > static_cast<int>(order.size())) {
        removeTab(count() - 1);
    }
    for (int tab = 0; tab < static_cast<int>(order.size()); ++tab) {
        const std::size_t tower = order[static_cast<std::size_t>(tab)];
        const QString text = towerText(whole, tower).replace(QLatin1Char('&'), QStringLiteral("&&"));
        tab < count() ? setTabText(tab, text) : static_cast<void>(addTab(text));
        setTabData(tab, QVariant::fromValue(tower));
        if (tower == shown) {
            setCurrentIndex(tab);
        }
    }
    setVisible(!order.empty());
}

void TowerBar::chooseNext()
{
    if (count() > 0) {
        setCurrentIndex((currentIndex() + 1) % count());
    }
}

} // namespace residua::app
