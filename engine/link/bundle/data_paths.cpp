// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/data_paths.h"

#include "engine/data/codec/text_codec.h"
#include "projects/model/data_endings.h"

#include <variant>

namespace residua::engine {
namespace {

struct Collector {
    std::vector<DataPath>& paths;

    void operator()(projects::TextData& source) const
    {
        add(source.path, projects::kTextEndings);
        add(source.tokeniser);
    }
    void operator()(projects::JsonLinesData& source) const
    {
        add(source.path, projects::kRecordEndings);
        add(source.tokeniser);
    }
    void operator()(projects::MixtureData& source) const
    {
        for (projects::MixturePart& part : source.parts) {
            add(part.path, projects::kAnyTextEndings);
        }
        add(source.tokeniser);
    }
    void operator()(projects::TokenFileData& source) const
    {
        add(source.path, projects::kTokenEndings);
        add(source.validationPath, projects::kTokenEndings);
    }
    void operator()(projects::LabelledTextData& source) const
    {
        add(source.path, projects::kTableEndings);
        add(source.validationPath, projects::kTableEndings);
        add(source.tokeniser);
    }
    void operator()(projects::PictureData& source) const
    {
        add(source.path, projects::kAnyPictureEndings);
        add(source.validationPath, projects::kAnyPictureEndings);
    }
    void operator()(projects::SyntheticLanguage&) const {}
    void operator()(projects::DrawnPictures&) const {}
    void operator()(projects::LinearRegression&) const {}
    void operator()(projects::LowRankRegression&) const {}
    void operator()(projects::BooleanPolynomial&) const {}

private:
    void add(std::string& path, std::span<const std::string_view> endings) const
    {
        if (!path.empty()) {
            paths.push_back({&path, endings});
        }
    }
    void add(projects::Tokeniser& tokeniser) const
    {
        if (projects::hasModel(tokeniser.kind) && !tokeniser.model.empty()) {
            paths.push_back({&tokeniser.model, {}, &tokeniser});
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

std::vector<std::string> namesOf(const DataPath& path, const std::filesystem::path& projectDirectory)
{
    if (path.tokeniser == nullptr) {
        return {*path.path};
    }
    std::vector<std::string> names;
    for (const std::filesystem::path& file : tokeniserFiles(*path.tokeniser, projectDirectory)) {
        names.push_back(file.string());
    }
    return names;
}

} // namespace residua::engine
