// SPDX-License-Identifier: GPL-3.0-or-later
// residua-train-tokeniser OUTPUT bpe|unigram PIECES THREADS: learns a SentencePiece model from the lines on its
// standard input and reports its progress on its standard error. It is a separate program because the trainer exits if
// its own checks fail, and cannot be stopped otherwise. It ends when its parent process ends.
#include "projects/base/utf8.h"

#include <sentencepiece_trainer.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>
#include <unordered_map>

#include <sys/prctl.h>

namespace {

constexpr std::size_t kLongestLine = 4000; ///< bytes; the trainer skips lines longer than 4192

/// The lines of the standard input; long ones are split.
class Lines : public sentencepiece::SentenceIterator {
public:
    Lines() { Next(); }
    bool done() const override { return m_done; }
    const std::string& value() const override { return m_value; }
    sentencepiece::util::Status status() const override { return {}; }
    void Next() override
    {
        if (m_line.empty() && !std::getline(std::cin, m_line)) {
            m_done = true;
            return;
        }
        std::size_t size = std::min(m_line.size(), kLongestLine);
        while (size < m_line.size() && size > 0 && !residua::beginsCodePoint(m_line[size])) {
            --size;
        }
        m_value = m_line.substr(0, size);
        m_line.erase(0, size);
    }

private:
    std::string m_line;
    std::string m_value;
    bool m_done = false;
};

} // namespace

int main(int count, char** arguments)
{
    if (count != 5) {
        std::cerr << "residua-train-tokeniser OUTPUT bpe|unigram PIECES THREADS\n";
        return 2;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::unordered_map<std::string, std::string> options{
        {"model_type", arguments[2]},          {"vocab_size", arguments[3]},
        {"num_threads", arguments[4]},         {"normalization_rule_name", "identity"},
        {"remove_extra_whitespaces", "false"}, {"byte_fallback", "true"},
        {"input_sentence_size", "4000000"}};
    Lines lines;
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(options, &lines, &model);
    if (!status.ok()) {
        std::cerr << status.ToString() << "\n";
        return 1;
    }
    std::ofstream file(arguments[1], std::ios::binary);
    if (!(file << model << std::flush)) {
        std::cerr << "cannot write " << arguments[1] << ": " << std::generic_category().message(errno) << "\n";
        return 1;
    }
    return 0;
}
