// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/scenes/words.h"

#include <imgui.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

/// A canvas in a Dear ImGui context of its own, without a window: frames are drawn into vertices that nobody shows,
/// and the pointer and keys are what a test says.
class CanvasDriver {
public:
    static constexpr float kWidth = 1000;
    static constexpr float kHeight = 700;

    explicit CanvasDriver(residua::editor::Canvas& canvas) : m_canvas(canvas), m_context(ImGui::CreateContext())
    {
        ImGui::SetCurrentContext(m_context);
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {kWidth, kHeight};
        io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
        unsigned char* pixels = nullptr;
        int width = 0;
        int height = 0;
        io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
        for (int key = 0; key < ImGuiKey_COUNT; ++key) {
            io.KeyMap[key] = key;
        }
        frame();
    }
    ~CanvasDriver() { ImGui::DestroyContext(m_context); }
    CanvasDriver(const CanvasDriver&) = delete;
    CanvasDriver& operator=(const CanvasDriver&) = delete;

    /// Draws one frame; returns its vertices.
    int frame()
    {
        ImGuiIO& io = ImGui::GetIO();
        io.DeltaTime = 1.0F / 60;
        ImGui::NewFrame();
        m_canvas.draw(m_width, m_height, residua::editor::Theme::Light);
        ImGui::Render();
        for (auto& request : m_canvas.takeRequests()) {
            m_requests.push_back(std::move(request));
        }
        return ImGui::GetDrawData()->TotalVtxCount;
    }
    /// Returns the texts of a frame, as they are in the source.
    std::set<std::string> textsOfAFrame()
    {
        static std::set<std::string> texts;
        texts.clear();
        residua::editor::useTranslator([](const char*, const char* text) { return *texts.insert(text).first; });
        frame();
        residua::editor::useTranslator(nullptr);
        return texts;
    }
    void resize(float width, float height)
    {
        m_width = width;
        m_height = height;
        ImGui::GetIO().DisplaySize = {width, height};
        frame();
    }
    void moveTo(residua::editor::ScreenPoint p)
    {
        ImGui::GetIO().MousePos = {p.x, p.y};
        frame();
    }
    void press(int button = ImGuiMouseButton_Left)
    {
        ImGui::GetIO().MouseDown[button] = true;
        frame();
    }
    void release(int button = ImGuiMouseButton_Left)
    {
        ImGui::GetIO().MouseDown[button] = false;
        frame();
    }
    void click(residua::editor::ScreenPoint p)
    {
        moveTo(p);
        press();
        release();
        // So far apart that two clicks are not a double click.
        ImGui::GetIO().DeltaTime = 1;
        ImGui::NewFrame();
        m_canvas.draw(m_width, m_height, residua::editor::Theme::Light);
        ImGui::Render();
    }
    void doubleClick(residua::editor::ScreenPoint p)
    {
        moveTo(p);
        for (int i = 0; i < 2; ++i) {
            press();
            release();
        }
    }
    void drag(residua::editor::ScreenPoint from, residua::editor::ScreenPoint to, int button = ImGuiMouseButton_Left)
    {
        moveTo(from);
        press(button);
        moveTo({(from.x + to.x) / 2, (from.y + to.y) / 2});
        moveTo(to);
        release(button);
    }
    void key(ImGuiKey key)
    {
        ImGui::GetIO().KeysDown[key] = true;
        frame();
        ImGui::GetIO().KeysDown[key] = false;
        frame();
    }
    void wheel(float steps)
    {
        ImGui::GetIO().MouseWheel = steps;
        frame();
    }

    /// All requests of one kind since the last call of any kind.
    template <class Kind>
    std::vector<Kind> take()
    {
        std::vector<Kind> found;
        for (const auto& request : std::exchange(m_requests, {})) {
            if (const auto* match = std::get_if<Kind>(&request)) {
                found.push_back(*match);
            }
        }
        return found;
    }

    /// All requests since the last call, in order.
    std::vector<residua::editor::Request> takeAll() { return std::exchange(m_requests, {}); }

private:
    residua::editor::Canvas& m_canvas;
    float m_width = kWidth;
    float m_height = kHeight;
    ImGuiContext* m_context;
    std::vector<residua::editor::Request> m_requests;
};
