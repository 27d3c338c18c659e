// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/models/model_data.h"

#include "engine/base/api/data_summary.h"
#include "engine/base/files/content_hash.h"
#include "engine/base/files/tensor_files.h"
#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/class_numbers.h"
#include "engine/data/sets/masked_dataset.h"
#include "projects/base/files.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/huggingface/model_kinds.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStandInText = "text.txt";
constexpr const char* kStandInTokens = "tokens.bin";
constexpr const char* kStandInTable = "texts.csv";
constexpr const char* kStandInPictures = "pictures.csv";
/// The number of windows in the placeholder data; the validation split is a tenth.
constexpr std::int64_t kWindows = 16;

/// The names of a tokeniser's file in a model's folder; the first readable file is used.
constexpr const char* kJsonTokeniser = "tokenizer.json";
constexpr const char* kPieceTokeniser = "tokenizer.model";
constexpr const char* kTokenisers[] = {kJsonTokeniser, kPieceTokeniser};

/// The files that transformers keeps beside it, such as the one with the tokens that begin and end a text.
constexpr const char* kBeside[] = {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
                                   "generation_config.json", "chat_template.jinja"};
constexpr const char* kTokeniserFolder = "tokeniser";
/// Parts of the names of files that other tokenisers consist of: vocab.txt, merges.txt, spiece.model.
constexpr const char* kTokeniserWords[] = {"vocab", "merges", "token", "piece", "bpe"};
constexpr std::size_t kMostUnread = 5; ///< that a message names

std::string standInText(std::int64_t tokens)
{
    constexpr std::string_view kLines = "No text was named when this model was imported, and these lines stand for "
                                        "one.\nThey are enough to try the model, and say nothing of how good it is.\n"
                                        "Name a text of your own for that: one that it has not seen.\n";
    constexpr std::int64_t kBytesOfToken = 8; // more than an English tokeniser needs
    std::string text;
    while (static_cast<std::int64_t>(text.size()) < tokens * kBytesOfToken) {
        text += kLines;
    }
    return text;
}

template <class Id>
std::string standInTokens(std::int64_t tokens, std::int64_t vocabulary)
{
    constexpr std::int64_t kStride = 7919; // adjacent tokens are far apart in the vocabulary
    std::string bytes;
    for (std::int64_t i = 0; i < tokens; ++i) {
        auto id = static_cast<Id>(i * kStride % vocabulary);
        for (std::size_t byte = 0; byte < sizeof(Id); ++byte, id = static_cast<Id>(id >> 8)) {
            bytes += static_cast<char>(id & 0xFF);
        }
    }
    return bytes;
}

/// Returns the files of a tokeniser in the folder, its own and the ones beside it; empty if it is missing.
Result<std::vector<fs::path>> filesOf(const char* tokeniser, const fs::path& folder)
{
    const fs::path path = RESIDUA_TRY(fileOf(folder, tokeniser));
    std::vector<fs::path> files;
    if (path.empty()) {
        return files;
    }
    files.push_back(path);
    for (const char* const name : kBeside) {
        const Result<fs::path> beside = fileOf(folder, name);
        if (beside && !beside->empty()) {
            files.push_back(*beside);
        }
    }
    return files;
}

/// Says that the folder has no tokeniser that is read, which files are, and which of another tokeniser it has.
std::string withoutTokeniser(const fs::path& folder)
{
    std::vector<std::string> unread;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        const bool isKnown = std::ranges::count(kTokenisers, name) + std::ranges::count(kBeside, name) > 0;
        const bool isOne = std::ranges::any_of(
            kTokeniserWords, [&](std::string_view word) { return name.find(word) != std::string::npos; });
        if (isOne && !isKnown) {
            unread.push_back(name);
        }
    }
    std::ranges::sort(unread);
    unread.resize(std::min(unread.size(), kMostUnread));
    const std::string found = joinedText(unread);
    return "has no tokeniser that is read, which is " + choiceText(kTokenisers) +
           (found.empty() ? ""
                          : "; " + found + (unread.size() > 1 ? " are" : " is") +
                                " not: transformers writes tokenizer.json with "
                                "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)");
}

Result<projects::Tokeniser> readTokeniser(const fs::path& path)
{
    const Result<InputFile> file = InputFile::open(path);
    const Status fetched = file ? refuseLfsPointer(*file, "the tokeniser") : Status(file.error());
    return fetched ? tokeniserAt(path) : Result<projects::Tokeniser>(fetched.error());
}

/// Copies the first readable tokeniser into the project; adds a note for each unreadable one.
Result<std::optional<projects::Tokeniser>> copiedTokeniser(const fs::path& folder, const fs::path& project,
                                                           std::int64_t vocabulary, std::vector<std::string>& notes)
{
    for (const char* const name : kTokenisers) {
        const std::vector<fs::path> files = RESIDUA_TRY(filesOf(name, folder));
        if (files.empty()) {
            continue;
        }
        const Result<projects::Tokeniser> read = readTokeniser(files.front());
        if (!read || read->vocabulary > vocabulary) {
            notes.push_back(read ? std::string(name) + " has " + std::to_string(read->vocabulary) +
                                       " tokens, the model " + std::to_string(vocabulary) + ": it is left out"
                                 : "the tokeniser is left out: " + read.error().text());
            continue;
        }
        std::error_code code;
        fs::create_directory(project / kTokeniserFolder, code);
        RESIDUA_TRY(copyInto(project / kTokeniserFolder, files));
        return std::optional(projects::Tokeniser{read->kind, std::string(kTokeniserFolder) + "/" + name, vocabulary});
    }
    return std::optional<projects::Tokeniser>();
}

Result<projects::Source> textData(const fs::path& project, const std::optional<projects::Source>& data,
                                  const projects::Tokeniser& tokeniser, std::int64_t length,
                                  std::vector<std::string>& notes)
{
    if (!data) {
        RESIDUA_TRY(writeFileAtomically(project / kStandInText, standInText(kWindows * length)));
        notes.push_back(std::string(kStandInText) + " stands for the data: losses on it mean nothing until a text "
                                                    "of your own takes its place");
        return projects::Source(projects::TextData{kStandInText, tokeniser});
    }
    projects::Source source = *data;
    if (projects::Tokeniser* const place = projects::tokeniserOf(source); place != nullptr) {
        *place = tokeniser;
    }
    return source;
}

Result<projects::Source> tokenData(const fs::path& folder, const fs::path& project,
                                   const std::optional<projects::Source>& data, std::int64_t vocabulary,
                                   std::int64_t length, std::vector<std::string>& notes)
{
    if (!data) {
        const std::int64_t tokens = kWindows * (length + 1);
        const bool narrow = vocabulary <= 1 << 16;
        const std::string bytes = narrow ? standInTokens<std::uint16_t>(tokens, vocabulary)
                                         : standInTokens<std::uint32_t>(tokens, vocabulary);
        RESIDUA_TRY(writeFileAtomically(project / kStandInTokens, bytes));
        notes.push_back("the folder " + withoutTokeniser(folder) + ". Prompts are ids of tokens, and " +
                        std::string(kStandInTokens) +
                        " stands for the data: losses on it mean nothing until "
                        "tokens of your own (.bin) take its place");
        return projects::Source(projects::TokenFileData{
            kStandInTokens, {}, narrow ? projects::TokenWidth::Uint16 : projects::TokenWidth::Uint32, vocabulary});
    }
    projects::Source source = *data;
    if (auto* const text = std::get_if<projects::TextData>(&source); text && vocabulary == projects::kByteVocabulary) {
        text->tokeniser = {};
        return source;
    }
    auto* const tokens = std::get_if<projects::TokenFileData>(&source);
    if (tokens == nullptr) {
        return Error{"data", "the model's folder " + withoutTokeniser(folder) + ". Expected ready-made tokens (.bin)"};
    }
    tokens->vocabulary = vocabulary;
    return source;
}

enum class LabelForm { Text, WholeNumber };

/// Returns labels of two classes of the model, or of one if no other has a label of that form. Returns an error if no
/// class has one.
Result<std::vector<std::string>> standInLabels(const std::vector<std::string>& classes, LabelForm form)
{
    const auto numbers = RESIDUA_TRY(ClassNumbers::of({}, std::ssize(classes), {kNewestReading, classes}));
    const auto fits = [form](const std::string& label) {
        const auto number = numberFrom<std::int64_t>(label);
        return form == LabelForm::Text ? !classLabel(label).empty()
                                       : number && *number >= 0 && label == std::to_string(*number);
    };
    std::vector<std::string> candidates{"0", "1"};
    candidates.insert(candidates.end(), classes.begin(), classes.end());
    std::vector<std::string> labels;
    std::set<std::int64_t> named;
    for (const std::string& candidate : candidates) {
        const std::string label = form == LabelForm::Text ? candidate : classLabel(candidate);
        const Result<std::int64_t> number = fits(label) ? numbers.numberOf(label) : Result<std::int64_t>(Error{});
        if (number && named.size() < 2 && named.insert(*number).second) {
            labels.push_back(label);
        }
    }
    return !labels.empty() ? Result<std::vector<std::string>>(std::move(labels))
                           : Error{"config.json · id2label",
                                   std::string("has no class that ") +
                                       (form == LabelForm::Text ? "one label names alone"
                                                                : "a whole number names, as a label of pictures") +
                                       ": expected data of your own"};
}

Result<projects::Source> labelledData(const fs::path& project, const std::optional<projects::Source>& data,
                                      const projects::Tokeniser& tokeniser, const std::vector<std::string>& classes,
                                      std::vector<std::string>& notes)
{
    projects::LabelledTextData source;
    if (!data) {
        std::string table = "text,label\n";
        const std::vector<std::string> labels = RESIDUA_TRY(standInLabels(classes, LabelForm::Text));
        for (std::size_t i = 0; i < kWindows; ++i) {
            table += i % 2 == 0 ? "No table was named when this model was imported.," : "Name one of your own.,";
            table += csvField(labels[i % labels.size()]) + "\n";
        }
        RESIDUA_TRY(writeFileAtomically(project / kStandInTable, table));
        notes.push_back(std::string(kStandInTable) + " stands for the data: losses on it mean nothing until a table of "
                                                     "labelled texts of your own takes its place");
        source.path = kStandInTable;
    } else if (const auto* const table = std::get_if<projects::LabelledTextData>(&*data)) {
        source = *table;
    } else if (const auto* const lines = std::get_if<projects::JsonLinesData>(&*data)) {
        source.path = lines->path;
        source.text = lines->field;
    } else {
        return Error{"data", "the model classifies texts: expected a table of texts with labels (.csv, .tsv, .jsonl)"};
    }
    source.tokeniser = tokeniser;
    source.classes = std::ssize(classes);
    return projects::Source(source);
}

/// Returns a table of a few grey pictures without meaning.
std::string standInPictures(const std::vector<std::string>& labels)
{
    constexpr std::size_t kValues = 8 * 8;
    std::string table = "label";
    for (std::size_t i = 0; i < kValues; ++i) {
        table += ",pixel" + std::to_string(i);
    }
    for (std::size_t picture = 0; picture < 2 * kWindows; ++picture) {
        table += "\n" + labels[picture % labels.size()];
        for (std::size_t i = 0; i < kValues; ++i) {
            table += "," + std::to_string((4 * i * (picture % 2 + 1) + 7 * picture) % 256);
        }
    }
    return table + "\n";
}

Result<projects::Source> pictureData(const fs::path& project, const std::optional<projects::Source>& data,
                                     const projects::KnownModel& model, const std::vector<std::string>& classes,
                                     std::vector<std::string>& notes)
{
    projects::PictureData source;
    if (!data) {
        const std::vector<std::string> labels = RESIDUA_TRY(standInLabels(classes, LabelForm::WholeNumber));
        RESIDUA_TRY(writeFileAtomically(project / kStandInPictures, standInPictures(labels)));
        notes.push_back(std::string(kStandInPictures) +
                        " stands for the data: losses on it mean nothing until pictures "
                        "of your own take its place");
        source.path = kStandInPictures;
    } else if (const auto* const pictures = std::get_if<projects::PictureData>(&*data)) {
        source = *pictures;
    } else {
        return Error{"data", "the model reads pictures: expected a folder with a folder of pictures for each class"};
    }
    source.height = model.picture.height;
    source.width = model.picture.width;
    source.channels = model.picture.channels;
    source.classes = model.classes;
    return projects::Source(source);
}

/// Returns the mask token of a network that predicts hidden tokens; nullopt for other networks. Adds a note if the
/// tokeniser has no name for it.
std::optional<std::int64_t> maskOf(const projects::Project& project, const TextCodec& codec, std::int64_t rows,
                                   std::vector<std::string>& notes)
{
    if (project.network.objective != projects::Objective::MaskedToken) {
        return std::nullopt;
    }
    const std::int64_t mask = maskTokenOf(project.data.masking, codec, rows);
    if (mask < 0 || mask < codec.vocabulary()) {
        return mask < 0 ? std::nullopt : std::optional(mask);
    }
    notes.push_back("the tokeniser has no name for the mask, which is token " + std::to_string(mask) +
                    ": transformers replaces no text by it");
    return std::nullopt;
}

Companions byteCompanions(std::optional<std::int64_t> mask)
{
    Companions companions;
    companions.tokeniser = projects::ExportedTokeniser::Auto;
    TokeniserTexts texts = byteTokeniserTexts(mask);
    companions.written[kJsonTokeniser] = std::move(texts.tokeniser);
    companions.written[tokeniserSettings(kJsonTokeniser).string()] = std::move(texts.settings);
    return companions;
}

/// Returns the tokeniser's file under the name that transformers expects for its kind, whatever its name in the
/// project. Adds the files beside it if both come from a model's folder, and the settings file if this program reads it
/// too.
Result<Companions> modelCompanions(projects::TokeniserKind kind, const fs::path& model,
                                   std::optional<std::int64_t> mask)
{
    const bool json = kind == projects::TokeniserKind::TokenizerJson;
    const fs::path settings = tokeniserSettings(model);
    Companions companions;
    const char* const name = json ? kJsonTokeniser : kPieceTokeniser;
    companions.files[name] = model;
    for (const char* const other : kBeside) {
        const bool belongs = model.filename() == name || (json && settings.filename() == other);
        if (belongs && isFile(model.parent_path() / other)) {
            companions.files[other] = model.parent_path() / other;
        }
    }
    const bool hasSettings = companions.files.contains(settings.filename().string());
    companions.tokeniser = json || (hasSettings && namesTokeniserClass(settings))
                               ? projects::ExportedTokeniser::Auto
                               : projects::ExportedTokeniser::SentencePiece;
    if (json && !hasSettings) {
        const std::string written = RESIDUA_TRY(settingsOf(model, mask));
        companions.written[settings.filename().string()] = written;
    }
    return companions;
}

} // namespace

Result<projects::Source> modelData(const fs::path& folder, const fs::path& project,
                                   const std::optional<projects::Source>& data, const projects::KnownModel& model,
                                   const std::vector<std::string>& classes, std::vector<std::string>& notes)
{
    const projects::ModelKind& kind = *projects::findModelKind(model.kind);
    if (kind.readsPictures()) {
        return pictureData(project, data, model, classes, notes);
    }
    const bool ready = data && std::holds_alternative<projects::TokenFileData>(*data);
    const auto tokeniser = RESIDUA_TRY(copiedTokeniser(folder, project, model.vocabulary, notes));
    if (kind.classifies()) {
        return tokeniser ? labelledData(project, data, *tokeniser, classes, notes)
                         : Result<projects::Source>(Error{folder.string(), withoutTokeniser(folder) +
                                                                               ". It makes tokens of labelled texts"});
    }
    if (tokeniser && ready) {
        notes.push_back(tokeniser->model + " is the model's tokeniser; ready-made tokens take none, so prompts are "
                                           "ids of tokens until a text takes their place");
    }
    const std::int64_t length = projects::trainedLength(model);
    return tokeniser && !ready ? textData(project, data, *tokeniser, length, notes)
                               : tokenData(folder, project, data, model.vocabulary, length, notes);
}

Result<Companions> tokeniserCompanions(const projects::Project& project, const fs::path& projectDirectory,
                                       std::vector<std::string>& notes)
{
    const projects::Tokeniser* const tokeniser = projects::tokeniserOf(project.data.source);
    if (tokeniser != nullptr && tokeniser->kind == projects::TokeniserKind::Bytes) {
        return byteCompanions(maskOf(project, *byteCodec(), projects::kByteVocabulary, notes));
    }
    if (tokeniser == nullptr || !projects::hasModel(tokeniser->kind)) {
        return Companions{};
    }
    const fs::path model = projectDirectory / tokeniser->model;
    if (!isFile(model)) {
        notes.push_back("the tokeniser is left out: there is no file " + model.string());
        return Companions{};
    }
    std::optional<std::int64_t> mask;
    if (project.network.objective == projects::Objective::MaskedToken) {
        const auto codec =
            RESIDUA_TRY(tokeniser->kind == projects::TokeniserKind::TokenizerJson ? tokenizerJsonCodec(model)
                                                                                  : sentencePieceCodec(model));
        mask = maskOf(project, *codec, tokeniser->vocabulary, notes);
    }
    return modelCompanions(tokeniser->kind, model, mask);
}

} // namespace residua::engine
