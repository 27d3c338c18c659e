// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/background_pool.h"

#include <QCoreApplication>
#include <QThreadPool>

namespace residua::visualizers {

QThreadPool& backgroundPool()
{
    static QThreadPool pool;
    [[maybe_unused]] static const bool waited = [] {
        qAddPostRoutine([] { pool.waitForDone(); }); // what it hands over goes to the application, while that is there
        return true;
    }();
    return pool;
}

} // namespace residua::visualizers
