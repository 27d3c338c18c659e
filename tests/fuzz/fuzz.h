// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/draws.h"
#include "tests/support/random_seed.h"
#include "tests/support/sanitizers.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

/// The common parts of the tests of hostile input.
namespace residua::fuzz {

/// The number of rounds: `few` in the suite, or what RESIDUA_FUZZ_ROUNDS says.
inline int rounds(int few)
{
    return tests::numberOf("RESIDUA_FUZZ_ROUNDS", few);
}

/// Where the rounds begin. Round i of it is round 0 of seed + i.
inline std::uint64_t seed()
{
    return tests::randomSeed();
}

using tests::below;
using tests::oneOf;

/// Some bytes of `bytes` changed, cut out, doubled or cut off.
inline std::string withRandomBytes(std::string bytes, std::mt19937_64& random)
{
    for (std::size_t count = 1 + below(random, 4); count > 0 && !bytes.empty(); --count) {
        const std::size_t at = below(random, bytes.size());
        const std::size_t length = std::min(bytes.size() - at, 1 + below(random, 64));
        switch (below(random, 4)) {
        case 0:
            bytes[at] = static_cast<char>(below(random, 256));
            break;
        case 1:
            bytes.erase(at, length);
            break;
        case 2:
            bytes.insert(below(random, bytes.size()), bytes.substr(at, length));
            break;
        default:
            bytes.resize(at);
            break;
        }
    }
    return bytes;
}

inline std::atomic<std::uint64_t> roundNow{0};

/// Says with which seed the round that crashed or hung is repeated.
inline void tellRound(int signal)
{
    std::array<char, 96> text{};
    const int length =
        std::snprintf(text.data(), text.size(), "\nsignal %d: RESIDUA_FUZZ_ROUNDS=1 RESIDUA_RANDOM_SEED=%llu\n", signal,
                      static_cast<unsigned long long>(roundNow.load()));
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length));
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

/// Ends the program where a round takes minutes, and tells the round on any such end.
inline void watchRound(std::uint64_t seedOfRound)
{
    constexpr unsigned kMostSeconds = 300;
    roundNow = seedOfRound;
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGALRM}) {
        ::signal(signal, tellRound);
    }
    ::alarm(kMostSeconds);
}

/// Limits the memory of the program from now on: an allocation beyond `bytes` throws std::bad_alloc. Does nothing under
/// a sanitizer.
inline void limitMemory(std::uint64_t bytes)
{
    if (!tests::kSanitized) {
        const rlimit limit{bytes, bytes};
        ::setrlimit(RLIMIT_AS, &limit);
    }
}

} // namespace residua::fuzz
