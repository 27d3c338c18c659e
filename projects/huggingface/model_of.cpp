// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the model that a project's network corresponds to. Its numbers are read from the nodes. The network that each
// architecture builds from them is compared with the project's, node by node from the output back.
#include "projects/huggingface/known_model.h"

#include "projects/huggingface/config_words.h"
#include "projects/huggingface/model_kinds.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/resolved_graph.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace residua::projects {
namespace {

/// Parameters that affect the training but not the function.
const std::set<std::string> kOfTraining{"dropout", "start"};
/// Sizes of heads, which can be expressed in several ways.
const std::set<std::string> kOfHeads{"kv_heads", "head_dim"};

/// Maps names of nodes of the candidate's graph to those of the equivalent nodes of the project.
using Names = std::map<std::string, std::string>;

/// Compares the graph of an architecture with the project's. Each node is matched with a single node.
class GraphMatch {
public:
    GraphMatch(const Graph& candidate, const ResolvedGraph& candidateResolved, const Graph& project,
               const ResolvedGraph& projectResolved)
        : m_candidate(candidate),
          m_candidateResolved(candidateResolved),
          m_project(project),
          m_projectResolved(projectResolved)
    {
    }

    /// Returns the matched names, or nullopt if the graphs compute different functions.
    std::optional<Names> run()
    {
        const ResolvedNode* const candidate = outputOf(m_candidate, m_candidateResolved);
        const ResolvedNode* const project = outputOf(m_project, m_projectResolved);
        return candidate && project && same(*candidate, *project) ? std::optional(m_names) : std::nullopt;
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

    /// Returns the node that feeds an input, skipping nodes that act only in training.
    static const ResolvedNode* feedOf(const ResolvedGraph& resolved, const ResolvedNode& node, std::size_t input)
    {
        const ResolvedNode* feed = nodeIn(resolved, node.feeds[input].node);
        while (feed != nullptr && feed->kind->traits.onlyInTraining) {
            feed = nodeIn(resolved, feed->feeds[0].node);
        }
        return feed;
    }

    /// True if two nodes agree in all parameters that apply under the candidate's settings.
    [[nodiscard]] bool sameParams(const ResolvedNode& candidate, const ResolvedNode& project) const
    {
        const bool attends = candidate.kind->traits.role == NodeRole::Attention;
        const Node& node = *m_candidate.find(candidate.id);
        return (!attends || sameHeads(candidate, project)) &&
               std::ranges::all_of(candidate.kind->params, [&](const ParamSpec& spec) {
                   return kOfTraining.contains(spec.name()) || (attends && kOfHeads.contains(spec.name())) ||
                          !appliesTo(spec, node) || candidate.params.at(spec.name()) == project.params.at(spec.name());
               });
    }

    static bool sameHeads(const ResolvedNode& candidate, const ResolvedNode& project)
    {
        const AttentionSizes one = attentionSizesOf(candidate.params, candidate.in.front().features());
        const AttentionSizes other = attentionSizesOf(project.params, project.in.front().features());
        return one.kvHeads == other.kvHeads && one.headDim == other.headDim;
    }

    bool same(const ResolvedNode& candidate, const ResolvedNode& project)
    {
        const std::string& name = m_candidate.find(candidate.id)->name;
        const std::string& other = m_project.find(project.id)->name;
        if (const auto known = m_names.find(name); known != m_names.end()) {
            return known->second == other;
        }
        const bool taken = std::ranges::any_of(m_names, [&](const auto& pair) { return pair.second == other; });
        if (taken || candidate.kind != project.kind || candidate.feeds.size() != project.feeds.size() ||
            !sameParams(candidate, project)) {
            return false;
        }
        m_names[name] = other;
        std::vector<std::size_t> order(candidate.feeds.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        if (sameFeeds(candidate, project, order)) {
            return true;
        }
        std::ranges::reverse(order); // a sum of two does not depend on their order
        return candidate.kind->traits.role == NodeRole::Sum && order.size() == 2 &&
               sameFeeds(candidate, project, order);
    }

    bool sameFeeds(const ResolvedNode& candidate, const ResolvedNode& project, const std::vector<std::size_t>& order)
    {
        const Names before = m_names;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const ResolvedNode* const one = feedOf(m_candidateResolved, candidate, i);
            const ResolvedNode* const other = feedOf(m_projectResolved, project, order[i]);
            if (!one || !other || !same(*one, *other)) {
                m_names = before;
                return false;
            }
        }
        return true;
    }

    const Graph& m_candidate;
    const ResolvedGraph& m_candidateResolved;
    const Graph& m_project;
    const ResolvedGraph& m_projectResolved;
    Names m_names;
};

/// Returns the parameters of the first node of a kind, or null.
const ParamMap* paramsOf(const ResolvedGraph& graph, std::string_view kind)
{
    const auto found = std::ranges::find_if(graph.nodes, [&](const ResolvedNode& n) { return n.kind->key == kind; });
    return found == graph.nodes.end() ? nullptr : &found->params;
}

const ParamMap* attentionIn(const ResolvedGraph& graph)
{
    const auto found = std::ranges::find_if(
        graph.nodes, [](const ResolvedNode& n) { return n.kind->traits.role == NodeRole::Attention; });
    return found == graph.nodes.end() ? nullptr : &found->params;
}

/// Returns the linear node that feeds the first node of a kind.
const ResolvedNode* linearBefore(const ResolvedGraph& graph, std::string_view kind)
{
    const auto reader = std::ranges::find_if(graph.nodes, [&](const ResolvedNode& n) { return n.kind->key == kind; });
    if (reader == graph.nodes.end()) {
        return nullptr;
    }
    const auto feed = std::ranges::find(graph.nodes, reader->feeds[0].node, &ResolvedNode::id);
    return feed != graph.nodes.end() && feed->kind->traits.role == NodeRole::Linear ? &*feed : nullptr;
}

/// Reads the numbers from the project's nodes. The later comparison of networks decides whether they are a model's.
class ModelFinder {
public:
    explicit ModelFinder(const Project& project) : m_project(project)
    {
        m_stem = resolveGraph(project, GraphRef::stem());
        m_head = resolveGraph(project, GraphRef::head());
        for (const StackSegment& segment : project.stack().segments) {
            m_blocks.push_back(resolveGraph(project, GraphRef::block(segment.block)));
        }
    }

    Result<FoundModel> find(std::string_view preferred) const
    {
        std::vector<const ModelKind*> kinds;
        for (const ModelKind& kind : modelKinds()) {
            if (objectiveOf(kind.task) == m_project.network.objective) {
                kinds.insert(kind.modelType == preferred ? kinds.begin() : kinds.end(), &kind);
            }
        }
        for (const ModelKind* const kind : kinds) {
            for (const bool parallel : {false, true}) {
                const std::optional<KnownModel> candidate = candidateOf(*kind, parallel);
                auto names = candidate ? match(*candidate) : std::nullopt;
                if (names) {
                    return FoundModel{*candidate, std::move(*names)};
                }
            }
        }
        if (!evaluatedLoops(m_project.stack()).empty()) {
            return Error{"network · loops",
                         "no architecture that transformers has makes its visits; expected those of an ALBERT to its "
                         "one layer, or of an Ouro to all, with a norm after each and an exit gate"};
        }
        return Error{"network", "its blocks, stem and head are those of no architecture that transformers has"};
    }

private:
    std::optional<KnownModel> candidateOf(const ModelKind& kind, bool parallel) const
    {
        const ParamMap* const attention = attentionIn(m_blocks.front());
        const ResolvedNode* const up = linearBefore(m_blocks.front(), kind.gated ? "swiglu" : "activation");
        const ResolvedGraph& normed = kind.looped == LoopedLayers::All ? m_blocks.front() : m_head;
        const ParamMap* const norm = paramsOf(kind.hasBertStem() ? m_stem : normed, kind.norm());
        if (!attention || !up || !norm || (parallel && !kind.choosesParallel)) {
            return std::nullopt;
        }
        KnownModel model;
        model.kind = kind.name;
        model.layers = m_project.stack().stored();
        const std::vector<Loop> loops = evaluatedLoops(m_project.stack());
        model.visits = loops.empty() ? 1 : loops.front().visits;
        model.width = m_project.stack().width;
        const AttentionSizes sizes = attentionSizesOf(*attention, model.width);
        model.heads = sizes.heads;
        model.kvHeads = sizes.kvHeads;
        model.headDim = sizes.headDim;
        model.hidden = paramInt(up->params, "out");
        if (!readExamples(model, kind)) {
            return std::nullopt;
        }
        if (const ParamMap* const activation = paramsOf(m_blocks.front(), "activation")) {
            model.activation = paramText(*activation, "function");
        }
        model.epsilon = paramDouble(*norm, "epsilon");
        model.tied = m_project.network.tieHead;
        model.ffnBias = paramBool(up->params, "bias");
        model.parallel = parallel;
        readAttention(model, *attention);
        return fits(model, kind) ? std::optional(model) : std::nullopt;
    }

    /// Reads the sizes that stem and head take from the examples. Returns false if the stem is of another kind.
    bool readExamples(KnownModel& model, const ModelKind& kind) const
    {
        const ExampleSchema examples = examplesOf(m_project);
        model.vocabulary = examples.input().vocabulary;
        model.classes = kind.classifies() ? examples.target().vocabulary : 0;
        const ParamMap* const segments = paramsOf(m_stem, "segment_embedding");
        model.segments = segments ? paramInt(*segments, "segments") : 0;
        const ParamMap* const positions = paramsOf(m_stem, "position_embedding");
        const ParamMap* const table = paramsOf(m_stem, "token_embedding");
        model.embedding = table && kind.family == ModelFamily::Albert ? paramInt(*table, "dim") : 0;
        model.positions = positions ? paramInt(*positions, "length") : m_project.training.sequenceLength;
        const ParamMap* const image = paramsOf(m_stem, "image");
        const ParamMap* const patches = paramsOf(m_stem, "patchify");
        if (image && patches) {
            model.picture = {paramInt(*image, "height"), paramInt(*image, "width"), paramInt(*image, "channels"),
                             paramInt(*patches, "patch")};
        }
        return kind.readsPictures() == (image && patches);
    }

    void readAttention(KnownModel& model, const ParamMap& attention) const
    {
        model.attentionBias = attentionBiasOf(attention);
        model.rotary = rotaryOf(attention, model.headDim);
        model.rotaryShare = model.rotary.features > 0 ? paramDouble(attention, kRotaryShareParam) : 1;
        model.window = paramInt(attention, kWindowParam);
        for (std::size_t i = 1; i < m_blocks.size() && model.window == 0; ++i) {
            model.fullLayers += m_project.stack().segments[i - 1].repeat;
            const ParamMap* const later = attentionIn(m_blocks[i]);
            model.window = later ? paramInt(*later, kWindowParam) : 0;
        }
        model.fullLayers = model.window > 0 ? model.fullLayers : 0;
    }

    /// True if a config.json of the kind can express the model.
    static bool fits(const KnownModel& model, const ModelKind& kind)
    {
        const bool allOrNone = model.attentionBias == AttentionBias::None || model.attentionBias == AttentionBias::All;
        const bool choosesBias = kind.choosesAttentionBias && allOrNone;
        const bool windows =
            kind.windowed == WindowedLayers::Later || (kind.windowed == WindowedLayers::All && model.fullLayers == 0);
        const bool evenHeads = model.kvHeads == model.heads && model.headDim * model.heads == model.width;
        return (choosesBias || model.attentionBias == kind.attentionBias) &&
               (kind.choosesFfnBias || model.ffnBias == kind.ffnBias) && (windows || model.window == 0) &&
               (kind.choosesHeads || evenHeads) && (kind.choosesRotaryShare || model.rotaryShare == 1) &&
               kind.rotates() == (model.rotary.features > 0) && kind.hasBertStem() == (model.segments > 0) &&
               loopFits(model, kind) && (kind.gated || !configWordOf(model.activation).empty());
    }

    static bool loopFits(const KnownModel& model, const ModelKind& kind)
    {
        switch (kind.looped) {
        case LoopedLayers::Single:
            return model.layers == 1;
        case LoopedLayers::All:
            return model.visits > 1 && model.epsilon == kind.epsilon;
        case LoopedLayers::None:
            break;
        }
        return model.visits == 1;
    }

    /// Returns the loops without what acts in training alone.
    static std::vector<Loop> evaluatedLoops(const Stack& stack)
    {
        std::vector<Loop> loops = stack.loops;
        for (Loop& loop : loops) {
            loop.draw = evaluatedVisits(loop) == loop.visits ? VisitDraw::All : loop.draw;
            loop.mean = Loop{}.mean;
            loop.gradientVisits = 0;
        }
        std::erase_if(loops,
                      [](const Loop& loop) { return loop.visits == 1 && !changesState(loop) && loop.scale == 1; });
        return loops;
    }

    /// Maps prefixes of parameters in the candidate's network to those in the project.
    std::optional<Names> match(const KnownModel& model) const
    {
        Project candidate = projectOf(model, "", m_project.data.source);
        candidate.training.sequenceLength = m_project.training.sequenceLength;
        const Wiring& wiring = m_project.stack().topology.wiring;
        const bool wired = wiring == candidate.stack().topology.wiring ||
                           (isPlainResidual(wiring) && isPlainResidual(candidate.stack().topology.wiring));
        if (!wired || candidate.network.depth() != m_project.network.depth() ||
            candidate.stack().loops != evaluatedLoops(m_project.stack())) {
            return std::nullopt;
        }
        Names all;
        if (!matchGraph(candidate, GraphRef::stem(), m_stem, GraphRef::stem(), kStemPrefix, all) ||
            !matchGraph(candidate, GraphRef::head(), m_head, GraphRef::head(), kHeadPrefix, all)) {
            return std::nullopt;
        }
        std::int64_t layer = 0;
        for (std::size_t i = 0; i < m_blocks.size(); ++i) {
            const StackSegment& segment = m_project.stack().segments[i];
            for (std::int64_t n = 0; n < segment.repeat; ++n) {
                const GraphRef block = GraphRef::block(candidate.network.blockOfLayer(++layer)->name);
                if (!matchGraph(candidate, block, m_blocks[i], GraphRef::block(segment.block), layerPrefix(layer),
                                all)) {
                    return std::nullopt;
                }
            }
        }
        return all;
    }

    /// `resolved` is the project's graph `ofProject`.
    bool matchGraph(const Project& candidate, const GraphRef& graph, const ResolvedGraph& resolved,
                    const GraphRef& ofProject, const std::string& prefix, Names& all) const
    {
        const ResolvedGraph candidateResolved = resolveGraph(candidate, graph);
        const auto names =
            GraphMatch(*findGraph(candidate, graph), candidateResolved, *findGraph(m_project, ofProject), resolved)
                .run();
        if (!names) {
            return false;
        }
        for (const auto& [ofCandidate, name] : *names) {
            all[prefix + ofCandidate] = prefix + name;
        }
        return true;
    }

    const Project& m_project;
    ResolvedGraph m_stem;
    ResolvedGraph m_head;
    std::vector<ResolvedGraph> m_blocks; ///< by segment
};

} // namespace

Result<FoundModel> knownModelOf(const SoundProject& project, std::string_view preferred)
{
    const auto* const gate = std::get_if<BranchGate>(&project->stack().topology.wiring);
    const bool postNorm = gate != nullptr && gate->gate == BranchGateKind::PostNorm;
    const auto* const mix = std::get_if<DepthMix>(&project->stack().topology.wiring);
    const auto* const sources = mix == nullptr ? nullptr : std::get_if<ExplicitSources>(&mix->sources);
    const bool wholeLayers = sources != nullptr && sources->shortcuts.empty(); // of an ALBERT
    if (!postNorm && !wholeLayers && !isPlainResidual(project->stack().topology.wiring)) {
        return Error{"topology", "it is " + project->stack().topology.preset +
                                     ", and transformers has plain residuals and post-norm alone"};
    }
    const auto hasObjective = [&](const ModelKind& kind) {
        return objectiveOf(kind.task) == project->network.objective;
    };
    if (std::ranges::none_of(modelKinds(), hasObjective)) {
        return Error{"network · objective", "it is " + std::string(traitsOf(project->network.objective).title) +
                                                ", which no architecture of transformers here has"};
    }
    return ModelFinder(*project).find(preferred);
}

std::string FoundModel::parameter(const std::string& ofModel) const
{
    // "layers.3.attention" for "layers.3.attention.q.weight"; "stem.embedding" for "stem.embedding.weight"
    ParameterName node = parameterNameFrom(ofModel);
    node.rest = node.node();
    const std::string ofNode = textOf(node);
    const auto found = names.find(ofNode);
    return found == names.end() ? ofModel : found->second + ofModel.substr(ofNode.size());
}

} // namespace residua::projects
