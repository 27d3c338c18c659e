// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/property_list.h"

#include "projects/model/data_source.h"

namespace residua::app {

namespace {

using projects::BooleanPolynomial;
using projects::DataSource;
using projects::JsonLinesData;
using projects::LinearRegression;
using projects::LowRankRegression;
using projects::Source;
using projects::SyntheticLanguage;
using projects::TextData;
using projects::TokenFileData;
using Text = PropertyText;
using List = PropertyList<DataSource>;

/// The alternative S of the source: what every field below starts from.
template <class S>
auto& source(auto& data)
{
    return alternative<S>(data.source);
}

Source sourceOfKind(int kind)
{
    switch (kind) {
    case 0:
        return TextData{};
    case 1:
        return JsonLinesData{};
    case 2:
        return TokenFileData{};
    case 3:
        return SyntheticLanguage{};
    case 4:
        return LinearRegression{};
    case 5:
        return LowRankRegression{};
    default:
        return BooleanPolynomial{};
    }
}

QStringList targets()
{
    return {Text::tr("Identity"), Text::tr("Random"), Text::tr("Scaled rotation"), Text::tr("Diagonal, 1 to 0")};
}

template <class S>
void addTokeniser(List& list)
{
    list.group(Text::tr("Tokens"));
    list.add("tokeniser", Text::tr("Tokeniser"), [](auto& d) -> auto& { return source<S>(d).tokeniser.kind; },
             {.help = Text::tr("How text becomes tokens."),
              .choices = {Text::tr("Bytes"), Text::tr("Characters"), QStringLiteral("SentencePiece")}});
    list.add("tokeniser.model", Text::tr("Model file"), [](auto& d) -> auto& { return source<S>(d).tokeniser.model; },
             {.help = Text::tr("The SentencePiece model; a relative path starts at the project."),
              .textKind = PropertyKind::File});
    list.add("tokeniser.vocabulary", Text::tr("Vocabulary"),
             [](auto& d) -> auto& { return source<S>(d).tokeniser.vocabulary; },
             {.unit = Text::tr("tokens"), .help = Text::tr("Rows of the embedding table."), .minimum = 1});
}

void addText(List& list)
{
    list.add("path", Text::tr("File or folder"), [](auto& d) -> auto& { return source<TextData>(d).path; },
             {.help = Text::tr("A UTF-8 text, or a folder of *.txt; a relative path starts at the project."),
              .textKind = PropertyKind::File});
    addTokeniser<TextData>(list);
}

void addJsonLines(List& list)
{
    list.add("path", Text::tr("File"), [](auto& d) -> auto& { return source<JsonLinesData>(d).path; },
             {.help = Text::tr("One JSON object per line."), .textKind = PropertyKind::File});
    list.add("field", Text::tr("Field"), [](auto& d) -> auto& { return source<JsonLinesData>(d).field; },
             {.help = Text::tr("The key that holds the text.")});
    addTokeniser<JsonLinesData>(list);
}

void addTokenFile(List& list)
{
    list.add("path", Text::tr("File"), [](auto& d) -> auto& { return source<TokenFileData>(d).path; },
             {.help = Text::tr("Token ids, as nanoGPT and llm.c write them."), .textKind = PropertyKind::File});
    list.add("validation", Text::tr("Validation file"),
             [](auto& d) -> auto& { return source<TokenFileData>(d).validationPath; },
             {.help = Text::tr("Empty: split off from the first."), .textKind = PropertyKind::File});
    list.add("width", Text::tr("Token width"), [](auto& d) -> auto& { return source<TokenFileData>(d).tokenWidth; },
             {.choices = {Text::tr("Detect"), QStringLiteral("uint16"), QStringLiteral("uint32")}});
    list.add("vocabulary", Text::tr("Vocabulary"), [](auto& d) -> auto& { return source<TokenFileData>(d).vocabulary; },
             {.unit = Text::tr("tokens"), .minimum = 1});
}

void addSyntheticLanguage(List& list)
{
    list.add("vocabulary", Text::tr("Vocabulary"),
             [](auto& d) -> auto& { return source<SyntheticLanguage>(d).vocabulary; },
             {.unit = Text::tr("tokens"), .minimum = 2});
    list.add("levels", Text::tr("Levels"), [](auto& d) -> auto& { return source<SyntheticLanguage>(d).levels; },
             {.help = Text::tr("Nesting depth of agreement: more levels reward a deeper network."), .minimum = 1});
    list.add("tokens", Text::tr("Length"), [](auto& d) -> auto& { return source<SyntheticLanguage>(d).tokens; },
             {.unit = Text::tr("tokens"), .minimum = 1});
}

void addLinear(List& list)
{
    list.add("dim", Text::tr("Dimension"), [](auto& d) -> auto& { return source<LinearRegression>(d).dim; },
             {.unit = Text::tr("features"), .minimum = 1});
    list.add("samples", Text::tr("Samples"), [](auto& d) -> auto& { return source<LinearRegression>(d).samples; },
             {.help = Text::tr("As many as the dimension makes X orthogonal."), .minimum = 1});
    list.add("target", Text::tr("Target"), [](auto& d) -> auto& { return source<LinearRegression>(d).target; },
             {.help = Text::tr("The matrix T of Y = T X."), .choices = targets()});
}

void addLowRank(List& list)
{
    list.add("dim", Text::tr("Dimension"), [](auto& d) -> auto& { return source<LowRankRegression>(d).dim; },
             {.unit = Text::tr("features"), .paper = QStringLiteral("100 (DCA, fig. 1)"), .minimum = 1});
    list.add("rank", Text::tr("Rank"), [](auto& d) -> auto& { return source<LowRankRegression>(d).rank; },
             {.paper = QStringLiteral("3"), .minimum = 1});
    list.add("samples", Text::tr("Samples"), [](auto& d) -> auto& { return source<LowRankRegression>(d).samples; },
             {.minimum = 1});
    list.add("noise", Text::tr("Noise"), [](auto& d) -> auto& { return source<LowRankRegression>(d).noise; },
             {.help = Text::tr("Standard deviation added to the target.")});
    list.add("target", Text::tr("Target"), [](auto& d) -> auto& { return source<LowRankRegression>(d).target; },
             {.choices = targets()});
}

void addPolynomial(List& list)
{
    list.add("dim", Text::tr("Dimension"), [](auto& d) -> auto& { return source<BooleanPolynomial>(d).dim; },
             {.unit = Text::tr("features"), .paper = QStringLiteral("100 (RaPTr, D.3)"), .minimum = 1});
    list.add(
        "variables", Text::tr("Variables"), [](auto& d) -> auto& { return source<BooleanPolynomial>(d).variables; },
        {.help = Text::tr("The target depends on the first so many."), .paper = QStringLiteral("20"), .minimum = 1});
    list.add("degree", Text::tr("Degree"), [](auto& d) -> auto& { return source<BooleanPolynomial>(d).degree; },
             {.paper = QStringLiteral("10"), .minimum = 1});
    list.add("terms", Text::tr("Terms per degree"),
             [](auto& d) -> auto& { return source<BooleanPolynomial>(d).termsPerDegree; },
             {.paper = QStringLiteral("20"), .minimum = 1});
}

} // namespace

std::vector<Property> dataProperties(const projects::Project& project)
{
    const int kind = static_cast<int>(project.data.source.index());
    DataSource defaults;
    defaults.source = sourceOfKind(kind);
    List list(
        project, defaults, [](const projects::Project& p) { return p.data; },
        [](const projects::Project&, DataSource data) { return projects::SetData{std::move(data)}; });
    list.addChoice(
        "source", Text::tr("Source"), kind, QVariant(),
        {.help = Text::tr("Files, or a generator that needs nothing downloaded."),
         .choices = {Text::tr("Text"), Text::tr("JSON Lines"), Text::tr("Token file"), Text::tr("Synthetic language"),
                     Text::tr("Linear regression"), Text::tr("Low-rank regression"), Text::tr("Boolean polynomial")}},
        [](DataSource& data, int chosen) { data.source = sourceOfKind(chosen); });
    static constexpr void (*kAdders[])(List&) = {addText,   addJsonLines, addTokenFile, addSyntheticLanguage,
                                                 addLinear, addLowRank,   addPolynomial};
    kAdders[kind](list);
    list.group(Text::tr("Split"));
    list.add("split.validation", Text::tr("Validation"), [](auto& d) -> auto& { return d.validationFraction; },
             {.help = Text::tr("Share of the examples held back to validate on."), .maximum = 1});
    list.add("split.test", Text::tr("Test"), [](auto& d) -> auto& { return d.testFraction; },
             {.help = Text::tr("Share held back for the end."), .maximum = 1});
    return list.take();
}

} // namespace residua::app
