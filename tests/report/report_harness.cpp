// SPDX-License-Identifier: GPL-3.0-or-later
#include "report_harness.h"

#include "app/report/report.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_writer.h"

#include <limits>
#include <utility>

namespace residua::tests {

std::filesystem::path writeRun(const QTemporaryDir& dir, const std::string& name, const projects::Project& project)
{
    const std::filesystem::path path = std::filesystem::path(dir.path().toStdString()) / "run";
    engine::RunInfo info;
    info.name = name;
    info.device = "cpu";
    info.steps = 40;
    auto writer = engine::RunWriter::create(path, info, project, dir.path().toStdString());
    if (!writer) {
        qFatal("%s", writer.error().text().c_str());
    }
    for (std::int64_t step = 1; step <= 40; ++step) {
        const double loss = step == 7 ? std::numeric_limits<double>::quiet_NaN() : 4.0 / static_cast<double>(step);
        writer->step({step, loss, 1e-3, 0.5, step * 64, static_cast<double>(step) / 10});
    }
    for (const std::int64_t step : {10, 20, 30, 40}) {
        writer->metric(engine::metric::kThroughput, step, 100.0 * static_cast<double>(step));
        writer->metric(engine::metric::kPeakBytes, step, 1024.0 * 1024 * static_cast<double>(step));
    }
    writer->event({0, engine::RunEventKind::Stage, "6 of 12 layers"});
    writer->event({20, engine::RunEventKind::Stage, "12 < 13 layers"});
    const float none = std::numeric_limits<float>::quiet_NaN();
    writer->matrix({"mix", 0, 2, 2, {1, none, 0.5F, 0.5F}});
    writer->matrix({"mix", 20, 2, 2, {1, none, 0.125F, 0.875F}});
    if (const auto flushed = writer->flush(); !flushed) {
        qFatal("%s", flushed.error().text().c_str());
    }
    return path;
}

Result<std::string> comparisonOf(const std::filesystem::path& folder)
{
    auto page = report::comparisonHtml({.title = folder.filename().string(),
                                        .runs = engine::listRuns(folder),
                                        .folder = engine::groupsFolderOf(folder)});
    return page ? Result<std::string>(std::move(page->html)) : page.error();
}

std::vector<QString> svgsOf(const QString& html)
{
    std::vector<QString> found;
    for (qsizetype at = html.indexOf("<svg"); at >= 0; at = html.indexOf("<svg", at + 1)) {
        const qsizetype end = html.indexOf("</svg>", at);
        found.push_back(html.mid(at, end + 6 - at));
    }
    return found;
}

} // namespace residua::tests
