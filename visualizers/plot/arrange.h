// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBoxLayout>
#include <QStringList>

#include <initializer_list>
#include <optional>

class QComboBox;
class QLabel;

/// Names, rows and columns of widgets, for panels and dialogs.
namespace residua::visualizers {

/// One part of a row or column: a widget, a layout, or room without either.
struct LayoutPart {
    LayoutPart(QWidget* shown, int shareOfRoom = 0, Qt::Alignment aligned = {});
    LayoutPart(QLayout* nested, int shareOfRoom = 0);

    QWidget* widget = nullptr;
    QLayout* layout = nullptr;
    int pixels = -1; ///< of room without a part; less than 0: all that no part with a share takes
    int share = 0;   ///< of the room that is left; only the ratio of the parts' shares counts
    Qt::Alignment alignment;

private:
    friend LayoutPart space(int pixels);
    friend LayoutPart rest();
    LayoutPart() = default;
};

/// A part of so many pixels.
[[nodiscard]] LayoutPart space(int pixels);
/// A part that takes the room that is left, unless other parts have shares of it.
[[nodiscard]] LayoutPart rest();

/// The room around and between the parts. Without values, that of the style.
struct LayoutRoom {
    std::optional<QMargins> margins;
    int between = -1;
};
inline constexpr LayoutRoom kNoRoom{QMargins(), 0};
/// No room around the parts, and the style's room between them.
inline constexpr LayoutRoom kNoMargins{QMargins(), -1};

/// Make a layout of `owner`, or of another layout if `owner` is null. The parts become its children.
QVBoxLayout* makeColumn(QWidget* owner, const LayoutRoom& room, std::initializer_list<LayoutPart> parts);
QHBoxLayout* makeRow(QWidget* owner, const LayoutRoom& room, std::initializer_list<LayoutPart> parts);

/// Sets the name by which tests, style sheets and saved states know a widget, the one that screen readers say, and the
/// tool tip. An empty text changes nothing.
void setNames(QWidget& widget, const char* object, const QString& accessible = {}, const QString& toolTip = {});
/// Replaces the choices of a box and sets the current one, without a signal. Keeps an unchanged list, which may be
/// open.
void offer(QComboBox& box, const QStringList& texts, int current);
/// Lets a label wrap its lines in the colour of remarks.
void makeRemark(QLabel& label, const char* object = "");

} // namespace residua::visualizers
