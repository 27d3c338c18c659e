// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/mutate_command_line.h"

#include "tests/support/draws.h"
#include "tests/support/forked_program.h"

#include <algorithm>
#include <cstdint>

namespace residua::fuzz {
namespace {

using cli::Command;
using cli::OptionKind;
using cli::OptionSpec;
using cli::PositionalSpec;

class Writer {
public:
    Writer(std::mt19937_64& random, const SoundWords& sound) : m_random(random), m_sound(sound) {}

    std::vector<std::string> lineOf(const Command& command)
    {
        std::vector<std::string> line{command.name};
        for (const PositionalSpec& positional : command.syntax.positionals) {
            if (positional.presence == cli::Presence::Required || oneIn(2)) {
                line.push_back(oneIn(3) ? hostile() : sound(positional.name));
            }
        }
        for (const OptionSpec& option : command.syntax.options) {
            if (oneIn(3)) {
                addOption(line, option);
            }
        }
        if (oneIn(2)) {
            line.insert(line.begin() + static_cast<std::ptrdiff_t>(below(line.size() + 1)), "--json");
        }
        while (oneIn(4)) {
            mistake(line);
        }
        return line;
    }

    std::size_t below(std::size_t bound) { return tests::below(m_random, bound); }

private:
    bool oneIn(std::size_t cases) { return below(cases) == 0; }

    std::string hostile()
    {
        const std::vector<std::string>& words = cli::hostileWords();
        std::string word = words[below(words.size())];
        if (oneIn(4) && !word.empty()) {
            word[below(word.size())] = static_cast<char>(below(256));
        }
        // A mutated byte may have made a path that leads out of the folder.
        return word.starts_with('/') || word.starts_with("..") ? "/proc" : word;
    }

    std::string sound(const std::string& name)
    {
        const std::vector<std::string> known = m_sound.of(name);
        return known.empty() ? "word" : known[below(known.size())];
    }

    std::string soundValue(const OptionSpec& option)
    {
        switch (option.kind) {
        case OptionKind::Integer:
            return std::to_string(below(12));
        case OptionKind::Real:
            return std::to_string(below(30)) + "e-1";
        case OptionKind::Duration:
            return "2s";
        case OptionKind::Flag:
        case OptionKind::Text:
            break;
        }
        return sound(option.value);
    }

    void addOption(std::vector<std::string>& line, const OptionSpec& option)
    {
        const bool isShort = !option.shortName.empty() && oneIn(2);
        const std::string name = isShort ? "-" + option.shortName : "--" + option.name;
        if (option.kind == OptionKind::Flag) {
            line.push_back(name);
            return;
        }
        const std::string value = oneIn(3) ? hostile() : soundValue(option);
        if (oneIn(3)) {
            line.push_back(name + "=" + value);
        } else {
            line.push_back(name);
            line.push_back(value);
        }
    }

    void mistake(std::vector<std::string>& line)
    {
        if (line.empty()) {
            return;
        }
        const std::size_t at = below(line.size());
        switch (below(5)) {
        case 0:
            line.erase(line.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        case 1:
            line.push_back(line[at]);
            break;
        case 2:
            std::swap(line[at], line[below(line.size())]);
            break;
        case 3:
            line[at] = hostile();
            break;
        default:
            line.insert(line.begin() + static_cast<std::ptrdiff_t>(at), hostile());
            break;
        }
    }

    std::mt19937_64& m_random;
    const SoundWords& m_sound;
};

} // namespace

std::vector<std::string> SoundWords::of(const std::string& name) const
{
    std::vector<std::string> found;
    for (const auto& [key, word] : words) {
        if (key == name) {
            found.push_back(word);
        }
    }
    return found;
}

std::vector<std::string> randomCommandLine(std::mt19937_64& random, const std::vector<Command>& commands,
                                           const SoundWords& sound)
{
    Writer writer(random, sound);
    return writer.lineOf(commands[writer.below(commands.size())]);
}

} // namespace residua::fuzz
