// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/help/equation_text.h"

#include <QObject>
#include <QTextObjectInterface>

class QFont;

namespace residua::app {

/// Draws the parts of equations that have two dimensions, each as one letter of a document (QChar::ObjectReplacement
/// Character). GUI thread.
class EquationSetting : public QObject, public QTextObjectInterface {
public:
    /// Draws in `document`, which becomes the parent.
    explicit EquationSetting(QTextDocument& document);

    /// Makes `format`, which has the font and the colour, the format of a letter that shows `part`.
    static void show(QTextCharFormat& format, const EquationPart& part);
    /// Returns the part that a letter shows, as the page has it; empty for other letters.
    [[nodiscard]] static QString sourceOf(const QTextCharFormat& format);
    /// Returns the width of a part in pixels.
    [[nodiscard]] static double widthOf(const EquationPart& part, const QFont& font);

    /// Tells the document's layout that the object has the interface. Q_INTERFACES would need a header of Qt in moc.
    void* qt_metacast(const char* name) override;
    QSizeF intrinsicSize(QTextDocument* document, int position, const QTextFormat& format) override;
    void drawObject(QPainter* painter, const QRectF& room, QTextDocument* document, int position,
                    const QTextFormat& format) override;
};

} // namespace residua::app
