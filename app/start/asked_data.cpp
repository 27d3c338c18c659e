// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/asked_data.h"

#include "projects/model/data_endings.h"
#include "projects/schema/fields.h"

#include <algorithm>
#include <iterator>
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
    if constexpr (HasParts<Data>) {
        visit(data.parts, answers.parts);
    }
    if constexpr (HasTokeniser<Data>) {
        visit(data.tokeniser, answers.tokeniser);
    }
    if constexpr (HasVocabulary<Data>) {
        visit(data.vocabulary, answers.vocabulary);
    }
}

} // namespace

AskedData askedOf(const projects::Source& source)
{
    return std::visit(
        []<class Data>(const Data&) {
            return AskedData{HasPath<Data>, HasKey<Data>, HasParts<Data>, HasTokeniser<Data>, HasVocabulary<Data>};
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

projects::Source sourceFrom(std::size_t kind, const AnsweredData& answers)
{
    projects::Project project;
    (void)projects::setField(project, "/data/source/kind", static_cast<std::int64_t>(kind));
    std::visit([&](auto& data) { eachAnswer(data, answers, [](auto& field, const auto& answer) { field = answer; }); },
               project.data.source);
    return project.data.source;
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

} // namespace residua::app
