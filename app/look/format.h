// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/data_summary.h"
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"

#include <QDateTime>
#include <QString>
#include <QStringList>
#include <QTranslator>

#include <cstdint>
#include <span>
#include <string_view>

class QTextDocument;

namespace residua::app {

/// Formats a count with three significant digits: "950", "12.3 k", "4.56 M", "1.20 G".
[[nodiscard]] QString formatCount(double value);
/// Formats a difference with its sign; `format` formats its magnitude: "+1.20 k", "−3", "±0".
[[nodiscard]] QString formatChange(double change, QString (*format)(double));
/// Formats a size: "512 B", "1.5 KiB", "2.31 GiB".
[[nodiscard]] QString formatBytes(double bytes);
/// Formats a duration: "12 s", "3 min 05 s", "2 h 14 min", "1 d 06 h"; "—" if negative or not finite.
[[nodiscard]] QString formatDuration(double seconds);
/// Formats a UTC time in ISO 8601 in the user's time zone: "14:05:09" on the day of `now`, else "3 Nov 14:05", or "3
/// Nov 2025 14:05" in another year. Returns the text itself if it is not a time.
[[nodiscard]] QString formatMoment(const QString& utc, const QDateTime& now);
/// Formats a number with the shortest text that reads back as the same number: "0.001", "1e-08", "256".
[[nodiscard]] QString formatReal(double value);
/// Formats a loss with `digits` significant digits; "—" if there is no loss.
[[nodiscard]] QString formatLoss(double loss, int digits = 5);
/// Formats an integer as on the canvases and in the terminal: "1,234,567" (groupedText in projects/base/text.h).
[[nodiscard]] QString formatWhole(std::int64_t value);
/// Returns the unit of the data: "token" or "sample".
[[nodiscard]] QString formatUnit(const projects::DataSource& data);
/// Returns the filters of a file dialog, "Texts (*.txt *.md);;Any file (*)": files with one of these endings,
/// compressed or not, or all files.
[[nodiscard]] QString fileFilter(const QString& title, std::span<const std::string_view> endings);
/// Returns the plural of the unit: "tokens" or "samples".
[[nodiscard]] QString formatUnits(projects::Unit unit);

/// Writes texts about one thing in the singular: the texts in the code are plurals, "%n runs". Other translators come
/// before it if they are installed later. GUI thread.
class EnglishPlurals : public QTranslator {
public:
    using QTranslator::QTranslator;

    [[nodiscard]] bool isEmpty() const override { return false; }
    [[nodiscard]] QString translate(const char* context, const char* text, const char* disambiguation,
                                    int n) const override;
};

/// The layout of pictures in an exampleTable().
struct PictureGrid {
    int columns = 4;
    int width = 96; ///< pixels up to which small pictures are magnified, by whole numbers, so that pixels stay square
};

/// Returns HTML for `document` with the examples of a batch: pictures with their captions below them, texts and numbers
/// in a row each with their captions. Adds the pictures to the document as resources. `captions` are HTML, one for each
/// example; empty: their targets.
[[nodiscard]] QString exampleTable(const engine::FedBatch& batch, QTextDocument& document, const PictureGrid& grid = {},
                                   const QStringList& captions = {});

/// Returns HTML of a text that keeps its line ends and spaces.
[[nodiscard]] QString verbatim(const QString& text);

} // namespace residua::app
