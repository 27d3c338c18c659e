// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Eigen/Core>

namespace residua::engine::lowrank {

/// Queries and keys of one head over one sequence, and how far the attention matrix that features give them is from the
/// softmax's.
class HeadSequence {
public:
    /// [length, width] each.
    HeadSequence(const Eigen::MatrixXd& queries, const Eigen::MatrixXd& keys, bool causal);

    /// For the features ω [features, width].
    struct Measured {
        double error = 0; ///< ‖P − P̂‖_F²
        double own = 0;   ///< ‖P̂‖_F²
    };
    [[nodiscard]] Measured measured(const Eigen::MatrixXd& features) const;
    /// The error; adds its gradient by ω.
    double error(const Eigen::MatrixXd& features, Eigen::MatrixXd& gradient) const;
    /// ‖P‖_F².
    [[nodiscard]] double full() const { return m_softmax.squaredNorm(); }

private:
    struct Approximated;
    [[nodiscard]] Approximated approximated(const Eigen::MatrixXd& features) const;

    Eigen::MatrixXd m_queries;     ///< over e^¼
    Eigen::MatrixXd m_keys;        ///< likewise
    Eigen::VectorXd m_halfSquares; ///< of each key
    Eigen::MatrixXd m_softmax;     ///< P [length, length]
    bool m_causal = true;
};

} // namespace residua::engine::lowrank
