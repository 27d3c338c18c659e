// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QScrollArea>

class QBoxLayout;

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

/// Shows two columns beside each other, or the second below the first if there is no width for both. Scrolls what is
/// too high. GUI thread.
class TwoColumns : public QScrollArea {
    Q_OBJECT
public:
    /// The first column gets `firstShare` of the width and the second `secondShare`. Takes ownership of both.
    TwoColumns(QBoxLayout* first, int firstShare, QBoxLayout* second, int secondShare, QWidget* parent);

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void arrange();

    QBoxLayout* m_first;
    QBoxLayout* m_second;
    QBoxLayout* m_both;
};

} // namespace residua::app
