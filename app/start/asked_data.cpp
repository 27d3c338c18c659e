// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/asked_data.h"

#include "app/look/format.h"
#include "projects/base/text.h"
#include "projects/schema/fields.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <iterator>
#include <thread>
#include <variant>

namespace residua::app {
namespace {

template <class Data>
concept HasPath = requires(Data data)
{
    data.path;
};
template <class Data>
concept HasKey = requires(Data data)
{
    data.field;
};
/// A table.
template <class Data>
concept HasLabel = requires(Data data)
{
    data.text;
    data.label;
};
template <class Data>
concept HasParts = requires(Data data)
{
    data.parts;
};
template <class Data>
concept HasTokeniser = requires(Data data)
{
    data.tokeniser;
};
/// The vocabulary of a generator is not asked for, because it does not come from a file.
template <class Data>
concept HasVocabulary = HasPath<Data> && requires(Data data)
{
    data.vocabulary;
};

/// The classes of a generator are its own.
template <class Data>
concept HasClasses = HasPath<Data> && requires(Data data)
{
    data.classes;
};

/// Visits each field of the source that is asked for, together with its answer.
template <class Data, class Answers, class Visit>
void eachAnswer(Data& data, Answers& answers, Visit visit)
{
    if constexpr (HasPath<Data>) {
        visit(data.path, answers.path);
    }
    if constexpr (HasKey<Data>) {
        visit(data.field, answers.key);
    }
    if constexpr (HasLabel<Data>) {
        visit(data.text, answers.key);
        visit(data.label, answers.label);
    }
    if constexpr (HasParts<Data>) {
        visit(data.parts, answers.parts);
    }
    if constexpr (HasTokeniser<Data>) {
        visit(data.tokeniser, answers.tokeniser);
    }
    if constexpr (HasVocabulary<Data>) {
        visit(data.vocabulary, answers.vocabulary);
    }
    if constexpr (HasClasses<Data>) {
        if (answers.classes > 0) {
            visit(data.classes, answers.classes);
        }
    }
}

constexpr std::size_t kShownNumbers = 64;
constexpr double kManyEpochs = 1000;
constexpr double kDaysOfYear = 365;
constexpr double kFlopsOfCore = 2e10;    ///< a second, of a processor's core
constexpr double kFlopsOfGpu = 5e13;     ///< a second
constexpr double kLong = 24 * 60 * 60.0; ///< seconds, from which on a training is said to be long

/// The context of these words for translators.
struct DataPreviewText {
    Q_DECLARE_TR_FUNCTIONS(DataPreview)
};

QString listed(const std::vector<std::int64_t>& numbers)
{
    QStringList texts;
    for (std::size_t i = 0; i < numbers.size() && i < kShownNumbers; ++i) {
        texts << QString::number(numbers[i]);
    }
    return texts.join(QLatin1Char(' ')) + (numbers.size() > kShownNumbers ? QStringLiteral(" …") : QString());
}

} // namespace

AskedData askedOf(const projects::Source& source)
{
    return std::visit(
        []<class Data>(const Data&) {
            constexpr bool isWorld = std::is_same_v<Data, projects::WorldData>; // the built-in ones have no path
            return AskedData{.path = HasPath<Data> && !isWorld,
                             .key = HasKey<Data> || HasLabel<Data>,
                             .label = HasLabel<Data>,
                             .parts = HasParts<Data>,
                             .tokeniser = HasTokeniser<Data>,
                             .vocabulary = HasVocabulary<Data>,
                             .classes = HasClasses<Data>};
        },
        source);
}

AnsweredData answersIn(const projects::Source& source)
{
    AnsweredData answers;
    std::visit(
        [&](const auto& data) { eachAnswer(data, answers, [](const auto& field, auto& answer) { answer = field; }); },
        source);
    return answers;
}

projects::Source newSource(std::size_t kind)
{
    projects::Project project;
    (void)projects::setField(project, "/data/source/kind", static_cast<std::int64_t>(kind));
    return project.data.source;
}

projects::Source withAnswers(projects::Source source, const AnsweredData& answers)
{
    std::visit([&](auto& data) { eachAnswer(data, answers, [](auto& field, const auto& answer) { field = answer; }); },
               source);
    return source;
}

projects::Source withClasses(const projects::Source& source, std::int64_t count)
{
    AnsweredData answers = answersIn(source);
    answers.classes = count;
    return withAnswers(source, answers);
}

QString nameOfData(const projects::Source& source)
{
    const AnsweredData data = answersIn(source);
    const QFileInfo place(
        QDir::cleanPath(QString::fromStdString(data.parts.empty() ? data.path : data.parts.front().path)));
    const std::string file = place.fileName().toStdString();
    QString name = QString::fromStdString(std::string(projects::withoutCompression(file)));
    for (const std::string_view ending : projects::kDataEndings) {
        const QString text = QString::fromStdString(std::string(ending));
        if (name.endsWith(text, Qt::CaseInsensitive)) {
            name.chop(text.size());
            break;
        }
    }
    const QString around = QFileInfo(place.path()).fileName();
    return name.startsWith(QLatin1String("train"), Qt::CaseInsensitive) && !around.isEmpty() &&
                   around != QLatin1String(".")
               ? around
               : name;
}

QString newName(const QString& name, const QStringList& folders)
{
    // Folders have dashes instead of spaces.
    const auto plain = [](QString text) {
        return text.toLower().removeIf([](QChar c) { return !c.isLetterOrNumber(); });
    };
    const auto isTaken = [&](const std::string& given) {
        const QString own = plain(QString::fromStdString(given));
        return std::ranges::any_of(folders, [&](const QString& folder) { return plain(folder) == own; });
    };
    return QString::fromStdString(freeName(name.toStdString(), isTaken, " "));
}

std::int64_t proposedVocabulary(const projects::Source& source)
{
    return std::visit(
        []<class Data>(const Data&) {
            if constexpr (HasVocabulary<Data>) {
                return Data{}.vocabulary;
            } else {
                return projects::Tokeniser{}.vocabulary;
            }
        },
        source);
}

std::vector<std::string_view> endingsOf(const projects::Source& source)
{
    std::vector<std::string_view> endings;
    std::ranges::copy_if(projects::kDataEndings, std::back_inserter(endings), [&](std::string_view ending) {
        return projects::sourceAt(std::string(ending)).index() == source.index();
    });
    return endings;
}

ReadData readAsked(projects::NewProject wanted, const CountedClasses& known, const std::string& model,
                   const std::function<bool()>& isWanted)
{
    ReadData read{model, model.empty() ? Result<projects::Tokeniser>(Error{}) : engine::tokeniserAt(model), Error{},
                  known};
    if (known.count == 0 || withClasses(known.of, known.count) != wanted.source) {
        const auto classes = engine::countClasses(wanted.source, {}, isWanted);
        if (!classes) {
            read.preview = classes.error();
            return read;
        }
        read.classes = *classes ? CountedClasses{wanted.source, **classes} : CountedClasses{};
        wanted.source = *classes ? withClasses(wanted.source, **classes) : wanted.source;
    }
    const auto project = projects::projectFrom(wanted);
    read.preview = project ? engine::previewData(*project, {}, isWanted) : Result<engine::DataPreview>(project.error());
    return read;
}

QString previewHtml(const engine::DataPreview& preview, QTextDocument& document)
{
    if (preview.tokens.empty() || preview.first.examples.empty()) {
        return exampleTable(preview.first, document, {.columns = 3});
    }
    const engine::FedExample& first = preview.first.examples.front();
    const QString ids = verbatim(DataPreviewText::tr("tokens\n%1").arg(listed(preview.tokens)));
    const QString text = QString::fromStdString(first.input);
    const QString target =
        first.target.empty() ? QString() : QStringLiteral("\n→ ") + QString::fromStdString(first.target);
    return text == listed(preview.tokens) ? ids : verbatim(text + target) + ids;
}

QString amountText(const engine::DataSummary& data, const projects::NewProject& project)
{
    if (data.train < 0) {
        return DataPreviewText::tr("Training samples are drawn without end.");
    }
    const QString unit = formatUnits(data.examples.unit());
    const double fed = static_cast<double>(project.steps) * static_cast<double>(project.batch) *
                       static_cast<double>(data.examples.units(1, project.sequenceLength));
    const double epochs = fed / static_cast<double>(std::max<std::int64_t>(data.train, 1));
    QStringList lines;
    for (const engine::DataReading& reading : data.readings) {
        lines << DataPreviewText::tr("%1: %2").arg(QString::fromStdString(reading.path).section(QLatin1Char('/'), -1),
                                                   QString::fromStdString(reading.files));
    }
    lines << DataPreviewText::tr("%1 %2 to train on, %3 for validation")
                 .arg(formatWhole(data.train), unit, formatWhole(data.validation));
    if (data.texts.size() > 1) {
        const auto& [texts, tokens] = data.texts[0];
        lines << DataPreviewText::tr("Without padding: %1 texts of %2 tokens to train on, %3 of %4 for validation")
                     .arg(formatWhole(texts), formatWhole(tokens), formatWhole(data.texts[1].texts),
                          formatWhole(data.texts[1].tokens));
    }
    if (const auto* const heldOut = projects::validationPathOf(project.source); heldOut && !heldOut->empty()) {
        lines << DataPreviewText::tr("Validated on %1").arg(QString::fromStdString(*heldOut));
    }
    for (const engine::DataPartSummary& part : data.parts) {
        const double passes = fed * part.share / static_cast<double>(std::max<std::int64_t>(part.train, 1));
        lines << DataPreviewText::tr("%1: %2 tokens, %3 epochs")
                     .arg(QString::fromStdString(part.path).section(QLatin1Char('/'), -1), formatWhole(part.train),
                          formatCount(passes));
    }
    if (const projects::ExampleField& input = data.examples.input(); input.isTokens()) {
        lines << DataPreviewText::tr("a vocabulary of %1").arg(formatWhole(input.vocabulary));
    }
    lines << DataPreviewText::tr("%1 %2 fed: %3 epochs").arg(formatCount(fed), unit, formatCount(epochs));
    if (epochs >= kManyEpochs) {
        lines << DataPreviewText::tr("That is often: a network may learn so few %1 by heart. Fewer steps suffice.")
                     .arg(unit);
    }
    for (const std::string& note : data.notes) {
        lines << QString::fromStdString(note);
    }
    return lines.join(QLatin1Char('\n'));
}

QString totalText(double flops, projects::DeviceKind device)
{
    const double cores = std::max(1U, std::thread::hardware_concurrency());
    const double rate = device == projects::DeviceKind::Cpu ? cores * kFlopsOfCore : kFlopsOfGpu;
    const QString total = DataPreviewText::tr("%1 FLOP for all steps").arg(formatCount(flops));
    const double days = flops / rate / kLong;
    return days < 1 ? total
                    : DataPreviewText::tr("%1. That is long: in the order of %2 on this machine. Fewer steps or a "
                                          "smaller network take less.")
                          .arg(total, days < kDaysOfYear
                                          ? DataPreviewText::tr("%n days", nullptr, static_cast<int>(days))
                                          : DataPreviewText::tr("%1 years").arg(formatCount(days / kDaysOfYear)));
}

} // namespace residua::app
