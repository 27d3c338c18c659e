// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "app/properties/field_form.h"
#include "app/runs/go_on_dialog.h"
#include "engine/base/api/session.h"
#include "engine/runs/results/effects.h"
#include "projects/transfer/weakest.h"

#include <QComboBox>
#include <QSpinBox>

#include <cstdint>
#include <string>
#include <vector>

class QLabel;

namespace residua::app {

/// Asks for the checkpoint, the parts and the batches of a knock-out, and says its passes before it begins. It stays
/// open while the knock-out is measured; closing it cancels it. With chosen parts it begins at once and shows the
/// answer itself. Not modal.
class KnockoutDialog : public AskDialog {
    Q_OBJECT
public:
    /// `kept`: the results that the run has. `start.only` has the chosen parts; empty: all parts.
    KnockoutDialog(GoOnSource source, std::vector<engine::KeptEffects> kept, engine::KnockoutRequest start,
                   QWidget* parent = nullptr);

    /// Shows the dialog, reports a kept result, and begins with chosen parts. Call it once the signals are connected.
    void start();
    [[nodiscard]] const std::string& run() const { return m_source.info.directory; }
    [[nodiscard]] QString runName() const { return QString::fromStdString(m_source.info.name); }
    /// Returns the key under which the run keeps the answer to a request of this dialog.
    [[nodiscard]] engine::EffectsKey keyOf(const engine::KnockoutRequest& request) const;
    /// Shows the answer about chosen parts.
    void showAnswer(const engine::KnockoutReady& measured);
    void refuse(const QString& reason) override;

signals:
    void chosen(const residua::engine::KnockoutRequest& request);
    /// Emitted when the run has kept the answer to what is chosen.
    void found(const residua::engine::KeptEffects& kept);

private:
    [[nodiscard]] static Words wordsFor(const GoOnSource& source, const engine::KnockoutRequest& start);
    [[nodiscard]] engine::KnockoutRequest request() const;
    /// Returns the number of parts that a request switches off; an error if the network has none of the kind.
    [[nodiscard]] Result<std::int64_t> partsOf(const engine::KnockoutRequest& request) const;
    [[nodiscard]] QString costText(std::int64_t parts, std::int64_t batches) const;
    void update();
    void begin() override;

    GoOnSource m_source;
    std::vector<engine::KeptEffects> m_kept;
    engine::KnockoutRequest m_start;
    FieldForm m_fields;
    QLabel* m_cost;
    bool m_busy = false;
    bool m_again = false; ///< the run has kept the answer to what is chosen
};

/// Asks how many of the weakest shortcuts are selected, and by what they are weak. Not modal.
class WeakestDialog : public AskDialog {
    Q_OBJECT
public:
    /// `run`: its name.
    explicit WeakestDialog(const QString& run, QWidget* parent = nullptr);

signals:
    void chosen(residua::projects::WeakBy by, qint64 count);

private:
    void begin() override;

    QComboBox* m_by = new QComboBox(this);
    QSpinBox* m_count = new QSpinBox(this);
};

} // namespace residua::app
