// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStringList>

#include <vector>

namespace residua::cli {

using tests::kPatience;

/// The output and the exit code of the program.
struct Ran {
    int code = -1; ///< −1: it crashed or hangs
    QString output;
    QString errors;

    [[nodiscard]] QJsonDocument json() const { return QJsonDocument::fromJson(output.toUtf8()); }
    /// The JSON values of its lines.
    [[nodiscard]] std::vector<QJsonObject> events() const
    {
        std::vector<QJsonObject> values;
        for (const QString& line : output.split('\n', Qt::SkipEmptyParts)) {
            values.push_back(QJsonDocument::fromJson(line.toUtf8()).object());
        }
        return values;
    }
};

inline Ran ended(QProcess& process)
{
    if (!process.waitForFinished(kPatience) || process.exitStatus() != QProcess::NormalExit) {
        return {-1, QString::fromUtf8(process.readAllStandardOutput()),
                "the program crashed or hangs: " + QString::fromUtf8(process.readAllStandardError())};
    }
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
}

/// `engine` is the command line of the engine, if it is not the program's own.
inline Ran runProcess(const QStringList& words, const QString& folder = {}, const QString& engine = {})
{
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (!engine.isEmpty()) {
        environment.insert("RESIDUA_ENGINE", engine);
    }
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(folder);
    process.start(RESIDUA_CLI, words);
    return ended(process);
}

/// A language model that trains hundreds of steps a second.
inline projects::Document tinyProject()
{
    projects::Document document;
    document.project = projects::findExample("ancre-language")->project;
    projects::Project& project = document.project;
    project.name = "Tiny";
    project.data.source = projects::SyntheticLanguage{.vocabulary = 24, .levels = 2, .tokens = 4000};
    project.stack().width = 16;
    project.stack().segments = {{project.stack().segments.front().block, 2}};
    for (projects::Node& node : project.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = std::int64_t{2};
        }
    }
    project.training.batch = 4;
    project.training.sequenceLength = 16;
    return document;
}

} // namespace residua::cli
