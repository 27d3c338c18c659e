// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/problems.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/stream_start.h"
#include "projects/model/graph.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <set>

namespace residua::projects {
namespace {

const std::string kPath = "/topology/wiring";

/// Checks the depth mix of one project.
class MixCheck {
public:
    MixCheck(const DepthMix& mix, const Network& network, Problems& problems)
        : m_mix(mix),
          m_network(network),
          m_depth(mixedModules(mix, network.depth())),
          m_last(lastReader(mix, m_depth)),
          m_problems(problems)
    {
    }

    void run()
    {
        checkSources();
        checkCombination();
        checkTokenWeights();
        checkPorts();
        checkStates();
        checkReaders();
    }

private:
    void error(const std::string& key, const std::string& place, const std::string& message)
    {
        m_problems.error(kPath + key, "topology" + place, message);
    }
    void warning(const std::string& key, const std::string& place, const std::string& message)
    {
        m_problems.warning(kPath + key, "topology" + place, message);
    }

    void error(const std::string& key, const std::string& message) { m_problems.error(kPath + key, message); }
    void warning(const std::string& key, const std::string& message) { m_problems.warning(kPath + key, message); }

    void checkSources()
    {
        if (const auto* const ends = std::get_if<FirstAndLast>(&m_mix.sources)) {
            checkEnds(*ends);
        } else if (std::holds_alternative<Dilated>(m_mix.sources)) {
            if (m_mix.entry == StackEntry::Branch) {
                warning("/sources",
                        "dilated sources of a stack of branches leave branches out of the sum; DenseFormer stacks full "
                        "outputs");
            }
        } else if (const auto* const list = std::get_if<ExplicitSources>(&m_mix.sources)) {
            checkList(*list);
        }
    }

    /// The last layer has m_depth entries before it; of what is not in the last k the input and a sum of one entry are
    /// read as they are.
    void checkEnds(const FirstAndLast& ends)
    {
        const bool sums = ends.earlier == EarlierEntries::InputAndSum;
        const std::int64_t beside = sums ? 2 : ends.earlier == EarlierEntries::Input ? 1 : 0;
        if (ends.k < 1 || ends.k + beside < m_depth) {
            return;
        }
        const bool partAtLast = m_mix.finalMix && ends.k + beside == m_depth;
        const std::string part = sums ? ", and only the final output a sum" : ", and only the final output a part";
        warning("/sources/k", std::string("with k") + (beside > 0 ? " + " + std::to_string(beside) : "") + " ≥ " +
                                  std::to_string(m_depth) + " every layer reads the full stack" +
                                  (partAtLast ? part : ""));
    }

    void checkList(const ExplicitSources& list)
    {
        std::set<Shortcut> seen;
        for (std::size_t i = 0; i < list.shortcuts.size(); ++i) {
            const Shortcut& shortcut = list.shortcuts[i];
            const std::string key = "/sources/shortcuts/" + std::to_string(i);
            if (!isBetween(shortcut)) {
                error(key, " · shortcut " + textOf(shortcut), "expected 0 ≤ i < j ≤ " + std::to_string(m_last));
            } else if (!isReadable(m_mix, shortcut, m_depth)) {
                error(key, " · shortcut " + textOf(shortcut), whyUnreadable(shortcut));
            } else if (!seen.insert(shortcut).second) {
                error(key, " · shortcut " + textOf(shortcut), "is listed twice");
            } else if (i > 0 && shortcut < list.shortcuts[i - 1]) {
                error(key, " · shortcut " + textOf(shortcut),
                      "stands after " + textOf(list.shortcuts[i - 1]) +
                          ", expected ascending order by target, then source");
            }
        }
    }

    std::string whyUnreadable(const Shortcut& shortcut) const
    {
        if (const std::int64_t newest = newestEntryBefore(m_mix, shortcut.target); shortcut.source > newest) {
            return "starts from an entry that is not there yet: layers share entries, expected i ≤ " +
                   std::to_string(newest);
        }
        return shortcut.target == m_depth && !m_mix.lastMix
                   ? "ends at the last layer, which has no shortcuts without the last mix"
                   : "joins the inputs of an attention and an FFN, expected like sites or the choice of any";
    }

    bool isBetween(const Shortcut& shortcut) const
    {
        return shortcut.source >= 0 && shortcut.source < shortcut.target && shortcut.target <= m_last;
    }

    void checkCombination()
    {
        if (m_mix.feeds == MixFeeds::ResidualBesideBranch && m_mix.ports != MixPorts::Input) {
            error("/ports",
                  "mixes of their own for q, k and v feed the layer's input, not the residual beside its branch");
        }
        if (m_mix.blockLayers > 1 &&
            (m_mix.entry == StackEntry::Full || m_mix.feeds == MixFeeds::ResidualBesideBranch)) {
            error("/block_layers", "got " + std::to_string(m_mix.blockLayers) +
                                       ", expected 1: only branches that layers read are summed");
        }
        if (!m_mix.lastMix && m_mix.feeds == MixFeeds::LayerInput) {
            error("/last_mix", "only shortcuts beside the branches can leave out the last layer's; see the final mix");
        }
        const auto* const ends = std::get_if<FirstAndLast>(&m_mix.sources);
        if (hasTwoFamilies(m_mix) && ends != nullptr && ends->earlier == EarlierEntries::InputAndSum) {
            error("/sources", "a sum over the middle would join inputs of attentions and FFNs; choose other sources, "
                              "or let shortcuts join any sites");
        }
        if (m_mix.tsallis.weight > 0 && !hasEntropy(m_mix)) {
            error("/tsallis/weight", traitsOf(m_mix.weight).isPerToken
                                         ? "weights made for each token have no coefficients"
                                         : "the entropy is that of learned, normalised coefficients");
        }
        if (m_mix.normalise == NormaliseOver::None && m_mix.init == MixInit::Zero &&
            m_mix.feeds == MixFeeds::LayerInput && !traitsOf(m_mix.weight).attends) {
            const bool fixed = m_mix.weight == WeightKind::Fixed;
            const std::string message = "every layer reads a sum with weights of 0";
            fixed ? error("/init", message) : warning("/init", message + " at first");
        }
    }

    /// Checks weights that are computed for each token.
    void checkTokenWeights()
    {
        if (m_mix.gate.kind != GateKind::None && !takesGate(m_mix)) {
            error("/gate", "weights made for each token take no gate");
        }
        if (!traitsOf(m_mix.weight).isPerToken) {
            return;
        }
        if (traitsOf(m_mix.weight).attends && m_mix.normalise != NormaliseOver::Sources) {
            error("/normalise", "attention over depth is a softmax over the sources");
        } else if (m_mix.normalise == NormaliseOver::Targets) {
            error("/normalise", "weights made for each token are normalised over the sources or not");
        }
    }

    void checkPorts()
    {
        const bool apart = m_mix.ports != MixPorts::Input;
        for (const Block* const block : usedBlocks(m_network)) {
            if (apart && !hasInputPort(block->graph, MixPort::Query)) {
                error("/ports", "block " + block->name + " has one input port, expected q, k and v");
            } else if (m_mix.ports == MixPorts::QkvResidual && !hasInputPort(block->graph, MixPort::Residual)) {
                error("/ports", "block " + block->name + " has no port residual");
            }
        }
    }

    void checkStates()
    {
        std::int64_t target = 0; // states are ordered by their targets
        std::vector<std::int64_t> sources;
        for (const auto& [shortcut, state] : m_mix.states) {
            if (shortcut.target != target) {
                target = shortcut.target;
                sources = allSourcesOf(target);
            }
            const std::string key = "/states/" + textOf(shortcut);
            const std::string place = " · shortcut " + textOf(shortcut);
            if (!isBetween(shortcut)) {
                error(key, place, "expected 0 ≤ i < j ≤ " + std::to_string(m_last));
            } else if (state == ShortcutState::Frozen && !hasCoefficients(m_mix) &&
                       (m_mix.gate.kind == GateKind::None || traitsOf(m_mix.weight).isPerToken) &&
                       !(m_mix.weight == WeightKind::Fixed && state.hasOwnWeight())) {
                warning(key, place, "is frozen where no weight is learned");
            } else if (state == ShortcutState::Learned && m_mix.weight != WeightKind::Fixed) {
                warning(key, place, "is learned where all weights are");
            } else if (!std::ranges::binary_search(sources, shortcut.source)) {
                warning(key, place, "has a state and is not read");
            }
        }
    }

    /// Returns the sources of `target` as if none were pruned, with a summed middle listed by its first entry.
    std::vector<std::int64_t> allSourcesOf(std::int64_t target) const
    {
        return readerOf(m_mix, target, m_depth, Pruned::Counted).sources;
    }

    void checkReaders()
    {
        for (std::int64_t target = 1; target <= m_last; ++target) {
            checkReader(readerOf(m_mix, target, m_depth));
        }
        if (m_mix.normalise == NormaliseOver::Targets) {
            checkSharedSources();
        }
    }

    /// Checks that a softmax over targets has a reader for each source.
    void checkSharedSources()
    {
        std::vector<std::int64_t> readers(static_cast<std::size_t>(m_last + 1), 0); // readers of each source
        std::vector<bool> offered(static_cast<std::size_t>(m_last + 1), false);
        for (std::int64_t target = 1; target <= m_last; ++target) {
            for (const std::int64_t source : allSourcesOf(target)) {
                offered[static_cast<std::size_t>(source)] = true;
            }
            for (const std::int64_t source : readerOf(m_mix, target, m_depth).sources) {
                ++readers[static_cast<std::size_t>(source)];
            }
        }
        for (std::int64_t source = 0; source <= m_depth; ++source) {
            if (offered[static_cast<std::size_t>(source)] && readers[static_cast<std::size_t>(source)] == 0) {
                error("/states", " · source " + std::to_string(source),
                      "every shortcut out of it is pruned, and the softmax has nothing left to share");
            }
        }
    }

    void checkReader(const DepthReader& reader)
    {
        if (!reader.sources.empty()) {
            return;
        }
        const std::string place = " · " + readerName(m_mix, m_network.stack(), reader.target);
        if (m_mix.normalise == NormaliseOver::Sources && !allSourcesOf(reader.target).empty()) {
            error("/states", place, "every shortcut into it is pruned, and the softmax has nothing left to share");
        } else if (!reader.passes && (m_mix.feeds == MixFeeds::LayerInput || reader.target > m_depth)) {
            error("/sources", place, "reads nothing, expected at least one source");
        }
    }

    const DepthMix& m_mix;
    const Network& m_network;
    std::int64_t m_depth;
    std::int64_t m_last;
    Problems& m_problems;
};

/// Reports norms in the half `own` that would use weights of the other half. Each half makes its own weights under the
/// owner's name.
void checkSharedAcross(const Block& block, const Graph& own, const Graph& other, Problems& problems)
{
    for (const Node& node : own.nodes) {
        const std::string owner = weightOwnerOf(node);
        const bool isHere = std::ranges::find(own.nodes, owner, &Node::name) != own.nodes.end();
        const auto uses = [&owner](const Node& each) { return each.name == owner || weightOwnerOf(each) == owner; };
        if (!owner.empty() && !isHere && std::ranges::any_of(other.nodes, uses)) {
            problems.error(kPath + "/sites", "block " + block.name + " is cut before its FFN, and node " + node.name +
                                                 " shares weights with " + owner +
                                                 " of the other half, expected one of its own half; choose the sites "
                                                 "mhsa to act once a layer");
        }
    }
}

/// Checks that blocks can be split if the wiring acts at FFN inputs.
void checkSites(const Wiring& wiring, const Network& network, Problems& problems)
{
    if (!splitsLayers(wiring)) {
        return;
    }
    for (const Block* const block : usedBlocks(network)) {
        const Result<std::vector<Graph>> halves = graphsAsRun(wiring, *block);
        if (!halves) {
            problems.error(kPath + "/sites", halves.error().place + " " + halves.error().message +
                                                 "; choose the sites mhsa to act once a layer");
            continue;
        }
        checkSharedAcross(*block, halves->front(), halves->back(), problems);
        checkSharedAcross(*block, halves->back(), halves->front(), problems);
    }
}

void check(const DepthMix& mix, const Network& network, Problems& problems)
{
    MixCheck(mix, network, problems).run();
}

void check(const MultiStream& wiring, const Network& network, Problems& problems)
{
    const std::string got = "got " + std::to_string(wiring.streams) + ", expected ";
    if (wiring.constraint != StreamConstraint::None && wiring.streams == 1) {
        problems.error(kPath + "/streams", got + "at least 2 to mix");
    }
    if (wiring.constraint == StreamConstraint::Permutations && wiring.streams > kMostPermutedStreams) {
        problems.error(kPath + "/streams", got + "at most " + std::to_string(kMostPermutedStreams) +
                                               ", whose permutations are mixed one by one");
    }
    if (wiring.constraint == StreamConstraint::Identity && wiring.weights == StreamWeights::Static) {
        problems.warning(kPath + "/weights", "streams that do not mix start equal, and learn alike without a part that "
                                             "depends on the input");
    }
    if (wiring.state == StreamState::Fractions) {
        if (wiring.constraint != StreamConstraint::None) {
            problems.error(kPath + "/constraint", "fractions of a residual are mixed freely");
        }
        if (wiring.streams > 0 && network.stack().width % wiring.streams != 0) {
            problems.error(kPath + "/streams", got + "a number of fractions that divides the width, " +
                                                   std::to_string(network.stack().width));
        }
    }
}

void check(const BranchGate& wiring, const Network& network, Problems& problems)
{
    for (const Block* const block : usedBlocks(network)) {
        if (wiring.gate != BranchGateKind::ValueResidual) {
            break;
        }
        if (const auto attentions = std::ranges::count(block->graph.nodes, NodeRole::Attention, roleOf);
            attentions == 0) {
            problems.error(kPath + "/gate", "block " + block->name + " has no attention whose values could be mixed");
        } else if (attentions > 1) {
            problems.error(kPath + "/gate", "block " + block->name + " has " + std::to_string(attentions) +
                                                " attentions, expected one whose values are mixed");
        }
    }
}

void check(const Concatenation&, const Network&, Problems&) {}

} // namespace

void validateTopology(const Project& project, Problems& problems)
{
    problems.checkRanges("/topology");
    if (project.network.depth() > kMaxLayers) {
        return; // the stack is invalid, so other limits mean little
    }
    std::visit([&](const auto& wiring) { check(wiring, project.network, problems); }, project.stack().topology.wiring);
    checkSites(project.stack().topology.wiring, project.network, problems);
}

} // namespace residua::projects
