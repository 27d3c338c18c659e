// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::engine {

/// Sets the environment variables that configure the numerical libraries as the engine needs them. Keeps a variable
/// that the user has set.
/// - OpenMP: a short spin. By default, threads that wait for each other spin for milliseconds. If another program uses
///   the processor, they then block each other: beside a compiler on two cores, training took 3 to 12 times longer.
///   Read when OpenMP is loaded.
/// - MKL: products whose bits do not depend on the number of threads, where it supports them. Read at the first
///   product.
/// - LibTorch, if this is one of several ranks: no warnings, with their stack traces, about a rank that has ended.
/// - cuBLAS: the workspace with which it is deterministic. Read when CUDA starts.
///
/// Must be called while the process has one thread, because setting an environment variable while another thread reads
/// one is a data race. Further calls do nothing.
void prepareEnvironment();

/// Calls prepareEnvironment(); must be the first call in main, with main's `arguments`. If a library that the program
/// is linked with (such as Qt's) loads OpenMP before main, OpenMP has already read its variable. This function then
/// executes the program again, once, in the same process. It returns if the user has set GOMP_SPINCOUNT or
/// OMP_WAIT_POLICY, if OpenMP is loaded with the engine, or if the system refuses.
void startPrepared(char** arguments);

} // namespace residua::engine
