// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/canvas/typing_field.h"
#include "editor/canvas/canvas.h"

#include <QWidget>

#include <memory>
#include <vector>

namespace residua::app {

/// Hosts a canvas of `editor` in a Qt widget, or says why there is no OpenGL to draw it with. It only
/// translates: events to the canvas, the canvas's requests to a signal. It has a field to type into. GUI thread.
class CanvasWidget : public QWidget {
    Q_OBJECT
public:
    explicit CanvasWidget(std::unique_ptr<editor::Canvas> canvas, QWidget* parent = nullptr);
    ~CanvasWidget() override;

    /// The canvas that is drawn. Call refresh() after changing something through it.
    [[nodiscard]] editor::Canvas& canvas() { return *m_canvas; }
    /// Schedules a frame, which is drawn when control returns to the event loop.
    void refresh();
    void setTheme(editor::Theme theme);
    /// Shows the whole network, and goes on doing so while the widget is resized, until the user looks elsewhere.
    void fit();
    /// Emits now what the canvas has asked for so far, before a command makes use of it.
    void passOn();
    /// Opens the field to type into; typed() is emitted for a text that is entered.
    void askForText(const editor::AskTyping& asked, TypingMeaning meaning);
    /// Whether frames can be drawn at all here.
    [[nodiscard]] bool drawable() const { return m_surface != nullptr; }
    /// The widget that takes the mouse and the keys; this one where nothing can be drawn.
    [[nodiscard]] QWidget* surface();

signals:
    /// The canvas asks for something: in the order in which it asked, and never while a frame is drawn.
    void requested(const residua::editor::Request& request);
    void typed(const residua::projects::DocumentChange& change);

private:
    class Surface;
    /// Whether the canvas asked for more than to show its selection and what is hovered elsewhere: no gesture may
    /// follow before that is done.
    enum class Collected { StatesAlone, More };
    Collected collect();

    std::unique_ptr<editor::Canvas> m_canvas;
    Surface* m_surface = nullptr;
    TypingField* m_typing;
    std::vector<editor::Request> m_requests; ///< not emitted yet
    editor::Theme m_theme = editor::Theme::Light;
};

} // namespace residua::app
