// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::engine {

/// Lets the engine share the processor. OpenMP's threads spin for milliseconds when they wait for each other, and on a
/// machine that also does something else (draws a window, say) they so keep each other from running: beside a compiler
/// on two cores the training took 3 to 12 times longer. How long they spin is read when OpenMP is loaded, which is
/// before main: so this starts the program again, once, as the same process, with a short spin. It returns where the
/// user has decided (GOMP_SPINCOUNT, OMP_WAIT_POLICY) or the system refuses.
/// The first thing in main; `arguments` as main has them.
void restartWithShortSpins(char** arguments);

} // namespace residua::engine
