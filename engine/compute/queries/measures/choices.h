// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/train/trainer.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// A prompt with texts that may follow it.
struct Question {
    std::size_t line = 0; ///< of the file, from 1
    std::string prompt;
    std::vector<std::string> choices; ///< at least two, none empty
    std::size_t answer = 0;           ///< the right one
};
/// Returns the questions of JSON Lines (EvaluateRequest::choices). Errors name the line. There must be more than
/// `shots`.
[[nodiscard]] Result<std::vector<Question>> questionsIn(const std::string& text, std::int64_t shots);
/// Returns `count` questions of a part's own text, one for each of its first windows: the prompt is the beginning of
/// the window, the right choice what follows, and three others are what follows in other windows. `shots` of them and
/// one more fit in a row of `length` tokens. There must be more than `shots`, and as many windows.
[[nodiscard]] Result<std::vector<Question>> questionsOf(const Dataset& dataset, Split split, std::int64_t count,
                                                        std::int64_t shots, std::int64_t length);

/// Counts how often the right choice of a question has the highest likelihood, one question at a time.
class ChoiceEvaluation {
public:
    /// The first `shots` questions precede each prompt with their answers, a line each, and are not counted. `parts`
    /// are of a network that continues text, and must outlive this.
    ChoiceEvaluation(TrainerParts& parts, Pass pass, std::vector<Question> questions, std::int64_t shots);

    /// Asks the next question. Returns an error that names its line if a prompt and a choice do not fit in a row, or if
    /// the vocabulary cannot express them.
    [[nodiscard]] Status advance();
    [[nodiscard]] bool atEnd() const { return m_next >= m_questions.size(); }
    [[nodiscard]] std::int64_t counted() const { return m_counted; }
    /// Returns the means that EvaluateRequest names.
    [[nodiscard]] std::map<std::string, double> means() const;

private:
    /// The tokens of a prompt and a choice; those of the choice begin at `first`.
    struct Row {
        std::vector<std::int64_t> tokens;
        std::size_t first = 0;
    };
    [[nodiscard]] Result<Row> rowOf(const Question& question, const std::string& choice) const;
    /// Returns the sum of ln p over each row's choice.
    [[nodiscard]] std::vector<double> likelihoods(std::span<const Row> rows) const;

    TrainerParts& m_parts;
    Pass m_pass;
    std::vector<Question> m_questions;
    std::string m_before; ///< the shots
    std::size_t m_next;
    std::int64_t m_counted = 0;
    std::int64_t m_right = 0;
    std::int64_t m_rightByToken = 0;
    double m_nats = 0; ///< of the right choices
    std::int64_t m_tokens = 0;
};

} // namespace residua::engine
