// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QLayout>
#include <QList>
#include <QSplitter>

#include <vector>

class QLabel;
class QSlider;

namespace residua::visualizers {

/// The least height of a plot, with its axes: a curve can still be read.
inline constexpr int kLeastPlotHeight = 120;

/// A choice above a plot: as wide as what it says now, and narrower where there is no room, so that several fit side by
/// side in a narrow dock. Its list is as wide as its longest text.
class PlotChoice : public QComboBox {
    Q_OBJECT
public:
    explicit PlotChoice(QWidget* parent);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    void showPopup() override;
};

/// Returns a label with the text of an empty plot in its middle. It ignores the pointer; the view hides it.
[[nodiscard]] QLabel* inviteOver(QWidget& plot, const QString& text);

/// A control behind its caption, in a widget of their own beside the control's.
[[nodiscard]] QWidget* captioned(const QString& caption, QWidget& control);

/// Lets a slider be as wide as it likes to be, and shrink to the room of its thumb.
void giveWay(QSlider& slider);

/// Lays controls out from left to right, and begins a new row where one has no room. No control is cut, unless it is
/// wider than the layout alone. Hidden controls take no room. GUI thread.
class ControlRows : public QLayout {
    Q_OBJECT
public:
    explicit ControlRows(QWidget* parent = nullptr);
    ~ControlRows() override;

    /// Puts a control before all others.
    void putFirst(QWidget* control);

    void addItem(QLayoutItem* item) override;
    [[nodiscard]] int count() const override { return static_cast<int>(m_items.size()); }
    [[nodiscard]] QLayoutItem* itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem* takeAt(int index) override;
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    /// All controls in one row.
    [[nodiscard]] QSize sizeHint() const override;
    /// The widest control alone.
    [[nodiscard]] QSize minimumSize() const override;
    void setGeometry(const QRect& area) override;

private:
    struct Row {
        QList<QLayoutItem*> items;
        int width;
        int height;
    };
    [[nodiscard]] std::vector<Row> rowsFor(int width) const;

    QList<QLayoutItem*> m_items;
};

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
