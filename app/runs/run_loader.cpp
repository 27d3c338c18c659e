// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/run_loader.h"

#include "engine/api/run_reader.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <map>
#include <utility>

namespace residua::app {

namespace {

std::vector<engine::StepRecord> stepsOf(const engine::RunReader& reader)
{
    std::map<std::int64_t, engine::StepRecord> steps;
    const auto fill = [&](const char* name, auto put) {
        for (const engine::MetricPoint& point : reader.metric(name)) {
            engine::StepRecord& record = steps[point.step];
            record.step = point.step;
            put(record, point.value);
        }
    };
    fill(engine::metric::kLoss, [](engine::StepRecord& r, double v) { r.loss = v; });
    fill(engine::metric::kLearningRate, [](engine::StepRecord& r, double v) { r.learningRate = v; });
    fill(engine::metric::kGradientNorm, [](engine::StepRecord& r, double v) { r.gradientNorm = v; });
    fill(engine::metric::kUnits, [](engine::StepRecord& r, double v) { r.tokens = static_cast<std::int64_t>(v); });
    fill(engine::metric::kSeconds, [](engine::StepRecord& r, double v) { r.seconds = v; });
    std::vector<engine::StepRecord> records;
    records.reserve(steps.size());
    for (auto& [step, record] : steps) {
        records.push_back(record);
    }
    return records;
}

} // namespace

Result<RunRecord> loadRunRecord(const std::string& directory)
{
    auto reader = engine::RunReader::open(directory);
    if (!reader) {
        return reader.error();
    }
    RunRecord record;
    record.directory = directory;
    const auto info = reader->info();
    record.name = info ? info->name : directory;
    record.steps = stepsOf(*reader);
    for (const engine::MetricPoint& point : reader->metric(engine::metric::kValidationLoss)) {
        record.validations.push_back({point.step, point.value});
    }
    record.events = reader->events();
    for (const char* name : {engine::metric::kThroughput, engine::metric::kPeakBytes}) {
        record.figures[name] = reader->metric(name);
    }
    for (const std::string& name : reader->matrixNames()) {
        for (const std::int64_t step : reader->matrixSteps(name)) {
            if (auto matrix = reader->matrix(name, step)) {
                record.matrices.push_back(std::move(*matrix));
            }
        }
    }
    return record;
}

void RunLoader::load(const std::string& directory)
{
    QThreadPool::globalInstance()->start([self = QPointer<RunLoader>(this), directory] {
        auto record = std::make_shared<Result<RunRecord>>(loadRunRecord(directory));
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, record] {
            if (!self) {
                return;
            }
            if (*record) {
                emit self->loaded(std::make_shared<const RunRecord>(std::move(**record)));
            } else {
                emit self->failed(QString::fromStdString(record->error().text()));
            }
        });
    });
}

} // namespace residua::app
