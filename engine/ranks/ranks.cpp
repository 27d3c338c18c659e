// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ranks/ranks.h"

#include "engine/host/own_library.h"
#include "projects/base/text.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <dlfcn.h>
#include <unistd.h>

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

double secondsSince(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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

Ranks::~Ranks() = default;

Result<Ranks*> Ranks::ofProcess()
{
    static std::unique_ptr<Ranks> joined;
    const std::optional<RankPlace> place = rankPlace();
    if (!place || joined) {
        return joined.get();
    }
    const Result<Library> library = openLibrary();
    if (!library) {
        return library.error();
    }
    try {
        std::unique_ptr<Ranks> ranks(new Ranks(*place));
        ranks->m_store = std::make_unique<Store>(*place);
        ranks->m_group.reset(
            library->join(place->rank, place->count, ownHost(place->storeHost).c_str(), *ranks->m_store));
        ranks->m_pulse = std::make_unique<Pulse>(*place);
        joined = std::move(ranks);
    } catch (const std::exception& error) {
        return Error{"rank " + std::to_string(place->rank),
                     "does not reach the other " + std::to_string(place->count - 1) + " by " + place->storeHost + ":" +
                         std::to_string(place->storePort) + " (" + firstLine(error.what()) + ")"};
    }
    return joined.get();
}

/// Names the ranks that have no pulse.
std::string Ranks::missing()
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
    return names.empty() ? "a rank" : joinedText(names, " and ");
}

void Ranks::guarded(const auto& call)
{
    const auto begin = std::chrono::steady_clock::now();
    try {
        call();
        m_waited += secondsSince(begin);
    } catch (const std::exception& error) {
        m_isBroken = true;
        throw std::runtime_error(missing() + " ended, and with it the run of " + std::to_string(m_place.count) +
                                 " ranks (" + firstLine(error.what()) + ")");
    }
}

void Ranks::average(const std::vector<at::Tensor>& tensors)
{
    std::vector<at::Tensor> parts[2]; // single precision, double precision
    for (const at::Tensor& tensor : tensors) {
        parts[tensor.scalar_type() == at::kDouble].push_back(tensor.reshape({-1}));
    }
    const bool timed = parts[false].empty(); // the list whose exchange has the times too
    at::Tensor computing = at::zeros({m_place.count}, timed ? at::kDouble : at::kFloat);
    computing[m_place.rank] = secondsSince(m_stepBegan) - m_waited;
    parts[timed].push_back(computing);
    for (const bool isDouble : {false, true}) {
        if (parts[isDouble].empty()) {
            continue;
        }
        at::Tensor all = at::cat(parts[isDouble]).to(at::kCPU, isDouble ? at::kDouble : at::kFloat).contiguous();
        const auto count = static_cast<std::size_t>(all.numel());
        guarded([&] {
            isDouble ? m_group->sum(all.mutable_data_ptr<double>(), count)
                     : m_group->sum(all.mutable_data_ptr<float>(), count);
        });
        if (isDouble == timed) {
            addTimes(all.narrow(0, all.numel() - m_place.count, m_place.count));
        }
        all.div_(m_place.count);
        std::int64_t first = 0;
        for (const at::Tensor& tensor : tensors) {
            if ((tensor.scalar_type() == at::kDouble) == isDouble) {
                tensor.copy_(all.narrow(0, first, tensor.numel()).view(tensor.sizes()));
                first += tensor.numel();
            }
        }
    }
}

void Ranks::addTimes(const at::Tensor& computing)
{
    const at::Tensor seconds = computing.to(at::kDouble);
    m_times.computing.resize(static_cast<std::size_t>(m_place.count));
    for (std::size_t rank = 0; rank < m_times.computing.size(); ++rank) {
        m_times.computing[rank] += seconds.const_data_ptr<double>()[rank];
    }
    m_times.seconds += secondsSince(m_stepBegan);
    ++m_times.steps;
    m_stepBegan = std::chrono::steady_clock::now();
    m_waited = 0;
}

std::string Ranks::share(const std::string& text)
{
    std::uint64_t size = text.size();
    std::string result = text;
    guarded([&] {
        m_group->share(&size, sizeof size);
        result.resize(size);
        if (size > 0) {
            m_group->share(result.data(), size);
        }
    });
    return result;
}

void Ranks::end()
{
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
