// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_walk.h"

namespace residua::projects {

BranchSum operator+(BranchSum a, const BranchSum& b)
{
    std::ranges::transform(a, b, a.begin(), std::plus<>());
    return a;
}

Result<UnrolledDepth> Walk::run()
{
    put(0, start());
    BranchSum output = m_entries.back();
    for (std::size_t module = 1; module <= m_modules; ++module) {
        Result<BranchSum> next = m_mix.feeds == MixFeeds::LayerInput ? onMix(module) : beside(module, output);
        if (!next) {
            return next.error();
        }
        output = *std::move(next);
    }
    if (m_plan.readers.size() > m_modules && !m_plan.readers.back().passes) {
        Result<BranchSum> last = mixOf(m_modules, 0, m_wanted != nullptr ? m_wanted->output : BranchSum());
        if (!last) {
            return last.error();
        }
        output = *std::move(last);
    }
    m_result.output = std::move(output);
    return std::move(m_result);
}

std::size_t Walk::firstBranch(std::size_t module) const
{
    return shifted() ? 2 * module : joinsHalves() ? 2 * module - 1 : module;
}

BranchSum Walk::start()
{
    BranchSum sum = m_sums.branch(0);
    if (shifted()) {
        m_result.inputs[0].fill(sum);
        sum = sum + m_sums.branch(1);
    }
    return sum;
}

void Walk::put(std::size_t module, const BranchSum& value)
{
    const auto number = static_cast<std::size_t>(entryOf(m_mix, static_cast<std::int64_t>(module)));
    if (number < m_entries.size()) {
        m_entries[number] = m_entries[number] + value;
    } else {
        m_entries.push_back(value);
    }
}

BranchSum Walk::branchOf(std::size_t module, const Ports& read)
{
    const std::size_t first = firstBranch(module);
    m_result.inputs[first - 1] = read;
    BranchSum branch = m_sums.branch(first);
    const bool another = joinsHalves() || (shifted() && module < m_modules);
    if (another) {
        m_result.inputs[first].fill(read[kResidual] + branch);
        branch = branch + m_sums.branch(first + 1);
    }
    return branch;
}

Result<BranchSum> Walk::mixOf(std::size_t reader, int output, BranchSum wanted)
{
    const DepthReader& who = m_plan.readers[reader];
    MixSite site{
        m_firstTerm[reader] + static_cast<std::size_t>(output) * who.sources.size(), {}, &who, std::move(wanted)};
    for (const std::int64_t source : who.sources) {
        BranchSum entry = m_entries[static_cast<std::size_t>(source)];
        const bool middle = who.middle && source == who.middle->first;
        for (std::int64_t next = source + 1; middle && next <= who.middle->last; ++next) {
            entry = entry + m_entries[static_cast<std::size_t>(next)];
        }
        site.entries.push_back(std::move(entry));
    }
    return m_mixer(site);
}

Result<BranchSum> Walk::onMix(std::size_t module)
{
    const DepthReader& reader = m_plan.readers[module - 1];
    Ports read;
    read.fill(m_entries.back());
    for (std::size_t port = 0; port < read.size() && !reader.passes; ++port) {
        const std::size_t mix = mixFor(m_plan.ports, kReadPorts[port]).value_or(0);
        if (mix != port) {
            read[port] = read[mix];
            continue;
        }
        Result<BranchSum> mixed =
            mixOf(module - 1, static_cast<int>(port),
                  m_wanted != nullptr ? m_wanted->inputs[firstBranch(module) - 1][port] : BranchSum());
        if (!mixed) {
            return mixed;
        }
        read[port] = *std::move(mixed);
    }
    const BranchSum branch = branchOf(module, read);
    const BranchSum full = read[kResidual] + branch;
    put(module, m_mix.entry == StackEntry::Full ? full : branch);
    return full;
}

Result<BranchSum> Walk::beside(std::size_t module, const BranchSum& before)
{
    Ports read;
    read.fill(before);
    const BranchSum branch = branchOf(module, read);
    const DepthReader& reader = m_plan.readers[module - 1];
    const bool twoArrive = hasTwoFamilies(m_mix) && module > 1 && !reader.passes;
    BranchSum full = twoArrive ? m_before + branch : branch;
    m_before = branch;
    if (reader.passes) {
        full = full + m_entries.back();
    } else if (!reader.sources.empty()) {
        BranchSum wanted;
        if (m_wanted != nullptr) {
            wanted = module < m_modules ? m_wanted->inputs[firstBranch(module + 1) - 1][0] : m_wanted->output;
            std::ranges::transform(wanted, full, wanted.begin(), std::minus<>());
        }
        Result<BranchSum> mixed = mixOf(module - 1, 0, std::move(wanted));
        if (!mixed) {
            return mixed;
        }
        full = full + *mixed;
    }
    put(module, m_mix.entry == StackEntry::Full ? full : branch);
    return m_mix.entry == StackEntry::Full ? m_entries.back() : full;
}

} // namespace residua::projects
