// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/failure.h"

#include "projects/base/text.h"

#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace residua::engine {
namespace {

std::string firstLine(std::string_view text)
{
    return std::string(text.substr(0, text.find('\n')));
}

/// Returns the amount of a failed allocation from an allocator's message, such as "tried to allocate 20.00 MiB" or
/// "8388608000 bytes"; empty if the message has none.
std::string askedFor(std::string_view text)
{
    constexpr std::string_view kAmount = "ried to allocate ";
    const std::size_t found = text.find(kAmount);
    std::istringstream words(std::string(found == std::string_view::npos ? "" : text.substr(found + kAmount.size())));
    double amount = 0;
    std::string unit;
    if (!(words >> amount >> unit)) {
        return {};
    }
    const double scale = unit.starts_with("GiB")   ? 1
                         : unit.starts_with("MiB") ? 1.0 / (1 << 10)
                         : unit.starts_with("KiB") ? 1.0 / (1 << 20)
                                                   : 1.0 / (1 << 30);
    return numberText(amount * scale, 3) + " GiB";
}

Failure failureOfSystem(const std::system_error& error)
{
    if (error.code() == std::errc::resource_unavailable_try_again) { // thrown by std::thread
        return {Failure::Kind::Other, "the system starts no further thread (" + error.code().message() +
                                          "): raise its limits, or give fewer threads"};
    }
    return failureOf(error.what(), "the system");
}

} // namespace

Failure noMemory(std::string_view text)
{
    const std::string amount = askedFor(text);
    return {Failure::Kind::OutOfMemory,
            amount.empty() ? "there is no memory left" : "there is no memory for " + amount + " more"};
}

Failure failureOf(std::string_view text, const std::string& whose)
{
    // Only the caching allocator of a GPU has an exception type of its own; for CUDA, cuBLAS and cuDNN, matches the
    // names of their status codes.
    for (const char* const said : {"can't allocate memory", "not enough memory", "out of memory", "out_of_memory",
                                   "STATUS_ALLOC_FAILED", "ALLOCATION_FAILED"}) {
        if (text.find(said) != std::string_view::npos) {
            return noMemory(text);
        }
    }
    return {Failure::Kind::Other, whose + " failed: " + firstLine(text)};
}

std::optional<Failure> attemptStandard(const std::function<void()>& work)
{
    try {
        work();
        return std::nullopt;
    } catch (const std::bad_alloc&) {
        return noMemory({});
    } catch (const std::length_error&) { // a size larger than any memory
        return noMemory({});
    } catch (const std::system_error& error) {
        return failureOfSystem(error);
    } catch (const std::exception& error) {
        return failureOf(error.what(), "the engine");
    } catch (...) {
        return Failure{Failure::Kind::Other, "the engine failed for a reason that it does not say"};
    }
}

} // namespace residua::engine
