// SPDX-License-Identifier: GPL-3.0-or-later
// Which decoder a project's network is: its numbers are read from the nodes, and the network that each architecture
// makes of them is compared with the project's, node by node from the output back.
#include "projects/huggingface/decoder.h"
#include "projects/nodes/resolved_graph.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace residua::projects {
namespace {

/// What decides how a network is trained, and not what it computes.
const std::set<std::string> kOfTraining{"dropout", "start", "features", "features_start"};
/// Sizes of heads, which can be said in several ways.
const std::set<std::string> kOfHeads{"kv_heads", "head_dim"};

/// The names of nodes of the decoder's own graph, each with that of the node that does the same in the project.
using Names = std::map<std::string, std::string>;

class GraphMatch {
public:
    GraphMatch(const Graph& own, const ResolvedGraph& ownResolved, const Graph& theirs,
               const ResolvedGraph& theirsResolved)
        : m_own(own), m_ownResolved(ownResolved), m_theirs(theirs), m_theirsResolved(theirsResolved)
    {
    }

    /// Nothing where they compute different things.
    std::optional<Names> run()
    {
        const ResolvedNode* const own = outputOf(m_own, m_ownResolved);
        const ResolvedNode* const theirs = outputOf(m_theirs, m_theirsResolved);
        return own && theirs && same(*own, *theirs) ? std::optional(m_names) : std::nullopt;
    }

private:
    static const ResolvedNode* outputOf(const Graph& graph, const ResolvedGraph& resolved)
    {
        for (const Node& node : graph.nodes) {
            if (roleOf(node) == NodeRole::GraphOutput) {
                return nodeIn(resolved, node.id);
            }
        }
        return nullptr;
    }

    static const ResolvedNode* nodeIn(const ResolvedGraph& resolved, NodeId id)
    {
        const auto found = std::ranges::find(resolved.nodes, id, &ResolvedNode::id);
        return found == resolved.nodes.end() ? nullptr : &*found;
    }

    /// What feeds an input, dropout aside.
    static const ResolvedNode* feedOf(const ResolvedGraph& resolved, const ResolvedNode& node, std::size_t input)
    {
        const ResolvedNode* feed = nodeIn(resolved, node.feeds[input].node);
        while (feed != nullptr && feed->kind->key == "dropout") {
            feed = nodeIn(resolved, feed->feeds[0].node);
        }
        return feed;
    }

    static bool sameParams(const ResolvedNode& own, const ResolvedNode& theirs)
    {
        const bool attends = own.kind->traits.role == NodeRole::Attention;
        if (attends && !sameHeads(own, theirs)) {
            return false;
        }
        return own.params.size() == theirs.params.size() && std::ranges::all_of(own.params, [&](const auto& param) {
                   const auto found = theirs.params.find(param.first);
                   return found != theirs.params.end() &&
                          (kOfTraining.contains(param.first) || (attends && kOfHeads.contains(param.first)) ||
                           found->second == param.second);
               });
    }

    static bool sameHeads(const ResolvedNode& own, const ResolvedNode& theirs)
    {
        const AttentionSizes mine = attentionSizesOf(own.params, own.in.front().features());
        const AttentionSizes other = attentionSizesOf(theirs.params, theirs.in.front().features());
        return mine.kvHeads == other.kvHeads && mine.headDim == other.headDim;
    }

    bool same(const ResolvedNode& own, const ResolvedNode& theirs)
    {
        const std::string& name = m_own.find(own.id)->name;
        const std::string& theirName = m_theirs.find(theirs.id)->name;
        if (const auto known = m_names.find(name); known != m_names.end()) {
            return known->second == theirName;
        }
        if (own.kind != theirs.kind || own.feeds.size() != theirs.feeds.size() || !sameParams(own, theirs)) {
            return false;
        }
        m_names[name] = theirName;
        std::vector<std::size_t> order(own.feeds.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        if (sameFeeds(own, theirs, order)) {
            return true;
        }
        std::ranges::reverse(order); // a sum of two is the same either way
        return own.kind->traits.role == NodeRole::Sum && order.size() == 2 && sameFeeds(own, theirs, order);
    }

    bool sameFeeds(const ResolvedNode& own, const ResolvedNode& theirs, const std::vector<std::size_t>& order)
    {
        const Names before = m_names;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const ResolvedNode* const mine = feedOf(m_ownResolved, own, i);
            const ResolvedNode* const other = feedOf(m_theirsResolved, theirs, order[i]);
            if (!mine || !other || !same(*mine, *other)) {
                m_names = before;
                return false;
            }
        }
        return true;
    }

    const Graph& m_own;
    const ResolvedGraph& m_ownResolved;
    const Graph& m_theirs;
    const ResolvedGraph& m_theirsResolved;
    Names m_names;
};

/// The parameters of the first node of a kind; nullptr where there is none.
const ParamMap* paramsOf(const ResolvedGraph& graph, std::string_view kind)
{
    const auto found = std::ranges::find_if(graph.nodes, [&](const ResolvedNode& n) { return n.kind->key == kind; });
    return found == graph.nodes.end() ? nullptr : &found->params;
}

/// The linear that feeds the first node of a kind.
const ResolvedNode* linearBefore(const ResolvedGraph& graph, std::string_view kind)
{
    const auto reader = std::ranges::find_if(graph.nodes, [&](const ResolvedNode& n) { return n.kind->key == kind; });
    if (reader == graph.nodes.end()) {
        return nullptr;
    }
    const auto feed = std::ranges::find(graph.nodes, reader->feeds[0].node, &ResolvedNode::id);
    return feed != graph.nodes.end() && feed->kind->key == "linear" ? &*feed : nullptr;
}

double realOr(const ParamMap& params, const char* name, double otherwise)
{
    const auto found = params.find(name);
    const auto* const value = found == params.end() ? nullptr : std::get_if<double>(&found->second);
    return value == nullptr ? otherwise : *value;
}

/// The numbers that the project's nodes have; whether they make a decoder shows when its network is compared.
class DecoderFinder {
public:
    explicit DecoderFinder(const Project& project) : m_project(project)
    {
        m_stem = resolveGraph(project, GraphRef::stem());
        m_head = resolveGraph(project, GraphRef::head());
        for (const StackSegment& segment : project.network.stack) {
            m_blocks.push_back(resolveGraph(project, GraphRef::block(segment.block)));
        }
    }

    Result<FoundDecoder> find() const
    {
        for (const DecoderKind& kind : decoderKinds()) {
            for (const bool parallel : {false, true}) {
                const std::optional<Decoder> candidate = candidateOf(kind, parallel);
                auto names = candidate ? match(*candidate) : std::nullopt;
                if (names) {
                    return FoundDecoder{*candidate, std::move(*names)};
                }
            }
        }
        return Error{"network", "its blocks, stem and head are those of no architecture that transformers has"};
    }

private:
    std::optional<Decoder> candidateOf(const DecoderKind& kind, bool parallel) const
    {
        const ParamMap* const attention = paramsOf(m_blocks.front(), "attention");
        const ResolvedNode* const up = linearBefore(m_blocks.front(), kind.gated ? "swiglu" : "activation");
        const ParamMap* const norm = paramsOf(m_head, kind.layerNorm ? "layer_norm" : "rms_norm");
        const ParamMap* const positions = paramsOf(m_stem, "position_embedding");
        if (!attention || !up || !norm || (parallel && kind.name != "gpt_neox")) {
            return std::nullopt;
        }
        Decoder decoder;
        decoder.kind = kind.name;
        decoder.layers = m_project.network.depth();
        decoder.width = m_project.network.width;
        const AttentionSizes sizes = attentionSizesOf(*attention, decoder.width);
        decoder.heads = sizes.heads;
        decoder.kvHeads = sizes.kvHeads;
        decoder.headDim = sizes.headDim;
        decoder.hidden = paramInt(up->params, "out");
        decoder.vocabulary = vocabularyOf(m_project.data);
        decoder.positions = positions ? paramInt(*positions, "length") : m_project.training.sequenceLength;
        if (const ParamMap* const activation = paramsOf(m_blocks.front(), "activation")) {
            decoder.activation = paramText(*activation, "function");
        }
        decoder.epsilon = paramDouble(*norm, "epsilon");
        decoder.tied = m_project.network.tieHead;
        decoder.ffnBias = paramBool(up->params, "bias");
        decoder.parallel = parallel;
        readAttention(decoder, *attention);
        return fits(decoder, kind) ? std::optional(decoder) : std::nullopt;
    }

    void readAttention(Decoder& decoder, const ParamMap& attention) const
    {
        decoder.bias = paramText(attention, "bias");
        decoder.ropeBase = paramDouble(attention, "rope_base");
        decoder.rotaryShare = paramDouble(attention, "rotary_share");
        decoder.ropeScaling = paramText(attention, "rope_scaling");
        decoder.ropeFactor = realOr(attention, "rope_factor", 1);
        decoder.ropeLow = realOr(attention, "rope_low_frequency", 1);
        decoder.ropeHigh = realOr(attention, "rope_high_frequency", 4);
        decoder.ropeOriginal = paramInt(attention, "rope_original_length");
        decoder.window = paramInt(attention, "window");
        for (std::size_t i = 1; i < m_blocks.size() && decoder.window == 0; ++i) {
            decoder.seeAll += m_project.network.stack[i - 1].repeat;
            const ParamMap* const later = paramsOf(m_blocks[i], "attention");
            decoder.window = later ? paramInt(*later, "window") : 0;
        }
        decoder.seeAll = decoder.window > 0 ? decoder.seeAll : 0;
    }

    /// What a config.json of the kind can say.
    static bool fits(const Decoder& decoder, const DecoderKind& kind)
    {
        const std::string_view name = kind.name;
        const bool biased = name == "llama" || name == "qwen3" || name == "olmo2" || name == "gpt_neox";
        const std::string_view bias = name == "qwen2" ? "qkv" : name == "gpt2" ? "all" : "none";
        const bool biasFits = decoder.bias == bias || (biased && decoder.bias == "all");
        const bool ffnFits = name == "llama" || decoder.ffnBias == kind.layerNorm;
        const bool windowed = name == "mistral" || name == "qwen2" || name == "qwen3";
        const bool windowFits = decoder.window == 0 || (windowed && (decoder.seeAll == 0 || name != "mistral"));
        const bool headsFit =
            !kind.layerNorm || (decoder.kvHeads == decoder.heads && decoder.headDim * decoder.heads == decoder.width);
        const bool shareFits = decoder.rotaryShare == 1 || name == "gpt_neox";
        return biasFits && ffnFits && windowFits && headsFit && shareFits;
    }

    /// By parameters' prefixes of the decoder's own network: the project's.
    std::optional<Names> match(const Decoder& decoder) const
    {
        Project own = projectOf(decoder, "", m_project.data.source);
        own.training.sequenceLength = m_project.training.sequenceLength;
        if (own.network.depth() != m_project.network.depth()) {
            return std::nullopt;
        }
        Names all;
        if (!matchGraph(own, GraphRef::stem(), m_stem, GraphRef::stem(), "stem.", all) ||
            !matchGraph(own, GraphRef::head(), m_head, GraphRef::head(), "head.", all)) {
            return std::nullopt;
        }
        std::int64_t layer = 0;
        for (std::size_t i = 0; i < m_blocks.size(); ++i) {
            const StackSegment& segment = m_project.network.stack[i];
            for (std::int64_t n = 0; n < segment.repeat; ++n) {
                const GraphRef mine = GraphRef::block(own.network.blockOfLayer(++layer)->name);
                if (!matchGraph(own, mine, m_blocks[i], GraphRef::block(segment.block),
                                "layers." + std::to_string(layer) + ".", all)) {
                    return std::nullopt;
                }
            }
        }
        return all;
    }

    bool matchGraph(const Project& own, const GraphRef& mine, const ResolvedGraph& resolved, const GraphRef& theirs,
                    const std::string& prefix, Names& all) const
    {
        const ResolvedGraph ownResolved = resolveGraph(own, mine);
        const auto names =
            GraphMatch(*findGraph(own, mine), ownResolved, *findGraph(m_project, theirs), resolved).run();
        if (!names) {
            return false;
        }
        for (const auto& [ours, name] : *names) {
            all[prefix + ours] = prefix + name;
        }
        return true;
    }

    const Project& m_project;
    ResolvedGraph m_stem;
    ResolvedGraph m_head;
    std::vector<ResolvedGraph> m_blocks; ///< by segment
};

} // namespace

Result<FoundDecoder> decoderOf(const SoundProject& project)
{
    const auto* const mix = std::get_if<DepthMix>(&project->topology.wiring);
    if (mix == nullptr || !isRunningSum(*mix) || !mix->states.empty()) {
        return Error{"topology", "it is " + project->topology.preset + ", and transformers has plain residuals alone"};
    }
    if (!isLanguage(project->data)) {
        return Error{"data", "it is no language model"};
    }
    return DecoderFinder(*project).find();
}

std::string FoundDecoder::parameter(const std::string& own) const
{
    // "layers.3.attention" of "layers.3.attention.q.weight"; "stem.embedding" of "stem.embedding.weight"
    const std::size_t inside = own.starts_with("layers.") ? own.find('.', own.find('.') + 1) : own.find('.');
    const std::size_t end = own.find('.', inside + 1);
    const auto found = names.find(own.substr(0, end));
    return found == names.end() ? own : found->second + own.substr(end);
}

} // namespace residua::projects
