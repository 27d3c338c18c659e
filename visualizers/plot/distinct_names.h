// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QString>
#include <QStringList>

namespace residua::visualizers {

/// Shortens names that are wider than `width` pixels such that different names stay different: it cuts the parts that
/// all of them begin with, else the middle, the start or the end, whichever tells all of them apart, or else what they
/// have in common at the start. Names that fit stay whole.
[[nodiscard]] QStringList distinctNames(const QStringList& names, const QFontMetrics& metrics, int width);

/// Returns the common beginning of the names of several runs, without separators at its end; the first name if there is
/// none.
[[nodiscard]] QString commonName(const QStringList& names);

} // namespace residua::visualizers
