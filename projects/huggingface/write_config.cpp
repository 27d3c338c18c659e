// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a KnownModel as config.json for all versions of transformers that know its architecture.
#include "projects/huggingface/known_model.h"

#include "projects/base/json_tree.h"
#include "projects/huggingface/config_words.h"
#include "projects/huggingface/model_kinds.h"
#include "projects/pytorch/pytorch_code.h"

#include <algorithm>
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
    ConfigWriter(const KnownModel& model, const std::vector<std::string>& classes, JsonValue config)
        : m_model(model), m_kind(*findModelKind(model.kind)), m_classes(classes), m_config(std::move(config))
    {
    }

    std::string write(const std::string& dtype)
    {
        set("architectures", {JsonArray{tree(m_kind.className)}, JsonLayout::Inline});
        set("model_type", tree(m_kind.modelType));
        writeSizes();
        writeExamples();
        if (m_kind.rotates()) {
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
        if (JsonValue* const present = findMember(m_config, key)) {
            *present = std::move(value);
        } else {
            std::get<JsonObject>(m_config.data).push_back({std::string(key), std::move(value)});
        }
    }
    /// Sets a key that does not affect the network to `value`, unless an imported value exists.
    void propose(std::string_view key, JsonValue value)
    {
        if (findMember(m_config, key) == nullptr) {
            set(key, std::move(value));
        }
    }

    void writeSizes()
    {
        const ConfigWords& words = wordsOf(m_kind);
        set(words.width, tree(m_model.width));
        const bool isSingle = m_kind.looped == LoopedLayers::Single;
        set(words.layers, tree(isSingle ? m_model.visits : m_model.layers));
        if (m_kind.looped == LoopedLayers::All) {
            set(kConfigVisits, tree(m_model.visits));
        }
        set(words.heads, tree(m_model.heads));
        if (m_kind.choosesHeads) {
            set("num_key_value_heads", tree(m_model.kvHeads));
            const bool said = findMember(m_config, "head_dim") != nullptr;
            if (said || m_kind.headDim != 0 || m_model.headDim * m_model.heads != m_model.width) {
                set("head_dim", tree(m_model.headDim));
            }
        }
        set(words.hidden, tree(m_model.hidden));
        set(words.epsilon, tree(m_model.epsilon));
        set(words.activation, tree(m_kind.gated ? m_kind.activation : configWordOf(m_model.activation)));
    }

    /// Writes the sizes that depend on what the model reads and predicts.
    void writeExamples()
    {
        const ConfigWords& words = wordsOf(m_kind);
        if (m_kind.readsPictures()) {
            const PictureSizes& picture = m_model.picture;
            const JsonArray sides{tree(picture.height), tree(picture.width)};
            set("image_size", picture.height == picture.width ? sides.front() : JsonValue{sides, JsonLayout::Inline});
            set("patch_size", tree(picture.patch));
            set("num_channels", tree(picture.channels));
        } else {
            set("vocab_size", tree(m_model.vocabulary));
        }
        if (m_kind.rotates()) {
            propose(words.positions, tree(m_model.positions)); // no tensor has this size
        } else if (!m_kind.readsPictures()) {
            set(words.positions, tree(m_model.positions));
        }
        if (m_kind.hasBertStem()) {
            set("type_vocab_size", tree(m_model.segments));
        }
        if (m_kind.family == ModelFamily::Albert) {
            set("embedding_size", tree(m_model.embedding));
            set("num_hidden_groups", tree(std::int64_t{1}));
            set("inner_group_num", tree(std::int64_t{1}));
        }
        if (m_kind.classifies()) {
            writeClasses();
        } else {
            set("tie_word_embeddings", tree(m_model.tied));
        }
    }

    /// Keeps the imported names of the classes if the run has none of its own and their number has not changed.
    void writeClasses()
    {
        const JsonValue* const kept = findMember(m_config, "id2label");
        const auto* const list = kept == nullptr ? nullptr : std::get_if<JsonObject>(&kept->data);
        if (m_classes.empty() && list != nullptr && std::ssize(*list) == m_model.classes) {
            return;
        }
        std::vector<std::string> names = defaultClasses(m_model.classes);
        std::copy_n(m_classes.begin(), std::min(m_classes.size(), names.size()), names.begin());
        for (JsonMember& member : classNames(names)) {
            set(member.key, std::move(member.value));
        }
        takeMember(m_config, "num_labels"); // follows from the names
    }

    /// Version 5 of transformers reads rope_parameters, earlier versions read keys beside it. The name of a scaling is
    /// "type" in all versions that know linear scaling, and "rope_type" since 4.43, the first version with that of
    /// Llama 3.1.
    void writeRope()
    {
        const RotaryPositions& rotary = m_model.rotary;
        JsonObject newer{{kNewerRopeBase, tree(rotary.base)}, {"rope_type", tree(configWordOf(rotary.scaling))}};
        if (rotary.scaling == RopeScaling::None) {
            takeMember(m_config, "rope_scaling");
        } else {
            JsonObject numbers{{"factor", tree(rotary.factor)}};
            const bool llama3 = rotary.scaling == RopeScaling::Llama3;
            if (llama3) {
                numbers.push_back({"low_freq_factor", tree(rotary.low)});
                numbers.push_back({"high_freq_factor", tree(rotary.high)});
                numbers.push_back({"original_max_position_embeddings", tree(rotary.original)});
            }
            newer.insert(newer.end(), numbers.begin(), numbers.end());
            numbers.insert(numbers.begin(),
                           JsonMember{llama3 ? "rope_type" : "type", tree(configWordOf(rotary.scaling))});
            set("rope_scaling", tree(std::move(numbers)));
        }
        set(wordsOf(m_kind).ropeBase, tree(rotary.base));
        if (m_kind.choosesRotaryShare) {
            set(wordsOf(m_kind).rotaryShare, tree(m_model.rotaryShare));
            newer.push_back({kNewerRotaryShare, tree(m_model.rotaryShare)});
        }
        set("rope_parameters", tree(std::move(newer)));
    }

    /// Names the code that loads the model. That of an imported folder stays there.
    void writeCode()
    {
        const std::string home = std::string(m_kind.codeHome) + "--";
        const std::string type(m_kind.modelType);
        const std::string name(m_kind.className.substr(0, m_kind.className.find("For")));
        const std::string config = home + "configuration_" + type + "." + name + "Config";
        const std::string model = home + "modeling_" + type + "." + std::string(m_kind.className);
        set("auto_map", tree(JsonObject{{"AutoConfig", tree(std::string_view(config))},
                                        {autoClassOf(m_kind.name), tree(std::string_view(model))}}));
    }

    void writeOptions()
    {
        if (!m_kind.codeHome.empty()) {
            writeCode();
        }
        if (m_kind.choosesAttentionBias) {
            set("attention_bias", tree(m_model.attentionBias == AttentionBias::All));
        }
        if (m_kind.choosesFfnBias) {
            set("mlp_bias", tree(m_model.ffnBias));
        }
        if (m_kind.choosesParallel) {
            set("use_parallel_residual", tree(m_model.parallel));
        }
        const JsonValue window = m_model.window > 0 ? tree(m_model.window) : tree(nullptr);
        if (m_kind.windowed == WindowedLayers::All) {
            set("sliding_window", window);
        }
        if (m_kind.windowed == WindowedLayers::Later) {
            takeMember(m_config, "layer_types"); // follows from the other keys
            set("use_sliding_window", tree(m_model.window > 0));
            if (m_model.window > 0) {
                set("sliding_window", window);
                set("max_window_layers", tree(m_model.fullLayers));
            }
        }
    }

    const KnownModel& m_model;
    const ModelKind& m_kind;
    const std::vector<std::string>& m_classes;
    JsonValue m_config;
};

} // namespace

std::string configOf(const KnownModel& model, std::string_view original, const std::string& dtype,
                     const std::vector<std::string>& classes)
{
    // The keys of an architecture mean the same for each of its heads.
    const bool same = modelTypeIn(original) == findModelKind(model.kind)->modelType;
    return ConfigWriter(model, classes, same ? *parseJson(original) : tree(JsonObject{})).write(dtype);
}

std::vector<std::string> defaultClasses(std::int64_t count)
{
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < count; ++i) {
        names.push_back("LABEL_" + std::to_string(i));
    }
    return names;
}

std::string modelTypeIn(std::string_view config)
{
    const Result<JsonValue> json = parseJson(config);
    const JsonValue* const type = json ? findMember(*json, "model_type") : nullptr;
    const auto* const name = type == nullptr ? nullptr : std::get_if<std::string>(&type->data);
    return name == nullptr ? std::string() : *name;
}

} // namespace residua::projects
