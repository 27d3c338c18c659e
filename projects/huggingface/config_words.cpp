// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/huggingface/config_words.h"

#include "projects/base/text.h"

#include <algorithm>
#include <array>

namespace residua::projects {
namespace {

constexpr ConfigWords kRmsWords{};

constexpr ConfigWords neoxWords()
{
    ConfigWords words;
    words.epsilon = "layer_norm_eps";
    words.ropeBase = "rotary_emb_base";
    words.rotaryShare = "rotary_pct";
    return words;
}
constexpr ConfigWords kNeoxWords = neoxWords();

constexpr ConfigWords kGpt2Words{.layers = "n_layer",
                                 .width = "n_embd",
                                 .heads = "n_head",
                                 .hidden = "n_inner",
                                 .positions = "n_positions",
                                 .epsilon = "layer_norm_epsilon",
                                 .activation = "activation_function"};

struct ActivationWord {
    std::string_view word;     ///< in a config.json
    std::string_view function; ///< of an activation node
};
// If several words mean one function, exports use the first.
constexpr std::array kActivations{
    ActivationWord{"gelu_new", "gelu_tanh"},  ActivationWord{"gelu_pytorch_tanh", "gelu_tanh"},
    ActivationWord{"gelu_fast", "gelu_tanh"}, ActivationWord{"gelu", "gelu"},
    ActivationWord{"relu", "relu"},           ActivationWord{"silu", "silu"},
    ActivationWord{"swish", "silu"},          ActivationWord{"tanh", "tanh"},
    ActivationWord{"sigmoid", "sigmoid"}};

struct Scaling {
    RopeScaling scaling;
    std::string_view word;
};
constexpr std::array kScalings{Scaling{RopeScaling::None, "default"}, Scaling{RopeScaling::Linear, "linear"},
                               Scaling{RopeScaling::Llama3, "llama3"}};

constexpr std::string_view kIrrelevantKeys[] = {"_attn_implementation",
                                                "_attn_implementation_autoset",
                                                "_name_or_path",
                                                "architectures",
                                                "bad_words_ids",
                                                "begin_suppress_tokens",
                                                "bos_token_id",
                                                "chunk_size_feed_forward",
                                                "classifier_dropout",
                                                "cls_token_id",
                                                "decoder_start_token_id",
                                                "directionality",
                                                "down_scale_factor",
                                                "dtype",
                                                "encoder_stride",
                                                "eos_token_id",
                                                "finetuning_task",
                                                "gap_size",
                                                "gradient_checkpointing",
                                                "id2label",
                                                "initializer_range",
                                                "is_decoder",
                                                "label2id",
                                                "layers_to_keep",
                                                "mask_token_id",
                                                "n_ctx",
                                                "net_structure_type",
                                                "num_labels",
                                                "num_memory_blocks",
                                                "output_attentions",
                                                "output_hidden_states",
                                                "output_scores",
                                                "pad_token_id",
                                                "pooler_act",
                                                "pooler_fc_size",
                                                "pooler_num_attention_heads",
                                                "pooler_num_fc_layers",
                                                "pooler_output_size",
                                                "pooler_size_per_head",
                                                "pooler_type",
                                                "prefix",
                                                "pretraining_tp",
                                                "problem_type",
                                                "reorder_and_upcast_attn",
                                                "return_dict",
                                                "return_dict_in_generate",
                                                "sep_token_id",
                                                "summary_activation",
                                                "summary_first_dropout",
                                                "summary_proj_to_labels",
                                                "summary_type",
                                                "summary_use_proj",
                                                "task_specific_params",
                                                "tie_word_embeddings",
                                                "torch_dtype",
                                                "torchscript",
                                                "transformers_version",
                                                "use_cache"};

} // namespace

const ConfigWords& wordsOf(const ModelKind& kind)
{
    const bool usual = kind.family == ModelFamily::Llama;
    return kind.family == ModelFamily::Gpt2 ? kGpt2Words : usual ? kRmsWords : kNeoxWords;
}

std::string_view functionOfConfigWord(std::string_view word)
{
    const auto* const found = std::ranges::find(kActivations, word, &ActivationWord::word);
    return found == kActivations.end() ? std::string_view() : found->function;
}

std::string_view configWordOf(std::string_view function)
{
    const auto* const found = std::ranges::find(kActivations, function, &ActivationWord::function);
    return found == kActivations.end() ? std::string_view() : found->word;
}

std::string activationWords()
{
    return joinedText(kActivations, ", ", &ActivationWord::word);
}

std::string_view configWordOf(RopeScaling scaling)
{
    return std::ranges::find(kScalings, scaling, &Scaling::scaling)->word;
}

std::optional<RopeScaling> scalingOfConfigWord(std::string_view word)
{
    const auto* const found = std::ranges::find(kScalings, word, &Scaling::word);
    return found == kScalings.end() ? std::nullopt : std::optional(found->scaling);
}

bool isIrrelevant(std::string_view key)
{
    return std::ranges::binary_search(kIrrelevantKeys, key);
}

} // namespace residua::projects
