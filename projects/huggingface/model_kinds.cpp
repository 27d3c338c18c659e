// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/huggingface/model_kinds.h"

#include "projects/model/parameter_name.h"

#include <algorithm>
#include <array>

namespace residua::projects {
namespace {

constexpr ModelKind rmsKind(std::string_view name, std::string_view className)
{
    ModelKind kind;
    kind.name = name;
    kind.className = className;
    kind.prefix = "model.";
    kind.activation = "silu";
    return kind;
}

constexpr ModelKind llama()
{
    ModelKind kind = rmsKind("llama", "LlamaForCausalLM");
    kind.choosesAttentionBias = true;
    kind.choosesFfnBias = true;
    return kind;
}

constexpr ModelKind mistral()
{
    ModelKind kind = rmsKind("mistral", "MistralForCausalLM");
    kind.windowed = WindowedLayers::All;
    kind.positions = 131072;
    kind.kvHeads = 8;
    return kind;
}

constexpr ModelKind qwen(std::string_view name, std::string_view className)
{
    ModelKind kind = rmsKind(name, className);
    kind.windowed = WindowedLayers::Later;
    kind.positions = 32768;
    kind.kvHeads = 32;
    return kind;
}

constexpr ModelKind qwen2()
{
    ModelKind kind = qwen("qwen2", "Qwen2ForCausalLM");
    kind.attentionBias = AttentionBias::Qkv;
    return kind;
}

constexpr ModelKind qwen3()
{
    ModelKind kind = qwen("qwen3", "Qwen3ForCausalLM");
    kind.qkNorm = QkNorm::Head;
    kind.choosesAttentionBias = true;
    kind.headDim = 128;
    return kind;
}

constexpr ModelKind olmo2()
{
    ModelKind kind = rmsKind("olmo2", "Olmo2ForCausalLM");
    kind.normsAfter = true;
    kind.qkNorm = QkNorm::AllHeads;
    kind.choosesAttentionBias = true;
    kind.epsilon = 1e-5;
    return kind;
}

constexpr ModelKind layerNormKind(std::string_view name, std::string_view className, std::string_view prefix)
{
    ModelKind kind;
    kind.name = name;
    kind.className = className;
    kind.prefix = prefix;
    kind.layerNorm = true;
    kind.gated = false;
    kind.attentionBias = AttentionBias::All;
    kind.ffnBias = true;
    kind.choosesHeads = false;
    kind.epsilon = 1e-5;
    return kind;
}

constexpr ModelKind gptNeox()
{
    ModelKind kind = layerNormKind("gpt_neox", "GPTNeoXForCausalLM", "gpt_neox.");
    kind.choosesAttentionBias = true;
    kind.choosesParallel = true;
    kind.choosesRotaryShare = true;
    kind.rotaryShare = 0.25;
    kind.activation = "gelu";
    return kind;
}

constexpr ModelKind gpt2()
{
    ModelKind kind = layerNormKind("gpt2", "GPT2LMHeadModel", "transformer.");
    kind.learnedPositions = true;
    kind.activation = "gelu_new";
    kind.tied = true;
    kind.positions = 1024;
    return kind;
}

// If two kinds describe the same network, exports use the first.
constexpr std::array kKinds{llama(), mistral(), qwen2(), qwen3(), olmo2(), gptNeox(), gpt2()};

/// Parameters of this program by their names in the file; a layer's names omit "layers.<number>.". Weight and bias keep
/// their names.
struct NameRow {
    std::string_view file;
    std::array<std::string_view, 3> ours;
    enum class Layout { AsHere, Transposed, ByHead } layout = Layout::AsHere;
};
using Layout = NameRow::Layout;

struct NameTable {
    std::span<const NameRow> outside; ///< outside the layers, after the prefix
    std::string_view layers;          ///< before a layer's number
    std::span<const NameRow> layer;
    std::string_view head;
};

constexpr NameRow kRmsOutside[] = {{"embed_tokens", {"stem.embedding"}}, {"norm", {"head.norm"}}};
/// A layer with RMS norms, with the file's names of the norms of its two halves.
constexpr std::array<NameRow, 11> rmsLayer(std::string_view attentionNorm, std::string_view ffnNorm)
{
    return {{{"self_attn.q_proj", {"attention.q"}},
             {"self_attn.k_proj", {"attention.k"}},
             {"self_attn.v_proj", {"attention.v"}},
             {"self_attn.o_proj", {"attention.out"}},
             {"self_attn.q_norm", {"attention.q_norm"}},
             {"self_attn.k_norm", {"attention.k_norm"}},
             {attentionNorm, {"norm_attention"}},
             {ffnNorm, {"norm_ffn"}},
             {"mlp.gate_proj", {"gate"}},
             {"mlp.up_proj", {"up"}},
             {"mlp.down_proj", {"down"}}}};
}
constexpr std::array kRmsLayer = rmsLayer("input_layernorm", "post_attention_layernorm");
constexpr std::array kNormsAfterLayer = rmsLayer("post_attention_layernorm", "post_feedforward_layernorm");
constexpr NameRow kNeoxOutside[] = {{"embed_in", {"stem.embedding"}}, {"final_layer_norm", {"head.norm"}}};
constexpr NameRow kNeoxLayer[] = {
    {"attention.query_key_value", {"attention.q", "attention.k", "attention.v"}, Layout::ByHead},
    {"attention.dense", {"attention.out"}},
    {"input_layernorm", {"norm_attention"}},
    {"post_attention_layernorm", {"norm_ffn"}},
    {"mlp.dense_h_to_4h", {"up"}},
    {"mlp.dense_4h_to_h", {"down"}}};
constexpr NameRow kGpt2Outside[] = {{"wte", {"stem.embedding"}}, {"wpe", {"stem.positions"}}, {"ln_f", {"head.norm"}}};
constexpr NameRow kGpt2Layer[] = {{"attn.c_attn", {"attention.q", "attention.k", "attention.v"}, Layout::Transposed},
                                  {"attn.c_proj", {"attention.out"}, Layout::Transposed},
                                  {"ln_1", {"norm_attention"}},
                                  {"ln_2", {"norm_ffn"}},
                                  {"mlp.c_fc", {"up"}, Layout::Transposed},
                                  {"mlp.c_proj", {"down"}, Layout::Transposed}};

NameTable tableOf(const ModelKind& kind)
{
    if (kind.learnedPositions) {
        return {kGpt2Outside, "h.", kGpt2Layer, "lm_head"};
    }
    if (kind.layerNorm) {
        return {kNeoxOutside, "layers.", kNeoxLayer, "embed_out"};
    }
    return {kRmsOutside, "layers.", kind.normsAfter ? kNormsAfterLayer : kRmsLayer, "lm_head"};
}

void add(std::vector<FileTensor>& tensors, const std::string& file, const std::string& ours, const NameRow& row,
         std::int64_t heads)
{
    for (const std::string what : {".weight", ".bias"}) {
        FileTensor tensor;
        tensor.name = file + std::string(row.file) + what;
        for (const std::string_view parameter : row.ours) {
            if (!parameter.empty()) {
                tensor.parameters.push_back(ours + std::string(parameter) + what);
            }
        }
        tensor.transposed = row.layout == Layout::Transposed && what == ".weight";
        tensor.groups = row.layout == Layout::ByHead ? heads : 1;
        tensors.push_back(std::move(tensor));
    }
}

} // namespace

std::span<const ModelKind> modelKinds()
{
    return kKinds;
}

const ModelKind* findModelKind(std::string_view name)
{
    const auto* const found = std::ranges::find(kKinds, name, &ModelKind::name);
    return found == kKinds.end() ? nullptr : &*found;
}

std::vector<FileTensor> fileTensorsOf(const KnownModel& model)
{
    const ModelKind& kind = *findModelKind(model.kind);
    const NameTable table = tableOf(kind);
    const std::string prefix(kind.prefix);
    std::vector<FileTensor> tensors;
    for (const NameRow& row : table.outside) {
        add(tensors, prefix, "", row, 1);
    }
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const std::string file = prefix + std::string(table.layers) + std::to_string(layer) + ".";
        const std::string ours = layerPrefix(layer + 1);
        for (const NameRow& row : table.layer) {
            add(tensors, file, ours, row, model.heads);
        }
    }
    if (model.tied) {
        tensors.front().otherName = headTensorOf(model); // the embedding is the first row of each table
    } else {
        add(tensors, "", "", {table.head, {"head.logits"}}, 1);
    }
    return tensors;
}

std::string headTensorOf(const KnownModel& model)
{
    return std::string(tableOf(*findModelKind(model.kind)).head) + ".weight";
}

bool isRedundant(const KnownModel& model, std::string_view tensor)
{
    constexpr std::string_view kEnds[] = {".attn.bias", ".attn.masked_bias", ".attention.bias",
                                          ".attention.masked_bias", ".rotary_emb.inv_freq"};
    return (model.tied && tensor == headTensorOf(model)) ||
           std::ranges::any_of(kEnds, [&](std::string_view end) { return tensor.ends_with(end); });
}

} // namespace residua::projects
