// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace residua::engine {

/// Keys with bytes that all ranks reach, through which they find each other.
class RankStore {
public:
    virtual ~RankStore() = default;
    virtual void set(const std::string& key, const std::string& bytes) = 0;
    /// Waits until the key is set.
    [[nodiscard]] virtual std::string get(const std::string& key) = 0;
};

/// Adjacent numbers of one of several arrays.
template <class Real>
struct Numbers {
    Real* values = nullptr;
    std::size_t count = 0;
};

/// Adjacent bytes that all ranks get from rank `root`.
struct SharedBytes {
    void* bytes = nullptr;
    std::size_t count = 0;
    int root = 0;
};

/// Processes that exchange numbers. Every rank makes the same calls in the same order. A call throws
/// std::runtime_error if another rank has ended. One thread at a time.
class RankGroup {
public:
    virtual ~RankGroup() = default;
    /// Replaces the values by their sums over the ranks: the same bits on each of them, and in each repetition.
    virtual void sum(float* values, std::size_t count) = 0;
    virtual void sum(double* values, std::size_t count) = 0;
    /// Replaces the values of the arrays by their means over the ranks, likewise, in one exchange.
    virtual void mean(std::span<const Numbers<float>> arrays) = 0;
    virtual void mean(std::span<const Numbers<double>> arrays) = 0;
    /// Replaces the bytes by those of rank `root`.
    virtual void share(void* bytes, std::size_t count, int root) = 0;
    /// Replaces the bytes of all pieces, likewise, in one exchange.
    virtual void share(std::span<const SharedBytes> pieces) = 0;
    /// Ends the calls that wait for other ranks; no call may follow. Any thread.
    virtual void abort() = 0;
};

/// Defined by the library residua_ranks, which is opened at run time: its Gloo and LibTorch's have symbols of the same
/// names. Waits for all `count` ranks; `host` is the address on which this one listens. Throws std::runtime_error.
using JoinRanks = RankGroup* (*)(int rank, int count, const char* host, RankStore& store);
inline constexpr const char* kJoinRanks = "residua_join_ranks";

} // namespace residua::engine
