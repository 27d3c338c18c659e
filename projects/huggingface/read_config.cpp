// SPDX-License-Identifier: GPL-3.0-or-later
// Converts config.json to a KnownModel. Keys that do not matter here are listed by name; other unread keys give a note.
#include "projects/huggingface/known_model.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/huggingface/config_keys.h"
#include "projects/huggingface/config_words.h"
#include "projects/huggingface/custom_model.h"
#include "projects/huggingface/model_kinds.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::int64_t kMostClasses = 1'000'000; // as of labelled data
constexpr const char* kOneLabel = "single_label_classification";
constexpr const char* kClassNames = "id2label";

/// Returns the names of "id2label" by number, from "0" on; empty after an error.
std::vector<std::string> namesIn(const JsonObject& list, Keys& keys)
{
    std::vector<std::optional<std::string>> names(list.size());
    for (const JsonMember& member : list) {
        const auto number = numberFrom<std::int64_t>(member.key);
        if (!number || *number < 0 || *number >= std::ssize(list) || names[static_cast<std::size_t>(*number)]) {
            keys.fail(kClassNames, "has the key \"" + member.key + "\", expected each number from 0 to " +
                                       std::to_string(list.size() - 1) + " once");
            return {};
        }
        const auto* const text = std::get_if<std::string>(&member.value.data);
        const auto* const whole = std::get_if<std::int64_t>(&member.value.data);
        if (text == nullptr && whole == nullptr) {
            keys.fail(kClassNames,
                      "names class " + member.key + " by " + nameOfValue(member.value) + ", expected a text");
            return {};
        }
        names[static_cast<std::size_t>(*number)] = text != nullptr ? *text : std::to_string(*whole);
    }
    std::vector<std::string> result;
    std::ranges::transform(names, std::back_inserter(result), [](const auto& name) { return *name; });
    return result;
}

/// Returns the value of "id2label" if it is an object.
const JsonObject* classNamesOf(Keys& keys)
{
    const JsonValue* const names = keys.find(kClassNames);
    return names == nullptr ? nullptr : std::get_if<JsonObject>(&names->data);
}

/// Returns an error if the text is no JSON object.
Result<JsonValue> objectIn(std::string_view config, const std::string& place)
{
    Result<JsonValue> tree = parseJson(config);
    if (!tree) {
        return Error{place + " · " + tree.error().place, tree.error().message};
    }
    if (!std::holds_alternative<JsonObject>(tree->data)) {
        return Error{place, "got " + nameOfValue(*tree) + ", expected an object"};
    }
    return tree;
}

class ModelReader {
public:
    ModelReader(Keys& keys, const ModelKind& kind) : m_keys(keys), m_kind(kind) { m_model.kind = kind.name; }

    Result<ReadModel> read()
    {
        readSizes();
        readExamples();
        readAttention();
        readWindow();
        readRope();
        readFfn();
        if (m_kind.task == ModelTask::NextToken) {
            m_model.tied = m_keys.flag("tie_word_embeddings", m_kind.tied);
        } else {
            m_model.tied = m_kind.tied;
        }
        m_model.parallel = m_kind.choosesParallel && m_keys.flag("use_parallel_residual", true);
        refuseOthers();
        noteTheRest();
        if (m_keys.error()) {
            return *m_keys.error();
        }
        return ReadModel{std::move(m_model), std::move(m_classes), std::move(m_notes)};
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
        if (m_kind.looped != LoopedLayers::None) {
            readVisits();
        }
        m_model.width = m_keys.size(words.width);
        m_model.heads = m_keys.size(words.heads);
        m_model.epsilon = m_keys.real(words.epsilon, m_kind.epsilon);
        if (m_kind.looped == LoopedLayers::All && m_model.epsilon != m_kind.epsilon) {
            m_keys.fail(words.epsilon, "is " + numberText(m_model.epsilon) + ", expected " +
                                           numberText(m_kind.epsilon) + ", which the norm after a visit has here");
        }
        readHeads();
    }

    /// Reads how often a loop visits the layers.
    void readVisits()
    {
        const bool isSingle = m_kind.looped == LoopedLayers::Single;
        const std::string_view key = isSingle ? wordsOf(m_kind).layers : kConfigVisits;
        m_model.visits = isSingle ? std::exchange(m_model.layers, 1) : m_keys.size(kConfigVisits, 4);
        if (m_model.visits > kMaxVisits) {
            m_keys.fail(key, "got " + std::to_string(m_model.visits) + ", expected at most " +
                                 std::to_string(kMaxVisits) + " visits of a loop");
        }
        if (isSingle) {
            readSharing();
        } else if (m_model.visits < 2) {
            m_keys.fail(key, "is 1, expected at least 2: with one visit there is nothing that the exit gate decides");
        } else if (m_model.depth() > kMaxLayers) {
            m_keys.fail(key, "got " + std::to_string(m_model.visits) + ", which are " +
                                 std::to_string(m_model.depth()) + " executed layers; expected at most " +
                                 std::to_string(kMaxLayers));
        }
    }

    /// Reads the tables' features, and checks that all layers are one.
    void readSharing()
    {
        m_model.embedding = m_keys.size("embedding_size", 128);
        for (const char* const key : {"num_hidden_groups", "inner_group_num"}) {
            if (const std::int64_t layers = m_keys.size(key, 1); layers != 1) {
                m_keys.fail(key, "is " + std::to_string(layers) + ", expected 1: one stored layer for all");
            }
        }
    }

    /// Reads the sizes that depend on what the model reads and predicts.
    void readExamples()
    {
        if (m_kind.readsPictures()) {
            readPictures();
        } else {
            m_model.vocabulary = m_keys.size("vocab_size");
            m_model.positions = m_keys.size(wordsOf(m_kind).positions, m_kind.positions);
        }
        if (m_kind.hasBertStem()) {
            m_model.segments = m_keys.size("type_vocab_size", 2);
        }
        if (m_kind.classifies()) {
            readClasses();
        }
    }

    void readPictures()
    {
        const auto [height, width] = m_keys.sides("image_size", 224);
        const auto [patch, other] = m_keys.sides("patch_size", 16);
        m_model.picture = {height, width, m_keys.size("num_channels", 3), patch};
        if (patch != other) {
            m_keys.fail("patch_size",
                        "got " + std::to_string(patch) + " × " + std::to_string(other) + ", expected equal sides");
        }
        if (height % patch != 0 || width % patch != 0) {
            m_keys.fail("image_size", "got " + std::to_string(height) + " × " + std::to_string(width) +
                                          ", expected multiples of the patch size, which is " + std::to_string(patch));
            return;
        }
        m_model.positions = m_model.picture.positions();
    }

    /// The number of classes is that of their names. Without names, transformers calls them LABEL_0 and so on.
    void readClasses()
    {
        const JsonObject* const list = classNamesOf(m_keys);
        const std::int64_t named = list != nullptr ? std::ssize(*list) : 2;
        m_model.classes = m_keys.size("num_labels", named);
        if (m_model.classes > kMostClasses) {
            m_keys.fail("num_labels",
                        "is " + std::to_string(m_model.classes) + ", expected at most " + std::to_string(kMostClasses));
            return;
        }
        if (list != nullptr && m_model.classes != named) {
            m_keys.fail("num_labels", "is " + std::to_string(m_model.classes) + ", but id2label names " +
                                          std::to_string(named) + " classes");
            return;
        }
        m_classes = list != nullptr ? namesIn(*list, m_keys) : defaultClasses(m_model.classes);
        const std::string problem = m_keys.text("problem_type", kOneLabel);
        if (problem != kOneLabel) {
            m_keys.fail("problem_type", "\"" + problem + "\" is not supported; expected " + std::string(kOneLabel) +
                                            ": one class for each example, by a softmax");
        }
        if (m_model.classes < 2) {
            m_keys.fail(kClassNames, "has " + std::to_string(m_model.classes) +
                                         " classes, which transformers takes for a regression; expected at least 2");
        }
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
        if (!m_kind.rotates()) {
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
        const bool fourfold = m_kind.family == ModelFamily::Gpt2; // n_inner may be null
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
        if (m_keys.find("auto_map") != nullptr && m_kind.codeHome.empty()) {
            m_keys.fail("auto_map", "the folder brings code of its own, which is not run here");
        }
        for (const char* const key : {"is_encoder_decoder", "add_cross_attention"}) {
            m_keys.only(key, false);
        }
        if (m_kind.family == ModelFamily::Gpt2) {
            m_keys.only("scale_attn_weights", true);
            m_keys.only("scale_attn_by_inverse_layer_idx", false);
        }
        if (m_kind.hasBertStem()) {
            m_keys.only("is_decoder", false);
            refuseOtherPositions();
        }
        if (m_kind.task == ModelTask::MaskedToken) {
            m_keys.only("tie_word_embeddings", true);
        }
        if (m_kind.family == ModelFamily::Vit) {
            m_keys.only("qkv_bias", true);
        }
    }

    void refuseOtherPositions()
    {
        const std::string positions = m_keys.text("position_embedding_type", "absolute");
        if (positions != "absolute") {
            m_keys.fail("position_embedding_type", "got \"" + positions + "\", expected absolute");
        }
        const JsonValue* const pruned = m_keys.find("pruned_heads");
        const auto* const heads = pruned == nullptr ? nullptr : std::get_if<JsonObject>(&pruned->data);
        if (heads != nullptr && !heads->empty()) {
            m_keys.fail("pruned_heads", "has " + std::to_string(heads->size()) +
                                            " layers, expected none: all layers have the same heads here");
        }
    }

    void noteTheRest()
    {
        for (const char* const key :
             {"attn_pdrop", "embd_pdrop", "resid_pdrop", "attention_dropout", "hidden_dropout",
              "attention_probs_dropout_prob", "hidden_dropout_prob", "classifier_dropout_prob"}) {
            if (const double rate = m_keys.real(key, 0); rate > 0) {
                m_notes.push_back(std::string(key) + " " + numberText(rate) +
                                  " is left out: it acts in training alone, where a dropout node does the same");
            }
        }
        if (m_kind.looped == LoopedLayers::All) {
            noteExits();
        }
        noteUnread(m_keys);
    }

    void noteExits()
    {
        const double threshold = m_keys.real("early_exit_threshold", 1);
        if (threshold < 1) {
            const std::string share = numberText(threshold);
            m_notes.push_back("early_exit_threshold " + share +
                              " is left out: outputs are those of the last visit; eval and sample with --exit-at " +
                              share + " give those of earlier exits");
        }
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
    std::vector<std::string> m_classes;
    std::vector<std::string> m_notes;
};

/// Returns the model types without repetition.
std::string typeNames()
{
    std::vector<std::string_view> names;
    for (const ModelKind& kind : modelKinds()) {
        if (std::ranges::find(names, kind.modelType) == names.end()) {
            names.push_back(kind.modelType);
        }
    }
    return joinedText(names);
}

/// Returns the first class in "architectures"; null if the list is missing or empty.
const std::string* classOf(Keys& keys)
{
    const JsonValue* const value = keys.find("architectures");
    const auto* const list = value == nullptr ? nullptr : std::get_if<JsonArray>(&value->data);
    return list == nullptr || list->empty() ? nullptr : std::get_if<std::string>(&list->front().data);
}

/// Returns the kind of a model type. If it is a language model's alone, "architectures" does not matter, else that
/// names the head.
Result<const ModelKind*> kindOf(Keys& keys, const std::string& place)
{
    const std::string name = keys.text("model_type", "");
    if (keys.error()) {
        return *keys.error();
    }
    std::vector<const ModelKind*> kinds;
    for (const ModelKind& kind : modelKinds()) {
        if (kind.modelType == name) {
            kinds.push_back(&kind);
        }
    }
    if (name == kOwnArchitecture || (name.empty() && keys.find("renamed") != nullptr)) {
        return Error{place,
                     "belongs to an export of this program, which is no architecture of transformers; its weights are "
                     "read into the project that it came from: residua-cli import " +
                         std::string(name.empty() ? "weights" : "model") + ".safetensors --onto PROJECT"};
    }
    if (kinds.empty()) {
        return Error{place + " · model_type", (name.empty() ? "is missing" : "\"" + name + "\" is not supported") +
                                                  "; expected one of " + typeNames()};
    }
    if (kinds.front()->task == ModelTask::NextToken) {
        return kinds.front();
    }
    const std::string* const first = classOf(keys);
    for (const ModelKind* const kind : kinds) {
        if (first != nullptr && (kind->className == *first || kind->widerClass == *first)) {
            return kind;
        }
    }
    const auto className = [](const ModelKind* kind) { return kind->className; };
    return Error{place + " · architectures", (first == nullptr ? "is missing" : "got \"" + *first + "\"") +
                                                 ", expected " + joinedText(kinds, " or ", className)};
}

} // namespace

Result<std::vector<std::string>> classNamesIn(std::string_view config, const std::string& place)
{
    const JsonValue tree = RESIDUA_TRY(objectIn(config, place));
    Keys keys(tree, place);
    const JsonObject* const list = classNamesOf(keys);
    std::vector<std::string> names = list != nullptr ? namesIn(*list, keys) : std::vector<std::string>();
    if (keys.error()) {
        return *keys.error();
    }
    return names == defaultClasses(std::ssize(names)) ? std::vector<std::string>() : names;
}

Result<ReadModel> readModel(std::string_view config, const std::string& place)
{
    const JsonValue tree = RESIDUA_TRY(objectIn(config, place));
    Keys keys(tree, place);
    const ModelKind* const kind = RESIDUA_TRY(kindOf(keys, place));
    Result<ReadModel> read = ModelReader(keys, *kind).read();
    const std::string* const named = classOf(keys);
    if (read && named != nullptr && *named == kind->widerClass) {
        read->notes.push_back(keys.name() + ": the further heads of " + std::string(kind->widerClass) +
                              " are not read; it is imported as " + std::string(kind->className));
    }
    return read;
}

} // namespace residua::projects
