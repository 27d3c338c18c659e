// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/visit_results.h"

#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::size_t kFewestPoints = 4;

/// The losses of one loop by the number of visits.
using Losses = std::vector<std::pair<double, double>>;

/// Returns the fit with the rate z: a line through the losses as a function of e^(−z·T/R).
VisitFit fitAt(double rate, double visits, const Losses& losses)
{
    const auto count = static_cast<double>(losses.size());
    const auto decay = [&](double made) { return std::exp(-rate * made / visits); };
    double meanX = 0;
    double meanY = 0;
    for (const auto& [made, loss] : losses) {
        meanX += decay(made) / count;
        meanY += loss / count;
    }
    double covariance = 0;
    double variance = 0;
    for (const auto& [made, loss] : losses) {
        covariance += (decay(made) - meanX) * (loss - meanY);
        variance += (decay(made) - meanX) * (decay(made) - meanX);
    }
    VisitFit fit{.visits = visits, .height = covariance / variance, .rate = rate};
    fit.least = meanY - fit.height * meanX;
    for (const auto& [made, loss] : losses) {
        const double apart = fit.least + fit.height * decay(made) - loss;
        fit.error += apart * apart / count;
    }
    fit.error = std::sqrt(fit.error);
    return fit;
}

/// Searches the rate among evenly spaced logarithms, then again around the best one.
VisitFit bestFit(double visits, const Losses& losses)
{
    constexpr int kRounds = 6;
    constexpr int kRates = 200;
    double low = std::log(0.01);
    double high = std::log(100.0);
    VisitFit best{.error = std::numeric_limits<double>::infinity()};
    for (int round = 0; round < kRounds; ++round) {
        const double step = (high - low) / kRates;
        for (int place = 0; place <= kRates; ++place) {
            const VisitFit fit = fitAt(std::exp(low + place * step), visits, losses);
            best = fit.error < best.error ? fit : best;
        }
        low = std::log(best.rate) - step;
        high = std::log(best.rate) + step;
    }
    return best;
}

} // namespace

std::string VisitFit::text() const
{
    constexpr int kDigits = 4;
    return "loss after T visits: " + numberText(least, kDigits) + (height < 0 ? " - " : " + ") +
           numberText(std::abs(height), kDigits) + " e^(-" + numberText(rate, kDigits) +
           " T/R), R = " + numberText(visits) + ", within " + numberText(error, 2) + " (root mean square)";
}

std::vector<VisitFit> visitFitsOf(const KnockoutReady& measured)
{
    std::vector<Losses> loops;
    for (const KnockoutRow& row : measured.rows) {
        const auto visits = static_cast<double>(row.first);
        if (loops.empty() || visits <= loops.back().back().first) {
            loops.emplace_back(); // the numbers of a loop ascend
        }
        loops.back().emplace_back(visits, measured.loss + row.rise);
    }
    std::vector<VisitFit> fits;
    for (Losses& losses : loops) {
        double evaluated = 1; // the number that has no row
        for (const auto& [visits, loss] : losses) {
            evaluated += visits == evaluated ? 1 : 0;
        }
        losses.emplace_back(evaluated, measured.loss);
        const auto [low, high] = std::ranges::minmax(losses, {}, &std::pair<double, double>::second);
        const bool isFinite =
            std::ranges::all_of(losses, [](const auto& point) { return std::isfinite(point.second); });
        if (losses.size() >= kFewestPoints && isFinite && low.second < high.second) {
            fits.push_back(bestFit(evaluated, losses));
        }
    }
    return fits;
}

std::string visitsCsv(const std::vector<VisitCurve>& curves)
{
    std::string csv = "measure,layer,visit,value\n";
    for (const VisitCurve& curve : curves) {
        const std::string_view name =
            projects::Choices<VisitMeasure>::all[static_cast<std::size_t>(curve.measure)].name;
        const std::string layer = curve.layer > 0 ? std::to_string(curve.layer) : "";
        for (std::size_t i = 0; i < curve.values.size(); ++i) {
            const double value = curve.values[i];
            csv += std::string(name) + "," + layer + "," + std::to_string(i + 1) + "," +
                   (std::isnan(value) ? std::string() : numberText(value)) + "\n";
        }
    }
    return csv;
}

} // namespace residua::engine
