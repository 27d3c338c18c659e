// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/measures/choices.h"

#include "engine/base/api/queries.h"
#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"
#include "projects/model/objective.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

using projects::JsonArray;
using projects::JsonObject;
using projects::JsonValue;

constexpr std::size_t kMostChoices = 64;
constexpr std::size_t kShownChoice = 40; ///< bytes of a choice that an error shows

Error atLine(std::size_t line, const std::string& message)
{
    return {"choices · line " + std::to_string(line), message};
}

/// Returns the number of the answer, which is a choice or its number.
std::optional<std::size_t> answerIn(const JsonValue& answer, const std::vector<std::string>& choices)
{
    if (const auto* const number = std::get_if<std::int64_t>(&answer.data)) {
        return *number >= 0 && *number < std::ssize(choices) ? std::optional(static_cast<std::size_t>(*number))
                                                             : std::nullopt;
    }
    const auto* const text = std::get_if<std::string>(&answer.data);
    const auto found = text != nullptr ? std::ranges::find(choices, *text) : choices.end();
    return found == choices.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - choices.begin()));
}

/// Returns the choices; empty if they are not a list of texts.
std::vector<std::string> choicesIn(const JsonValue* list)
{
    std::vector<std::string> choices;
    const auto* const all = list != nullptr ? std::get_if<JsonArray>(&list->data) : nullptr;
    for (const JsonValue& each : all != nullptr ? *all : JsonArray()) {
        const auto* const text = std::get_if<std::string>(&each.data);
        if (text == nullptr || text->empty()) {
            return {};
        }
        choices.push_back(*text);
    }
    return choices;
}

Result<Question> questionIn(const std::string& text, std::size_t line)
{
    const Result<JsonValue> object = projects::parseJson(text);
    if (!object) {
        return atLine(line, object.error().text());
    }
    if (!std::holds_alternative<JsonObject>(object->data)) {
        return atLine(line, "is no JSON object, expected {\"prompt\": …, \"choices\": […], \"answer\": …}");
    }
    const JsonValue* const prompt = projects::findMember(*object, "prompt");
    const auto* const given = prompt != nullptr ? std::get_if<std::string>(&prompt->data) : nullptr;
    if (given == nullptr) {
        return atLine(line, "has no text \"prompt\"");
    }
    Question question{line, *given, choicesIn(projects::findMember(*object, "choices")), 0};
    if (question.choices.size() < 2 || question.choices.size() > kMostChoices) {
        return atLine(line,
                      "has no list \"choices\" of 2 to " + std::to_string(kMostChoices) + " texts, none of them empty");
    }
    const JsonValue* const said = projects::findMember(*object, "answer");
    const std::optional<std::size_t> answer =
        said != nullptr ? answerIn(*said, question.choices) : std::optional<std::size_t>();
    if (!answer) {
        return atLine(line, said == nullptr ? "has no \"answer\", expected one of the choices, or its number from 0"
                                            : "has the answer " + projects::nameOfValue(*said) +
                                                  ", expected one of the choices, or its number from 0 to " +
                                                  std::to_string(question.choices.size() - 1));
    }
    question.answer = *answer;
    return question;
}

} // namespace

Result<std::vector<Question>> questionsIn(const std::string& text, std::int64_t shots)
{
    if (shots < 0) {
        return Error{"shots", "got " + std::to_string(shots) + ", expected 0 or more"};
    }
    if (text.size() > kMostChoicesBytes) {
        return Error{"choices", "has " + std::to_string(text.size()) + " bytes, expected at most " +
                                    std::to_string(kMostChoicesBytes)};
    }
    std::vector<Question> questions;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        Question question = RESIDUA_TRY(questionIn(line, number));
        questions.push_back(std::move(question));
    }
    if (std::ssize(questions) <= shots) {
        return Error{"choices",
                     "has " + countText(questions.size(), "question") + ", expected " +
                         (shots == 0 ? std::string("at least 1")
                                     : "more than the " + std::to_string(shots) + " that precede the others")};
    }
    return questions;
}

Result<std::vector<Question>> questionsOf(const Dataset& dataset, Split split, std::int64_t count, std::int64_t shots,
                                          std::int64_t length)
{
    constexpr std::int64_t kChoices = 4;
    const std::int64_t each = length / (shots + 1) - 2; // with a line's end, and the token of a denoiser
    const std::int64_t chosen = std::max<std::int64_t>(each / kChoices, 1);
    if (each <= chosen || count <= shots) {
        return Error{"questions", "got " + std::to_string(count) + " with " + std::to_string(shots) +
                                      " before each, expected more questions than shots, and shots that fit in a row "
                                      "of " +
                                      std::to_string(length) + " tokens"};
    }
    std::vector<std::vector<std::int64_t>> windows;
    for (std::int64_t index = 0; index < std::max(count, kChoices); ++index) {
        Batch batch;
        RESIDUA_TRY(dataset.withoutNoise().fillSequential(batch, split, index, 1));
        if (batch.batch == 0) {
            return Error{"questions", "got " + std::to_string(count) + ", but the " + std::string(nameOf(split).word) +
                                          " part has " + std::to_string(index) +
                                          " windows; expected as many as questions, and at least " +
                                          std::to_string(kChoices)};
        }
        windows.push_back(std::move(batch.values<std::int64_t>(0)));
        windows.back().resize(static_cast<std::size_t>(each));
    }
    std::vector<Question> questions;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        std::vector<std::int64_t> tokens(windows[i].begin(), windows[i].end() - chosen);
        Question question{i + 1, dataset.decode(tokens), {}, i % static_cast<std::size_t>(kChoices)};
        for (std::size_t j = 0; j < static_cast<std::size_t>(kChoices); ++j) { // the answer has each place in turn
            const auto& from = windows[(i + windows.size() + j - question.answer) % windows.size()];
            tokens.resize(static_cast<std::size_t>(each - chosen));
            tokens.insert(tokens.end(), from.end() - chosen, from.end());
            // Decoded after the prompt, because a tokeniser may put a space between them.
            const std::string text = dataset.decode(tokens);
            question.choices.push_back(text.substr(std::min(question.prompt.size(), text.size())));
        }
        questions.push_back(std::move(question));
    }
    return questions;
}

ChoiceEvaluation::ChoiceEvaluation(TrainerParts& parts, Pass pass, std::vector<Question> questions, std::int64_t shots)
    : m_parts(parts),
      m_pass(std::move(pass)),
      m_questions(std::move(questions)),
      m_next(static_cast<std::size_t>(shots))
{
    for (std::size_t i = 0; i < m_next; ++i) {
        m_before += m_questions[i].prompt + m_questions[i].choices[m_questions[i].answer] + "\n";
    }
}

Result<ChoiceEvaluation::Row> ChoiceEvaluation::rowOf(const Question& question, const std::string& choice) const
{
    const std::string prompt = m_before + question.prompt;
    const std::string begin = choice.substr(0, kShownChoice);
    const std::string named =
        "the choice \"" + printable(begin.substr(0, wholeCodePoints(begin)), LineEnds::Escape) + "\"";
    const auto given = m_parts.dataset->encode(prompt);
    auto whole = given ? m_parts.dataset->encode(prompt + choice) : given;
    if (!whole) {
        return atLine(question.line, whole.error().text());
    }
    // The tokens of the prompt alone, as far as the choice does not change them.
    const auto first = std::ranges::mismatch(*given, *whole).in2 - whole->begin();
    const std::int64_t longest = m_parts.project.training.sequenceLength + 1; // the last token is only predicted
    if (std::ssize(*whole) > longest) {
        return atLine(question.line, "has " + std::to_string(whole->size()) + " tokens with " + named +
                                         " and the questions before it, expected at most " + std::to_string(longest) +
                                         ", which the network reads");
    }
    if (first == 0 || first == std::ssize(*whole)) {
        return atLine(question.line, first == 0 ? "has a prompt without tokens before " + named
                                                : "has " + named + ", which adds no token");
    }
    return Row{*std::move(whole), static_cast<std::size_t>(first)};
}

std::vector<double> ChoiceEvaluation::likelihoods(std::span<const Row> rows) const
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(m_parts.device);
    const auto count = static_cast<std::int64_t>(rows.size());
    const auto longest = std::ranges::max_element(rows, {}, [](const Row& row) { return row.tokens.size(); });
    const auto time = static_cast<std::int64_t>(longest->tokens.size()) - 1;
    const at::Tensor input = at::zeros({count, time}, at::kLong);
    const at::Tensor target = at::full({count, time}, projects::kIgnoredTarget, at::kLong);
    for (std::int64_t row = 0; row < count; ++row) {
        const auto& [tokens, first] = rows[static_cast<std::size_t>(row)];
        const auto begin = static_cast<std::int64_t>(first);
        const at::Tensor all = at::tensor(tokens, at::kLong);
        const std::int64_t inputs = std::ssize(tokens) - 1;
        input[row].narrow(0, 0, inputs).copy_(all.narrow(0, 0, inputs));
        target[row].narrow(0, begin - 1, inputs - begin + 1).copy_(all.narrow(0, begin, inputs - begin + 1));
    }
    const DeviceBatch batch{input.to(m_parts.device), target.to(m_parts.device)};
    const at::Tensor logits = m_parts.network->forward(batch, m_pass);
    const at::Tensor wide = logits.to(logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
    const at::Tensor chosen =
        at::log_softmax(wide, -1).gather(2, batch.target.clamp_min(0).unsqueeze(2)).squeeze(2).to(at::kDouble);
    const at::Tensor sums = chosen.masked_fill(batch.target.eq(projects::kIgnoredTarget), 0).sum(1).to(at::kCPU);
    const double* const values = sums.const_data_ptr<double>();
    return {values, values + count};
}

Status ChoiceEvaluation::advance()
{
    const Question& question = m_questions[m_next++];
    std::vector<Row> rows;
    for (const std::string& choice : question.choices) {
        Row row = RESIDUA_TRY(rowOf(question, choice));
        rows.push_back(std::move(row));
    }
    // At most as many rows as training has at once, because the logits of all choices may need more memory.
    const auto atOnce = static_cast<std::size_t>(std::max<std::int64_t>(m_parts.project.training.batch, 1));
    std::vector<double> sums;
    for (std::size_t i = 0; i < rows.size(); i += atOnce) {
        std::ranges::copy(likelihoods(std::span(rows).subspan(i, std::min(atOnce, rows.size() - i))),
                          std::back_inserter(sums));
    }
    const auto tokensOf = [&](std::size_t i) { return static_cast<double>(rows[i].tokens.size() - rows[i].first); };
    std::vector<double> byToken;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        byToken.push_back(sums[i] / tokensOf(i));
    }
    const auto isRight = [&](const std::vector<double>& scores) {
        return std::ranges::max_element(scores) - scores.begin() == static_cast<std::ptrdiff_t>(question.answer);
    };
    ++m_counted;
    m_right += isRight(sums) ? 1 : 0;
    m_rightByToken += isRight(byToken) ? 1 : 0;
    m_nats -= sums[question.answer];
    m_tokens += static_cast<std::int64_t>(tokensOf(question.answer));
    return Done{};
}

std::map<std::string, double> ChoiceEvaluation::means() const
{
    const auto counted = static_cast<double>(m_counted);
    return {{"accuracy", static_cast<double>(m_right) / counted},
            {"accuracy_by_token", static_cast<double>(m_rightByToken) / counted},
            {"loss", m_nats / static_cast<double>(m_tokens)}};
}

} // namespace residua::engine
