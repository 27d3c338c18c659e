// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/sine_phases.h"

#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace residua::engine::theory {
namespace {

constexpr double kMostTime = 200;      ///< η·steps of the bias phase and of the first phase
constexpr double kMostSecond = 20;     ///< η²·steps of the second phase, whose error falls as 1/time
constexpr double kPointsOfPhase = 100; ///< of the course, spread evenly over the logarithm of the time
constexpr double kHalf = std::numbers::sqrt3 / 2;

/// The values of (x_1, x_2), each with probability 1/4.
constexpr std::array<std::array<double, 2>, 4> kInputs{{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}};
using PerInput = std::array<double, kInputs.size()>;

double target(const std::array<double, 2>& x)
{
    return kHalf + kHalf * x[0] - x[0] * x[1];
}

/// Returns the errors of the coefficients of 1, x_1 and x_1·x_2 of a function of (x_1, x_2).
std::array<double, 3> degreeErrors(const PerInput& y)
{
    std::array<double, 3> found{};
    for (std::size_t i = 0; i < kInputs.size(); ++i) {
        const double off = (y[i] - target(kInputs[i])) / 4;
        found[0] += off;
        found[1] += off * kInputs[i][0];
        found[2] += off * kInputs[i][0] * kInputs[i][1];
    }
    std::ranges::transform(found, found.begin(), [](double value) { return std::abs(value); });
    return found;
}

/// One step of a neuron that reads ⟨w, x⟩ + b + `inner` and whose result is added to `outer`.
class NeuronStep {
public:
    NeuronStep(const SineNeuron& neuron, const PerInput& inner, const PerInput& outer)
    {
        for (std::size_t i = 0; i < kInputs.size(); ++i) {
            const auto& [x1, x2] = kInputs[i];
            const double argument = neuron.w1 * x1 + neuron.w2 * x2 + neuron.bias + inner[i];
            own[i] = std::sin(argument);
            output[i] = outer[i] + own[i];
            const double residual = output[i] - target(kInputs[i]);
            loss += residual * residual / 4;
            const double slope = residual * std::cos(argument) / 4;
            m_gradient.w1 += slope * x1;
            m_gradient.w2 += slope * x2;
            m_gradient.bias += slope;
        }
    }

    void apply(double rate, SineNeuron& neuron) const
    {
        neuron.w1 -= rate * m_gradient.w1;
        neuron.w2 -= rate * m_gradient.w2;
        neuron.bias -= rate * m_gradient.bias;
    }

    PerInput own{};    ///< sin(…)
    PerInput output{}; ///< outer + sin(…)
    double loss = 0;

private:
    SineNeuron m_gradient;
};

/// Counts the steps of a phase, and records its course.
class PhaseRun {
public:
    PhaseRun(Phase& phase, double expected, double mostSteps, double rate, std::vector<DegreeErrors>& course)
        : m_phase(phase),
          m_expected(expected),
          m_most(mostSteps),
          m_rate(rate),
          m_course(course),
          m_start(course.empty() ? 0 : course.back().time)
    {
        m_phase.least = std::numeric_limits<double>::infinity();
    }

    /// Takes the state before the next step. Returns false if the phase has ended.
    bool goesOn(double error, const PerInput& output)
    {
        m_phase.least = std::min(m_phase.least, error);
        m_phase.reached = error <= m_expected;
        const bool ends = m_phase.reached || static_cast<double>(m_phase.steps) >= m_most;
        if (ends || static_cast<double>(m_phase.steps) >= m_next) {
            m_course.push_back({m_start + m_rate * static_cast<double>(m_phase.steps), degreeErrors(output)});
            m_next = std::max(m_next + 1, m_next * std::pow(m_most, 1 / kPointsOfPhase));
        }
        m_phase.steps += ends ? 0 : 1;
        return !ends;
    }

private:
    Phase& m_phase;
    double m_expected;
    double m_most;
    double m_rate;
    std::vector<DegreeErrors>& m_course;
    double m_start;
    double m_next = 0;
};

PerInput everywhere(double value)
{
    PerInput all{};
    all.fill(value);
    return all;
}

/// Returns the largest |values − wanted(x)|.
double largestError(const PerInput& values, const auto& wanted)
{
    double largest = 0;
    for (std::size_t i = 0; i < kInputs.size(); ++i) {
        largest = std::max(largest, std::abs(values[i] - wanted(kInputs[i])));
    }
    return largest;
}

void trainBias(double rate, double expected, SinePhases& phases)
{
    double& p0 = phases.network.p0;
    PhaseRun run(phases.bias, expected, kMostTime / rate, rate, phases.course);
    while (run.goesOn(std::abs(p0 - kHalf), everywhere(p0))) {
        p0 -= rate * (p0 - kHalf);
    }
}

void trainFirst(double rate, SinePhases& phases)
{
    SineNeuron neuron;
    const PerInput outer = everywhere(phases.network.p0);
    PhaseRun run(phases.first, rate, kMostTime / rate, rate, phases.course);
    NeuronStep step(neuron, {}, outer);
    const auto wanted = [](const auto& x) { return kHalf + kHalf * x[0]; };
    while (run.goesOn(largestError(step.output, wanted), step.output)) {
        step.apply(rate, neuron);
        step = NeuronStep(neuron, {}, outer);
    }
    phases.singleLoss = step.loss;
    phases.network.first = neuron;
    phases.network.second = neuron;
}

void trainSecond(double rate, SinePhases& phases)
{
    SineNeuron& neuron = phases.network.second;
    const PerInput y1 = NeuronStep(phases.network.first, {}, everywhere(phases.network.p0)).output;
    PhaseRun run(phases.second, rate, kMostSecond / (rate * rate), rate, phases.course);
    NeuronStep step(neuron, y1, y1);
    phases.loss.least = std::numeric_limits<double>::infinity();
    const auto wanted = [](const auto& x) { return -x[0] * x[1]; };
    const auto takeLoss = [&] {
        phases.loss.least = std::min(phases.loss.least, step.loss);
        if (!phases.loss.reached && step.loss <= rate) {
            phases.loss.reached = true;
            phases.loss.steps = phases.second.steps;
        }
    };
    takeLoss();
    while (run.goesOn(largestError(step.own, wanted), step.output)) {
        step.apply(rate, neuron);
        step = NeuronStep(neuron, y1, y1);
        takeLoss();
    }
}

} // namespace

Result<SinePhases> sinePhases(double rate, double biasError)
{
    if (!(rate >= kLeastSineRate && rate <= kMostSineRate)) {
        return Error{"rate", "got " + numberText(rate, 6) + ", expected a number from " + numberText(kLeastSineRate) +
                                 " to " + numberText(kMostSineRate)};
    }
    if (!(biasError > 0)) {
        return Error{"error of p0", "got " + numberText(biasError, 6) + ", expected a positive number"};
    }
    SinePhases phases;
    trainBias(rate, biasError, phases);
    trainFirst(rate, phases);
    if (phases.first.reached) {
        trainSecond(rate, phases);
    }
    return phases;
}

} // namespace residua::engine::theory
