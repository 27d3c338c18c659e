// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/fit_jobs.h"

#include "engine/base/files/content_hash.h"
#include "engine/maths/lowrank/low_rank_fit.h"
#include "engine/maths/lowrank/low_rank_problem.h"
#include "projects/base/mapped.h"
#include "projects/schema/method_keys.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::chrono::milliseconds kAsk{50}; ///< the interval between calls of the watch

template <class... Numbers>
void addNumbers(ContentDigest& digest, Numbers... numbers)
{
    (digest.add(std::as_bytes(std::span(&numbers, 1))), ...);
}

std::string keyOf(const std::string& word, const ContentDigest& digest)
{
    return word + "-" + digest.text() + ".safetensors";
}

std::string keyOf(const LowRankProblem& of, LowRankMethod method)
{
    ContentDigest digest;
    addNumbers(digest, of.out, of.in, of.rank, of.lfai.batch, of.lfai.stepsPerEpoch, of.lfai.epochs,
               of.lfai.learningRate, of.seed, static_cast<int>(of.follows));
    if (of.kernel > 1) { // files of linear layers keep their names
        addNumbers(digest, of.kernel);
    }
    digest.add(std::as_bytes(std::span(of.weight)));
    digest.add(std::as_bytes(std::span(of.covariance)));
    if (method == LowRankMethod::Lfai) { // the other methods do not start from the draw
        digest.add(std::as_bytes(std::span(of.drawnLeft)));
        digest.add(std::as_bytes(std::span(of.drawnRight)));
    }
    return keyOf(wordOf(method), digest);
}

/// Earlier versions kept other measures of features, in files named "features-".
std::string keyOf(const AttentionProblem& of)
{
    ContentDigest digest;
    addNumbers(digest, of.sequences, of.group, of.length, of.width, of.features, of.course.batch,
               of.course.stepsPerEpoch, of.course.epochs, std::int64_t{of.causal}, of.course.learningRate);
    for (const auto* const numbers : {&of.queries, &of.keys, &of.start}) {
        digest.add(std::as_bytes(std::span(*numbers)));
    }
    return keyOf("softmax", digest);
}

Fitted fittedOf(LowRankFit fit)
{
    const LowRankMeasures& of = fit.measures;
    return {{std::move(fit.left), std::move(fit.right)},
            {GapFit::State::Fitted, of.functionError, of.fullFunction, of.weightError, of.meanCorrelation,
             of.spectralGapBound, of.seconds, fit.converged, std::move(fit.note)}};
}

Fitted fittedOf(const AttentionProblem& problem, AttentionFit fit)
{
    const AttentionError& left = fit.after;
    double moved = 0;
    for (std::size_t i = 0; i < problem.start.size(); ++i) {
        moved += std::pow(fit.features[i] - problem.start[i], 2);
    }
    const double norms = std::sqrt(left.own * left.full);
    const double correlation = norms > 0 ? (left.own + left.full - left.error) / (2 * norms) : 0;
    return {{std::move(fit.features)},
            {GapFit::State::Fitted, left.error, left.full, moved, correlation, std::nullopt, fit.seconds, fit.converged,
             std::move(fit.note)}};
}

} // namespace

FitJob fitJob(LowRankProblem problem, LowRankMethod method)
{
    const auto of = std::make_shared<const LowRankProblem>(std::move(problem));
    return {
        method == LowRankMethod::Baseline ? std::string() : keyOf(*of, method), // drawing is cheap
        {{"left", of->out, of->rank}, {"right", of->rank, of->in}},
        [of, method](const LowRankWatch& watch) {
            return fitLowRank(*of, method, watch).transform([](LowRankFit fit) { return fittedOf(std::move(fit)); });
        }};
}

FitJob fitJob(AttentionProblem problem)
{
    const auto of = std::make_shared<const AttentionProblem>(std::move(problem));
    return {
        keyOf(*of), {{"features", of->features, of->width}}, [of](const LowRankWatch& watch) {
            return fitAttention(*of, watch).transform([&](AttentionFit fit) { return fittedOf(*of, std::move(fit)); });
        }};
}

FitJob measureJob(AttentionProblem problem)
{
    const auto of = std::make_shared<const AttentionProblem>(std::move(problem));
    return {{}, {{"features", of->features, of->width}}, [of](const LowRankWatch&) {
                return measureAttention(*of, of->start).transform([&](const AttentionError& error) {
                    return fittedOf(*of, {.features = of->start, .before = error, .after = error, .note = {}});
                });
            }};
}

RunningFits::RunningFits(std::vector<NamedFit> fits, CachedFits& cache)
    : m_fits(std::move(fits)),
      m_cache(cache),
      m_shares(m_fits.size(), 0.0),
      m_thread([this, threads = at::get_num_threads()](const std::stop_token& stop) {
          const auto works = mapped(m_fits, &NamedFit::work);
          runOnThreads(works, threads, [&](std::size_t index) { run(index, stop); });
      })
{
}

void RunningFits::run(std::size_t index, const std::stop_token& stop)
{
    const auto progress = [&](const LowRankProgress& of) {
        const std::scoped_lock lock(m_mutex);
        m_shares[index] = of.fraction;
    };
    Result<Fitted> fit = guardedFit([&] {
        return stop.stop_requested() ? Result<Fitted>(stoppedFit())
                                     : m_cache.fit(m_fits[index].job(), {progress, stop});
    });
    const std::scoped_lock lock(m_mutex);
    m_shares[index] = 1;
    m_ended.push_back({index, std::move(fit)});
    m_changed.notify_all();
}

std::vector<RunningFits::Ended> RunningFits::take(std::chrono::milliseconds wait)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, wait, [this] { return !m_ended.empty(); });
    return std::exchange(m_ended, {});
}

double RunningFits::share() const
{
    const std::scoped_lock lock(m_mutex);
    return std::accumulate(m_shares.begin(), m_shares.end(), 0.0) / static_cast<double>(m_shares.size());
}

Result<std::vector<Fitted>> runFits(std::vector<NamedFit> fits, CachedFits& cache, const PreparationWatch& watch)
{
    const auto names = mapped(fits, &NamedFit::name);
    std::vector<Fitted> results(fits.size());
    RunningFits running(std::move(fits), cache);
    for (std::size_t done = 0; done < results.size();) {
        for (RunningFits::Ended& ended : running.take(kAsk)) {
            if (!ended.fit) {
                return Error{names[ended.index], ended.fit.error().message};
            }
            results[ended.index] = *std::move(ended.fit);
            ++done;
        }
        if (watch && !watch(running.share())) {
            return givenUp();
        }
    }
    return results;
}

Error givenUp()
{
    return {"initialisation", "was given up"};
}

} // namespace residua::engine
