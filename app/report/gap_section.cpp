// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report.h"

#include "app/report/html_text.h"
#include "engine/base/api/gap.h"
#include "projects/schema/method_keys.h"
#include "resources/axis.h"

#include <algorithm>
#include <sstream>

namespace residua::report {
namespace {

using resources::shortNumber;

constexpr std::size_t kMostWeights = 500;
constexpr double kWidest = 120; ///< pixels of the longest bar

void writeRow(std::ostringstream& out, const engine::GapWeight& weight, const engine::GapFit& fit, double largest)
{
    const engine::GapWeight::Columns of = weight.columns();
    const auto cell = [&out](const std::string& text) { out << "<td class='n'>" << escapeHtml(text) << "</td>"; };
    const double width = largest > 0 ? std::clamp(fit.relativeError() / largest, 0.0, 1.0) * kWidest : 0;
    out << "<tr><td>" << escapeHtml(weight.name) << "</td>";
    cell(std::to_string(of.out) + " × " + std::to_string(of.in));
    cell(std::to_string(of.rank));
    out << "<td>" << escapeHtml(of.follows) << "</td><td><i class='bar' style='width:" << static_cast<int>(width)
        << "px'></i></td>";
    cell(shortNumber(fit.relativeError()));
    cell(shortNumber(fit.weightError));
    cell(shortNumber(fit.meanCorrelation));
    cell(fit.relativeBound() ? shortNumber(*fit.relativeBound()) : "–");
    cell(shortNumber(fit.seconds));
    out << "<td>" << (fit.converged ? "" : escapeHtml(fit.note)) << "</td></tr>";
}

} // namespace

std::string gapSection(const engine::Gap& gap)
{
    if (gap.weights.empty()) {
        return {};
    }
    const engine::GapTotal total = totalOf(gap, 0);
    const bool real = gap.inputs == projects::LowRankInputs::Data;
    double largest = 0;
    for (const engine::GapFit& fit : gap.fits) {
        largest = std::max(largest, fit.relativeError());
    }
    std::ostringstream out;
    out << "<h2>Gap of the factored weights</h2><p>What " << escapeHtml(projects::titleOf(gap.methods.front()))
        << " left of " << gap.weights.size() << " weights in " << shortNumber(total.seconds)
        << " s: function error E‖σ(u·v·x) − σ(W·x)‖² relative to E‖σ(W·x)‖², over all of them "
        << shortNumber(total.relativeError) << ". x is "
        << (real ? "normal with the second moments of what each weight read of the data" : "standard normal")
        << ". Bound: the least share that the spectral start leaves above the best (theorem 3.5), under a ReLU.</p>"
        << "<div class='panel'><table><tr><th>weight</th><th>size</th><th>rank</th><th>σ</th><th></th>"
           "<th>function error</th><th>weight error</th><th>correlation</th><th>bound</th><th>s</th><th></th></tr>";
    const std::size_t shown = std::min(gap.weights.size(), kMostWeights);
    for (std::size_t i = 0; i < shown; ++i) {
        writeRow(out, gap.weights[i], gap.fit(i, 0), largest);
    }
    if (shown < gap.weights.size()) {
        out << "<tr><td>" << gap.weights.size() - shown << " more, in the run's gap.json</td></tr>";
    }
    out << "</table></div>";
    return out.str();
}

} // namespace residua::report
