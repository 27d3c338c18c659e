// SPDX-License-Identifier: GPL-3.0-or-later
// config.json to a Decoder. Keys that say nothing here are known by name; others that are not read become a note.
#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/huggingface/config_words.h"
#include "projects/huggingface/decoder.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace residua::projects {
namespace {

/// Of a file by whoever made it: what keeps it within sums of sizes that do not overflow.
constexpr std::int64_t kMostOfAnything = 1'000'000'000;

/// Reads keys of an object; the first error stays, and later reads give what they are given for a missing key.
class Keys {
public:
    Keys(const JsonValue& object, std::string place) : m_object(object), m_place(std::move(place)) {}

    /// nullptr where it is missing or null.
    const JsonValue* find(std::string_view key)
    {
        m_used.insert(std::string(key));
        const JsonValue* const value = findMember(m_object, key);
        return value == nullptr || std::holds_alternative<std::nullptr_t>(value->data) ? nullptr : value;
    }

    void fail(std::string_view key, const std::string& message)
    {
        if (!m_error) {
            m_error = Error{m_place + " · " + std::string(key), message};
        }
    }

    /// At least 1.
    std::int64_t size(std::string_view key, std::optional<std::int64_t> otherwise = std::nullopt)
    {
        const JsonValue* const value = find(key);
        if (value == nullptr) {
            if (!otherwise) {
                fail(key, "is missing, expected a size");
            }
            return otherwise.value_or(1);
        }
        const auto* const number = std::get_if<std::int64_t>(&value->data);
        if (number == nullptr || *number < 1 || *number > kMostOfAnything) {
            fail(key, "got " + shown(*value) + ", expected a size of 1 to " + std::to_string(kMostOfAnything));
            return 1;
        }
        return *number;
    }

    double real(std::string_view key, double otherwise)
    {
        const JsonValue* const value = find(key);
        if (value == nullptr) {
            return otherwise;
        }
        if (const auto* const whole = std::get_if<std::int64_t>(&value->data)) {
            return static_cast<double>(*whole);
        }
        const auto* const number = std::get_if<double>(&value->data);
        if (number == nullptr) {
            fail(key, "got " + shown(*value) + ", expected a number");
        }
        return number == nullptr ? otherwise : *number;
    }

    bool flag(std::string_view key, bool otherwise)
    {
        const JsonValue* const value = find(key);
        const auto* const set = value == nullptr ? nullptr : std::get_if<bool>(&value->data);
        if (value != nullptr && set == nullptr) {
            fail(key, "got " + shown(*value) + ", expected true or false");
        }
        return set == nullptr ? otherwise : *set;
    }

    std::string text(std::string_view key, std::string_view otherwise)
    {
        const JsonValue* const value = find(key);
        const auto* const set = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
        if (value != nullptr && set == nullptr) {
            fail(key, "got " + shown(*value) + ", expected a text");
        }
        return set == nullptr ? std::string(otherwise) : *set;
    }

    /// Refuses any value but this one; a missing key means it.
    void only(std::string_view key, bool expected)
    {
        if (flag(key, expected) != expected) {
            fail(key, std::string("is ") + (expected ? "false" : "true") + ", which is not supported; expected " +
                          (expected ? "true" : "false"));
        }
    }

    /// An object under a key; an empty one where it is missing.
    Keys object(std::string_view key)
    {
        static const JsonValue kNone{JsonObject{}, JsonLayout::Lines};
        const JsonValue* const value = find(key);
        if (value != nullptr && !std::holds_alternative<JsonObject>(value->data)) {
            fail(key, "got " + shown(*value) + ", expected an object");
            return {kNone, m_place};
        }
        return {value == nullptr ? kNone : *value, m_place + " · " + std::string(key)};
    }

    /// What there is and nobody has asked for.
    [[nodiscard]] std::vector<std::string> unread() const
    {
        std::vector<std::string> keys;
        for (const JsonMember& member : std::get<JsonObject>(m_object.data)) {
            if (!m_used.contains(member.key) && !std::holds_alternative<std::nullptr_t>(member.value.data)) {
                keys.push_back(member.key);
            }
        }
        return keys;
    }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    void take(const Keys& inner)
    {
        if (!m_error) {
            m_error = inner.m_error;
        }
    }

private:
    static std::string shown(const JsonValue& value)
    {
        if (const auto* const number = std::get_if<std::int64_t>(&value.data)) {
            return std::to_string(*number);
        }
        const auto* const real = std::get_if<double>(&value.data);
        return real == nullptr ? nameOfValue(value) : numberText(*real);
    }

    const JsonValue& m_object;
    std::string m_place;
    std::set<std::string> m_used;
    std::optional<Error> m_error;
};

class DecoderReader {
public:
    DecoderReader(Keys& keys, const DecoderKind& kind) : m_keys(keys), m_kind(kind) { m_decoder.kind = kind.name; }

    Result<ReadDecoder> read()
    {
        readSizes();
        readAttention();
        readWindow();
        readRope();
        readFfn();
        m_decoder.tied = m_keys.flag("tie_word_embeddings", m_kind.tied);
        m_decoder.parallel = m_kind.name == "gpt_neox" && m_keys.flag("use_parallel_residual", true);
        refuseOthers();
        noteTheRest();
        if (m_keys.error()) {
            return *m_keys.error();
        }
        return ReadDecoder{std::move(m_decoder), std::move(m_notes)};
    }

private:
    void readSizes()
    {
        const ConfigWords& words = wordsOf(m_kind);
        m_decoder.layers = m_keys.size(words.layers);
        if (m_decoder.layers > kMaxLayers) {
            m_keys.fail(words.layers,
                        "got " + std::to_string(m_decoder.layers) + ", expected at most " + std::to_string(kMaxLayers));
        }
        m_decoder.width = m_keys.size(words.width);
        m_decoder.heads = m_keys.size(words.heads);
        m_decoder.vocabulary = m_keys.size("vocab_size");
        m_decoder.positions = m_keys.size(words.positions, 2048);
        m_decoder.epsilon = m_keys.real(words.epsilon, m_kind.epsilon);
        const bool grouped = !m_kind.layerNorm;
        m_decoder.kvHeads = grouped ? m_keys.size("num_key_value_heads", defaultKvHeads()) : m_decoder.heads;
        const std::int64_t even = m_decoder.width / m_decoder.heads;
        m_decoder.headDim = grouped ? m_keys.size("head_dim", m_kind.name == "qwen3" ? 128 : even) : even;
        if (m_decoder.headDim == even && m_decoder.width % m_decoder.heads != 0) {
            m_keys.fail(words.width, "got " + std::to_string(m_decoder.width) + ", expected a multiple of the " +
                                         std::to_string(m_decoder.heads) + " heads");
        }
        if (m_decoder.heads % m_decoder.kvHeads != 0) {
            m_keys.fail("num_key_value_heads", "got " + std::to_string(m_decoder.kvHeads) + ", expected a divisor of " +
                                                   std::to_string(m_decoder.heads) + " heads");
        }
    }

    /// What transformers takes where the key is missing.
    [[nodiscard]] std::int64_t defaultKvHeads() const { return m_kind.name == "mistral" ? 8 : m_decoder.heads; }

    void readAttention()
    {
        if (m_kind.learnedPositions) {
            m_decoder.bias = "all";
        } else if (m_kind.name == "qwen2") {
            m_decoder.bias = "qkv";
        } else if (m_kind.name != "mistral") {
            m_decoder.bias = m_keys.flag("attention_bias", m_kind.layerNorm) ? "all" : "none";
        }
    }

    void readWindow()
    {
        const bool may = m_kind.name == "qwen2" || m_kind.name == "qwen3";
        const bool uses = m_kind.name == "mistral" || (may && m_keys.flag("use_sliding_window", false));
        if (!uses) {
            (void)m_keys.find("sliding_window");
        } else if (m_keys.find("sliding_window") != nullptr) {
            m_decoder.window = m_keys.size("sliding_window");
        }
        if (may) {
            const std::int64_t first = m_keys.find("max_window_layers") == nullptr ? 28 : sizeOrZero();
            m_decoder.seeAll = m_decoder.window > 0 ? first : 0;
            checkLayerTypes();
        }
    }

    std::int64_t sizeOrZero()
    {
        const auto* const number = std::get_if<std::int64_t>(&m_keys.find("max_window_layers")->data);
        return number != nullptr && *number == 0 ? 0 : m_keys.size("max_window_layers");
    }

    /// All see everything up to one layer, and a window from there on.
    void checkLayerTypes()
    {
        const JsonValue* const value = m_keys.find("layer_types");
        const auto* const list = value == nullptr ? nullptr : std::get_if<JsonArray>(&value->data);
        if (list == nullptr) {
            return;
        }
        std::int64_t layer = 0;
        for (const JsonValue& entry : *list) {
            const auto* const type = std::get_if<std::string>(&entry.data);
            const bool windowed = m_decoder.window > 0 && layer >= m_decoder.seeAll;
            const char* const expected = windowed ? "sliding_attention" : "full_attention";
            ++layer;
            if (layer <= m_decoder.layers && (type == nullptr || *type != expected)) {
                m_keys.fail("layer_types", "of layer " + std::to_string(layer) + " is " + nameOfValue(entry) +
                                               ", expected " + expected +
                                               ": layers that alternate otherwise are not supported");
            }
        }
    }

    void readRope()
    {
        if (m_kind.learnedPositions) {
            return;
        }
        // Version 5 of transformers keeps all in one object, earlier ones in three places.
        Keys newer = m_keys.object("rope_parameters");
        Keys scaling = m_keys.object("rope_scaling");
        const bool neox = m_kind.name == "gpt_neox";
        const double base = m_keys.real(neox ? "rotary_emb_base" : "rope_theta", 10000);
        m_decoder.ropeBase = newer.real("rope_theta", m_keys.real("rope_theta", base));
        const double share = m_keys.real(neox ? "rotary_pct" : "partial_rotary_factor", neox ? 0.25 : 1);
        m_decoder.rotaryShare = newer.real("partial_rotary_factor", share);
        if (!neox && m_decoder.rotaryShare != 1) {
            m_keys.fail("partial_rotary_factor",
                        "is " + numberText(m_decoder.rotaryShare) + ", expected 1 in a " + m_decoder.kind);
        }
        const bool older = scaling.find("rope_type") != nullptr || scaling.find("type") != nullptr;
        Keys& in = older ? scaling : newer;
        readScaling(in);
        m_keys.take(newer);
        m_keys.take(scaling);
    }

    void readScaling(Keys& keys)
    {
        const std::string older = keys.text("type", "default");
        const std::string type = keys.text("rope_type", older);
        if (type == "default") {
            return;
        }
        if (type != "linear" && type != "llama3") {
            keys.fail("rope_type", "\"" + type + "\" is not supported; expected default, linear or llama3");
            return;
        }
        m_decoder.ropeScaling = type;
        m_decoder.ropeFactor = keys.real("factor", 1);
        if (type == "llama3") {
            m_decoder.ropeLow = keys.real("low_freq_factor", 1);
            m_decoder.ropeHigh = keys.real("high_freq_factor", 4);
            m_decoder.ropeOriginal = keys.size("original_max_position_embeddings");
        }
    }

    void readFfn()
    {
        const ConfigWords& words = wordsOf(m_kind);
        const std::string given = m_keys.text(words.activation, m_kind.activation);
        const std::string_view known = activationHere(given);
        if (known.empty() || (m_kind.gated && known != "silu")) {
            m_keys.fail(words.activation,
                        "\"" + given + "\" is not supported; expected " + (m_kind.gated ? "silu" : activationsThere()));
        }
        m_decoder.activation = known;
        const bool fourfold = m_kind.learnedPositions; // n_inner may be null
        m_decoder.hidden = m_keys.size(words.hidden, fourfold ? std::optional(4 * m_decoder.width) : std::nullopt);
        m_decoder.ffnBias = m_kind.layerNorm || (m_kind.name == "llama" && m_keys.flag("mlp_bias", false));
    }

    void refuseOthers()
    {
        for (const char* const key : {"quantization_config", "compression_config"}) {
            if (m_keys.find(key) != nullptr) {
                m_keys.fail(key, "quantised weights are not supported; expected a folder in float32, float16 or "
                                 "bfloat16");
            }
        }
        if (m_keys.find("auto_map") != nullptr) {
            m_keys.fail("auto_map", "the folder brings code of its own, which is not run here");
        }
        for (const char* const key : {"is_encoder_decoder", "add_cross_attention"}) {
            m_keys.only(key, false);
        }
        if (m_kind.learnedPositions) {
            m_keys.only("scale_attn_weights", true);
            m_keys.only("scale_attn_by_inverse_layer_idx", false);
        }
    }

    void noteTheRest()
    {
        for (const char* const key :
             {"attn_pdrop", "embd_pdrop", "resid_pdrop", "attention_dropout", "hidden_dropout"}) {
            if (const double rate = m_keys.real(key, 0); rate > 0) {
                m_notes.push_back(std::string(key) + " " + numberText(rate) +
                                  " is left out: it acts in training alone, where a dropout node does the same");
            }
        }
        std::string others;
        for (const std::string& key : m_keys.unread()) {
            if (!saysNothing(key)) {
                others += (others.empty() ? "" : ", ") + key;
            }
        }
        if (!others.empty()) {
            m_notes.push_back("config.json says more, which is not read: " + others);
        }
    }

    Keys& m_keys;
    const DecoderKind& m_kind;
    Decoder m_decoder;
    std::vector<std::string> m_notes;
};

std::string kindNames()
{
    std::string names;
    for (const DecoderKind& kind : decoderKinds()) {
        names += (names.empty() ? "" : ", ") + std::string(kind.name);
    }
    return names;
}

} // namespace

Result<ReadDecoder> readDecoder(std::string_view config, const std::string& place)
{
    const Result<JsonValue> tree = parseJson(config);
    if (!tree) {
        return Error{place + " · " + tree.error().place, tree.error().message};
    }
    if (!std::holds_alternative<JsonObject>(tree->data)) {
        return Error{place, "got " + nameOfValue(*tree) + ", expected an object"};
    }
    Keys keys(*tree, place);
    const std::string name = keys.text("model_type", "");
    if (keys.error()) {
        return *keys.error();
    }
    const DecoderKind* const kind = findDecoderKind(name);
    if (kind == nullptr) {
        return Error{place + " · model_type", (name.empty() ? "is missing" : "\"" + name + "\" is not supported") +
                                                  "; expected one of " + kindNames()};
    }
    return DecoderReader(keys, *kind).read();
}

} // namespace residua::projects
