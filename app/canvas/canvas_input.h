// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QString>

#include <deque>
#include <variant>

class QEvent;
struct ImGuiIO;

namespace residua::app {

/// The user's input since the last frame, in order. Dear ImGui 1.86 sees only the state at each frame, so a press and
/// its release between two frames would be lost. apply() therefore passes only as much input as one frame can
/// distinguish; the rest waits for the next frame.
class CanvasInput {
public:
    /// Stores a mouse, wheel, key, enter, leave, focus or hide event. Returns false for any other event.
    bool take(const QEvent& event);
    /// Fills `io` for one frame. Returns true if input is left for another frame.
    bool apply(ImGuiIO& io);

private:
    struct Move {
        QPointF position;
    };
    struct Leave {};
    struct Button {
        int index;
        bool down;
        bool second; ///< true for the second press of a double click
    };
    struct Wheel {
        QPointF steps;
    };
    struct Key {
        int key;
        bool down;
    };
    struct Text {
        QString text;
    };
    struct Modifiers {
        Qt::KeyboardModifiers held;
    };
    /// Releases held keys when the focus moves elsewhere, and buttons too when the surface is hidden, because their
    /// release will not arrive.
    struct Release {
        bool buttons;
    };
    using Action = std::variant<Move, Leave, Button, Wheel, Key, Text, Modifiers, Release>;

    std::deque<Action> m_actions;
};

/// Maps Dear ImGui's named keys to the key numbers of this file in `io`.
void mapKeys(ImGuiIO& io);

} // namespace residua::app
