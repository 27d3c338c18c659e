// SPDX-License-Identifier: GPL-3.0-or-later
// A stand-in for NCCL on the host's memory, whose ranks are threads of one process and whose calls wait instead of
// enqueuing. RESIDUA_FAKE_NCCL names the call that fails.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kUnhandledCudaError = 1;
constexpr int kInvalidUsage = 5;
constexpr int kRemoteError = 6;
constexpr int kFloat = 7;
constexpr int kDouble = 8;
constexpr int kSum = 0;
constexpr int kMean = 4;

struct Identity {
    std::array<char, 128> bytes;
};

std::mutex mutex; // guards the groups
std::condition_variable changed;
const char* lastError = "";

/// The state that the ranks of a group share.
struct Group {
    int count = 0;
    std::map<int, void*> values; ///< of the ranks that have arrived at the current call
    int calls = 0;
    bool aborted = false;
};
std::map<int, std::shared_ptr<Group>> groups; // by the number in the identity

/// Waits for all ranks, and performs the call once.
template <class Perform>
int together(Group& group, int rank, void* values, const Perform& perform)
{
    std::unique_lock lock(mutex);
    const int call = group.calls;
    group.values[rank] = values;
    if (static_cast<int>(group.values.size()) == group.count) {
        perform(group.values);
        group.values.clear();
        ++group.calls;
        changed.notify_all();
    }
    changed.wait(lock, [&] { return group.calls > call || group.aborted; });
    return group.calls > call ? kSuccess : kRemoteError;
}

/// Replaces the values by their sums over the ranks, divided by `divisor`.
template <class Real>
void sum(std::map<int, void*>& values, std::size_t count, std::size_t divisor)
{
    std::vector<Real> sums(count);
    for (const auto& [rank, own] : values) {
        for (std::size_t i = 0; i < count; ++i) {
            sums[i] += static_cast<const Real*>(own)[i];
        }
    }
    std::ranges::transform(sums, sums.begin(), [&](Real value) { return value / static_cast<Real>(divisor); });
    for (const auto& [rank, own] : values) {
        std::ranges::copy(sums, static_cast<Real*>(own));
    }
}

bool fails(const char* call)
{
    const char* const named = std::getenv("RESIDUA_FAKE_NCCL");
    return named != nullptr && std::strcmp(named, call) == 0;
}

} // namespace

#define RESIDUA_FAKE extern "C" __attribute__((visibility("default")))

struct ncclComm {
    int rank = 0;
    std::shared_ptr<Group> group;
};

RESIDUA_FAKE int ncclGetUniqueId(Identity* identity)
{
    static int made = 0;
    const std::scoped_lock lock(mutex);
    ++made;
    std::memcpy(identity->bytes.data(), &made, sizeof made);
    return fails("ncclGetUniqueId") ? kUnhandledCudaError : kSuccess;
}

RESIDUA_FAKE int ncclCommInitRank(ncclComm** comm, int count, Identity identity, int rank)
{
    if (fails("ncclCommInitRank")) {
        lastError = "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1b000";
        return kInvalidUsage;
    }
    int number = 0;
    std::memcpy(&number, identity.bytes.data(), sizeof number);
    *comm = new ncclComm{rank, nullptr};
    {
        const std::scoped_lock lock(mutex);
        std::shared_ptr<Group>& group = groups[number];
        group = group ? group : std::make_shared<Group>();
        group->count = count;
        (*comm)->group = group;
    }
    return together(*(*comm)->group, rank, nullptr, [](const auto&) {});
}

RESIDUA_FAKE int ncclCommDestroy(ncclComm* comm)
{
    delete comm;
    return kSuccess;
}

/// Leaves the group to a call that waits in it.
RESIDUA_FAKE int ncclCommAbort(ncclComm* comm)
{
    const std::scoped_lock lock(mutex);
    comm->group->aborted = true;
    changed.notify_all();
    return kSuccess;
}

RESIDUA_FAKE int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int operation, ncclComm* comm,
                               void* stream)
{
    if (fails("ncclAllReduce") || from != to || (operation != kSum && operation != kMean) || stream == nullptr) {
        lastError = "";
        return kUnhandledCudaError;
    }
    return together(*comm->group, comm->rank, to, [&](auto& values) {
        const std::size_t divisor = operation == kMean ? values.size() : 1;
        if (type == kDouble) {
            sum<double>(values, count, divisor);
        } else if (type == kFloat) {
            sum<float>(values, count, divisor);
        }
    });
}

/// Calls between these two wait one after the other.
RESIDUA_FAKE int ncclGroupStart()
{
    return fails("ncclGroupStart") ? kUnhandledCudaError : kSuccess;
}

RESIDUA_FAKE int ncclGroupEnd()
{
    return fails("ncclGroupEnd") ? kUnhandledCudaError : kSuccess;
}

RESIDUA_FAKE int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, ncclComm* comm,
                               void* stream)
{
    if (from != to || type != 1 || stream == nullptr) {
        return kUnhandledCudaError;
    }
    return together(*comm->group, comm->rank, to, [&](auto& values) {
        for (const auto& [rank, own] : values) {
            std::memmove(own, values.at(root), count);
        }
    });
}

RESIDUA_FAKE const char* ncclGetErrorString(int code)
{
    return code == kInvalidUsage         ? "invalid usage"
           : code == kRemoteError        ? "remote process exited"
           : code == kUnhandledCudaError ? "unhandled cuda error"
                                         : "unknown";
}

RESIDUA_FAKE const char* ncclGetLastError(ncclComm*)
{
    return lastError;
}
