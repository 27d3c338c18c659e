// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/factor_fits.h"

#include "engine/graph/kept_fit.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::chrono::milliseconds kAsk{50}; ///< how often it is asked whether the fits are still wanted

std::vector<double> numbersOf(const at::Tensor& tensor)
{
    if (!tensor.defined()) {
        return {};
    }
    const at::Tensor host = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
    const double* const data = host.const_data_ptr<double>();
    return {data, data + host.numel()};
}

Nonlinearity followingOf(const std::string& activation)
{
    return activation == "relu"   ? Nonlinearity::Relu
           : activation == "silu" ? Nonlinearity::Silu
           : activation == "gelu" ? Nonlinearity::Gelu
                                  : Nonlinearity::Identity;
}

/// The fits on their way, shared by the threads that work on them.
class Work {
public:
    Work(const std::vector<FactorFit>& fits, LowRankMethod method, std::filesystem::path cache)
        : m_fits(fits), m_method(method), m_cache(std::move(cache)), m_done(fits.size()), m_shares(fits.size(), 0.0)
    {
    }

    /// Takes one fit after the other until there is none left, or one ends in an error.
    void run()
    {
        for (std::size_t i = m_next++; i < m_fits.size() && !m_stop.stop_requested(); i = m_next++) {
            Result<LowRankFit> fit = Error{};
            try {
                fit = solve(i);
            } catch (const std::exception& failure) {
                fit = Error{m_fits[i].name, failure.what()};
            }
            const std::scoped_lock lock(m_mutex);
            if (fit) {
                m_done[i] = std::move(*fit);
                m_shares[i] = 1;
            } else if (!m_error) {
                m_error = Error{m_fits[i].name, fit.error().message};
                m_stop.request_stop();
            }
        }
        const std::scoped_lock lock(m_mutex);
        ++m_finished;
        m_changed.notify_all();
    }

    /// Waits until so many threads have ended, asking meanwhile. False where it was given up.
    bool wait(std::size_t threads, const PreparationWatch& watch)
    {
        bool isWanted = true;
        std::unique_lock lock(m_mutex);
        while (m_finished < threads) {
            m_changed.wait_for(lock, kAsk);
            const double share =
                std::accumulate(m_shares.begin(), m_shares.end(), 0.0) / static_cast<double>(m_shares.size());
            lock.unlock();
            if (isWanted && watch && !watch(share)) {
                isWanted = false;
                m_stop.request_stop();
            }
            lock.lock();
        }
        return isWanted;
    }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    [[nodiscard]] const std::vector<std::optional<LowRankFit>>& done() const { return m_done; }
    [[nodiscard]] std::vector<std::string> takeCacheFaults() { return std::move(m_cacheFaults); }

private:
    Result<LowRankFit> solve(std::size_t index)
    {
        const LowRankProblem problem = problemOf(m_fits[index]);
        // Without an activation the spectral start is the optimum over isotropic inputs (Eckart and Young).
        const bool needsNoSearch = problem.follows == Nonlinearity::Identity && problem.covariance.empty();
        const LowRankMethod method = needsNoSearch ? LowRankMethod::Spectral : m_method;
        LowRankWatch watch;
        watch.stop = m_stop.get_token();
        watch.progress = [this, index](const LowRankProgress& progress) {
            const std::scoped_lock lock(m_mutex);
            m_shares[index] = progress.fraction;
        };
        return fitKept(problem, method, m_cache, watch, [this](std::string text) { fault(std::move(text)); });
    }

    void fault(std::string text)
    {
        const std::scoped_lock lock(m_mutex);
        m_cacheFaults.push_back(std::move(text));
    }

    const std::vector<FactorFit>& m_fits;
    LowRankMethod m_method;
    std::filesystem::path m_cache;
    std::atomic<std::size_t> m_next = 0;
    std::stop_source m_stop;
    std::mutex m_mutex; ///< of what follows
    std::condition_variable m_changed;
    std::vector<std::optional<LowRankFit>> m_done;
    std::vector<double> m_shares;
    std::vector<std::string> m_cacheFaults;
    std::optional<Error> m_error;
    std::size_t m_finished = 0;
};

std::string counted(std::size_t count)
{
    return std::to_string(count) + (count == 1 ? " factored weight" : " factored weights");
}

/// What all of them have to say, in few lines.
std::vector<std::string> notesOf(const std::vector<FactorFit>& fits, LowRankMethod method, const Work& work,
                                 std::vector<std::string> cacheFaults)
{
    std::vector<std::string> notes;
    std::size_t unfollowed = 0;
    std::vector<std::string> unfinished;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        unfollowed += followingOf(fits[i].follows) == Nonlinearity::Identity && !fits[i].inputMoments.defined() ? 1 : 0;
        if (!work.done()[i]->converged) {
            unfinished.push_back(fits[i].name + ": " + work.done()[i]->note);
        }
    }
    if (method != LowRankMethod::Spectral && unfollowed > 0) {
        notes.push_back(counted(unfollowed) + (unfollowed == 1 ? " has" : " have") +
                        " no activation after them that a fit knows: the spectral start is the optimum there, and "
                        "nothing is searched");
    }
    if (!unfinished.empty()) {
        notes.push_back("the fit of " + counted(unfinished.size()) + " did not converge, first of " +
                        unfinished.front());
    }
    if (!cacheFaults.empty()) {
        const std::size_t more = cacheFaults.size() - 1;
        notes.push_back("cache of fits: " + cacheFaults.front() +
                        (more == 0 ? "" : " (and " + std::to_string(more) + " more)"));
    }
    return notes;
}

} // namespace

Error givenUp()
{
    return {"initialisation", "was given up"};
}

LowRankProblem problemOf(const FactorFit& fit)
{
    LowRankProblem problem;
    problem.out = fit.whole.size(0);
    problem.in = fit.whole.size(1);
    problem.rank = fit.u.size(1);
    problem.weight = numbersOf(fit.whole);
    problem.follows = followingOf(fit.follows);
    problem.covariance = numbersOf(fit.inputMoments);
    problem.seed = fit.seed;
    problem.drawnLeft = numbersOf(fit.u);
    problem.drawnRight = numbersOf(fit.v);
    return problem;
}

LowRankMethod solverOf(projects::LowRankMethod method)
{
    switch (method) {
    case projects::LowRankMethod::Baseline:
        return LowRankMethod::Baseline;
    case projects::LowRankMethod::Spectral:
        return LowRankMethod::Spectral;
    case projects::LowRankMethod::Lfai:
        return LowRankMethod::Lfai;
    case projects::LowRankMethod::LfaiWs:
        return LowRankMethod::LfaiWarmStart;
    case projects::LowRankMethod::ReluSvd:
        return LowRankMethod::ReluSvd;
    case projects::LowRankMethod::Exact:
        break;
    }
    return LowRankMethod::Exact;
}

GapFit gapOf(const LowRankFit& fit)
{
    const LowRankMeasures& measures = fit.measures;
    return {.state = GapFit::State::Fitted,
            .functionError = measures.functionError,
            .fullFunction = measures.fullFunction,
            .weightError = measures.weightError,
            .meanCorrelation = measures.meanCorrelation,
            .spectralGapBound = measures.spectralGapBound,
            .seconds = measures.seconds,
            .converged = fit.converged,
            .note = fit.note};
}

GapWeight gapWeightOf(const FactorFit& fit)
{
    return {fit.name, fit.whole.size(0), fit.whole.size(1), fit.u.size(1),
            std::string(nameOf(followingOf(fit.follows)))};
}

void writeFactors(const FactorFit& fit, const std::vector<double>& left, const std::vector<double>& right)
{
    const at::NoGradGuard noGrad;
    const auto write = [](const at::Tensor& to, const std::vector<double>& values) {
        to.copy_(at::from_blob(const_cast<double*>(values.data()), to.sizes(), at::kDouble));
    };
    write(fit.u, left);
    write(fit.v, right);
}

Result<FitsReport> fitAll(const std::vector<FactorFit>& fits, projects::LowRankMethod method,
                          const std::filesystem::path& cache, const PreparationWatch& watch)
{
    if (fits.empty()) {
        return FitsReport{};
    }
    const LowRankMethod wanted = solverOf(method);
    Work work(fits, wanted, cache);
    const std::size_t count = std::min(fits.size(), static_cast<std::size_t>(std::max(at::get_num_threads(), 1)));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&work] { work.run(); });
    }
    const bool isWanted = work.wait(count, watch);
    threads.clear();
    if (!isWanted) {
        return givenUp();
    }
    if (work.error()) {
        return *work.error();
    }
    FitsReport report;
    report.gap.methods = {method};
    report.gap.outputs = {std::nullopt};
    for (std::size_t i = 0; i < fits.size(); ++i) {
        const LowRankFit& fit = *work.done()[i];
        writeFactors(fits[i], fit.left, fit.right);
        report.gap.weights.push_back(gapWeightOf(fits[i]));
        report.gap.fits.push_back(gapOf(fit));
        if (fits[i].inputMoments.defined()) {
            report.gap.inputs = projects::LowRankInputs::Data;
        }
    }
    report.notes = notesOf(fits, wanted, work, work.takeCacheFaults());
    return report;
}

} // namespace residua::engine
