// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::cli {

/// What the program asks of its process, before anything else. The standard descriptors are open, so that no file of a
/// run takes the number of one that was closed. A write that cannot be done (its reader has gone, a size limit) is an
/// error to be told, and no signal that ends the process. SIGUSR1 and SIGUSR2 do nothing. SIGINT, SIGTERM, and SIGHUP
/// where it is not ignored already (nohup), end it at once with Exit::Quit, but while an EngineClient waits for them.
void prepareProcess();

/// From now on an end by a signal is also told on stdout, as the JSON of an error.
void tellQuitAsJson();

/// While one lives SIGINT, SIGTERM and SIGHUP do not end the process: what it does is given up in order, by whoever
/// asks here between two pieces of it. Not beside an EngineClient; one at a time.
class Interruptible {
public:
    Interruptible();
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    [[nodiscard]] bool interrupted() const;
};

} // namespace residua::cli
