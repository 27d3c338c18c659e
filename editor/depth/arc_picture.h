// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/scenes/depth_picture.h"
#include "editor/scenes/viewport.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace residua::editor {

inline constexpr float kSelectionHalo = 6; ///< screen pixels of the accent colour around a selected arc

/// The part of a scene that a picture shows.
struct ArcView {
    Viewport viewport;
    float width = 0; ///< logical pixels
    float height = 0;
    float ratio = 1; ///< device pixels per logical pixel
};

/// Draws every visible arc without a GPU as Dear ImGui would: one after the other, thin ones first if they are crowded.
/// Any thread. Returns nullopt once `wanted`, which is called from time to time, returns false.
[[nodiscard]] std::optional<CanvasImage> rasterise(const std::vector<ArcInk>& inks, const ArcView& view,
                                                   const std::function<bool()>& wanted = {});

/// Draws a picture of very many arcs on a thread of its own, so that no frame waits for it. A newer request replaces an
/// unfinished older one. Used by one thread.
class ArcPicture {
public:
    using Inks = std::shared_ptr<const std::vector<ArcInk>>;

    /// A picture with the view that it shows.
    struct Drawn {
        CanvasImage image;
        ArcView view;
    };

    ArcPicture();
    ~ArcPicture();
    ArcPicture(const ArcPicture&) = delete;
    ArcPicture& operator=(const ArcPicture&) = delete;

    /// Requests a picture unless it is the last one requested. `revision` identifies the inks.
    void want(const Inks& inks, std::uint64_t revision, const ArcView& view);
    /// True if a requested picture is not finished.
    [[nodiscard]] bool unfinished() const { return m_taken != m_asked; }
    /// Returns the newest finished picture if it was not taken yet, else null.
    [[nodiscard]] std::shared_ptr<const Drawn> take();

private:
    struct Wish {
        std::uint64_t number = 0;
        Inks inks;
        ArcView view;
    };
    void work();

    std::uint64_t m_asked = 0; ///< number of requests
    std::uint64_t m_taken = 0; ///< the newest request that was taken
    std::uint64_t m_revision = 0;
    ArcView m_view;

    std::atomic<std::uint64_t> m_newest = 0; ///< newest request to draw; 0: no request
    std::mutex m_mutex;                      ///< guards the members below
    std::condition_variable m_wake;
    std::optional<Wish> m_wish; ///< not begun yet
    std::shared_ptr<const Drawn> m_done;
    std::uint64_t m_doneNumber = 0;
    bool m_quit = false;
    std::thread m_thread; ///< last, because the thread uses all other members
};

} // namespace residua::editor
