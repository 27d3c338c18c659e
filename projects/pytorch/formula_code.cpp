// SPDX-License-Identifier: GPL-3.0-or-later
// Converts formulas of expression nodes to Python. The precedence is the same: -x ** 2 is -(x ** 2), and ** is
// right-associative.
#include "projects/pytorch/graph_code.h"

#include <algorithm>
#include <utility>

namespace residua::projects {
namespace {

enum Binding { kSum = 1, kProduct, kMinus, kPower, kAtom };

struct Written {
    std::string text;
    int binding = kAtom;
};

class FormulaWriter {
public:
    FormulaWriter(const std::map<std::string, std::string>& variables, HelperCode& helpers)
        : m_variables(variables), m_helpers(helpers)
    {
    }

    Result<Written> write(const Expression& e) const
    {
        switch (e.op) {
        case Op::Number:
            return number(e.number);
        case Op::Name:
            return Written{m_variables.at(e.name), kAtom};
        case Op::Negate: {
            Result<Written> of = write(e.args[0]);
            return of ? Result<Written>({"-" + within(*of, kMinus), kMinus}) : of;
        }
        case Op::Add:
            return binary(e, " + ", kSum, kSum, kSum);
        case Op::Subtract:
            return binary(e, " - ", kSum, kSum, kProduct);
        case Op::Multiply:
            return binary(e, " * ", kProduct, kProduct, kMinus);
        case Op::Divide:
            return binary(e, " / ", kProduct, kProduct, kMinus);
        case Op::Power:
            return binary(e, " ** ", kPower, kAtom, kMinus);
        case Op::Call:
            return call(e);
        }
        return Error{"", "unknown operation in a formula"};
    }

private:
    static Written number(double value) { return {pythonReal(value), value < 0 ? kMinus : kAtom}; }

    static std::string within(const Written& part, int least)
    {
        return part.binding < least ? "(" + part.text + ")" : part.text;
    }

    Result<Written> binary(const Expression& e, const char* sign, int binding, int left, int right) const
    {
        const Result<Written> a = write(e.args[0]);
        const Result<Written> b = write(e.args[1]);
        if (!a || !b) {
            return a ? b.error() : a.error();
        }
        return Written{within(*a, left) + sign + within(*b, right), binding};
    }

    /// Returns the value of an expression without names; nullopt for any other.
    static std::optional<double> constantOf(const Expression& e)
    {
        const Result<double> value = evaluate(e, {});
        return value ? std::optional(*value) : std::nullopt;
    }

    Result<Written> call(const Expression& e) const
    {
        if (const std::optional<double> value = constantOf(e)) {
            return number(*value);
        }
        if (e.name == "max" || e.name == "min") {
            return extreme(e);
        }
        const Written of = RESIDUA_TRY(write(e.args[0]));
        if (e.name == "mean") {
            return Written{within(of, kAtom) + ".mean(-1, keepdim=True)", kAtom};
        }
        static const std::pair<const char*, const char*> kFunctions[] = {
            {"sqrt", "torch.sqrt"},   {"exp", "torch.exp"},         {"log", "torch.log"},
            {"tanh", "torch.tanh"},   {"sigmoid", "torch.sigmoid"}, {"abs", "torch.abs"},
            {"relu", "F.relu"},       {"silu", "F.silu"},           {"gelu", "F.gelu"},
            {"floor", "torch.floor"}, {"ceil", "torch.ceil"},       {"round", "round_half_away"},
        };
        for (const auto& [name, function] : kFunctions) {
            if (e.name == name) {
                if (e.name == "round") {
                    m_helpers.use(Helper::RoundHalfAway);
                }
                return Written{function + ("(" + of.text + ")"), kAtom};
            }
        }
        return Error{"", "the function " + e.name + " has no counterpart in PyTorch code"};
    }

    /// Nests binary calls, because torch.maximum and torch.minimum take two tensors.
    Result<Written> extreme(const Expression& e) const
    {
        const std::string function = e.name == "max" ? "torch.maximum(" : "torch.minimum(";
        const std::string tensor = m_variables.at(namesIn(e).front());
        std::string text;
        for (const Expression& arg : e.args) {
            const Written part = RESIDUA_TRY(write(arg));
            const std::string operand = constantOf(arg) ? tensor + ".new_tensor(" + part.text + ")" : part.text;
            text = text.empty() ? operand : function + text + ", " + operand + ")";
        }
        return Written{std::move(text), kAtom};
    }

    const std::map<std::string, std::string>& m_variables;
    HelperCode& m_helpers;
};

} // namespace

Result<std::string> pythonFormula(const Expression& formula, const std::map<std::string, std::string>& variables,
                                  HelperCode& helpers)
{
    Result<Written> written = FormulaWriter(variables, helpers).write(formula);
    return written ? Result<std::string>(std::move(written->text)) : written.error();
}

} // namespace residua::projects
