// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QString>

#include <deque>
#include <variant>

class QEvent;
struct ImGuiIO;

namespace residua::app {

/// What the user did since the last frame, in order. Dear ImGui 1.86 sees only the state at each frame, so a
/// press and its release between two frames would be lost: apply() passes on as much as one frame can tell
/// apart, the rest waits for the next.
class CanvasInput {
public:
    /// Takes up a mouse, wheel, key, enter, leave, focus or hide event; false for any other.
    bool take(const QEvent& event);
    /// Fills `io` for one frame. Returns whether something is left for a further one.
    bool apply(ImGuiIO& io);

private:
    struct Move {
        QPointF position;
    };
    struct Leave {};
    struct Button {
        int index;
        bool down;
        bool second; ///< of a double click
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
    /// Lets go of what is held: keys where the focus went elsewhere, and buttons too where the surface is hidden, since
    /// their release will not reach it.
    struct Release {
        bool buttons;
    };
    using Action = std::variant<Move, Leave, Button, Wheel, Key, Text, Modifiers, Release>;

    std::deque<Action> m_actions;
};

/// Tells `io` which of our key numbers are its named keys.
void mapKeys(ImGuiIO& io);

} // namespace residua::app
