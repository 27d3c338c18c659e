// SPDX-License-Identifier: GPL-3.0-or-later
// The functions that the compiler calls at each access to memory under -fsanitize=thread, and at each failed check of
// -fsanitize=alignment and bounds. Their names and arguments are those of the sanitizers' run-time libraries.
#include "tests/kernels/emulation/emulator.h"

#include <string>

namespace {

struct SourceLocation {
    const char* file;
    std::uint32_t line;
    std::uint32_t column;
};

inline void access(const void* address, std::size_t bytes, bool write, const void* code)
{
    if (!residua::emulation::isPrivate(address))
        residua::emulation::touch(address, bytes,
                                  write ? residua::emulation::Access::Write : residua::emulation::Access::Read, code);
}

void reportAt(const SourceLocation& at, const std::string& what)
{
    residua::emulation::report(what + " at " + at.file + ":" + std::to_string(at.line));
}

} // namespace

#define RESIDUA_HOOK(name, bytes, write)                                                                               \
    void name(void* address)                                                                                           \
    {                                                                                                                  \
        access(address, bytes, write, __builtin_return_address(0));                                                    \
    }
#define RESIDUA_HOOKS(bytes)                                                                                           \
    RESIDUA_HOOK(__tsan_read##bytes, bytes, false)                                                                     \
    RESIDUA_HOOK(__tsan_write##bytes, bytes, true)                                                                     \
    RESIDUA_HOOK(__tsan_unaligned_read##bytes, bytes, false)                                                           \
    RESIDUA_HOOK(__tsan_unaligned_write##bytes, bytes, true)

#pragma GCC visibility push(default)
extern "C" {

RESIDUA_HOOKS(1)
RESIDUA_HOOKS(2)
RESIDUA_HOOKS(4)
RESIDUA_HOOKS(8)
RESIDUA_HOOKS(16)

void __tsan_read_range(void* address, std::size_t bytes)
{
    access(address, bytes, false, __builtin_return_address(0));
}

void __tsan_write_range(void* address, std::size_t bytes)
{
    access(address, bytes, true, __builtin_return_address(0));
}

// Clang calls these in place of the functions of the same names.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes)
{
    access(from, bytes, false, __builtin_return_address(0));
    access(to, bytes, true, __builtin_return_address(0));
    return std::memcpy(to, from, bytes);
}

void* __tsan_memset(void* to, int value, std::size_t bytes)
{
    access(to, bytes, true, __builtin_return_address(0));
    return std::memset(to, value, bytes);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

void __ubsan_handle_type_mismatch_v1(const SourceLocation* at, void*)
{
    reportAt(*at, "misaligned address");
}

void __ubsan_handle_out_of_bounds(const SourceLocation* at, void*)
{
    reportAt(*at, "index out of bounds");
}

} // extern "C"
#pragma GCC visibility pop
