// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>
#include <QList>

#include <vector>

namespace residua::visualizers {

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

} // namespace residua::visualizers
