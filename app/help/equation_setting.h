// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from equation_text.h, which needs no document to draw in.

#include "app/help/equation_text.h"

#include <QObject>
#include <QTextObjectInterface>

class QFont;

namespace residua::app {

/// Draws fractions, sums, roots and tall brackets in the equations of a document. Each is one
/// QChar::ObjectReplacementCharacter there. GUI thread.
class EquationSetting : public QObject, public QTextObjectInterface {
public:
    /// Draws in `document`, which becomes the parent.
    explicit EquationSetting(QTextDocument& document);

    /// Changes `format` so that a character with it shows `part`. Keeps its font and colour.
    static void show(QTextCharFormat& format, const EquationPart& part);
    /// Returns the text of the part that a character with this format shows. Empty for other characters.
    [[nodiscard]] static QString sourceOf(const QTextCharFormat& format);
    /// Returns the width of a part in pixels.
    [[nodiscard]] static double widthOf(const EquationPart& part, const QFont& font);

    /// Implements QTextObjectInterface for qobject_cast. For Q_INTERFACES, moc would have to read Qt's header.
    void* qt_metacast(const char* name) override;
    QSizeF intrinsicSize(QTextDocument* document, int position, const QTextFormat& format) override;
    void drawObject(QPainter* painter, const QRectF& room, QTextDocument* document, int position,
                    const QTextFormat& format) override;
};

} // namespace residua::app
