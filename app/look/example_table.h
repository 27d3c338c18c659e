// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/data_summary.h"

#include <QString>
#include <QStringList>

class QTextDocument;

namespace residua::app {

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
