// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/data_preview.h"

#include "app/look/format.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace residua::app {

namespace {

constexpr std::size_t kShownNumbers = 64;

/// The context of these words for translators.
struct DataPreviewText {
    Q_DECLARE_TR_FUNCTIONS(DataPreview)
};

template <class T>
QString listed(const std::vector<T>& numbers)
{
    QStringList texts;
    for (std::size_t i = 0; i < numbers.size() && i < kShownNumbers; ++i) {
        texts << QString::number(numbers[i]);
    }
    return texts.join(QLatin1Char(' ')) + (numbers.size() > kShownNumbers ? QStringLiteral(" …") : QString());
}

} // namespace

QString previewText(const engine::DataPreview& preview)
{
    if (!preview.summary.examples.input().isTokens()) {
        return DataPreviewText::tr("input\n%1\n\ntarget\n%2").arg(listed(preview.inputs), listed(preview.outputs));
    }
    const QString ids = DataPreviewText::tr("tokens\n%1").arg(listed(preview.tokens));
    const QString text = QString::fromStdString(preview.text);
    return text.isEmpty() || text == listed(preview.tokens) ? ids : text + QStringLiteral("\n\n") + ids;
}

QString amountText(const engine::DataSummary& data, const projects::NewProject& project)
{
    if (data.train < 0) {
        return DataPreviewText::tr("Training samples are drawn without end.");
    }
    const QString unit = formatUnits(data.examples.unit());
    const double fed = static_cast<double>(project.steps) * static_cast<double>(project.batch) *
                       static_cast<double>(data.examples.units(1, project.sequenceLength));
    QStringList lines;
    for (const engine::DataReading& reading : data.readings) {
        lines << DataPreviewText::tr("%1: %2").arg(QString::fromStdString(reading.path).section(QLatin1Char('/'), -1),
                                                   QString::fromStdString(reading.files));
    }
    lines << DataPreviewText::tr("%1 %2 to train on, %3 for validation")
                 .arg(formatWhole(data.train), unit, formatWhole(data.validation));
    for (const engine::DataPartSummary& part : data.parts) {
        const double passes = fed * part.share / static_cast<double>(std::max<std::int64_t>(part.train, 1));
        lines << DataPreviewText::tr("%1: %2 tokens, %3 epochs")
                     .arg(QString::fromStdString(part.path).section(QLatin1Char('/'), -1), formatWhole(part.train),
                          formatCount(passes));
    }
    if (const projects::ExampleField& input = data.examples.input(); input.isTokens()) {
        lines << DataPreviewText::tr("a vocabulary of %1").arg(formatWhole(input.vocabulary));
    }
    lines << DataPreviewText::tr("%1 %2 fed: %3 epochs")
                 .arg(formatCount(fed), unit,
                      formatCount(fed / static_cast<double>(std::max<std::int64_t>(data.train, 1))));
    for (const std::string& note : data.notes) {
        lines << QString::fromStdString(note);
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace residua::app
