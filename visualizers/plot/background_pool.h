// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QThreadPool;

namespace residua::visualizers {

/// The threads for what would keep the GUI thread waiting: reading runs, making tables, drawing exported pictures. Not
/// Qt's global pool: Qt paints with that one, and the GUI thread would wait for whatever it is busy with. The
/// application waits at its end for what has begun. GUI thread.
[[nodiscard]] QThreadPool& backgroundPool();

} // namespace residua::visualizers
