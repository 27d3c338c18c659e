// SPDX-License-Identifier: GPL-3.0-or-later
// The input of a user who is faster than a canvas's frames.
#include "app/canvas/canvas_input.h"
#include "tests/support/test_program.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QTest>
#include <QWheelEvent>

#include <imgui.h>

#include <functional>
#include <vector>

using namespace residua::app;

class TestCanvasInput : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_context = ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {800, 600};
        unsigned char* pixels = nullptr;
        int size = 0;
        io.Fonts->GetTexDataAsAlpha8(&pixels, &size, &size);
        mapKeys(io);
        m_input = {};
    }

    void cleanup() { ImGui::DestroyContext(m_context); }

    void everyPressOfAKeyIsSeenAndTakesOneFrame()
    {
        for (int i = 0; i < 10; ++i) {
            key(Qt::Key_Right, Qt::NoModifier);
        }
        int presses = 0;
        const int frames = drain([&] { presses += pressed(ImGuiKey_RightArrow) ? 1 : 0; });
        QCOMPARE(presses, 10);
        QCOMPARE(frames, 11); // the last release
    }

    void aKeyThatIsHeldIsPressedAsOftenAsTheSystemRepeatsIt()
    {
        for (int i = 0; i < 4; ++i) {
            m_input.take(QKeyEvent(QEvent::KeyPress, Qt::Key_Right, Qt::NoModifier, {}, i > 0));
        }
        ImGui::GetIO().DeltaTime = 10; // far beyond any delay of its own
        int presses = 0;
        drain([&] { presses += pressed(ImGuiKey_RightArrow) ? 1 : 0; });
        frame([&] { presses += pressed(ImGuiKey_RightArrow) ? 1 : 0; });
        QCOMPARE(presses, 4);
    }

    void modifiersBelongToTheirKey()
    {
        key(Qt::Key_Right, Qt::ShiftModifier);
        key(Qt::Key_Left, Qt::NoModifier);
        key(Qt::Key_Right, Qt::ControlModifier);
        std::vector<bool> shift;
        std::vector<bool> control;
        drain([&] {
            if (pressed(ImGuiKey_RightArrow) || pressed(ImGuiKey_LeftArrow)) {
                shift.push_back(ImGui::GetIO().KeyShift);
                control.push_back(ImGui::GetIO().KeyCtrl);
            }
        });
        QCOMPARE(shift, (std::vector<bool>{true, false, false}));
        QCOMPARE(control, (std::vector<bool>{false, false, true}));
    }

    void turnsOfTheWheelAreOne()
    {
        for (int i = 0; i < 5; ++i) {
            m_input.take(
                QWheelEvent({5, 5}, {5, 5}, {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false));
        }
        float turned = 0;
        QCOMPARE(drain([&] { turned += ImGui::GetIO().MouseWheel; }), 1);
        QCOMPARE(turned, 5.0F);
    }

    void aClickHasItsPlaceAndItsTwoFrames()
    {
        for (const QPointF at : {QPointF(10, 10), QPointF(50, 50)}) {
            for (const auto type : {QEvent::MouseButtonPress, QEvent::MouseButtonRelease}) {
                m_input.take(QMouseEvent(type, at, at, Qt::LeftButton, Qt::NoButton, Qt::NoModifier));
            }
        }
        std::vector<float> clicked;
        drain([&] {
            if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
                clicked.push_back(ImGui::GetIO().MousePos.x);
            }
        });
        QCOMPARE(clicked, (std::vector<float>{10, 50}));
    }

    /// A double click opens another canvas over this one before its release.
    void aButtonThatIsHeldWhileTheCanvasIsHiddenIsLetGo()
    {
        const QPointF at(10, 10);
        m_input.take(QMouseEvent(QEvent::MouseButtonDblClick, at, at, Qt::LeftButton, Qt::LeftButton, Qt::NoModifier));
        m_input.take(QEvent(QEvent::Hide));
        drain([] {});
        QVERIFY(!ImGui::IsMouseDown(ImGuiMouseButton_Left));
        for (const auto type : {QEvent::MouseButtonPress, QEvent::MouseButtonRelease}) {
            m_input.take(QMouseEvent(type, at, at, Qt::LeftButton, Qt::NoButton, Qt::NoModifier));
        }
        int clicks = 0;
        drain([&] { clicks += ImGui::IsMouseClicked(ImGuiMouseButton_Left) ? 1 : 0; });
        QCOMPARE(clicks, 1);
    }

private:
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers)
    {
        m_input.take(QKeyEvent(QEvent::KeyPress, key, modifiers));
        m_input.take(QKeyEvent(QEvent::KeyRelease, key, modifiers));
    }

    static bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); }

    bool frame(const std::function<void()>& look)
    {
        const bool more = m_input.apply(ImGui::GetIO());
        ImGui::NewFrame();
        look();
        ImGui::EndFrame();
        return more;
    }

    /// Frames until nothing is left. Returns how many.
    int drain(const std::function<void()>& look)
    {
        int frames = 1;
        while (frame(look)) {
            ++frames;
        }
        return frames;
    }

    CanvasInput m_input;
    ImGuiContext* m_context = nullptr;
};

RESIDUA_TEST_IN(QCoreApplication, TestCanvasInput)
#include "tst_canvas_input.moc"
