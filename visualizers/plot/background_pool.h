// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

class QThreadPool;

namespace residua::visualizers {

/// The threads for work that would block the GUI thread: reading runs, making tables, drawing exported pictures. Not
/// Qt's global pool, because Qt paints with that one, and the GUI thread would wait for its tasks. At its end the
/// application waits for running tasks. GUI thread.
[[nodiscard]] QThreadPool& backgroundPool();

/// Runs `work` on a thread of `pool`; in order if the pool has one thread. Any thread.
void startOn(QThreadPool& pool, std::function<void()> work);

/// Posts `work` to the GUI thread. Any thread.
void onGuiThread(std::function<void()> work);

} // namespace residua::visualizers
