// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/arrange.h"

#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>

namespace residua::visualizers {

LayoutPart::LayoutPart(QWidget* shown, int shareOfRoom, Qt::Alignment aligned)
    : widget(shown), share(shareOfRoom), alignment(aligned)
{
}

LayoutPart::LayoutPart(QLayout* nested, int shareOfRoom) : layout(nested), share(shareOfRoom) {}

LayoutPart space(int pixels)
{
    LayoutPart part;
    part.pixels = pixels;
    return part;
}

LayoutPart rest()
{
    return {};
}

namespace {

template <class Layout>
Layout* arranged(QWidget* owner, const LayoutRoom& room, std::initializer_list<LayoutPart> parts)
{
    auto* const layout = new Layout(owner);
    if (room.margins) {
        layout->setContentsMargins(*room.margins);
    }
    layout->setSpacing(room.between);
    for (const LayoutPart& part : parts) {
        if (part.widget != nullptr) {
            layout->addWidget(part.widget, part.share, part.alignment);
        } else if (part.layout != nullptr) {
            layout->addLayout(part.layout, part.share);
        } else if (part.pixels >= 0) {
            layout->addSpacing(part.pixels);
        } else {
            layout->addStretch();
        }
    }
    return layout;
}

} // namespace

QVBoxLayout* makeColumn(QWidget* owner, const LayoutRoom& room, std::initializer_list<LayoutPart> parts)
{
    return arranged<QVBoxLayout>(owner, room, parts);
}

QHBoxLayout* makeRow(QWidget* owner, const LayoutRoom& room, std::initializer_list<LayoutPart> parts)
{
    return arranged<QHBoxLayout>(owner, room, parts);
}

void setNames(QWidget& widget, const char* object, const QString& accessible, const QString& toolTip)
{
    widget.setObjectName(QLatin1String(object));
    if (!accessible.isEmpty()) {
        widget.setAccessibleName(accessible);
    }
    if (!toolTip.isEmpty()) {
        widget.setToolTip(toolTip);
    }
}

void offer(QComboBox& box, const QStringList& texts, int current)
{
    const QSignalBlocker quiet(box);
    QStringList before;
    for (int i = 0; i < box.count(); ++i) {
        before << box.itemText(i);
    }
    if (before != texts) {
        box.clear();
        box.addItems(texts);
    }
    box.setCurrentIndex(current);
}

void makeRemark(QLabel& label, const char* object)
{
    if (*object != '\0') {
        label.setObjectName(QLatin1String(object));
    }
    label.setWordWrap(true);
    label.setProperty("role", QStringLiteral("muted"));
}

} // namespace residua::visualizers
