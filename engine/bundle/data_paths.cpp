// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/bundle/data_paths.h"

#include <variant>

namespace residua::engine {
namespace {

struct Collector {
    std::vector<DataPath>& paths;

    void operator()(projects::TextData& source) const
    {
        add(source.path, ".txt");
        add(source.tokeniser);
    }
    void operator()(projects::JsonLinesData& source) const
    {
        add(source.path, ".jsonl");
        add(source.tokeniser);
    }
    void operator()(projects::TokenFileData& source) const
    {
        add(source.path, ".bin");
        add(source.validationPath, ".bin");
    }
    void operator()(projects::SyntheticLanguage&) const {}
    void operator()(projects::LinearRegression&) const {}
    void operator()(projects::LowRankRegression&) const {}
    void operator()(projects::BooleanPolynomial&) const {}

private:
    void add(std::string& path, const char* extension, PathUse use = PathUse::Data) const
    {
        if (!path.empty()) {
            paths.push_back({&path, extension, use});
        }
    }
    void add(projects::Tokeniser& tokeniser) const
    {
        if (projects::hasModel(tokeniser.kind)) {
            add(tokeniser.model, "", PathUse::Tokeniser);
        }
    }
};

} // namespace

std::vector<DataPath> dataPathsOf(projects::Project& project)
{
    std::vector<DataPath> paths;
    std::visit(Collector{paths}, project.data.source);
    return paths;
}

} // namespace residua::engine
