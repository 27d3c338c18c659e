// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/events.h"
#include "engine/runs/results/spent_flops.h"
#include "engine/runs/results/stages.h"
#include "projects/model/data_source.h"
#include "projects/model/topology.h"
#include "projects/model/training_plan.h"
#include "resources/plot.h"

#include <QObject>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace residua::visualizers {

/// The runs that the views show: the overlaid ones, whose curves are drawn together; the one in front, whose matrices
/// are drawn; and the one that its matrices are compared with. Also the chosen run, which need not be shown. Views
/// follow the signals, and keep only what they have drawn. A run is identified by its key, its directory. GUI thread.
class ShownRuns : public QObject {
    Q_OBJECT
public:
    /// Names of what the rows and columns of a run's matrices count; empty lists if numbers name it.
    struct LayerNames {
        QStringList layers = {};  ///< executed layers, from the first one: "3@2"
        QStringList readers = {}; ///< targets of shortcuts, from the first one
        QStringList entries = {}; ///< their sources, from the stack's input
        bool operator==(const LayerNames&) const = default;
    };
    /// The properties of a run that views need in addition to its numbers.
    struct Facts {
        QString name = {};
        engine::SpentFlops flops = {};    ///< of its training
        projects::Topology topology = {}; ///< under which its matrices were recorded
        std::int64_t layers = 0;          ///< of its stack
        QString started = {};             ///< when, for people
        std::vector<resources::BoundCurve> bounds = {};
        std::optional<projects::LowRankMethod> start = {}; ///< start of its factors; nullopt: it has none
        std::vector<std::string> classes = {};             ///< RunInfo::classes
        QString wiring = {};                               ///< projects::wiringName()
        LayerNames layerNames = {};
        /// The tower that topology, layers and names are of, which begins the names of its matrices: "teacher" of
        /// "teacher.mix"; empty: the first one.
        std::string tower = {};
        std::optional<projects::WorldData> world = {}; ///< that it acts in; nullopt if its data are others
    };
    /// The group of a listed run (engine::RunGroup), and how all views name and draw the run.
    struct Look {
        std::string group;
        QString groupLabel;
        QString label;
        std::size_t colour = 0;
        std::string seeds = {}; ///< equal for runs that draw alike
        bool operator==(const Look&) const = default;
    };
    struct Run {
        std::string key;
        bool overlaid = false;  ///< true if its curves are shown
        std::size_t colour = 0; ///< that of its group; until that is known, one that no other run has
        Facts facts;
        std::vector<engine::StageRecord> stages;
    };

    using QObject::QObject;

    /// Shows the run's curves from begin() on.
    void overlay(const std::string& key);
    void removeOverlay(const std::string& key);
    [[nodiscard]] bool isOverlaid(const std::string& key) const;
    /// Shows the run's matrices instead of another's from begin() on; an empty key: none.
    void bringToFront(const std::string& key);
    [[nodiscard]] const std::string& front() const { return m_front; }
    /// Returns the overlaid run, not in front, whose begin() came last; empty: none.
    [[nodiscard]] const std::string& compared() const { return m_compared; }
    /// Sets the chosen run, which views mark; an empty key: none.
    void choose(const std::string& key);
    [[nodiscard]] const std::string& chosen() const { return m_chosen; }
    /// Returns the chosen run, or else the one in front; empty if there is none.
    [[nodiscard]] const std::string& chosenOrFront() const { return m_chosen.empty() ? m_front : m_chosen; }
    /// Hides all runs and resets the chosen one.
    void clear();

    /// Returns the shown runs in the order in which they were overlaid; find() returns null for others.
    [[nodiscard]] const std::vector<Run>& runs() const { return m_runs; }
    [[nodiscard]] const Run* find(const std::string& key) const;

    /// Sets the groups of all listed runs by their keys.
    void setLooks(std::map<std::string, Look> looks);
    [[nodiscard]] const std::map<std::string, Look>& looks() const { return m_looks; }
    /// Returns null for a run whose group is not known yet.
    [[nodiscard]] const Look* lookOf(const std::string& key) const;
    /// Returns the group of a run; empty while it is not known.
    [[nodiscard]] std::string groupOf(const std::string& key) const;

    /// Sets the run or group, by its key, that views show differences from. Empty: none.
    void setBaseline(const std::string& key);
    [[nodiscard]] const std::string& baseline() const { return m_baseline; }
    /// True if the run is the baseline or belongs to it.
    [[nodiscard]] bool isOfBaseline(const std::string& key) const;
    /// Returns the name of the baseline, or an empty text if no listed run is part of it.
    [[nodiscard]] QString baselineLabel() const;

    /// Returns the label of a shown run. Until its group is known, that is its name, with its start time if another run
    /// has the same name.
    [[nodiscard]] QString labelOf(const std::string& key) const;
    void rename(const std::string& key, const QString& name);
    /// Has the views leave these runs out of what they draw of many, and no others; they stay overlaid.
    void leaveOut(std::set<std::string> keys);
    [[nodiscard]] bool isLeftOut(const std::string& key) const { return m_leftOut.contains(key); }
    /// Sets the runs that are being trained, here or by another process.
    void setGrowing(std::set<std::string> keys);
    [[nodiscard]] bool isGrowing(const std::string& key) const { return m_growing.contains(key); }
    /// The curves of an overlaid run are drawn in this colour from begin() on, in views that know no groups.
    void paint(const std::string& key, std::size_t colour);

    // The next two do nothing for runs that are not shown.

    /// Announces that all numbers of the run follow by add(). They replace those that the views have.
    void begin(const std::string& key, const Facts& facts);
    /// Adds numbers, those of each name by step. Points at or before the last of their curve replace the points from
    /// there on, and a stage replaces those from its step on, so that a resumed run never goes backwards.
    void add(const std::string& key, const engine::Progress& numbers);

signals:
    void overlaid(const std::string& key);
    void overlayRemoved(const std::string& key);
    void frontChanged();
    void comparedChanged();
    void chosenChanged();
    void begun(const std::string& key);
    void added(const std::string& key, const residua::engine::Progress& numbers);
    void stagesChanged(const std::string& key);
    void labelsChanged(); ///< of any
    void looksChanged();
    void baselineChanged();
    void growingChanged();
    void leftOutChanged();

private:
    [[nodiscard]] Run* known(const std::string& key);
    Run& make(const std::string& key);
    void forget(const std::string& key);
    void compare(const std::string& key);
    [[nodiscard]] std::size_t freeColour() const;
    void recolour(Run& run) const;

    std::vector<Run> m_runs; ///< overlaid, or in front
    std::set<std::string> m_leftOut;
    std::set<std::string> m_growing;
    std::string m_front;
    std::string m_compared;
    std::string m_chosen;
    std::map<std::string, Look> m_looks; ///< by a run's key
    std::string m_baseline;
};

} // namespace residua::visualizers
