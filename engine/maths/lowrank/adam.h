// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Eigen/Core>

namespace residua::engine::lowrank {

/// Adam (Kingma and Ba 2014) for one matrix, with its authors' constants.
class Adam {
public:
    Adam(const Eigen::MatrixXd& of, double rate)
        : m_first(Eigen::MatrixXd::Zero(of.rows(), of.cols())), m_second(m_first), m_rate(rate)
    {
    }
    void step(Eigen::MatrixXd& value, const Eigen::MatrixXd& gradient)
    {
        constexpr double kFirst = 0.9;
        constexpr double kSecond = 0.999;
        constexpr double kEpsilon = 1e-8;
        m_firstPower *= kFirst;
        m_secondPower *= kSecond;
        m_first = kFirst * m_first + (1 - kFirst) * gradient;
        m_second = kSecond * m_second + (1 - kSecond) * gradient.cwiseAbs2();
        const double rate = m_rate / (1 - m_firstPower);
        const double correction = 1 / (1 - m_secondPower);
        value.array() -= rate * m_first.array() / ((correction * m_second.array()).sqrt() + kEpsilon);
    }

private:
    Eigen::MatrixXd m_first;
    Eigen::MatrixXd m_second;
    double m_rate;
    double m_firstPower = 1;
    double m_secondPower = 1;
};

} // namespace residua::engine::lowrank
