// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/expression.h"

#include "projects/base/mapped.h"
#include "projects/base/real.h"
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <ranges>
#include <set>
#include <span>

namespace residua::projects {
namespace {

/// Formulas come from files, so their nesting is limited here, before the stack overflows.
constexpr int kMaxNesting = 100;
constexpr std::size_t kMaxLength = 2000;

using Args = std::span<const double>;

struct Function {
    std::string_view name;
    bool anyArity;
    double (*apply)(Args);
};

double sigmoid(double x)
{
    return 1.0 / (1.0 + std::exp(-x));
}

constexpr std::array kFunctions{
    Function{"sqrt", false, [](Args a) { return std::sqrt(a[0]); }},
    Function{"exp", false, [](Args a) { return std::exp(a[0]); }},
    Function{"log", false, [](Args a) { return std::log(a[0]); }},
    Function{"tanh", false, [](Args a) { return std::tanh(a[0]); }},
    Function{"sigmoid", false, [](Args a) { return sigmoid(a[0]); }},
    Function{"relu", false, [](Args a) { return std::max(a[0], 0.0); }},
    Function{"silu", false, [](Args a) { return a[0] * sigmoid(a[0]); }},
    Function{"gelu", false, [](Args a) { return 0.5 * a[0] * (1.0 + std::erf(a[0] / std::sqrt(2.0))); }},
    Function{"abs", false, [](Args a) { return std::abs(a[0]); }},
    Function{"floor", false, [](Args a) { return std::floor(a[0]); }},
    Function{"ceil", false, [](Args a) { return std::ceil(a[0]); }},
    Function{"round", false, [](Args a) { return std::round(a[0]); }},
    Function{"mean", false, [](Args a) { return a[0]; }},
    Function{"min", true, [](Args a) { return *std::min_element(a.begin(), a.end()); }},
    Function{"max", true, [](Args a) { return *std::max_element(a.begin(), a.end()); }},
};

const Function* findFunction(std::string_view name)
{
    const auto it =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
    return it == kFunctions.end() ? nullptr : &*it;
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isNameStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// A recursive descent parser. It stops at the first error.
class Parser {
public:
    explicit Parser(std::string_view text) : m_text(text) {}

    Result<Expression> parse()
    {
        if (m_text.size() > kMaxLength) {
            return Error{"", "formula of " + std::to_string(m_text.size()) + " characters, at most " +
                                 std::to_string(kMaxLength) + " are read"};
        }
        Expression result = sum();
        if (!m_error && m_at < m_text.size()) {
            fail("expected an operator or the end, got '" + std::string(1, m_text[m_at]) + "'");
        }
        if (m_error) {
            return *m_error;
        }
        return result;
    }

private:
    Expression sum()
    {
        Expression left = product();
        while (!m_error) {
            if (take('+')) {
                left = binary(Op::Add, std::move(left), product());
            } else if (take('-')) {
                left = binary(Op::Subtract, std::move(left), product());
            } else {
                break;
            }
        }
        return left;
    }

    Expression product()
    {
        Expression left = unary();
        while (!m_error) {
            if (take('*')) {
                left = binary(Op::Multiply, std::move(left), unary());
            } else if (take('/')) {
                left = binary(Op::Divide, std::move(left), unary());
            } else {
                break;
            }
        }
        return left;
    }

    Expression unary()
    {
        if (!take('-')) {
            return power();
        }
        Expression result;
        if (enter()) {
            result.op = Op::Negate;
            result.args.push_back(unary());
            --m_nesting;
        }
        return result;
    }

    Expression power()
    {
        Expression base = primary();
        if (m_error || !take('^') || !enter()) {
            return base;
        }
        Expression result = binary(Op::Power, std::move(base), unary());
        --m_nesting;
        return result;
    }

    Expression primary()
    {
        if (take('(')) {
            return parenthesised();
        }
        if (m_at < m_text.size() && (isDigit(m_text[m_at]) || m_text[m_at] == '.')) {
            return number();
        }
        if (m_at < m_text.size() && isNameStart(m_text[m_at])) {
            return nameOrCall();
        }
        const std::string got = m_at < m_text.size() ? "'" + std::string(1, m_text[m_at]) + "'" : "the end";
        fail("expected a number, a name or '(', got " + got);
        return {};
    }

    Expression parenthesised()
    {
        Expression inner;
        if (enter()) {
            inner = sum();
            --m_nesting;
            expect(')');
        }
        return inner;
    }

    Expression number()
    {
        Expression result;
        const char* const begin = m_text.data() + m_at;
        const auto [end, code] = std::from_chars(begin, m_text.data() + m_text.size(), result.number);
        if (code != std::errc{}) {
            fail("not a number that can be held");
            return result;
        }
        m_at += static_cast<std::size_t>(end - begin);
        skipBlanks();
        return result;
    }

    Expression nameOrCall()
    {
        const std::size_t start = m_at;
        while (m_at < m_text.size() && (isNameStart(m_text[m_at]) || isDigit(m_text[m_at]))) {
            ++m_at;
        }
        Expression result;
        result.op = Op::Name;
        result.name = m_text.substr(start, m_at - start);
        skipBlanks();
        if (take('(')) {
            call(result, start);
        }
        return result;
    }

    void call(Expression& result, std::size_t start)
    {
        const Function* const function = findFunction(result.name);
        if (!function) {
            m_at = start;
            fail("unknown function " + result.name);
            return;
        }
        if (!enter()) {
            return;
        }
        result.op = Op::Call;
        do {
            result.args.push_back(sum());
        } while (!m_error && take(','));
        --m_nesting;
        expect(')');
        if (!m_error && !function->anyArity && result.args.size() != 1) {
            m_at = start;
            fail(result.name + " takes 1 argument, got " + std::to_string(result.args.size()));
        }
    }

    static Expression binary(Op op, Expression left, Expression right)
    {
        Expression result;
        result.op = op;
        result.args.push_back(std::move(left));
        result.args.push_back(std::move(right));
        return result;
    }

    bool enter()
    {
        if (++m_nesting > kMaxNesting) {
            fail("nested deeper than " + std::to_string(kMaxNesting));
            return false;
        }
        return true;
    }

    void skipBlanks()
    {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t')) {
            ++m_at;
        }
    }

    bool take(char c)
    {
        skipBlanks();
        if (m_error || m_at >= m_text.size() || m_text[m_at] != c) {
            return false;
        }
        ++m_at;
        skipBlanks();
        return true;
    }

    void expect(char c)
    {
        if (!m_error && !take(c)) {
            fail("expected '" + std::string(1, c) + "'");
        }
    }

    void fail(std::string message)
    {
        if (!m_error) {
            m_error = Error{"column " + std::to_string(m_at + 1), std::move(message)};
        }
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_nesting = 0;
    std::optional<Error> m_error;
};

void collectNames(const Expression& expression, std::set<std::string>& names)
{
    if (expression.op == Op::Name) {
        names.insert(expression.name);
    }
    for (const Expression& arg : expression.args) {
        collectNames(arg, names);
    }
}

Error unknownName(const std::string& name, const std::map<std::string, double>& values)
{
    return Error{"", "unknown name " + name +
                         "; known here: " + (values.empty() ? "none" : joinedText(values | std::views::keys))};
}

double applyOperator(Op op, Args args)
{
    switch (op) {
    case Op::Negate:
        return -args[0];
    case Op::Add:
        return args[0] + args[1];
    case Op::Subtract:
        return args[0] - args[1];
    case Op::Multiply:
        return args[0] * args[1];
    case Op::Divide:
        return args[0] / args[1];
    default:
        return std::pow(args[0], args[1]);
    }
}

} // namespace

std::vector<std::string> formulaFunctions()
{
    return mapped<std::string>(kFunctions, &Function::name);
}

Result<Expression> parseExpression(std::string_view text)
{
    return Parser(text).parse();
}

std::vector<std::string> namesIn(const Expression& expression)
{
    std::set<std::string> names;
    collectNames(expression, names);
    return {names.begin(), names.end()};
}

Result<double> evaluate(const Expression& expression, const std::map<std::string, double>& values)
{
    if (expression.op == Op::Number) {
        return expression.number;
    }
    if (expression.op == Op::Name) {
        const auto it = values.find(expression.name);
        return it == values.end() ? Result<double>(unknownName(expression.name, values)) : it->second;
    }
    std::vector<double> args;
    for (const Expression& arg : expression.args) {
        const double value = RESIDUA_TRY(evaluate(arg, values));
        args.push_back(value);
    }
    if (expression.op != Op::Call) {
        return applyOperator(expression.op, args);
    }
    const Function* const function = findFunction(expression.name);
    return function ? Result<double>(function->apply(args)) : Error{"", "unknown function " + expression.name};
}

Result<std::int64_t> evaluateSize(std::string_view text, const std::map<std::string, std::int64_t>& names)
{
    const Expression expression = RESIDUA_TRY(parseExpression(text));
    const double value = RESIDUA_TRY(evaluate(expression, {names.begin(), names.end()}));
    if (!(value >= 1 && value <= real(kMostExactWhole)) || value != std::floor(value)) {
        return Error{"", std::string(text) + " = " + numberText(value, 6) + ", expected a whole number of at least 1"};
    }
    return static_cast<std::int64_t>(value);
}

} // namespace residua::projects
