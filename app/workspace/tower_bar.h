// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from workspace.h, which need not include the document.

#include "projects/model/project.h"

#include <QTabBar>

#include <cstddef>

namespace residua::app {

/// The towers of a document as tabs above the canvases, in the order in which they run, with what each reads. Hidden
/// for a document with one tower.
class TowerBar : public QTabBar {
    Q_OBJECT
public:
    explicit TowerBar(QWidget* parent = nullptr);

    /// `whole` is the whole document, `shown` the index of the shown tower.
    void setTowers(const projects::Project& whole, std::size_t shown);
    /// Chooses the next tower, after the last one the first.
    void chooseNext();

signals:
    void towerChosen(std::size_t tower);
};

} // namespace residua::app
