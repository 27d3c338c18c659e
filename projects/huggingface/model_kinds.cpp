// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/huggingface/model_kinds.h"

#include "projects/model/parameter_name.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace residua::projects {
namespace {

constexpr ModelKind rmsKind(std::string_view name, std::string_view className)
{
    ModelKind kind;
    kind.name = name;
    kind.modelType = name;
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
    kind.norms = NormPlace::Outputs;
    kind.qkNorm = QkNorm::AllHeads;
    kind.choosesAttentionBias = true;
    kind.epsilon = 1e-5;
    return kind;
}

constexpr ModelKind ouro()
{
    ModelKind kind = qwen("ouro", "OuroForCausalLM");
    kind.norms = NormPlace::Both;
    kind.looped = LoopedLayers::All;
    kind.codeHome = "ByteDance/Ouro-1.4B";
    return kind;
}

constexpr ModelKind layerNormKind(ModelFamily family, std::string_view name, std::string_view className,
                                  std::string_view prefix)
{
    ModelKind kind;
    kind.family = family;
    kind.name = name;
    kind.modelType = name;
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
    ModelKind kind = layerNormKind(ModelFamily::NeoX, "gpt_neox", "GPTNeoXForCausalLM", "gpt_neox.");
    kind.choosesAttentionBias = true;
    kind.choosesParallel = true;
    kind.choosesRotaryShare = true;
    kind.rotaryShare = 0.25;
    kind.activation = "gelu";
    return kind;
}

constexpr ModelKind gpt2()
{
    ModelKind kind = layerNormKind(ModelFamily::Gpt2, "gpt2", "GPT2LMHeadModel", "transformer.");
    kind.activation = "gelu_new";
    kind.tied = true;
    kind.positions = 1024;
    return kind;
}

constexpr ModelKind bert(std::string_view name, std::string_view className, ModelTask task)
{
    ModelKind kind = layerNormKind(ModelFamily::Bert, name, className, "bert.");
    kind.modelType = "bert";
    kind.task = task;
    kind.norms = NormPlace::Sums;
    kind.activation = "gelu";
    kind.epsilon = 1e-12;
    kind.tied = task == ModelTask::MaskedToken;
    kind.widerClass = task == ModelTask::MaskedToken ? "BertForPreTraining" : "";
    kind.positions = 512;
    return kind;
}

constexpr ModelKind albert(std::string_view name, std::string_view className, ModelTask task)
{
    ModelKind kind = bert(name, className, task);
    kind.family = ModelFamily::Albert;
    kind.modelType = "albert";
    kind.prefix = "albert.";
    kind.widerClass = task == ModelTask::MaskedToken ? "AlbertForPreTraining" : "";
    kind.norms = NormPlace::OwnSums;
    kind.activation = "gelu_new";
    kind.looped = LoopedLayers::Single;
    return kind;
}

constexpr ModelKind vit()
{
    ModelKind kind = layerNormKind(ModelFamily::Vit, "vit", "ViTForImageClassification", "vit.");
    kind.task = ModelTask::PictureClass;
    kind.activation = "gelu";
    kind.epsilon = 1e-12;
    return kind;
}

// If two kinds describe the same network, exports use the first.
constexpr std::array kKinds{llama(),
                            mistral(),
                            qwen2(),
                            qwen3(),
                            olmo2(),
                            ouro(),
                            gptNeox(),
                            gpt2(),
                            bert("bert", "BertForMaskedLM", ModelTask::MaskedToken),
                            bert("bert_classifier", "BertForSequenceClassification", ModelTask::TextClass),
                            albert("albert", "AlbertForMaskedLM", ModelTask::MaskedToken),
                            albert("albert_classifier", "AlbertForSequenceClassification", ModelTask::TextClass),
                            vit()};

/// Parameters of this program by their names in the file; a layer's names omit "layers.<number>.". Weight and bias keep
/// their names.
struct NameRow {
    std::string_view file;
    std::array<std::string_view, 3> ours;
    enum class Layout {
        AsHere,
        Transposed,
        ByHead,
        Bare,       ///< a weight whose name in the file does not end with "weight", with a 1 before its shape
        FirstNorm,  ///< the topology's norm after the layer's attention
        SecondNorm, ///< the topology's norm after the layer's FFN
    } layout = Layout::AsHere;
};
using Layout = NameRow::Layout;

struct NameTable {
    std::span<const NameRow> outside; ///< outside the layers, after the prefix
    std::string_view layers;          ///< before a layer's number
    std::span<const NameRow> layer;
    std::string_view tiedHead;                     ///< the layer that may share the embedding, which is the first row
    std::span<const NameRow> head = {};            ///< without the prefix
    std::span<const std::string_view> unused = {}; ///< beginnings of the names of tensors of other tasks
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
constexpr NameRow kOuroOutside[] = {{"embed_tokens", {"stem.embedding"}},
                                    {"norm", {"topology.loop.1.norm"}},
                                    {"early_exit_gate", {"topology.loop.1.exit"}}};
constexpr NameRow kOuroOutputNorms[] = {{"input_layernorm_2", {"norm_attention_out"}},
                                        {"post_attention_layernorm_2", {"norm_ffn_out"}}};
constexpr std::array kOuroLayer = [] {
    std::array<NameRow, kRmsLayer.size() + std::size(kOuroOutputNorms)> rows;
    std::ranges::copy(kOuroOutputNorms, std::ranges::copy(kRmsLayer, rows.begin()).out);
    return rows;
}();
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

constexpr NameRow kBertOutside[] = {{"embeddings.word_embeddings", {"stem.embedding"}},
                                    {"embeddings.position_embeddings", {"stem.positions"}},
                                    {"embeddings.token_type_embeddings", {"stem.segments"}},
                                    {"embeddings.LayerNorm", {"stem.norm"}}};
constexpr NameRow kBertLayer[] = {{"attention.self.query", {"attention.q"}},
                                  {"attention.self.key", {"attention.k"}},
                                  {"attention.self.value", {"attention.v"}},
                                  {"attention.output.dense", {"attention.out"}},
                                  {"attention.output.LayerNorm", {}, Layout::FirstNorm},
                                  {"intermediate.dense", {"up"}},
                                  {"output.dense", {"down"}},
                                  {"output.LayerNorm", {}, Layout::SecondNorm}};
constexpr NameRow kMaskedHead[] = {{"cls.predictions.transform.dense", {"head.dense"}},
                                   {"cls.predictions.transform.LayerNorm", {"head.norm"}},
                                   {"cls.predictions", {"head.logits"}}};
constexpr NameRow kPooledHead[] = {{"bert.pooler.dense", {"head.pooler"}}, {"classifier", {"head.classes"}}};
constexpr std::string_view kMaskedBias = "predictions.bias";
constexpr std::string_view kMaskedDecoderBias = "predictions.decoder.bias"; // the same parameter by tying
constexpr std::string_view kUnusedByMasked[] = {"bert.pooler.", "cls.seq_relationship."};
constexpr NameRow kAlbertOutside[] = {{"embeddings.word_embeddings", {"stem.embedding"}},
                                      {"embeddings.position_embeddings", {"stem.positions"}},
                                      {"embeddings.token_type_embeddings", {"stem.segments"}},
                                      {"embeddings.LayerNorm", {"stem.norm"}},
                                      {"encoder.embedding_hidden_mapping_in", {"stem.mapping"}}};
constexpr NameRow kAlbertLayer[] = {{"attention.query", {"attention.q"}},
                                    {"attention.key", {"attention.k"}},
                                    {"attention.value", {"attention.v"}},
                                    {"attention.dense", {"attention.out"}},
                                    {"attention.LayerNorm", {"norm_attention"}},
                                    {"ffn", {"up"}},
                                    {"ffn_output", {"down"}},
                                    {"full_layer_layer_norm", {"norm_ffn"}}};
constexpr std::string_view kAlbertLayers = "encoder.albert_layer_groups.0.albert_layers.";
constexpr NameRow kAlbertMaskedHead[] = {
    {"predictions.dense", {"head.dense"}}, {"predictions.LayerNorm", {"head.norm"}}, {"predictions", {"head.logits"}}};
constexpr NameRow kAlbertPooledHead[] = {{"albert.pooler", {"head.pooler"}}, {"classifier", {"head.classes"}}};
constexpr std::string_view kUnusedByAlbert[] = {"albert.pooler.", "sop_classifier."};
constexpr NameRow kVitOutside[] = {{"embeddings.cls_token", {"stem.class_token"}, Layout::Bare},
                                   {"embeddings.position_embeddings", {"stem.positions"}, Layout::Bare},
                                   {"embeddings.patch_embeddings.projection", {"stem.patches"}},
                                   {"layernorm", {"head.norm"}}};
constexpr NameRow kVitLayer[] = {{"attention.attention.query", {"attention.q"}},
                                 {"attention.attention.key", {"attention.k"}},
                                 {"attention.attention.value", {"attention.v"}},
                                 {"attention.output.dense", {"attention.out"}},
                                 {"layernorm_before", {"norm_attention"}},
                                 {"layernorm_after", {"norm_ffn"}},
                                 {"intermediate.dense", {"up"}},
                                 {"output.dense", {"down"}}};
constexpr NameRow kClassHead[] = {{"classifier", {"head.classes"}}};
constexpr std::string_view kUnusedByVit[] = {"vit.pooler."};

/// Ends of names that older files have for the same tensors.
constexpr std::pair<std::string_view, std::string_view> kOlderEnds[] = {
    {"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}, {kMaskedBias, kMaskedDecoderBias}};

NameTable tableOf(const ModelKind& kind)
{
    switch (kind.family) {
    case ModelFamily::Gpt2:
        return {kGpt2Outside, "h.", kGpt2Layer, "lm_head"};
    case ModelFamily::NeoX:
        return {kNeoxOutside, "layers.", kNeoxLayer, "embed_out"};
    case ModelFamily::Bert:
        return kind.classifies() ? NameTable{kBertOutside, "encoder.layer.", kBertLayer, {}, kPooledHead}
                                 : NameTable{kBertOutside, "encoder.layer.", kBertLayer, "cls.predictions.decoder",
                                             kMaskedHead,  kUnusedByMasked};
    case ModelFamily::Albert:
        return kind.classifies() ? NameTable{kAlbertOutside, kAlbertLayers, kAlbertLayer, {}, kAlbertPooledHead}
                                 : NameTable{kAlbertOutside,        kAlbertLayers,     kAlbertLayer,
                                             "predictions.decoder", kAlbertMaskedHead, kUnusedByAlbert};
    case ModelFamily::Vit:
        return {kVitOutside, "encoder.layer.", kVitLayer, {}, kClassHead, kUnusedByVit};
    case ModelFamily::Llama:
        break;
    }
    if (kind.looped == LoopedLayers::All) {
        return {kOuroOutside, "layers.", kOuroLayer, "lm_head"};
    }
    return {kRmsOutside, "layers.", kind.norms == NormPlace::Outputs ? kNormsAfterLayer : kRmsLayer, "lm_head"};
}

std::string olderName(const std::string& name)
{
    for (const auto& [end, older] : kOlderEnds) {
        if (name.ends_with(end)) {
            return name.substr(0, name.size() - end.size()) + std::string(older);
        }
    }
    return {};
}

/// Adds the tensors of a row. `layer` counts from 1; 0 outside the layers.
void add(std::vector<FileTensor>& tensors, const std::string& file, std::int64_t layer, const NameRow& row,
         std::int64_t heads)
{
    const bool bare = row.layout == Layout::Bare;
    const bool ofTopology = row.layout == Layout::FirstNorm || row.layout == Layout::SecondNorm;
    const std::int64_t module = 2 * layer - (row.layout == Layout::FirstNorm ? 1 : 0);
    for (const std::string what : {".weight", ".bias"}) {
        FileTensor tensor;
        tensor.name = file + std::string(row.file) + (bare ? "" : what);
        tensor.otherName = olderName(tensor.name);
        tensor.otherWins = tensor.otherName.ends_with(kMaskedDecoderBias);
        if (ofTopology) {
            tensor.parameters.push_back(topologyParameter(module, "norm" + what));
        }
        for (const std::string_view parameter : row.ours) {
            if (!parameter.empty()) {
                tensor.parameters.push_back((layer > 0 ? layerPrefix(layer) : "") + std::string(parameter) + what);
            }
        }
        tensor.transposed = row.layout == Layout::Transposed && what == ".weight";
        tensor.groups = row.layout == Layout::ByHead ? heads : 1;
        tensor.leadingOne = bare;
        tensors.push_back(std::move(tensor));
        if (bare) {
            return;
        }
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

std::string autoClassOf(std::string_view kind)
{
    const ModelKind* const known = findModelKind(kind);
    switch (known == nullptr ? ModelTask::NextToken : known->task) {
    case ModelTask::MaskedToken:
        return "AutoModelForMaskedLM";
    case ModelTask::TextClass:
        return "AutoModelForSequenceClassification";
    case ModelTask::PictureClass:
        return "AutoModelForImageClassification";
    case ModelTask::NextToken:
        break;
    }
    return "AutoModelForCausalLM";
}

std::string loadingOptionsOf(std::string_view kind)
{
    const ModelKind* const known = findModelKind(kind);
    return known == nullptr || !known->codeHome.empty() ? ", trust_remote_code=True" : "";
}

std::vector<FileTensor> fileTensorsOf(const KnownModel& model)
{
    const ModelKind& kind = *findModelKind(model.kind);
    const NameTable table = tableOf(kind);
    const std::string prefix(kind.prefix);
    std::vector<FileTensor> tensors;
    for (const NameRow& row : table.outside) {
        add(tensors, prefix, 0, row, 1);
    }
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const std::string file = prefix + std::string(table.layers) + std::to_string(layer) + ".";
        for (const NameRow& row : table.layer) {
            add(tensors, file, layer + 1, row, model.heads);
        }
    }
    for (const NameRow& row : table.head) {
        add(tensors, "", 0, row, 1);
    }
    if (model.tied) {
        tensors.front().otherName = headTensorOf(model);
    } else if (!table.tiedHead.empty()) {
        add(tensors, "", 0, {table.tiedHead, {"head.logits"}}, 1);
    }
    return tensors;
}

std::string headTensorOf(const KnownModel& model)
{
    return std::string(tableOf(*findModelKind(model.kind)).tiedHead) + ".weight";
}

bool isRedundant(const KnownModel& model, std::string_view tensor)
{
    constexpr std::string_view kEnds[] = {".attn.bias",           ".attn.masked_bias",
                                          ".attention.bias",      ".attention.masked_bias",
                                          ".rotary_emb.inv_freq", ".embeddings.position_ids"};
    const bool isMaskedBias = tensor.ends_with(kMaskedBias) || tensor.ends_with(kMaskedDecoderBias); // one is enough
    return (model.tied && tensor == headTensorOf(model)) ||
           (isMaskedBias && findModelKind(model.kind)->task == ModelTask::MaskedToken) ||
           std::ranges::any_of(kEnds, [&](std::string_view end) { return tensor.ends_with(end); }) ||
           isOfOtherTask(model, tensor);
}

bool isOfOtherTask(const KnownModel& model, std::string_view tensor)
{
    return std::ranges::any_of(tableOf(*findModelKind(model.kind)).unused,
                               [&](std::string_view begin) { return tensor.starts_with(begin); });
}

Objective objectiveOf(ModelTask task)
{
    return task == ModelTask::NextToken     ? Objective::NextToken
           : task == ModelTask::MaskedToken ? Objective::MaskedToken
                                            : Objective::Classification;
}

} // namespace residua::projects
