// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/schema/fields.h"

#include "projects/model/graph.h"

#include <algorithm>

namespace residua::projects {
namespace {

constexpr std::size_t kWidestLine = 110; ///< bytes; as wide as the hand-written pages

constexpr std::string_view kBegin =
    "# Fields of a project\n"
    "\n"
    "Every field of project.json: what it is, the values that it takes, its default, and what the papers use.\n"
    "\n"
    "Also: `field`, `pointer`, `project-json`, `reference`\n"
    "\n"
    "A field is named by its JSON pointer; N stands for an index from 0. `residua-cli train --set FIELD=VALUE` sets\n"
    "one, and `residua-cli sweep --vary FIELD=V1,V2` trains with each of several values. Which kind of a part there\n"
    "is decides which fields it has.\n";

constexpr std::string_view kEnd =
    "\n"
    "## Source\n"
    "The program's own schema. What the methods compute: [depth-mix](depth-mix.md), [training](training.md),\n"
    "[stages](stages.md), [initialisation](initialisation.md).\n";

std::string valueText(const FieldEntry& entry)
{
    if (entry.type == FieldType::Choice) {
        return "`" + std::string(entry.choices[static_cast<std::size_t>(std::get<std::int64_t>(entry.value))].name) +
               "`";
    }
    if (const auto* const flag = std::get_if<bool>(&entry.value)) {
        return *flag ? "true" : "false";
    }
    if (const auto* const whole = std::get_if<std::int64_t>(&entry.value)) {
        return std::to_string(*whole);
    }
    const auto* const real = std::get_if<double>(&entry.value);
    const auto* const text = std::get_if<std::string>(&entry.value);
    return real != nullptr ? numberText(*real) : text != nullptr && !text->empty() ? "\"" + *text + "\"" : "";
}

/// Lists the facts of a field: "More than 0; default 0.001; papers: 0.1."
std::string factsOf(const FieldEntry& entry)
{
    std::vector<std::string> facts;
    const FieldDetails& more = entry.field.more;
    if (!entry.choices.empty()) {
        std::string names;
        for (const Choice& choice : entry.choices) {
            names += (names.empty() ? "" : ", ") + ("`" + std::string(choice.name) + "`");
            std::string meaning(choice.title == choice.name ? "" : choice.title);
            meaning += (meaning.empty() || choice.help.empty() ? "" : ": ") + std::string(choice.help);
            names += meaning.empty() ? "" : " (" + meaning + ")";
        }
        facts.push_back(names);
    }
    const bool number = entry.type == FieldType::Integer || entry.type == FieldType::Real;
    if (number) {
        facts.push_back(textOf(more.range) + (more.unit.empty() ? "" : ", in " + std::string(more.unit)));
    }
    if (const std::string value = valueText(entry); !value.empty() && more.need == Need::Optional) {
        facts.push_back("default " + value);
    }
    if (!more.paper.empty()) {
        facts.push_back("papers: " + std::string(more.paper));
    }
    std::string text;
    for (const std::string& fact : facts) {
        text += (text.empty() ? " " : "; ") + (text.empty() ? headline(fact) : fact);
    }
    return text.empty() ? "" : text + ".";
}

/// Wraps the text between words. Further lines are indented by `indent`.
std::string folded(const std::string& text, const std::string& indent)
{
    std::string lines;
    std::size_t width = 0;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::size_t length = end - begin;
        const bool fits = width + 1 + length <= kWidestLine;
        lines += width == 0 ? "" : fits ? " " : "\n" + indent;
        width = width == 0 ? length : fits ? width + 1 + length : indent.size() + length;
        lines += text.substr(begin, length);
        begin = end + 1;
    }
    return lines + "\n";
}

/// Returns a heading such as "Data: linear regression".
std::string headingOf(const FieldEntry& entry, const std::vector<FieldEntry>& all)
{
    const std::size_t end = entry.pointer.find('/', 1);
    std::string heading = end == std::string::npos ? "Project" : headline(entry.pointer.substr(1, end - 1));
    for (const auto& [pointer, index] : entry.within) {
        const auto choice = std::ranges::find(all, pointer, &FieldEntry::pointer);
        heading += ": " + std::string(choice->choices[static_cast<std::size_t>(index)].title);
    }
    return heading;
}

} // namespace

std::string fieldReference()
{
    const std::vector<FieldEntry> all = everyField();
    std::string page(kBegin);
    std::vector<std::string> headings;
    for (const FieldEntry& entry : all) {
        std::string heading = headingOf(entry, all);
        if (std::ranges::find(headings, heading) == headings.end()) {
            headings.push_back(std::move(heading));
        }
    }
    for (const std::string& heading : headings) {
        page += "\n## " + heading + "\n";
        for (const FieldEntry& entry : all) {
            if (headingOf(entry, all) == heading) {
                page += folded("- `" + entry.pointer + "` (" + std::string(entry.field.title) +
                                   "): " + std::string(entry.field.help) + factsOf(entry),
                               "  ");
            }
        }
    }
    return page + std::string(kEnd);
}

} // namespace residua::projects
