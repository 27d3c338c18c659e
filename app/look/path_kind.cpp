// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/path_kind.h"

#include "engine/base/api/environment.h"
#include "engine/link/bundle/bundle_contents.h"
#include "projects/file/store.h"
#include "projects/model/data_source.h"

#include <QCoreApplication>

#include <algorithm>
#include <vector>

namespace residua::app {

namespace {

struct PathText {
    Q_DECLARE_TR_FUNCTIONS(PathKinds)
};

constexpr const char* kModelFile = "config.json"; ///< of a folder saved by the package transformers
constexpr const char* kTensorsSuffix = ".safetensors";

QString textOf(PathKind kind)
{
    switch (kind) {
    case PathKind::Project:
        return PathText::tr("a project");
    case PathKind::Run:
        return PathText::tr("a run");
    case PathKind::Bundle:
        return PathText::tr("a bundle of a project");
    case PathKind::Model:
        return PathText::tr("the folder of a model");
    case PathKind::Tensors:
        return PathText::tr("a file of tensors");
    case PathKind::Picture:
        return PathText::tr("a picture");
    case PathKind::File:
        return PathText::tr("a file");
    case PathKind::Folder:
        return PathText::tr("a folder");
    }
    return {};
}

bool isPicture(const std::filesystem::path& file)
{
    const std::string suffix = QString::fromStdString(file.extension().string()).toLower().toStdString();
    return std::ranges::find(projects::kPictureEndings, suffix) != projects::kPictureEndings.end() ||
           std::ranges::find(projects::kOtherPictureEndings, suffix) != projects::kOtherPictureEndings.end();
}

} // namespace

PathKind pathKindOf(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        const auto holds = [&](const char* name) { return std::filesystem::exists(path / name, ignored); };
        return holds(projects::kProjectFile) ? PathKind::Project
               : holds(engine::kRunFile)     ? PathKind::Run
               : holds(kModelFile)           ? PathKind::Model
                                             : PathKind::Folder;
    }
    return path.filename() == projects::kProjectFile   ? PathKind::Project
           : path.filename() == engine::kRunFile       ? PathKind::Run
           : path.extension() == engine::kBundleSuffix ? PathKind::Bundle
           : path.extension() == kTensorsSuffix        ? PathKind::Tensors
           : isPicture(path)                           ? PathKind::Picture
                                                       : PathKind::File;
}

std::function<QString(const QString& path)> onlyPaths(std::initializer_list<PathKind> kinds, const QString& expected)
{
    return [kinds = std::vector<PathKind>(kinds), expected](const QString& path) {
        const std::filesystem::path given = path.toStdString();
        const PathKind kind = pathKindOf(given);
        return std::ranges::find(kinds, kind) != kinds.end()
                   ? QString()
                   : PathText::tr("%1 is %2; expected %3.")
                         .arg(QString::fromStdString(given.filename().string()), textOf(kind), expected);
    };
}

std::function<QString(const QString& path)> onlyData()
{
    return onlyPaths({PathKind::File, PathKind::Folder, PathKind::Model},
                     PathText::tr("data: a file, or a folder of such or of pictures"));
}

std::function<QString(const QString& path)> onlyTokenisers()
{
    return onlyPaths({PathKind::File}, PathText::tr("the file of a tokeniser, such as *.model or tokenizer.json"));
}

} // namespace residua::app
