// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ranks/tcp_rank_store.h"

#include <exception>
#include <thread>
#include <vector>

namespace residua::engine {
namespace {

constexpr std::chrono::seconds kAttempt{1};  ///< to reach the store
constexpr std::chrono::seconds kFarewell{5}; ///< in which the others hear that a rank does not train
constexpr const char* kReadKey = "read";     ///< the number of ranks that have read kOverKey

std::vector<std::uint8_t> bytesOf(const std::string& text)
{
    return {text.begin(), text.end()};
}

} // namespace

std::string pulseKeyOf(int rank)
{
    return "pulse/" + std::to_string(rank);
}

std::string stoppedText(int rank)
{
    return "rank " + std::to_string(rank) + " was asked to stop";
}

TcpRankStore::TcpRankStore(const RankPosition& place)
    : m_keeps(place.keepsStore), m_prefix("residua/" + place.attempt + "/")
{
    c10d::TCPStoreOptions options;
    options.port = place.storePort;
    options.isServer = place.keepsStore;
    options.waitWorkers = false;
    options.timeout = kAttempt;
    m_store = c10::make_intrusive<c10d::TCPStore>(place.storeHost, options);
}

std::unique_ptr<TcpRankStore> TcpRankStore::reach(const RankPosition& place, std::chrono::milliseconds patience,
                                                  const PreparationWatch& watch)
{
    const auto until = std::chrono::steady_clock::now() + patience;
    while (true) {
        try {
            return std::make_unique<TcpRankStore>(place);
        } catch (const std::exception&) {
            if (watch && !watch(0)) {
                throw RankRefused(stoppedText(place.rank) + " before the first step");
            }
            if (place.keepsStore || std::chrono::steady_clock::now() > until) {
                throw;
            }
        }
        std::this_thread::sleep_for(kRankLook);
    }
}

void TcpRankStore::set(const std::string& key, const std::string& bytes)
{
    m_store->set(m_prefix + key, bytesOf(bytes));
}

std::string TcpRankStore::get(const std::string& key)
{
    while (true) {
        if (const std::optional<std::string> found = find(key)) {
            return *found;
        }
        if (onWait) {
            onWait();
        }
        std::this_thread::sleep_for(kRankLook / 10);
    }
}

std::optional<std::string> TcpRankStore::find(const std::string& key)
{
    if (!m_store->check({m_prefix + key})) {
        return std::nullopt;
    }
    const std::vector<std::uint8_t> bytes = m_store->get(m_prefix + key);
    return std::string(bytes.begin(), bytes.end());
}

std::string TcpRankStore::claim(const std::string& key, const std::string& bytes)
{
    const std::vector<std::uint8_t> now = m_store->compareSet(m_prefix + key, {}, bytesOf(bytes));
    return {now.begin(), now.end()};
}

std::int64_t TcpRankStore::add(const std::string& key, std::int64_t number)
{
    return m_store->add(m_prefix + key, number);
}

void TcpRankStore::acknowledge(std::int64_t ranks)
{
    (void)add(kReadKey, 1);
    const auto until = std::chrono::steady_clock::now() + kFarewell;
    while (m_keeps && add(kReadKey, 0) < ranks && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(kRankLook);
    }
}

} // namespace residua::engine
