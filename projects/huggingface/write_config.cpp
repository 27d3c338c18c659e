// SPDX-License-Identifier: GPL-3.0-or-later
// A Decoder as config.json, in the words of all versions of transformers that know its architecture.
#include "projects/base/json_tree.h"
#include "projects/huggingface/config_words.h"
#include "projects/huggingface/decoder.h"

#include <utility>

namespace residua::projects {
namespace {

JsonValue tree(JsonObject members)
{
    return {std::move(members), JsonLayout::Lines};
}
JsonValue tree(std::string_view text)
{
    return {std::string(text), JsonLayout::Lines};
}
template <class Value>
JsonValue tree(Value value)
{
    return {value, JsonLayout::Lines};
}

class ConfigWriter {
public:
    ConfigWriter(const Decoder& decoder, JsonValue config)
        : m_decoder(decoder), m_kind(*findDecoderKind(decoder.kind)), m_config(std::move(config))
    {
    }

    std::string write(const std::string& dtype)
    {
        set("architectures", {JsonArray{tree(m_kind.className)}, JsonLayout::Inline});
        set("model_type", tree(m_kind.name));
        writeSizes();
        if (!m_kind.learnedPositions) {
            writeRope();
        }
        writeOptions();
        takeMember(m_config, "dtype");
        set("torch_dtype", tree(std::string_view(dtype)));
        return printJson(m_config);
    }

private:
    void set(std::string_view key, JsonValue value)
    {
        if (JsonValue* const there = findMember(m_config, key)) {
            *there = std::move(value);
        } else {
            std::get<JsonObject>(m_config.data).push_back({std::string(key), std::move(value)});
        }
    }
    /// What decides nothing: what the model came with stays.
    void propose(std::string_view key, JsonValue value)
    {
        if (findMember(m_config, key) == nullptr) {
            set(key, std::move(value));
        }
    }

    void writeSizes()
    {
        const ConfigWords& words = wordsOf(m_kind);
        set("vocab_size", tree(m_decoder.vocabulary));
        set(words.width, tree(m_decoder.width));
        set(words.layers, tree(m_decoder.layers));
        set(words.heads, tree(m_decoder.heads));
        if (!m_kind.layerNorm) {
            set("num_key_value_heads", tree(m_decoder.kvHeads));
            if (m_kind.name == "qwen3" || m_decoder.headDim * m_decoder.heads != m_decoder.width) {
                set("head_dim", tree(m_decoder.headDim));
            }
        }
        set(words.hidden, tree(m_decoder.hidden));
        if (m_kind.learnedPositions) {
            set(words.positions, tree(m_decoder.positions));
        } else {
            propose(words.positions, tree(m_decoder.positions)); // no tensor has this size
        }
        set(words.epsilon, tree(m_decoder.epsilon));
        set(words.activation, tree(m_kind.gated ? std::string_view("silu") : activationThere(m_decoder.activation)));
        set("tie_word_embeddings", tree(m_decoder.tied));
    }

    void writeRope()
    {
        const bool neox = m_kind.name == "gpt_neox";
        JsonObject newer{{"rope_theta", tree(m_decoder.ropeBase)}, {"rope_type", tree(std::string_view("default"))}};
        if (m_decoder.ropeScaling == "none") {
            takeMember(m_config, "rope_scaling");
        } else {
            newer[1].value = tree(std::string_view(m_decoder.ropeScaling));
            newer.push_back({"factor", tree(m_decoder.ropeFactor)});
            if (m_decoder.ropeScaling == "llama3") {
                newer.push_back({"low_freq_factor", tree(m_decoder.ropeLow)});
                newer.push_back({"high_freq_factor", tree(m_decoder.ropeHigh)});
                newer.push_back({"original_max_position_embeddings", tree(m_decoder.ropeOriginal)});
            }
            set("rope_scaling", tree(JsonObject(newer.begin() + 1, newer.end())));
        }
        set(neox ? "rotary_emb_base" : "rope_theta", tree(m_decoder.ropeBase));
        if (neox) {
            set("rotary_pct", tree(m_decoder.rotaryShare));
            newer.push_back({"partial_rotary_factor", tree(m_decoder.rotaryShare)});
        }
        set("rope_parameters", tree(std::move(newer)));
    }

    void writeOptions()
    {
        const std::string_view name = m_kind.name;
        if (name == "llama" || name == "qwen3" || name == "olmo2" || name == "gpt_neox") {
            set("attention_bias", tree(m_decoder.bias == "all"));
        }
        if (name == "llama") {
            set("mlp_bias", tree(m_decoder.ffnBias));
        }
        if (name == "gpt_neox") {
            set("use_parallel_residual", tree(m_decoder.parallel));
        }
        const JsonValue window = m_decoder.window > 0 ? tree(m_decoder.window) : tree(nullptr);
        if (name == "mistral") {
            set("sliding_window", window);
        }
        if (name == "qwen2" || name == "qwen3") {
            takeMember(m_config, "layer_types"); // follows from the others
            set("use_sliding_window", tree(m_decoder.window > 0));
            if (m_decoder.window > 0) {
                set("sliding_window", window);
                set("max_window_layers", tree(m_decoder.seeAll));
            }
        }
    }

    const Decoder& m_decoder;
    const DecoderKind& m_kind;
    JsonValue m_config;
};

} // namespace

std::string configOf(const Decoder& decoder, std::string_view original, const std::string& dtype)
{
    Result<JsonValue> config = parseJson(original);
    const JsonValue* const kind = config ? findMember(*config, "model_type") : nullptr;
    const auto* const name = kind == nullptr ? nullptr : std::get_if<std::string>(&kind->data);
    const bool same = name != nullptr && *name == decoder.kind;
    return ConfigWriter(decoder, same ? std::move(*config) : tree(JsonObject{})).write(dtype);
}

} // namespace residua::projects
