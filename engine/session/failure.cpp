// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/failure.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string_view>

namespace residua::engine {
namespace {

std::string firstLine(std::string_view text)
{
    return std::string(text.substr(0, text.find('\n')));
}

Failure failureOf(std::string_view text)
{
    // The CPU's allocator has no exception type of its own.
    const bool memory = text.find("can't allocate memory") != std::string_view::npos ||
                        text.find("not enough memory") != std::string_view::npos ||
                        text.find("out of memory") != std::string_view::npos;
    return {memory ? Failure::Kind::OutOfMemory : Failure::Kind::Other, firstLine(text)};
}

} // namespace

std::optional<Failure> attempt(const std::function<void()>& work)
{
    try {
        work();
        return std::nullopt;
    } catch (const c10::OutOfMemoryError& error) {
        return Failure{Failure::Kind::OutOfMemory, firstLine(error.what_without_backtrace())};
    } catch (const c10::Error& error) {
        return failureOf(error.what_without_backtrace());
    } catch (const std::bad_alloc&) {
        return Failure{Failure::Kind::OutOfMemory, "the host has no memory left"};
    } catch (const std::exception& error) {
        return failureOf(error.what());
    }
}

} // namespace residua::engine
