// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/canvas/canvas_input.h"

#include <QFocusEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <iterator>
#include <utility>

namespace residua::app {

namespace {

constexpr double kWheelUnits = 120.0; // one notch of a wheel, in eighths of a degree

/// Qt's keys and Dear ImGui's. The index in this list is the key's number in `io.KeysDown`.
constexpr std::array<std::pair<int, ImGuiKey>, 22> kKeys{{
    {Qt::Key_Tab, ImGuiKey_Tab},
    {Qt::Key_Left, ImGuiKey_LeftArrow},
    {Qt::Key_Right, ImGuiKey_RightArrow},
    {Qt::Key_Up, ImGuiKey_UpArrow},
    {Qt::Key_Down, ImGuiKey_DownArrow},
    {Qt::Key_PageUp, ImGuiKey_PageUp},
    {Qt::Key_PageDown, ImGuiKey_PageDown},
    {Qt::Key_Home, ImGuiKey_Home},
    {Qt::Key_End, ImGuiKey_End},
    {Qt::Key_Insert, ImGuiKey_Insert},
    {Qt::Key_Delete, ImGuiKey_Delete},
    {Qt::Key_Backspace, ImGuiKey_Backspace},
    {Qt::Key_Space, ImGuiKey_Space},
    {Qt::Key_Return, ImGuiKey_Enter},
    {Qt::Key_Escape, ImGuiKey_Escape},
    {Qt::Key_Enter, ImGuiKey_KeyPadEnter},
    {Qt::Key_A, ImGuiKey_A},
    {Qt::Key_C, ImGuiKey_C},
    {Qt::Key_V, ImGuiKey_V},
    {Qt::Key_X, ImGuiKey_X},
    {Qt::Key_Y, ImGuiKey_Y},
    {Qt::Key_Z, ImGuiKey_Z},
}};

int numberOf(int qtKey)
{
    const auto found =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const auto& entry) { return entry.first == qtKey; });
    return found == kKeys.end() ? -1 : static_cast<int>(std::distance(kKeys.begin(), found));
}

int buttonNumber(Qt::MouseButton button)
{
    switch (button) {
    case Qt::LeftButton:
        return ImGuiMouseButton_Left;
    case Qt::RightButton:
        return ImGuiMouseButton_Right;
    case Qt::MiddleButton:
        return ImGuiMouseButton_Middle;
    default:
        return -1;
    }
}

QPointF wheelSteps(const QWheelEvent& event)
{
    const QPointF steps = QPointF(event.angleDelta()) / kWheelUnits;
    // Shift turns the wheel sideways if the system has not done so already.
    return event.modifiers().testFlag(Qt::ShiftModifier) && steps.x() == 0 ? steps.transposed() : steps;
}

} // namespace

void mapKeys(ImGuiIO& io)
{
    io.KeyRepeatDelay = FLT_MAX; // the system repeats held keys
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
        io.KeyMap[kKeys[i].second] = static_cast<int>(i);
    }
}

bool CanvasInput::take(const QEvent& event)
{
    switch (event.type()) {
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
    case QEvent::MouseButtonRelease: {
        const auto& mouse = static_cast<const QMouseEvent&>(event);
        m_actions.push_back(Modifiers{mouse.modifiers()});
        m_actions.push_back(Move{mouse.position()});
        if (const int index = buttonNumber(mouse.button()); index >= 0) {
            m_actions.push_back(
                Button{index, event.type() != QEvent::MouseButtonRelease, event.type() == QEvent::MouseButtonDblClick});
        }
        return true;
    }
    case QEvent::MouseMove: {
        const auto& mouse = static_cast<const QMouseEvent&>(event);
        m_actions.push_back(Modifiers{mouse.modifiers()});
        m_actions.push_back(Move{mouse.position()});
        return true;
    }
    case QEvent::Wheel: {
        const auto& wheel = static_cast<const QWheelEvent&>(event);
        m_actions.push_back(Move{wheel.position()});
        m_actions.push_back(Wheel{wheelSteps(wheel)});
        return true;
    }
    case QEvent::KeyPress:
    case QEvent::KeyRelease: {
        const auto& key = static_cast<const QKeyEvent&>(event);
        const bool down = event.type() == QEvent::KeyPress;
        if (key.isAutoRepeat() && (!down || key.key() == Qt::Key_Space)) {
            return true; // the key is still held
        }
        m_actions.push_back(Modifiers{key.modifiers()});
        m_actions.push_back(Key{key.key(), down});
        if (down && !key.text().isEmpty() && key.text().at(0).isPrint()) {
            m_actions.push_back(Text{key.text()});
        }
        return true;
    }
    case QEvent::Leave:
        m_actions.push_back(Leave{});
        return true;
    case QEvent::FocusOut:
        m_actions.push_back(Release{false});
        return true;
    case QEvent::Hide:
        m_actions.push_back(Release{true});
        return true;
    case QEvent::Enter:
    case QEvent::FocusIn:
        return true;
    default:
        return false;
    }
}

bool CanvasInput::apply(ImGuiIO& io)
{
    bool pressed = false; // a button or key has changed, so later input belongs to the next frame
    while (!m_actions.empty()) {
        const Action& action = m_actions.front();
        if (pressed && !std::holds_alternative<Text>(action)) {
            return true;
        }
        const Key* const itsKey = std::get_if<Key>(&action);
        pressed = pressed || std::holds_alternative<Button>(action) || (itsKey && itsKey->down);
        if (const auto* move = std::get_if<Move>(&action)) {
            io.MousePos = {static_cast<float>(move->position.x()), static_cast<float>(move->position.y())};
        } else if (std::holds_alternative<Leave>(action)) {
            io.MousePos = {-FLT_MAX, -FLT_MAX};
        } else if (const auto* button = std::get_if<Button>(&action)) {
            io.MouseDown[button->index] = button->down;
            // The system detects double clicks, because Dear ImGui would miss them between slow frames.
            io.MouseDoubleClickTime = button->second ? FLT_MAX : 0.0F;
        } else if (const auto* wheel = std::get_if<Wheel>(&action)) {
            io.MouseWheelH += static_cast<float>(wheel->steps.x());
            io.MouseWheel += static_cast<float>(wheel->steps.y());
        } else if (const auto* key = std::get_if<Key>(&action)) {
            if (const int number = numberOf(key->key); number >= 0) {
                io.KeysDown[number] = key->down;
                io.KeysDownDuration[number] = -1; // pressed anew, though it was up for less than a frame
            }
        } else if (const auto* text = std::get_if<Text>(&action)) {
            io.AddInputCharactersUTF8(text->text.toUtf8().constData());
        } else if (const auto* modifiers = std::get_if<Modifiers>(&action)) {
            io.KeyCtrl = modifiers->held.testFlag(Qt::ControlModifier);
            io.KeyShift = modifiers->held.testFlag(Qt::ShiftModifier);
            io.KeyAlt = modifiers->held.testFlag(Qt::AltModifier);
            io.KeySuper = modifiers->held.testFlag(Qt::MetaModifier);
        } else if (const auto* release = std::get_if<Release>(&action)) {
            if (release->buttons) {
                std::fill(std::begin(io.MouseDown), std::end(io.MouseDown), false);
                pressed = true;
            }
            std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
            io.KeyCtrl = io.KeyShift = io.KeyAlt = io.KeySuper = false;
        }
        m_actions.pop_front();
    }
    return false;
}

} // namespace residua::app
