// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ranks/ranks.h"

#include "engine/host/own_library.h"
#include "engine/ranks/nccl_group.h"
#include "engine/ranks/tensor_exchange.h"
#include "projects/base/text.h"

#include <ATen/TensorOperators.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kLibrary = "libresidua_ranks.so";
constexpr std::chrono::minutes kMeeting{5}; ///< wait for the others at the start
constexpr std::chrono::seconds kPulse{1};
constexpr std::chrono::seconds kRollCall{3}; ///< in which a living rank has a pulse

struct Library {
    JoinRanks join = nullptr;
};

Result<Library> openLibrary()
{
    const std::filesystem::path path = findOwnLibrary(kLibrary, "RESIDUA_RANKS", "engine");
    if (path.empty()) {
        return Error{kLibrary, "is not beside the program, so that it trains in one process only: install libgloo-dev "
                               "and build it again"};
    }
    const Result<void*> library = openLibrary(path, SymbolScope::Own); // LibTorch exports another version of Gloo
    void* const join = library ? dlsym(*library, kJoinRanks) : nullptr;
    if (join == nullptr) {
        return Error{path.string(), library ? "is not of this version of the program: install both again"
                                            : "does not load (" + library.error().message + ")"};
    }
    return Library{reinterpret_cast<JoinRanks>(join)};
}

std::string firstLine(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

/// The address that the other ranks reach: this machine's own name, or the loopback where the store is on it.
std::string ownHost(const std::string& storeHost)
{
    if (storeHost == "localhost" || storeHost == "127.0.0.1") {
        return "127.0.0.1";
    }
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : storeHost;
}

std::string pulseOf(int rank)
{
    return "pulse/" + std::to_string(rank);
}

} // namespace

/// LibTorch's store, which torchrun keeps in its own process.
class Ranks::Store final : public RankStore {
public:
    explicit Store(const RankPlace& place) : m_prefix("residua/" + place.attempt + "/")
    {
        c10d::TCPStoreOptions options;
        options.port = place.storePort;
        options.isServer = place.keepsStore;
        options.waitWorkers = false;
        options.timeout = kMeeting;
        m_store = c10::make_intrusive<c10d::TCPStore>(place.storeHost, options);
    }

    void set(const std::string& key, const std::string& bytes) override
    {
        m_store->set(m_prefix + key, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
    }
    std::string get(const std::string& key) override
    {
        const std::vector<std::uint8_t> bytes = m_store->get(m_prefix + key);
        return {bytes.begin(), bytes.end()};
    }
    /// Returns false if the key is not set in time.
    bool waits(const std::string& key, std::chrono::milliseconds time)
    {
        try {
            m_store->wait({m_prefix + key}, time);
            return true;
        } catch (const std::exception&) {
            return false;
        }
    }

private:
    std::string m_prefix;
    c10::intrusive_ptr<c10d::TCPStore> m_store;
};

/// Says once a second that this rank is alive, on a connection of its own: the other is used by waiting calls.
class Ranks::Pulse {
public:
    explicit Pulse(RankPlace place) : m_beating([this, place = std::move(place)] { beat(place); }) {}
    ~Pulse()
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_quit = true;
        }
        m_wake.notify_one();
        m_beating.join();
    }
    Pulse(const Pulse&) = delete;
    Pulse& operator=(const Pulse&) = delete;

private:
    void beat(RankPlace place)
    {
        place.keepsStore = false;
        try {
            Store store(place);
            std::unique_lock lock(m_mutex);
            for (std::int64_t count = 0; !m_quit; ++count) {
                store.set(pulseOf(place.rank), std::to_string(count));
                m_wake.wait_for(lock, kPulse);
            }
        } catch (const std::exception&) {
            // The store has gone. The next exchange says so.
        }
    }

    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_quit = false;
    std::thread m_beating; ///< last, because it uses the other members
};

Ranks::Ranks(const RankPlace& place) : m_place(place) {}

Ranks::~Ranks()
{
    if (m_exchange && m_exchange->isBusy()) {
        // The other ranks see the closed connections. The thread that waits in Gloo cannot be woken, so both are left
        // to it until the process ends.
        m_group->abort();
        static_cast<void>(m_exchange.release());
        static_cast<void>(m_group.release());
    }
}

Result<Ranks*> Ranks::ofProcess()
{
    static std::unique_ptr<Ranks> joined;
    if (const std::optional<RankPlace> place = rankPlace(); place && !joined) {
        Result<std::unique_ptr<Ranks>> ranks = join(*place);
        if (!ranks) {
            return ranks.error();
        }
        joined = std::move(*ranks);
    }
    return joined.get();
}

Result<std::unique_ptr<Ranks>> Ranks::join(const RankPlace& place)
{
    const Result<Library> library = openLibrary();
    if (!library) {
        return library.error();
    }
    try {
        std::unique_ptr<Ranks> ranks(new Ranks(place));
        ranks->m_store = std::make_unique<Store>(place);
        ranks->m_group.reset(library->join(place.rank, place.count, ownHost(place.storeHost).c_str(), *ranks->m_store));
        ranks->m_pulse = std::make_unique<Pulse>(place);
        return ranks;
    } catch (const std::exception& error) {
        return Error{"rank " + std::to_string(place.rank),
                     "does not reach the other " + std::to_string(place.count - 1) + " by " + place.storeHost + ":" +
                         std::to_string(place.storePort) + " (" + firstLine(error.what()) + ")"};
    }
}

/// Returns the names of the ranks that have no pulse.
std::vector<std::string> Ranks::missing()
{
    std::vector<std::string> names;
    const auto pulses = [this] {
        std::vector<std::string> counts;
        for (int rank = 0; rank < m_place.count; ++rank) {
            counts.push_back(m_store->waits(pulseOf(rank), kPulse) ? m_store->get(pulseOf(rank)) : std::string());
        }
        return counts;
    };
    try {
        const std::vector<std::string> before = pulses();
        std::this_thread::sleep_for(kRollCall);
        const std::vector<std::string> after = pulses();
        for (int rank = 0; rank < m_place.count; ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            if (rank != m_place.rank && before[at] == after[at]) {
                names.push_back("rank " + std::to_string(rank));
            }
        }
        (void)m_store->get(pulseOf(m_place.rank));
    } catch (const std::exception&) {
        names = {"rank 0"}; // the store has gone with it
    }
    return names;
}

void Ranks::guarded(const auto& call)
{
    try {
        call();
    } catch (const std::exception& error) {
        m_isBroken = true;
        const std::vector<std::string> names = missing();
        throw std::runtime_error((names.empty() ? "a rank" : joinedText(names, " and ")) +
                                 " ended, and with it the run of " + std::to_string(m_place.count) + " ranks (" +
                                 firstLine(error.what()) + ")");
    }
}

TensorExchange& Ranks::exchange(at::Device device)
{
    if (!m_exchange || m_exchange->device() != device) {
        m_exchange.reset();
        m_times.reset();
        m_last.reset();
        m_seconds = 0;
        m_steps = 0;
        m_exchange = device.is_cpu() ? std::make_unique<TensorExchange>(*m_group) : gpuExchange(device);
    }
    return *m_exchange;
}

std::unique_ptr<TensorExchange> Ranks::gpuExchange(at::Device device)
{
    const Result<std::shared_ptr<const Nccl>> nccl = openNccl();
    float failures = nccl ? 0 : 1;
    guarded([&] { m_group->sum(&failures, 1); });
    if (failures > 0) {
        const Error error =
            nccl ? Error{"ranks", "another rank cannot load NCCL: its own message says why"} : nccl.error();
        throw std::runtime_error(error.place + " " + error.message);
    }
    const c10::DeviceGuard current(device);
    const c10::Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, true);
    auto group = joinNccl(*nccl, m_place.rank, m_place.count, *m_group, stream.native_handle());
    return std::make_unique<TensorExchange>(
        *m_group, GpuGroup{device, stream, std::move(group), [this] { return !missing().empty(); }});
}

void Ranks::leaveGpu()
{
    if (!m_exchange || m_exchange->device().is_cpu()) {
        return;
    }
    if (m_isBroken || m_isInStep) {
        m_exchange->abort();
    }
    if (!m_exchange->isBusy()) {
        m_exchange.reset();
    }
}

void Ranks::finish()
{
    guarded([this] { m_exchange->finish(); });
}

void Ranks::beginStep(const at::Tensor& times)
{
    m_isInStep = true;
    if (!m_last) {
        m_stepBegan = std::chrono::steady_clock::now(); // without the preparation of the run
        m_waited = 0;
    } else {
        times[m_place.rank].fill_(m_last->computing);
        times[m_place.count + m_place.rank].fill_(m_last->exchanging);
    }
}

void Ranks::finishStep(const at::Tensor& times)
{
    finish();
    m_isInStep = false;
    if (m_last) {
        m_times = m_times.defined() ? m_times + times : times.clone();
        m_seconds += m_last->seconds;
        ++m_steps;
    }
    const TensorExchange::Seconds exchange = m_exchange->takeSeconds();
    const double seconds = secondsSince(m_stepBegan);
    // While a host waits for rank 0's word, its GPU computes.
    const double waited = exchange.waiting + (m_exchange->device().is_cpu() ? m_waited : 0);
    m_last = {seconds, std::max(0.0, seconds - waited), exchange.exchanging};
    m_stepBegan = std::chrono::steady_clock::now();
    m_waited = 0;
}

RankTimes Ranks::takeTimes()
{
    RankTimes times{std::exchange(m_seconds, 0), {}, {}, std::exchange(m_steps, 0)};
    if (times.steps > 0) {
        const at::Tensor sums = std::exchange(m_times, {}).to(at::kCPU, at::kDouble);
        const double* const values = sums.const_data_ptr<double>();
        times.computing.assign(values, values + m_place.count);
        times.exchanging.assign(values + m_place.count, values + timesCount());
    }
    return times;
}

double Ranks::sum(double value)
{
    const auto begin = std::chrono::steady_clock::now();
    guarded([&] { m_group->sum(&value, 1); });
    m_waited += secondsSince(begin);
    return value;
}

std::string Ranks::share(const std::string& text)
{
    std::uint64_t size = text.size();
    std::string result = text;
    const auto begin = std::chrono::steady_clock::now();
    guarded([&] {
        m_group->share(&size, sizeof size, 0);
        result.resize(size);
        if (size > 0) {
            m_group->share(result.data(), size, 0);
        }
    });
    m_waited += secondsSince(begin);
    return result;
}

void Ranks::end()
{
    if (m_isInStep && !m_isBroken) {
        m_isBroken = true;
        m_group->abort();
    }
    if (!m_isBroken) {
        try {
            (void)share("end");
        } catch (const std::exception&) {
            // They end by themselves.
        }
    }
}

std::string Ranks::deviceFor(const std::string& device) const
{
    return device.starts_with("cuda") ? "cuda:" + std::to_string(m_place.local) : device;
}

} // namespace residua::engine
