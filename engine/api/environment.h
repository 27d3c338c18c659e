// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::engine {

/// Tells the libraries that compute, by the variables that they read, what the engine needs of them. A variable that
/// the user has set is left as it is.
/// - OpenMP's threads spin for milliseconds when they wait for each other, and on a machine that also does something
///   else (draws a window, say) they so keep each other from running: beside a compiler on two cores the training took
///   3 to 12 times longer. A short spin lets the engine share the processor. Read when OpenMP is loaded.
/// - MKL is asked for products whose bits do not depend on the number of threads, where it has them. Read at the first.
/// - cuBLAS gets the workspace with which it is deterministic. Read when CUDA starts.
///
/// To be called while the process has one thread: to set a variable of the environment while another thread reads one
/// is a data race. Calling it again does nothing.
void prepareEnvironment();

/// prepareEnvironment() as the first call in main; `arguments` as main has them. OpenMP reads its variable when it is
/// loaded, which is before main where a library that the program is linked with brings it (Qt's do). Then this starts
/// the program again, once, as the same process. It returns where the user has decided (GOMP_SPINCOUNT,
/// OMP_WAIT_POLICY), OpenMP comes with the engine, or the system refuses.
void startPrepared(char** arguments);

} // namespace residua::engine
