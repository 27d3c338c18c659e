// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/huggingface/config_words.h"

#include <algorithm>
#include <array>

namespace residua::projects {
namespace {

constexpr ConfigWords kRmsWords{};

constexpr ConfigWords neoxWords()
{
    ConfigWords words;
    words.epsilon = "layer_norm_eps";
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

struct Activation {
    std::string_view there;
    std::string_view here;
};
// Of several words for one function the first is written.
constexpr std::array kActivations{Activation{"gelu_new", "gelu_tanh"},  Activation{"gelu_pytorch_tanh", "gelu_tanh"},
                                  Activation{"gelu_fast", "gelu_tanh"}, Activation{"gelu", "gelu"},
                                  Activation{"relu", "relu"},           Activation{"silu", "silu"},
                                  Activation{"swish", "silu"},          Activation{"tanh", "tanh"},
                                  Activation{"sigmoid", "sigmoid"}};

constexpr std::string_view kSilentKeys[] = {"_attn_implementation",
                                            "_attn_implementation_autoset",
                                            "_name_or_path",
                                            "architectures",
                                            "bad_words_ids",
                                            "begin_suppress_tokens",
                                            "bos_token_id",
                                            "chunk_size_feed_forward",
                                            "classifier_dropout",
                                            "decoder_start_token_id",
                                            "dtype",
                                            "eos_token_id",
                                            "finetuning_task",
                                            "gradient_checkpointing",
                                            "id2label",
                                            "initializer_range",
                                            "is_decoder",
                                            "label2id",
                                            "n_ctx",
                                            "output_attentions",
                                            "output_hidden_states",
                                            "output_scores",
                                            "pad_token_id",
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
                                            "torch_dtype",
                                            "torchscript",
                                            "transformers_version",
                                            "use_cache"};

} // namespace

const ConfigWords& wordsOf(const DecoderKind& kind)
{
    return kind.learnedPositions ? kGpt2Words : kind.layerNorm ? kNeoxWords : kRmsWords;
}

std::string_view activationHere(std::string_view word)
{
    const auto* const found = std::ranges::find(kActivations, word, &Activation::there);
    return found == kActivations.end() ? std::string_view() : found->here;
}

std::string_view activationThere(std::string_view function)
{
    const auto* const found = std::ranges::find(kActivations, function, &Activation::here);
    return found == kActivations.end() ? std::string_view() : found->there;
}

std::string activationsThere()
{
    std::string words;
    for (const Activation& activation : kActivations) {
        words += (words.empty() ? "" : ", ") + std::string(activation.there);
    }
    return words;
}

bool saysNothing(std::string_view key)
{
    return std::ranges::binary_search(kSilentKeys, key);
}

} // namespace residua::projects
