// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/typed_popup.h"

#include <QString>

class QStandardItemModel;

namespace residua::app {

class PaletteModel;

/// The topologies by the paper that they come from, each with the parameters that it would add, and a field that
/// searches them. GUI thread.
class TopologyPopup : public TypedPopup {
    Q_OBJECT
public:
    /// Shows what `palette` has, which outlives the popup.
    TopologyPopup(const PaletteModel& palette, QWidget* window);

    /// Opens below `field`, a widget of the window. `current` is the title that is marked.
    void open(const QWidget& field, const QString& current);

signals:
    /// The preset of this key was chosen.
    void chosen(const QString& key);

protected:
    void take() override;

private:
    /// Shows the topologies that have all words of the text, and marks the one of this title, or else the first.
    void fill(const QString& text, const QString& title);

    const PaletteModel& m_palette;
    QStandardItemModel* m_rows;
};

} // namespace residua::app
