// SPDX-License-Identifier: GPL-3.0-or-later
// Linked into every test that looks for leaks. A library that is unloaded takes the names of its code with it, and what
// it leaked could not be told from what we leak.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) noexcept
{
    return 0;
}
