// SPDX-License-Identifier: GPL-3.0-or-later
// Trains a tokeniser on text on a separate thread, so that a run can continue beside it.
#include "engine/compute/queries/base/query.h"

#include "engine/compute/runtime/cuda_backend.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::chrono::milliseconds kTokeniserNews{34};

class TokeniserQuery final : public Query {
public:
    explicit TokeniserQuery(TokeniserRequest request)
        : m_request(std::move(request)), m_thread([this](const std::stop_token& stop) { train(stop); })
    {
    }
    QueryTag tag() const override { return m_request.tag; }
    bool waits() const override { return !m_ended; }

    std::optional<Event> takeNews() override
    {
        const auto now = std::chrono::steady_clock::now();
        const std::scoped_lock lock(m_mutex);
        if (!m_told || now < m_tellAt) {
            return std::nullopt;
        }
        m_told = false;
        m_tellAt = now + kTokeniserNews;
        return QueryProgress{m_request.tag, m_progress.share()};
    }

private:
    std::optional<Event> work() override
    {
        if (!m_ended) {
            return std::nullopt;
        }
        return m_trained ? Event(TokeniserReady{m_request.tag, m_request.training.output, *m_trained})
                         : Event(QueryFailed{m_request.tag, m_trained.error()});
    }

    void train(const std::stop_token& stop)
    {
        const auto failure = attempt([&] {
            m_trained = trainTokeniser(m_request.training, [&](const TokeniserProgress& progress) {
                const std::scoped_lock lock(m_mutex);
                m_progress = progress;
                m_told = true;
                return !stop.stop_requested();
            });
        });
        if (failure) {
            m_trained = Error{"tokeniser", failure->text};
        }
        m_ended = true;
    }

    TokeniserRequest m_request;
    std::mutex m_mutex; ///< protects m_progress and m_told
    TokeniserProgress m_progress;
    bool m_told = false; ///< there is news
    std::chrono::steady_clock::time_point m_tellAt{};
    std::atomic<bool> m_ended = false;
    Result<TrainedTokeniser> m_trained = TrainedTokeniser{}; ///< valid once m_ended
    std::jthread m_thread;                                   ///< last, because it uses the other members
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const TokeniserRequest& request)
{
    return std::make_unique<TokeniserQuery>(request);
}

} // namespace residua::engine
