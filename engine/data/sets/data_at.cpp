// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/data_summary.h"

#include "engine/data/pictures/picture_set.h"
#include "engine/data/sets/latent_dataset.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/folder_files.h"
#include "projects/base/text.h"
#include "projects/file/world_model.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using Found = Result<projects::Source>;

projects::Source textAt(const fs::path& path)
{
    switch (kindAt(path)) {
    case DataKind::Records:
        return projects::JsonLinesData{.path = path.string(), .tokeniser = {}};
    case DataKind::Tokens:
        return projects::TokenFileData{.path = path.string(), .validationPath = {}};
    case DataKind::Text:
        break;
    }
    return projects::TextData{path.string(), {}};
}

Found sourceFor(const fs::path& path, const TableColumns& columns);

/// Returns the source for the parts of a data set in a folder.
Found partsAt(const fs::path& folder, const std::vector<NamedParts>& sets, const TableColumns& columns)
{
    const auto texts = [](const NamedParts& parts) { return parts.text(); };
    if (sets.size() > 1) {
        return Error{folder.string(), "has " + std::to_string(sets.size()) + " data sets: " +
                                          joinedText(sets, "; ", texts) + "; name a part of one of them"};
    }
    const NamedParts& parts = sets.front();
    const std::string training = parts.training.front().filename().string();
    if (parts.training.size() > 1 || parts.heldOut().size() > 1) {
        return Error{folder.string(), "has the parts " + parts.text() +
                                          " of a data set, each in several files: put each part into a folder of its "
                                          "own and name one"};
    }
    Found source = sourceFor(parts.training.front(), columns);
    const Found heldOut = source ? sourceFor(parts.heldOut().front(), columns) : source;
    if (!heldOut) {
        return heldOut.error();
    }
    if (auto* const path = projects::validationPathOf(*source); path && heldOut->index() == source->index()) {
        *path = parts.heldOut().front().string();
        return source;
    }
    return Error{folder.string(), "has the parts " + parts.text() +
                                      " of a data set, which are not trained on together: name one, such as " +
                                      training};
}

/// Returns the error for a folder in which no source finds anything; nullopt if one does.
std::optional<Error> emptiness(const fs::path& folder)
{
    std::vector<std::string> names;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        names.push_back(entry->path().filename().string());
    }
    for (const auto endings : {std::span<const std::string_view>(projects::kAnyTextEndings),
                               std::span<const std::string_view>(projects::kTokenEndings)}) {
        if (filesAt(folder, endings)) {
            return std::nullopt;
        }
    }
    constexpr std::size_t kNamed = 5;
    std::ranges::sort(names);
    const std::size_t more = names.size() - std::min(kNamed, names.size());
    names.resize(names.size() - more);
    return Error{folder.string(),
                 "has no data that a source reads; expected texts (" + joinedText(projects::kAnyTextEndings) +
                     "), tokens (.bin), latents (latents.npy, or a .safetensors file by its own "
                     "path), or a folder of PNG, JPEG or WebP files for each class" +
                     (names.empty()
                          ? std::string("; it is empty")
                          : "; has " + joinedText(names) + (more > 0 ? " and " + std::to_string(more) + " more" : ""))};
}

/// Returns the only folder in a folder if that is the training part of a data set; empty otherwise.
fs::path onlyTrainingPart(const fs::path& folder)
{
    fs::path only;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        if (isFolder(entry->path()) && !isHiddenEntry(entry->path())) {
            if (!only.empty()) {
                return {};
            }
            only = entry->path();
        }
    }
    return isTrainingPart(only) ? only : fs::path();
}

/// Returns the source for the data at a path by themselves.
Found sourceFor(const fs::path& path, const TableColumns& columns)
{
    if (const auto latents = latentsAt(path); !latents || *latents) {
        return latents ? Found(projects::Source(**latents)) : latents.error();
    }
    if (isFolder(path)) {
        if (std::error_code ignored; fs::is_regular_file(path / projects::kWorldFile, ignored)) {
            return projects::Source(projects::WorldData{.kind = projects::WorldKind::Mujoco, .path = path.string()});
        }
        if (const auto records = pictureRecordsIn(path); !records || *records) {
            return records ? Found(projects::Source(**records)) : records.error();
        }
        if (const std::vector<NamedParts> sets = partsIn(path); !sets.empty()) {
            return partsAt(path, sets, columns);
        }
        if (const fs::path part = onlyTrainingPart(path); !part.empty()) {
            Found source = sourceFor(part, columns);
            if (source && std::holds_alternative<projects::PictureData>(*source)) {
                return source;
            }
        }
    }
    const auto pictures = picturesAt(path);
    if (!pictures || *pictures) {
        return pictures ? Found(projects::Source(**pictures)) : pictures.error();
    }
    if (projects::endsIn(path.native(), projects::kSheetEndings) && kindAt(path) != DataKind::Tokens) {
        projects::Source table = projects::sourceAt(path.string());
        auto& texts = std::get<projects::LabelledTextData>(table);
        texts.text = columns.text.empty() ? texts.text : columns.text;
        texts.label = columns.label.empty() ? texts.label : columns.label;
        if (const auto classes = countClasses(table, {}); classes && *classes) {
            *projects::classCountOf(table) = **classes;
        }
        return table;
    }
    if (isFolder(path)) {
        if (const auto error = emptiness(path)) {
            return *error;
        }
    }
    return textAt(path);
}

/// Makes the held-out part beside a training part the source's validation path if it can be read with its classes.
void takeHeldOut(projects::Source& source, const fs::path& training, const TableColumns& columns)
{
    const std::vector<fs::path> beside = heldOutBeside(training);
    const Found heldOut = beside.size() == 1 ? sourceFor(beside.front(), columns) : Found(Error{});
    if (!heldOut || heldOut->index() != source.index()) {
        return;
    }
    projects::Source both = source;
    auto* const path = projects::validationPathOf(both);
    if (path && path->empty()) {
        *path = beside.front().string();
        if (checkReadable(both, {})) {
            source = std::move(both);
        }
    }
}

} // namespace

Result<projects::Source> dataAt(const fs::path& path, const TableColumns& columns)
{
    Found source = sourceFor(path, columns);
    if (source) {
        takeHeldOut(*source, path, columns);
    }
    return source;
}

} // namespace residua::engine
