// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/records/run_comparison.h"
#include "resources/colours.h"

#include <QDialog>

namespace residua::app {

/// Shows a comparison: both loss curves, and tables of results, losses by step, document and coefficients. Not modal.
class RunComparisonDialog : public QDialog {
    Q_OBJECT
public:
    RunComparisonDialog(const RunComparison& comparison, resources::Theme theme, QWidget* parent = nullptr);
};

} // namespace residua::app
