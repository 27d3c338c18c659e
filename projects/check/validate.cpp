// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/validate.h"

#include "projects/check/problems.h"
#include "projects/model/graph.h"
#include "projects/schema/fields.h"

#include <algorithm>
#include <iterator>

namespace residua::projects {

std::string Problem::text() const
{
    return place.empty() ? message : "[" + place + "] " + message;
}

std::vector<Problem> validate(const Project& project)
{
    Problems problems(project);
    validateData(project, problems);
    validateNetwork(project, problems);
    validateTopology(project, problems);
    validateTowers(project, problems);
    validateTraining(project, problems);
    for (const Problem& missing : unsupported(project)) {
        problems.error(missing.path, missing.place, missing.message);
    }
    return problems.take();
}

bool hasErrors(const std::vector<Problem>& problems)
{
    return std::ranges::any_of(problems, [](const Problem& p) { return p.severity == Severity::Error; });
}

void Problems::error(const std::string& path, const std::string& place, const std::string& message)
{
    add(m_errors, {Severity::Error, path, place, message});
}

void Problems::warning(const std::string& path, const std::string& place, const std::string& message)
{
    add(m_warnings, {Severity::Warning, path, place, message});
}

void Problems::error(const std::string& path, const std::string& message)
{
    error(path, placeOfField(m_project, path), message);
}

void Problems::warning(const std::string& path, const std::string& message)
{
    warning(path, placeOfField(m_project, path), message);
}

void Problems::checkRanges(std::string_view pointer)
{
    for (const FieldEntry& entry : fieldsOutOfRange(m_project, pointer)) {
        const auto* const whole = std::get_if<std::int64_t>(&entry.value);
        const std::string got = whole != nullptr ? std::to_string(*whole) : numberText(std::get<double>(entry.value));
        error(entry.pointer, entry.place, "got " + got + ", expected " + textOf(entry.field.more.range));
        m_outOfRange.insert(entry.pointer);
    }
}

void Problems::within(const std::string& path, double value, double minimum, double maximum)
{
    if (!(value >= minimum && value <= maximum) && !m_outOfRange.contains(path)) {
        error(path, "got " + numberText(value) + ", expected " + numberText(minimum) + " to " + numberText(maximum));
    }
}

void Problems::atMost(const std::string& path, std::int64_t value, std::int64_t maximum)
{
    if (value <= maximum || m_outOfRange.contains(path)) {
        return;
    }
    const std::optional<FieldEntry> entry = findField(m_project, path);
    Range range = entry ? entry->field.more.range : Range{};
    range.most = std::max(static_cast<double>(maximum), range.least);
    if (!range.contains(value)) {
        error(path, "got " + std::to_string(value) + ", expected " + textOf(range));
    }
}

void Problems::add(Kept& kept, Problem problem)
{
    constexpr std::size_t kMostListed = 1000;
    constexpr std::size_t kMostCharacters = 1'000'000;
    const std::size_t characters = problem.path.size() + problem.place.size() + problem.message.size();
    const bool room = kept.listed.size() < kMostListed && kept.characters + characters <= kMostCharacters;
    if (room || kept.listed.empty()) {
        kept.characters += characters;
        kept.listed.push_back(std::move(problem));
    } else {
        ++kept.unlisted;
    }
}

std::optional<Error> Problems::firstError() const
{
    if (m_errors.listed.empty()) {
        return std::nullopt;
    }
    const Problem& first = m_errors.listed.front();
    return Error{first.place, first.message};
}

std::vector<Problem> Problems::take()
{
    std::vector<Problem> all;
    for (Kept* const kept : {&m_errors, &m_warnings}) {
        if (kept->unlisted > 0) {
            const Problem& last = kept->listed.back();
            kept->listed.push_back({last.severity, last.path, "document",
                                    "has " + std::to_string(kept->unlisted) +
                                        (last.severity == Severity::Error ? " more errors" : " more warnings") +
                                        " that are not listed"});
        }
        std::ranges::move(kept->listed, std::back_inserter(all));
        *kept = {};
    }
    return all;
}

std::vector<const Block*> usedBlocks(const Network& network)
{
    std::vector<const Block*> used;
    for (const Block& block : network.blocks) {
        const bool inStack =
            std::ranges::any_of(network.stack().segments, [&](const StackSegment& s) { return s.block == block.name; });
        const bool first = network.findBlock(block.name) == &block;
        if (inStack && first) {
            used.push_back(&block);
        }
    }
    return used;
}

} // namespace residua::projects
