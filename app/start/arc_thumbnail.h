// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/layers/shortcut_edits.h"

#include <QWidget>

#include <vector>

namespace residua::app {

class Look;

/// A project's stack as a small picture: a box per layer, and an arc per shortcut that is not a step of the plain
/// residual stream. Drawn from the real topology; arcs with a fixed weight are grey.
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
    std::vector<projects::DrawnShortcut> m_arcs;
};

} // namespace residua::app
