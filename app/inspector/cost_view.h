// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/cost/cost.h"

#include <QLabel>
#include <QWidget>

#include <optional>

class QGridLayout;

namespace residua::app {

/// Shows the cost of the selection and that of the whole network.
class CostView : public QWidget {
    Q_OBJECT
public:
    explicit CostView(QWidget* parent = nullptr);

    /// `whole` is nullopt while it cannot be computed; `selected` if the selection has no cost of its own. `unit` is
    /// the unit of FLOP figures: "token" or "sample".
    void setCost(const std::optional<projects::Cost>& whole, const std::optional<projects::Cost>& selected,
                 const QString& unit);
    /// The device for the costs.
    struct Device {
        projects::DeviceKind kind = projects::DeviceKind::Cpu;
        double bytes = 0; ///< of its total memory; 0: unknown
    };
    void setDevice(const Device& device);
    [[nodiscard]] const Device& device() const { return m_device; }

private:
    void fill();
    [[nodiscard]] QLabel& cell(int line, int column);

    std::optional<projects::Cost> m_whole;
    std::optional<projects::Cost> m_selected;
    QString m_unit;
    Device m_device;
    QWidget* m_table = new QWidget(this);
    QGridLayout* m_grid;
    QLabel* m_memory = new QLabel(this);
};

} // namespace residua::app
