// SPDX-License-Identifier: GPL-3.0-or-later
// Converts config.json to a KnownModel. Keys that do not matter here are listed by name; other unread keys give a note.
#include "projects/huggingface/read_config.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/huggingface/config_words.h"
#include "projects/huggingface/model_kinds.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace residua::projects {
namespace {

/// The largest number that is accepted. The file may come from anyone, and sums of sizes must not overflow.
constexpr std::int64_t kMostOfAnything = 1'000'000'000;

/// Reads keys of an object. The first error is kept; later reads return the value for a missing key.
class Keys {
public:
    Keys(const JsonValue& object, std::string place, std::string name = "config.json")
        : m_object(object), m_place(std::move(place)), m_name(std::move(name))
    {
    }

    /// True if the key exists, even with the value null.
    [[nodiscard]] bool names(std::string_view key) const { return findMember(m_object, key) != nullptr; }

    /// Returns null if the key is missing or its value is null.
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

    /// At least 1. Returns `otherwise` if the key is missing or null.
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

    double real(std::string_view key, std::optional<double> otherwise = std::nullopt)
    {
        const JsonValue* const value = find(key);
        if (value == nullptr) {
            if (!otherwise) {
                fail(key, "is missing, expected a number");
            }
            return otherwise.value_or(1);
        }
        if (const auto* const whole = std::get_if<std::int64_t>(&value->data)) {
            return static_cast<double>(*whole);
        }
        const auto* const number = std::get_if<double>(&value->data);
        if (number == nullptr) {
            fail(key, "got " + shown(*value) + ", expected a number");
        }
        return number == nullptr ? otherwise.value_or(1) : *number;
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

    /// Rejects any value except `expected`, which is also the meaning of a missing key.
    void only(std::string_view key, bool expected)
    {
        if (flag(key, expected) != expected) {
            fail(key, std::string("is ") + (expected ? "false" : "true") + ", which is not supported; expected " +
                          (expected ? "true" : "false"));
        }
    }

    /// Returns the object under a key, or an empty one if it is missing.
    Keys object(std::string_view key)
    {
        static const JsonValue kNone{JsonObject{}, JsonLayout::Lines};
        const JsonValue* const value = find(key);
        if (value != nullptr && !std::holds_alternative<JsonObject>(value->data)) {
            fail(key, "got " + shown(*value) + ", expected an object");
            return {kNone, m_place};
        }
        const std::string below = " · " + std::string(key);
        return {value == nullptr ? kNone : *value, m_place + below, m_name + below};
    }

    /// Returns the name of the object for notes: "config.json", "config.json · rope_scaling".
    [[nodiscard]] std::string name() const { return m_name; }
    /// Returns the keys of the file that no call has read.
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
        if (real == nullptr) {
            return nameOfValue(value);
        }
        const std::string text = numberText(*real);
        return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text; // not an integer
    }

    const JsonValue& m_object;
    std::string m_place;
    std::string m_name;
    std::set<std::string> m_used;
    std::optional<Error> m_error;
};

class ModelReader {
public:
    ModelReader(Keys& keys, const ModelKind& kind) : m_keys(keys), m_kind(kind) { m_model.kind = kind.name; }

    Result<ReadModel> read()
    {
        readSizes();
        readAttention();
        readWindow();
        readRope();
        readFfn();
        m_model.tied = m_keys.flag("tie_word_embeddings", m_kind.tied);
        m_model.parallel = m_kind.choosesParallel && m_keys.flag("use_parallel_residual", true);
        refuseOthers();
        noteTheRest();
        if (m_keys.error()) {
            return *m_keys.error();
        }
        return ReadModel{std::move(m_model), std::move(m_notes)};
    }

private:
    void readSizes()
    {
        const ConfigWords& words = wordsOf(m_kind);
        m_model.layers = m_keys.size(words.layers);
        if (m_model.layers > kMaxLayers) {
            m_keys.fail(words.layers,
                        "got " + std::to_string(m_model.layers) + ", expected at most " + std::to_string(kMaxLayers));
        }
        m_model.width = m_keys.size(words.width);
        m_model.heads = m_keys.size(words.heads);
        m_model.vocabulary = m_keys.size("vocab_size");
        m_model.positions = m_keys.size(words.positions, m_kind.positions);
        m_model.epsilon = m_keys.real(words.epsilon, m_kind.epsilon);
        readHeads();
    }

    void readHeads()
    {
        const std::int64_t even = m_model.width / m_model.heads;
        m_model.kvHeads = m_model.heads;
        m_model.headDim = even;
        if (m_kind.choosesHeads) {
            m_model.kvHeads =
                m_keys.size("num_key_value_heads", whereUnsaid("num_key_value_heads", m_kind.kvHeads, m_model.heads));
            m_model.headDim = m_keys.size("head_dim", whereUnsaid("head_dim", m_kind.headDim, even));
        }
        if (m_model.headDim == even && m_model.width % m_model.heads != 0) {
            m_keys.fail(wordsOf(m_kind).width, "got " + std::to_string(m_model.width) +
                                                   ", expected a multiple of the " + std::to_string(m_model.heads) +
                                                   " heads");
        }
        if (m_model.heads % m_model.kvHeads != 0) {
            m_keys.fail("num_key_value_heads", "got " + std::to_string(m_model.kvHeads) + ", expected a divisor of " +
                                                   std::to_string(m_model.heads) + " heads");
        }
    }

    /// Returns the value of transformers for an optional size: `missing`, the architecture's own number, if the key is
    /// missing and `missing` is not 0; else `follows`, computed from the other sizes.
    [[nodiscard]] std::int64_t whereUnsaid(std::string_view key, std::int64_t missing, std::int64_t follows) const
    {
        return m_keys.names(key) || missing == 0 ? follows : missing;
    }

    void readAttention()
    {
        m_model.attentionBias = m_kind.attentionBias;
        if (m_kind.choosesAttentionBias) {
            const bool all = m_keys.flag("attention_bias", m_kind.attentionBias == AttentionBias::All);
            m_model.attentionBias = all ? AttentionBias::All : AttentionBias::None;
        }
    }

    void readWindow()
    {
        const bool later = m_kind.windowed == WindowedLayers::Later;
        const bool uses = m_kind.windowed == WindowedLayers::All || (later && m_keys.flag("use_sliding_window", false));
        const bool said = m_keys.find("sliding_window") != nullptr;
        if (uses && (said || !m_keys.names("sliding_window"))) { // null: no window
            m_model.window = m_keys.size("sliding_window", m_kind.window);
        }
        if (later) {
            const std::int64_t first =
                m_keys.find("max_window_layers") == nullptr ? m_kind.fullLayers : sizeOrZero("max_window_layers");
            m_model.fullLayers = m_model.window > 0 ? first : 0;
            checkLayerTypes();
        }
    }

    std::int64_t sizeOrZero(std::string_view key)
    {
        const auto* const number = std::get_if<std::int64_t>(&m_keys.find(key)->data);
        return number != nullptr && *number == 0 ? 0 : m_keys.size(key);
    }

    /// Checks that all layers before some layer have full attention, and all from it on a window.
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
            const bool windowed = m_model.window > 0 && layer >= m_model.fullLayers;
            const char* const expected = windowed ? "sliding_attention" : "full_attention";
            ++layer;
            if (layer <= m_model.layers && (type == nullptr || *type != expected)) {
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
        // Version 5 of transformers stores all values in one object, earlier versions in three places. It accepts both
        // names of the object and tries the older one first.
        Keys newer = m_keys.object("rope_parameters");
        Keys scaling = m_keys.object("rope_scaling");
        const ConfigWords& words = wordsOf(m_kind);
        const double base = m_keys.real(words.ropeBase, m_keys.real(kNewerRopeBase, RotaryPositions().base));
        m_model.rotary.base = scaling.real(kNewerRopeBase, newer.real(kNewerRopeBase, base));
        const double share = m_keys.real(words.rotaryShare, m_kind.rotaryShare);
        m_model.rotaryShare = scaling.real(kNewerRotaryShare, newer.real(kNewerRotaryShare, share));
        if (!m_kind.choosesRotaryShare && m_model.rotaryShare != 1) {
            m_keys.fail(words.rotaryShare,
                        "is " + numberText(m_model.rotaryShare) + ", expected 1 in a " + m_model.kind);
        }
        if (!(m_model.rotaryShare > 0 && m_model.rotaryShare <= 1)) {
            m_keys.fail(words.rotaryShare, "is " + numberText(m_model.rotaryShare) + ", expected a share up to 1");
            return;
        }
        m_model.rotary.features = rotatingFeatures(m_model.rotaryShare, m_model.headDim);
        if (m_model.rotary.features == 0) {
            m_keys.fail(words.rotaryShare, "is " + numberText(m_model.rotaryShare) + ", by which none of the " +
                                               std::to_string(m_model.headDim) + " features of a head rotates");
        }
        const bool older = scaling.find("rope_type") != nullptr || scaling.find("type") != nullptr;
        readScaling(older ? scaling : newer);
        for (const Keys* const inner : {&newer, &scaling}) {
            m_keys.take(*inner);
            if (inner == &scaling || !older) { // else the newer repeats the older
                noteUnread(*inner);
            }
        }
    }

    void readScaling(Keys& keys)
    {
        const std::string older = keys.text("type", configWordOf(RopeScaling::None));
        const std::string type = keys.text("rope_type", older);
        const std::optional<RopeScaling> scaling = scalingOfConfigWord(type);
        if (!scaling) {
            keys.fail("rope_type", "\"" + type + "\" is not supported; expected default, linear or llama3");
            return;
        }
        RotaryPositions& rotary = m_model.rotary;
        rotary.scaling = *scaling;
        if (rotary.scaling != RopeScaling::None) {
            rotary.factor = keys.real("factor");
        }
        if (rotary.scaling == RopeScaling::Llama3) {
            rotary.low = keys.real("low_freq_factor");
            rotary.high = keys.real("high_freq_factor");
            rotary.original = keys.size("original_max_position_embeddings");
        }
    }

    void readFfn()
    {
        const ConfigWords& words = wordsOf(m_kind);
        const std::string given = m_keys.text(words.activation, m_kind.activation);
        const std::string_view known = functionOfConfigWord(given);
        if (known.empty() || (m_kind.gated && known != functionOfConfigWord(m_kind.activation))) {
            m_keys.fail(words.activation, "\"" + given + "\" is not supported; expected " +
                                              (m_kind.gated ? std::string(m_kind.activation) : activationWords()));
        }
        m_model.activation = known;
        const bool fourfold = m_kind.learnedPositions; // n_inner may be null
        m_model.hidden = m_keys.size(words.hidden, fourfold ? std::optional(4 * m_model.width) : std::nullopt);
        m_model.ffnBias = m_kind.choosesFfnBias ? m_keys.flag("mlp_bias", m_kind.ffnBias) : m_kind.ffnBias;
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
        noteUnread(m_keys);
    }

    void noteUnread(const Keys& keys)
    {
        std::vector<std::string> others = keys.unread();
        std::erase_if(others, isIrrelevant);
        if (!others.empty()) {
            m_notes.push_back(keys.name() + " says more, which is not read: " + joinedText(others));
        }
    }

    Keys& m_keys;
    const ModelKind& m_kind;
    KnownModel m_model;
    std::vector<std::string> m_notes;
};

std::string kindNames()
{
    return joinedText(modelKinds(), ", ", &ModelKind::name);
}

} // namespace

Result<ReadModel> readModel(std::string_view config, const std::string& place)
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
    const ModelKind* const kind = findModelKind(name);
    if (kind == nullptr) {
        return Error{place + " · model_type", (name.empty() ? "is missing" : "\"" + name + "\" is not supported") +
                                                  "; expected one of " + kindNames()};
    }
    return ModelReader(keys, *kind).read();
}

} // namespace residua::projects
