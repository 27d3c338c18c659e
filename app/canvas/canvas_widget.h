// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/canvas/typing_field.h"
#include "editor/canvas/canvas.h"

#include <QWidget>

#include <memory>
#include <vector>

struct ImFontAtlas;

namespace residua::app {

/// Hosts a canvas of `editor` in a Qt widget, or shows why there is no OpenGL to draw it. Passes events to the canvas,
/// and the canvas's requests to a signal. It has a field for typing. GUI thread.
class CanvasWidget : public QWidget {
    Q_OBJECT
public:
    explicit CanvasWidget(std::unique_ptr<editor::Canvas> canvas, QWidget* parent = nullptr);
    ~CanvasWidget() override;

    /// Returns the canvas. Call refresh() after a change through it.
    [[nodiscard]] editor::Canvas& canvas() { return *m_canvas; }
    /// Schedules a frame, which is drawn when control returns to the event loop.
    void refresh();
    void setTheme(editor::Theme theme);
    /// Shows the whole network, also after resizing, until the user moves the view.
    void fit();
    /// Emits the canvas's requests so far. Call it before a command uses their results.
    void passOn();
    /// Opens the field for typing. typed() is emitted when a text is entered.
    void askForText(const editor::AskTyping& asked, TypingMeaning meaning);
    /// True if frames can be drawn.
    [[nodiscard]] bool drawable() const { return m_surface != nullptr; }
    /// Returns the widget that receives mouse and keys; this widget if no frames can be drawn.
    [[nodiscard]] QWidget* surface();

signals:
    /// Emitted for each request of the canvas, in order, and never while a frame is drawn.
    void requested(const residua::editor::Request& request);
    void typed(const residua::projects::DocumentChange& change);

private:
    class Surface;
    /// Whether the canvas has requested more than changes of the selection and the hovered shortcut. In that case no
    /// gesture may follow before the request is handled.
    enum class Collected { StatesAlone, More };
    Collected collect();

    std::unique_ptr<editor::Canvas> m_canvas;
    Surface* m_surface = nullptr;
    TypingField* m_typing;
    std::vector<editor::Request> m_requests; ///< not emitted yet
    editor::Theme m_theme = editor::Theme::Light;
};

/// Fills `atlas` for a screen of `devicePixelRatio`. Font 0 is for text (Inter), font 1 for numbers (JetBrains Mono);
/// if the system lacks them, Dear ImGui's font. Rasterised at the size at zoom 1, so that text is sharp.
void loadCanvasFonts(ImFontAtlas& atlas, float devicePixelRatio);

} // namespace residua::app
