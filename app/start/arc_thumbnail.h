// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <QWidget>

#include <vector>

namespace residua::app {

class Look;

/// A project's stack as a small picture: a box per layer, an arc per shortcut that is not the plain step to the
/// next layer. Drawn from the real topology.
class ArcThumbnail : public QWidget {
    Q_OBJECT
public:
    ArcThumbnail(const projects::Project& project, const Look& look, QWidget* parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override { return {240, 96}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Look& m_look;
    std::int64_t m_depth;
    bool m_learned; ///< else the arcs are fixed, and drawn without colour
    std::vector<projects::Shortcut> m_shortcuts;
};

} // namespace residua::app
