// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolButton>

namespace residua::app {

/// A line to click: a name, and where or when behind it. In a narrow place the middle of the latter is left out; the
/// tooltip has all of it. GUI thread.
class LinkLine : public QToolButton {
    Q_OBJECT
public:
    LinkLine(const QString& icon, QString name, QString detail, QWidget* parent);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// The text whose detail is at most this wide, in pixels.
    [[nodiscard]] QString textWithin(int detailWidth) const;
    /// The width of all that is not the detail.
    [[nodiscard]] int widthBeside() const;

    QString m_name;
    QString m_detail;
};

} // namespace residua::app
