// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/stages/stages.h"

#include "engine/data/tokeniser/models/token_model.h"

namespace residua::engine {
namespace {

void addId(const Part& where, const nlohmann::json& id, std::vector<std::uint32_t>& ids)
{
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= TokenTable::kMostTokens) {
        where.fail("has the id " + id.dump() + ", expected 0 to " + std::to_string(TokenTable::kMostTokens - 1));
        return;
    }
    ids.push_back(id.get<std::uint32_t>());
}

/// Reads a sequence of special tokens and the text itself.
DocumentMarks makeTemplateMarks(const Part& part)
{
    DocumentMarks marks;
    bool behind = false;
    const Part known = part.part("special_tokens");
    for (const Part& piece : part.parts("single")) {
        if (piece.has("Sequence")) {
            behind = true;
            continue;
        }
        const std::string token = piece.part("SpecialToken").text("id", "");
        if (!known.has(token)) {
            piece.fail("the special token \"" + token + "\" is not among special_tokens");
            return marks;
        }
        const Part ids = known.part(token);
        for (const Part& id : ids.parts("ids")) {
            addId(id, id.value(), behind ? marks.behind : marks.before);
        }
    }
    if (!behind) {
        part.part("single").fail("has no place for the text");
    }
    return marks;
}

/// Reads [token, id] under both keys.
DocumentMarks makePairMarks(const Part& part)
{
    DocumentMarks marks;
    for (const auto& [key, ids] : {std::pair{"cls", &marks.before}, {"sep", &marks.behind}}) {
        const std::vector<Part> entry = part.parts(key);
        if (entry.size() != 2) {
            part.part(key).fail("expected a token and its id");
            return marks;
        }
        addId(entry[1], entry[1].value(), *ids);
    }
    return marks;
}

DocumentMarks makeNoMarks(const Part&)
{
    return {};
}

/// Combines processors; each one adds its marks around those of the ones before it.
DocumentMarks makeMarksSequence(const Part& part)
{
    DocumentMarks marks;
    for (const Part& each : part.parts("processors")) {
        const DocumentMarks outer = readMarks(each);
        marks.before.insert(marks.before.begin(), outer.before.begin(), outer.before.end());
        marks.behind.insert(marks.behind.end(), outer.behind.begin(), outer.behind.end());
    }
    return marks;
}

constexpr Maker<DocumentMarks> kPostProcessors[] = {{"TemplateProcessing", &makeTemplateMarks},
                                                    {"BertProcessing", &makePairMarks},
                                                    {"RobertaProcessing", &makePairMarks},
                                                    {"ByteLevel", &makeNoMarks},
                                                    {"Sequence", &makeMarksSequence}};

} // namespace

DocumentMarks readMarks(const Part& part)
{
    return madeBy(kPostProcessors, part);
}

} // namespace residua::engine
