// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

class QThreadPool;

namespace residua::visualizers {

/// The threads for what would keep the GUI thread waiting: reading runs, making tables, drawing exported pictures. Not
/// Qt's global pool: Qt paints with that one, and the GUI thread would wait for whatever it is busy with. The
/// application waits at its end for what has begun. GUI thread.
[[nodiscard]] QThreadPool& backgroundPool();

/// Does `work` on a thread of `pool`: in order, where the pool has one thread. Any thread.
void startOn(QThreadPool& pool, std::function<void()> work);

/// Does `work` on the GUI thread, once that comes to its events. Any thread.
void onGuiThread(std::function<void()> work);

} // namespace residua::visualizers
