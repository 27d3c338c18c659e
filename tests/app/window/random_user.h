// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/canvas/canvas_widget.h"
#include "app/palette/palette_items.h"
#include "app/window/main_window.h"
#include "tests/support/draws.h"

#include <QTimer>

#include <random>
#include <vector>

class QAbstractItemView;
class QLineEdit;

namespace residua::app {

/// Uses the window at random: it knows where everything is and nothing of what it does. It clicks, drags, turns the
/// wheel, types, and takes commands, the same ones for the same seed. It leaves alone what trains or quits. A dialog or
/// menu that waits for it is given up, so that no action waits for ever. GUI thread.
class RandomUser : public QObject {
public:
    RandomUser(MainWindow& window, unsigned seed);

    /// Does one action, waits for what follows from it, and says what it was.
    QString act();
    /// 0 .. count - 1.
    [[nodiscard]] int below(qsizetype count)
    {
        return static_cast<int>(tests::below(m_random, static_cast<std::size_t>(count)));
    }

private:
    struct Kind {
        int weight;
        QString (RandomUser::*act)();
    };
    static const std::vector<Kind>& kinds();

    QString takeACommand();
    QString searchTheCommands();
    QString takeFromThePalette();
    QString goToAPlace();
    QString setAProperty();
    QString clickOnACanvas();
    QString dragOnACanvas();
    QString turnTheWheel();
    QString pressAKeyOnACanvas();
    QString typeToAdd();
    QString fillTheClipboard();
    QString editTheRibbon();
    QString useAPlot();
    QString chooseATab();
    QString useAList();
    QString fillAField();
    QString pressAButton();
    QString chooseFromABox();
    QString resizeTheWindow();
    QString useTheStartPage();

    /// The canvas in front, or none while the ribbon or the start page is.
    [[nodiscard]] CanvasWidget* canvas();
    /// A point on a thing that the canvas draws, or anywhere on it.
    [[nodiscard]] QPoint pointOn(CanvasWidget& canvas);
    [[nodiscard]] QPoint pointIn(const QWidget& widget);
    [[nodiscard]] Qt::KeyboardModifiers modifiers();
    void drag(QWidget& widget, Qt::MouseButton button, QPoint from, QPoint to);
    void scroll(QWidget& widget, QPoint at);
    /// One of the window's widgets that can be seen and used; null where there is none.
    template <class T>
    [[nodiscard]] T* any();
    template <class T>
    [[nodiscard]] const T& oneOf(const std::vector<T>& choices)
    {
        return choices[static_cast<std::size_t>(below(static_cast<qsizetype>(choices.size())))];
    }
    /// Texts that a person types on purpose, and texts that mean nothing.
    [[nodiscard]] static const std::vector<QString>& texts();
    /// QTest::keyClicks knows Latin letters alone.
    static void typeInto(QLineEdit& field, const QString& text);
    static void giveUpWhatWaits();
    static void closeWhatIsOpen();

    MainWindow& m_window;
    std::mt19937 m_random;
    std::vector<PaletteItem> m_items;
    QTimer m_impatience;
};

} // namespace residua::app
