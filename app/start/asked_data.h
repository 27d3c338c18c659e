// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/data_summary.h"
#include "projects/commands/new_project.h"
#include "projects/cost/cost.h"
#include "projects/model/data_source.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

class QTextDocument;

namespace residua::app {

/// The fields that the dialog asks for data of a kind: those below that the source has. A new source of the schema
/// therefore needs no code here. A generator with none of them begins with the values of its example. Pure; any thread.
struct AskedData {
    bool path = false;
    bool key = false;   ///< of the text in files of records, or its column in tables
    bool label = false; ///< column of the label in tables
    bool parts = false; ///< of a mixture
    bool tokeniser = false;
    bool vocabulary = false; ///< of token files
    bool classes = false;    ///< counted in the files
};
[[nodiscard]] AskedData askedOf(const projects::Source& source);

/// The answers for all fields that may be asked for.
struct AnsweredData {
    std::string path;
    std::string key = projects::JsonLinesData{}.field;
    std::string label = projects::LabelledTextData{}.label;
    std::vector<projects::MixturePart> parts;
    projects::Tokeniser tokeniser;
    std::int64_t vocabulary = 0;
    std::int64_t classes = 0; ///< 0: those of a new source, because the files have not been read
};
/// Returns the answers that give this source; initial values for fields that it does not have.
[[nodiscard]] AnsweredData answersIn(const projects::Source& source);
/// Returns a new source at index `kind` of the alternatives. Precondition: it exists.
[[nodiscard]] projects::Source newSource(std::size_t kind);
/// Returns the source with these answers for the fields that it has; the others stay.
[[nodiscard]] projects::Source withAnswers(projects::Source source, const AnsweredData& answers);

/// Returns the source with so many classes; unchanged if they are not counted in files.
[[nodiscard]] projects::Source withClasses(const projects::Source& source, std::int64_t count);

/// Returns a name for a project of such data: that of the file or folder, of a training part that of the folder around
/// it, of several texts that of the first. Empty for generated data, and while no file is chosen.
[[nodiscard]] QString nameOfData(const projects::Source& source);
/// Returns the name, with a number if one of the folders is that of a project of this name.
[[nodiscard]] QString newName(const QString& name, const QStringList& folders);
/// Returns the initial vocabulary for such data.
[[nodiscard]] std::int64_t proposedVocabulary(const projects::Source& source);
/// Returns the file name endings for this kind of data.
[[nodiscard]] std::vector<std::string_view> endingsOf(const projects::Source& source);

/// The classes of data.
struct CountedClasses {
    projects::Source of = {}; ///< as asked for, before they were counted
    std::int64_t count = 0;   ///< 0: unknown
    bool operator==(const CountedClasses&) const = default;
};

/// The result of reading the data of a new project.
struct ReadData {
    std::string model; ///< the tokeniser's file that was counted; may be empty
    Result<projects::Tokeniser> tokeniser;
    Result<engine::DataPreview> preview;
    CountedClasses classes;
};

/// Reads the data for a network whose outputs follow their classes, which are counted unless they are known. `model` is
/// a tokeniser's file whose tokens are to be counted, or empty. Any thread. Stops once `isWanted` returns false.
[[nodiscard]] ReadData readAsked(projects::NewProject wanted, const CountedClasses& known, const std::string& model,
                                 const std::function<bool()>& isWanted);

/// Returns HTML for `document` with the beginning of the training data: a text and its tokens, pictures with their
/// classes, or numbers.
[[nodiscard]] QString previewHtml(const engine::DataPreview& preview, QTextDocument& document);
/// Returns how the files are read, the amount of data, the epochs of the new project's training, and the notes.
[[nodiscard]] QString amountText(const engine::DataSummary& data, const projects::NewProject& project);

/// Returns the FLOP of a training, and its time by the order of magnitude if that is long.
[[nodiscard]] QString totalText(double flops, projects::DeviceKind device);

} // namespace residua::app
