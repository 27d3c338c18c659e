// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/html_text.h"

#include "projects/model/data_source.h"

#include <system_error>
#include <variant>

namespace residua::report {
namespace {

void takeName(std::string& path)
{
    const std::filesystem::path given(path);
    path = given.is_absolute() ? given.filename().string() : path;
}

} // namespace

projects::Project withoutPlaces(projects::Project project)
{
    projects::Source& source = project.data.source;
    std::visit(
        [](auto& data) {
            if constexpr (requires { data.path; }) {
                takeName(data.path);
            }
            if constexpr (requires { data.validationPath; }) {
                takeName(data.validationPath);
            }
            if constexpr (requires { data.parts; }) {
                for (auto& part : data.parts) {
                    takeName(part.path);
                }
            }
        },
        source);
    if (projects::Tokeniser* const tokeniser = projects::tokeniserOf(source)) {
        takeName(tokeniser->model);
    }
    return project;
}

std::string withoutPlaces(std::string text, const std::filesystem::path& folder)
{
    std::error_code code;
    const std::filesystem::path inner = std::filesystem::absolute(folder, code).lexically_normal();
    for (const std::filesystem::path& place : {inner, inner.parent_path()}) {
        const std::string path = place.string() + "/";
        for (std::size_t at = text.find(path); path.size() > 1 && at != std::string::npos; at = text.find(path, at)) {
            text.erase(at, path.size());
        }
    }
    return text;
}

} // namespace residua::report
