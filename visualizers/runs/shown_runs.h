// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/results/spent_flops.h"
#include "engine/results/stages.h"
#include "projects/model/topology.h"
#include "projects/model/training_plan.h"

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

/// What a run has recorded beyond what was known of it.
struct RunNumbers {
    std::vector<engine::StepRecord> steps = {};
    std::vector<engine::ValidationRecord> validations = {};
    std::map<std::string, std::vector<engine::MetricPoint>> metrics = {}; ///< by name (run_reader.h)
    std::vector<engine::Matrix> matrices = {};                            ///< of each name ascending by step
};

/// The runs that the views show: those whose curves are laid over each other, the one in front, whose matrices are
/// drawn, and the one that its matrices are compared with; and the run that is chosen, which need not be shown. Views
/// follow by the signals, and keep of a run nothing but what they have drawn. A run is known by its key, its directory.
/// GUI thread.
class ShownRuns : public QObject {
    Q_OBJECT
public:
    /// What a theorem says of a run's loss.
    struct Bound {
        QString name;
        QString claim; ///< one line for people
        std::vector<engine::MetricPoint> points;
        QString caveat = {}; ///< of the theorem against a run, one sentence; empty: none
    };
    /// What views need to know of a run beside its numbers.
    struct Facts {
        QString name = {};
        engine::SpentFlops flops = {};    ///< of its training
        projects::Topology topology = {}; ///< that its matrices were recorded under
        std::int64_t layers = 0;          ///< of its stack
        QString started = {};             ///< when, for people
        std::vector<Bound> bounds = {};   ///< by step
        std::string study = {};           ///< the same for runs that differ in their seeds alone; empty: not known
        std::optional<projects::LowRankMethod> start = {}; ///< of its factors; nullopt: it has none
    };
    struct Run {
        std::string key;
        bool overlaid = false;  ///< its curves are shown
        std::size_t colour = 0; ///< of them, as curveColour counts
        Facts facts;
        std::vector<engine::StageRecord> stages;
    };

    using QObject::QObject;

    /// Shows the run's curves from begin() on.
    void overlay(const std::string& key);
    void removeOverlay(const std::string& key);
    [[nodiscard]] bool isOverlaid(const std::string& key) const;
    /// Shows the run's matrices, in place of another's, from begin() on; an empty key: no run's.
    void bringToFront(const std::string& key);
    [[nodiscard]] const std::string& front() const { return m_front; }
    /// The overlaid run, not in front, that begin() told of last; empty: none.
    [[nodiscard]] const std::string& compared() const { return m_compared; }
    /// Chooses the run that is marked where runs are told apart; an empty key: none.
    void choose(const std::string& key);
    [[nodiscard]] const std::string& chosen() const { return m_chosen; }
    /// The run that is meant where one is asked for: the chosen one, or else the one in front; empty: none.
    [[nodiscard]] const std::string& chosenOrFront() const { return m_chosen.empty() ? m_front : m_chosen; }
    /// Shows no run, and chooses none.
    void clear();

    /// The shown runs, in the order in which they were overlaid; find() gives nullptr for a run that is not shown.
    [[nodiscard]] const std::vector<Run>& runs() const { return m_runs; }
    [[nodiscard]] const Run* find(const std::string& key) const;

    /// What a shown run is called where others are too: its name, and when it started where another has the same.
    [[nodiscard]] QString labelOf(const std::string& key) const;
    void rename(const std::string& key, const QString& name);
    /// Has the views leave these runs out of what they draw of many, and no others; they stay overlaid.
    void leaveOut(std::set<std::string> keys);
    [[nodiscard]] bool isLeftOut(const std::string& key) const { return m_leftOut.contains(key); }
    /// The curves of an overlaid run are drawn in this colour from begin() on, as curveColour counts.
    void paint(const std::string& key, std::size_t colour);

    // The next four do nothing for runs that are not shown.

    /// All numbers of the run follow by add(), and take the place of what the views have of it.
    void begin(const std::string& key, const Facts& facts);
    /// Points at or before the last of their curve take the place of what was there: a resumed run never draws
    /// backwards.
    void add(const std::string& key, const RunNumbers& numbers);
    /// Sets all the stages that have begun.
    void setStages(const std::string& key, std::vector<engine::StageRecord> stages);
    /// Adds the stages that have begun since.
    void addStages(const std::string& key, const std::vector<engine::StageRecord>& stages);

signals:
    void overlaid(const std::string& key);
    void overlayRemoved(const std::string& key);
    void frontChanged();
    void comparedChanged();
    void chosenChanged();
    void begun(const std::string& key);
    void added(const std::string& key, const residua::visualizers::RunNumbers& numbers);
    void stagesChanged(const std::string& key);
    void labelsChanged(); ///< of any
    void leftOutChanged();

private:
    [[nodiscard]] Run* known(const std::string& key);
    Run& make(const std::string& key);
    void forget(const std::string& key);
    void compare(const std::string& key);
    [[nodiscard]] std::size_t freeColour() const;

    std::vector<Run> m_runs; ///< overlaid, or in front
    std::set<std::string> m_leftOut;
    std::string m_front;
    std::string m_compared;
    std::string m_chosen;
};

} // namespace residua::visualizers
