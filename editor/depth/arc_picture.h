// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/depth/arc_raster.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace residua::editor {

/// A picture of very many arcs that is drawn on a thread of its own: no frame waits for it. A newer wish takes the
/// place of an older one that is not done. Used by one thread.
class ArcPicture {
public:
    using Inks = std::shared_ptr<const std::vector<ArcInk>>;

    /// A picture, and what it shows.
    struct Drawn {
        CanvasImage image;
        ArcView view;
    };

    ArcPicture();
    ~ArcPicture();
    ArcPicture(const ArcPicture&) = delete;
    ArcPicture& operator=(const ArcPicture&) = delete;

    /// Asks for a picture unless it is the last that was asked for. `revision` tells inks from others.
    void want(const Inks& inks, std::uint64_t revision, const ArcView& view);
    /// Whether a picture that was asked for is not done.
    [[nodiscard]] bool unfinished() const { return m_taken != m_asked; }
    /// The newest picture that is done and was not taken yet; null: there is none.
    [[nodiscard]] std::shared_ptr<const Drawn> take();

private:
    struct Wish {
        std::uint64_t number = 0;
        Inks inks;
        ArcView view;
    };
    void work();

    std::uint64_t m_asked = 0; ///< wishes
    std::uint64_t m_taken = 0; ///< the newest that was taken
    std::uint64_t m_revision = 0;
    ArcView m_view;

    std::atomic<std::uint64_t> m_newest = 0; ///< wish; 0: none is to be drawn
    std::mutex m_mutex;                      ///< guards what follows
    std::condition_variable m_wake;
    std::optional<Wish> m_wish; ///< not begun yet
    std::shared_ptr<const Drawn> m_done;
    std::uint64_t m_doneNumber = 0;
    bool m_quit = false;
    std::thread m_thread; ///< last: it begins when all else is there
};

} // namespace residua::editor
