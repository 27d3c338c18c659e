// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace residua::tests {

/// A network of the test's own making: one parameter "w", and functions for forward and loss.
class NetworkDouble final : public engine::CompiledNetwork {
public:
    using Forward = std::function<at::Tensor(const at::Tensor& w, const at::Tensor& input)>;
    using Loss = std::function<at::Tensor(const at::Tensor& w, const engine::DeviceBatch& batch)>;

    NetworkDouble(at::Tensor w, Forward forward, Loss loss)
        : m_parameters{{"w", std::move(w).requires_grad_(true), engine::Decay::Yes, {}, {}}},
          m_forward(std::move(forward)),
          m_loss(std::move(loss))
    {
    }

    Status initialise(const engine::PreparationWatch&, const std::function<bool(const std::string&)>&) override
    {
        return Done{};
    }
    using CompiledNetwork::forward;
    at::Tensor stackOutput(const engine::DeviceBatch& batch, const engine::Pass& pass) override
    {
        return forward(batch, pass);
    }
    std::vector<engine::BatchMean> lossOf(const at::Tensor& stackOutput, const engine::DeviceBatch& batch,
                                          const engine::Pass& pass) override
    {
        return {{"loss", loss({stackOutput, batch.target}, pass)}};
    }
    at::Tensor outputOf(const at::Tensor& stackOutput, const engine::DeviceBatch&, const engine::Pass&) override
    {
        return stackOutput;
    }
    at::Tensor forward(const engine::DeviceBatch& batch, const engine::Pass& pass) override
    {
        m_training = pass.training();
        return m_forward(m_parameters[0].tensor, batch.input);
    }
    std::map<std::string, at::Tensor> values(const engine::DeviceBatch& batch, const engine::Pass& pass) override
    {
        return {{"network.output", forward(batch, pass)}};
    }
    [[nodiscard]] const projects::Network& judge() const override { return m_network; }
    using CompiledNetwork::layersOf;
    std::vector<engine::LayerUse> layersOf(const engine::Pass&, std::size_t) override { return {}; }
    [[nodiscard]] std::size_t lossGroups() const override { return 1; }
    engine::GroupLoss lossOfGroup(std::size_t, const engine::DeviceBatch& batch, const engine::Pass& pass,
                                  engine::SharedValues*) override
    {
        m_training = pass.training();
        const at::Tensor loss = m_loss(m_parameters[0].tensor, batch);
        return {.trained = loss, .judged = loss};
    }
    [[nodiscard]] bool isRecordable() const override { return true; }
    engine::BatchQuantities quantities(const engine::DeviceBatch& batch, const engine::Pass& pass) override
    {
        engine::BatchQuantities quantities{{{"loss", loss(batch, pass)}}};
        for (const auto& [name, mean] : further) {
            quantities.means.push_back({name, mean(m_parameters[0].tensor, batch)});
        }
        if (confusion) {
            quantities.confusion = confusion(batch);
        }
        return quantities;
    }
    engine::InitPlan& initPlan() override { return m_plan; }
    [[nodiscard]] bool drops() const override { return false; }
    std::vector<engine::NamedParameter>& parameters() override { return m_parameters; }
    std::vector<engine::Matrix> coefficients(std::int64_t) override { return {}; }

    /// Quantities beside the loss.
    std::vector<std::pair<std::string, Loss>> further;

    /// BatchQuantities::confusion; empty: it has none.
    std::function<at::Tensor(const engine::DeviceBatch& batch)> confusion;

    /// Whether the last pass was one of training.
    [[nodiscard]] bool training() const { return m_training; }

private:
    projects::Network m_network;
    engine::InitPlan m_plan{{}, {}, 0}; ///< of nothing
    std::vector<engine::NamedParameter> m_parameters;
    Forward m_forward;
    Loss m_loss;
    bool m_training = true;
};

} // namespace residua::tests
