// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace residua::app {

/// A line of text that is shortened if there is no room, instead of making its window wider. text() returns all of it,
/// and the tooltip shows all of it unless another was set.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(Qt::TextElideMode mode, QWidget* parent = nullptr) : QLabel(parent), m_mode(mode) {}

    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] QString shown() const;

    Qt::TextElideMode m_mode;
};

} // namespace residua::app
