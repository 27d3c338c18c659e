// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/attention_error.h"

#include <cmath>
#include <limits>

namespace residua::engine::lowrank {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

/// φ of queries and keys, up to factors that cancel in the rows of P̂: a factor per query, and e^shift of each feature,
/// which moves between φ(q) and φ(k).
struct HeadSequence::Approximated {
    MatrixXd byQuery; ///< [length, features]
    MatrixXd byKey;   ///< [length, features]
    VectorXd sums;    ///< of the rows before the division
    MatrixXd matrix;  ///< P̂
};

namespace {

void hideLater(MatrixXd& scores, double value)
{
    for (Index s = 0; s < scores.rows(); ++s) {
        scores.row(s).tail(scores.cols() - s - 1).setConstant(value);
    }
}

} // namespace

HeadSequence::HeadSequence(const MatrixXd& queries, const MatrixXd& keys, bool causal)
    : m_queries(queries / std::pow(double(queries.cols()), 0.25)),
      m_keys(keys / std::pow(double(keys.cols()), 0.25)),
      m_halfSquares(m_keys.rowwise().squaredNorm() / 2),
      m_causal(causal)
{
    MatrixXd scores = m_queries * m_keys.transpose();
    if (causal) {
        hideLater(scores, -std::numeric_limits<double>::infinity());
    }
    const VectorXd largest = scores.rowwise().maxCoeff();
    m_softmax = (scores.colwise() - largest).array().exp();
    const VectorXd sums = m_softmax.rowwise().sum();
    m_softmax = sums.cwiseInverse().asDiagonal() * m_softmax;
}

HeadSequence::Approximated HeadSequence::approximated(const MatrixXd& features) const
{
    Approximated made;
    MatrixXd ofKeys = m_keys * features.transpose();
    ofKeys.colwise() -= m_halfSquares;
    const RowVectorXd shift = ofKeys.colwise().maxCoeff();
    made.byKey = (ofKeys.rowwise() - shift).array().exp();
    MatrixXd ofQueries = m_queries * features.transpose();
    ofQueries.rowwise() += shift;
    const VectorXd largest = ofQueries.rowwise().maxCoeff();
    made.byQuery = (ofQueries.colwise() - largest).array().exp();
    made.matrix.noalias() = made.byQuery * made.byKey.transpose();
    if (m_causal) {
        hideLater(made.matrix, 0);
    }
    made.sums = made.matrix.rowwise().sum().cwiseMax(std::numeric_limits<double>::min());
    made.matrix = made.sums.cwiseInverse().asDiagonal() * made.matrix;
    return made;
}

HeadSequence::Measured HeadSequence::measured(const MatrixXd& features) const
{
    const MatrixXd matrix = approximated(features).matrix;
    return {(matrix - m_softmax).squaredNorm(), matrix.squaredNorm()};
}

double HeadSequence::error(const MatrixXd& features, MatrixXd& gradient) const
{
    const Approximated made = approximated(features);
    const MatrixXd apart = made.matrix - m_softmax;
    // The gradient by an entry of P̂ before its row is divided: 2·(apart_st − Σ_u apart_su·P̂_su)/sum_s.
    const VectorXd means = apart.cwiseProduct(made.matrix).rowwise().sum();
    MatrixXd byEntry = made.sums.cwiseInverse().asDiagonal() * (2 * (apart.colwise() - means));
    if (m_causal) {
        hideLater(byEntry, 0);
    }
    const MatrixXd byQuery = (byEntry * made.byKey).cwiseProduct(made.byQuery);
    const MatrixXd byKey = (byEntry.transpose() * made.byQuery).cwiseProduct(made.byKey);
    gradient.noalias() += byQuery.transpose() * m_queries;
    gradient.noalias() += byKey.transpose() * m_keys;
    return apart.squaredNorm();
}

} // namespace residua::engine::lowrank
