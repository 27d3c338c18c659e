// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ranks/ranks.h"

#include "engine/base/machine/machine.h"
#include "engine/compute/ranks/nccl_group.h"
#include "engine/compute/ranks/rank_pulse.h"
#include "engine/compute/ranks/tcp_rank_store.h"
#include "engine/compute/ranks/tensor_exchange.h"
#include "projects/base/text.h"

#include <ATen/TensorOperators.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kLibrary = "libresidua_ranks.so";
constexpr std::chrono::minutes kMeeting{5};  ///< wait for the others at the start
constexpr std::chrono::seconds kNotice{5};   ///< to reach a store that may not exist, to refuse
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

/// Names this process to another one that claims its number.
std::string ownName()
{
    std::array<char, 256> name{};
    (void)gethostname(name.data(), name.size() - 1);
    return "process " + std::to_string(getpid()) + " on " + name.data();
}

} // namespace

Ranks::Ranks(const RankPosition& place) : m_place(place) {}

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

namespace {

/// The ranks of this process, which joins them once.
struct OfProcess {
    std::unique_ptr<Ranks> ranks;
    std::optional<Error> failure;
};

OfProcess& ofThisProcess()
{
    static OfProcess process;
    return process;
}

} // namespace

Result<Ranks*> Ranks::ofProcess(const PreparationWatch& watch)
{
    OfProcess& process = ofThisProcess();
    const std::optional<RankPosition> place = RESIDUA_TRY(rankPosition());
    if (process.failure) {
        return *process.failure;
    }
    if (place && !process.ranks) {
        Result<std::unique_ptr<Ranks>> ranks = join(*place, watch);
        if (!ranks) {
            process.failure = ranks.error();
            return ranks.error();
        }
        process.ranks = std::move(*ranks);
    }
    return process.ranks.get();
}

Ranks* Ranks::joinedOfProcess()
{
    return ofThisProcess().ranks.get();
}

void Ranks::refuseOfProcess(const std::string& why)
{
    OfProcess& process = ofThisProcess();
    const Result<std::optional<RankPosition>> place = rankPosition();
    if (process.ranks) {
        process.ranks->refuse(why);
    } else if (place && *place && !process.failure) {
        refuse(**place, why);
        process.failure = Error{"rank " + std::to_string((*place)->rank), why};
    }
}

void Ranks::refuse(const RankPosition& place, const std::string& why)
{
    try {
        const std::unique_ptr<TcpRankStore> store = TcpRankStore::reach(place, kNotice, {});
        (void)store->add(kHereKey, 1); // acknowledge() counts it among those that have come
        (void)store->claim(kOverKey, why);
        store->acknowledge(place.count);
    } catch (const std::exception&) {
        // Without a reachable store, no rank waits for this one.
    }
}

void Ranks::refuse(const std::string& why)
{
    if (std::exchange(m_isBroken, true)) {
        return;
    }
    try {
        (void)m_store->claim(kOverKey, why);
        m_group->abort();
        m_store->acknowledge(m_place.count);
    } catch (const std::exception&) {
        // They have gone.
    }
}

void Ranks::meet(const PreparationWatch& watch)
{
    const std::string own = ownName();
    const std::string name = std::to_string(m_place.rank);
    if (const std::string first = m_store->claim("rank/" + name, own); first != own) {
        throw std::runtime_error("the number " + name + " is also that of " + first);
    }
    (void)m_store->add(kHereKey, 1);
    const auto until = std::chrono::steady_clock::now() + kMeeting;
    // Also while the ranks connect to each other, after this function has returned.
    m_store->onWait = [this, watch, until] {
        const std::optional<std::string> over = m_store->find(kOverKey);
        const std::int64_t here = m_store->add(kHereKey, 0); // with the rank that has refused
        if (over) {
            m_store->acknowledge(here);
            throw RankRefused(*over);
        }
        if (watch && !watch(static_cast<double>(here) / m_place.count)) {
            const std::string why = stoppedText(m_place.rank) + " before the first step";
            (void)m_store->claim(kOverKey, why);
            m_store->acknowledge(here);
            throw RankRefused(why);
        }
        if (std::chrono::steady_clock::now() > until) {
            throw std::runtime_error("only " + std::to_string(here) + " of them came within five minutes");
        }
    };
    while (m_store->add(kHereKey, 0) < m_place.count) {
        m_store->onWait();
        std::this_thread::sleep_for(kRankLook);
    }
}

Result<std::unique_ptr<Ranks>> Ranks::join(const RankPosition& place, const PreparationWatch& watch)
{
    const std::string own = "rank " + std::to_string(place.rank);
    const Result<Library> library = openLibrary();
    if (!library) {
        refuse(place, own + " was refused: " + library.error().text());
        return library.error();
    }
    try {
        std::unique_ptr<Ranks> ranks(new Ranks(place));
        ranks->m_store = TcpRankStore::reach(place, kMeeting, watch);
        ranks->meet(watch);
        ranks->m_group.reset(library->join(place.rank, place.count, ownHost(place.storeHost).c_str(), *ranks->m_store));
        ranks->m_store->onWait = {};
        ranks->m_pulse = std::make_unique<RankPulse>(place, [group = ranks->m_group.get()] { group->abort(); });
        return ranks;
    } catch (const RankRefused& refused) {
        return Error{"ranks", refused.what()};
    } catch (const std::exception& error) {
        return Error{own, "does not reach the other " + std::to_string(place.count - 1) + " by " + place.storeHost +
                              ":" + std::to_string(place.storePort) + " (" + firstLine(error.what()) + ")"};
    }
}

/// Returns the names of the ranks that have no pulse.
std::vector<std::string> Ranks::missing()
{
    std::vector<std::string> names;
    const auto pulses = [this] {
        std::vector<std::string> counts;
        for (int rank = 0; rank < m_place.count; ++rank) {
            counts.push_back(m_store->find(pulseKeyOf(rank)).value_or(""));
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
    } catch (const std::exception&) {
        names = {"rank 0"}; // the store has gone with it
    }
    return names;
}

/// Returns why another rank does not train, if it has said so.
std::optional<std::string> Ranks::refusal()
{
    try {
        std::optional<std::string> why = m_store->find(kOverKey);
        if (why) {
            m_store->acknowledge(m_place.count);
        }
        return why;
    } catch (const std::exception&) {
        return std::nullopt; // the store has gone
    }
}

void Ranks::guarded(const auto& call)
{
    try {
        call();
    } catch (const std::exception& error) {
        m_isBroken = true;
        if (const std::optional<std::string> why = refusal()) {
            throw std::runtime_error(*why);
        }
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

std::optional<Ranks::Disagreement> Ranks::compare(const std::string& text, const Agrees& agrees)
{
    const std::string first = share(text);
    if (sum(agrees(first, text) ? 0 : 1) == 0) {
        return std::nullopt;
    }
    const std::string key = "compared/" + std::to_string(m_compared++) + "/";
    m_store->set(key + std::to_string(m_place.rank), text);
    (void)sum(0); // all have set theirs
    Disagreement found{0, first, {}};
    for (int rank = 1; rank < m_place.count && found.rank == 0; ++rank) {
        if (std::string other = m_store->get(key + std::to_string(rank)); !agrees(first, other)) {
            found.rank = rank;
            found.other = std::move(other);
        }
    }
    (void)sum(0); // all have read them
    return found;
}

void Ranks::setWanted(std::function<bool()> wanted)
{
    m_pulse->setWanted(std::move(wanted));
}

void Ranks::noteStep()
{
    m_pulse->noteStep();
}

std::optional<std::string> Ranks::stopAsked() const
{
    return m_pulse->stopAsked();
}

std::optional<std::string> Ranks::refused() const
{
    return m_pulse->refused();
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
