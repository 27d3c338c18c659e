// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from console.h, because a process is set up before it has a console.

#include "projects/base/result.h"
#include "projects/base/scratch_folder.h"

#include <string>

namespace residua::cli {

/// Sets up the process. Must be called first. Opens the standard descriptors, so that no file of a run gets the number
/// of a closed one. A failed write (closed reader, size limit) is an error and not a signal that ends the process.
/// SIGUSR1 and SIGUSR2 have no effect. SIGINT, SIGTERM, and SIGHUP unless it is ignored (nohup), end the process at
/// once with Exit::Quit, except while an EngineClient waits for them.
void prepareProcess();

/// From now on, an end by a signal is also reported on stdout as the JSON of an error.
void tellQuitAsJson();

/// During its lifetime SIGINT, SIGTERM and SIGHUP do not end the process. The running work polls it between two parts
/// and ends in order. Not together with an EngineClient; one at a time.
class Interruptible {
public:
    Interruptible();
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    [[nodiscard]] bool interrupted() const;
};

/// Makes a folder among the system's temporary files. `prefix` names its purpose: "residua-bench-". The error names
/// TMPDIR if that is the cause.
[[nodiscard]] Result<ScratchFolder> scratchDirectory(const std::string& prefix);

} // namespace residua::cli
