// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSplitter>

namespace residua::visualizers {

/// Parts below each other while there is height for them, else beside each other. GUI thread.
class TurningSplit : public QSplitter {
    Q_OBJECT
public:
    /// `low` is the height, in pixels, below which the parts stand beside each other.
    TurningSplit(int low, QWidget* parent);

    /// How the parts share the width, and the height; only their ratio counts.
    void setShares(const QList<int>& beside, const QList<int>& below);
    [[nodiscard]] bool isBeside() const { return orientation() == Qt::Horizontal; }
    /// As low as the parts need when they stand beside each other.
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void turned();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void share();

    int m_low;
    QList<int> m_beside;
    QList<int> m_below;
};

} // namespace residua::visualizers
