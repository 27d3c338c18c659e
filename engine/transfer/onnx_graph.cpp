// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/transfer/onnx_graph.h"

#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = "export_onnx.py";
constexpr const char* kLog = ".export_onnx.log";
constexpr int kNoPackages = 3; ///< what the script ends with where Python lacks one

constexpr const char* kCode =
    R"("""Writes model.onnx, which computes what model.py does, and compares it with what Residua recorded.

    python export_onnx.py        needs torch, onnx and onnxscript; compares by onnxruntime where that is there
"""

import sys
import warnings
from pathlib import Path

try:
    import numpy
    import onnx
    import onnxscript  # noqa: F401
    import torch
except ImportError as missing:
    print(f"Python at {sys.executable}: {missing}", file=sys.stderr)
    sys.exit(3)

from model import load, read_safetensors

TOLERANCE = 1e-4


def outputs_of(path, value):
    """What the graph computes of `value`."""
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(str(path)).run(None, {"input": value})[0]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"input": value})[0]


def difference(path, value, expected):
    """How far the graph's output is from what is expected, relative to its size."""
    expected = expected.numpy()
    return numpy.abs(outputs_of(path, value.numpy()) - expected).max() / (1 + numpy.abs(expected).max())


def main():
    folder = Path(__file__).resolve().parent
    path = folder / "model.onnx"
    recorded = read_safetensors(folder / "recorded.safetensors")
    network = load(folder).eval()
    value = recorded["input"]
    sizes = {0: torch.export.Dim.AUTO}  # any number of examples, and of tokens
    if value.dtype == torch.int64:
        sizes[1] = torch.export.Dim.AUTO
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            (value,),
            str(path),
            input_names=["input"],
            output_names=["output"],
            dynamo=True,
            dynamic_shapes=(sizes,),
            verbose=False,
        )
    onnx.checker.check_model(str(path))
    worst = difference(path, value, recorded["output"])
    # Other sizes, so that those of the sample are not built into the graph.
    smaller = value[:1, :-1] if value.dtype == torch.int64 and value.shape[1] > 1 else value[:1]
    for other in (smaller, torch.cat([value, value[:1]])):
        with torch.no_grad():
            worst = max(worst, difference(path, other, network(other)), key=lambda found: (found != found, found))
    print(f"output: differs by {worst:.2g} of its size, at most {TOLERANCE:g} expected")
    if not worst <= TOLERANCE:  # a number that is none is no agreement
        sys.exit("the graph does not compute what the network computes")


if __name__ == "__main__":
    main()
)";

std::string environment(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// As packaging/python.sh installs it, unless another is named.
std::string pythonCommand()
{
    if (std::string named = environment("RESIDUA_PYTHON"); !named.empty()) {
        return named;
    }
    const std::string caches = environment("XDG_CACHE_HOME");
    const fs::path folder = caches.empty() ? fs::path(environment("HOME")) / ".cache" : fs::path(caches);
    const fs::path installed = folder / "residua" / "python" / "bin" / "python3";
    return ::access(installed.c_str(), X_OK) == 0 ? installed.string() : "python3";
}

constexpr const char* kReadme = R"(
## ONNX

`model.onnx` computes what the network computes when it evaluates: `input` to `output`, with any number of examples,
and of tokens. `python export_onnx.py` made it of the code here, and compared it with the recorded output.
)";

constexpr const char* kAdvice =
    "; packaging/python.sh installs what it needs, RESIDUA_PYTHON names a Python that has it, "
    "and the export as PyTorch code needs none";

/// What a person should read of what the process has said.
std::string lastLine(const fs::path& log)
{
    const auto text = readFile(log);
    std::string line;
    for (std::size_t begin = 0; text && begin < text->size();) {
        const std::size_t end = std::min(text->find('\n', begin), text->size());
        line = end > begin ? text->substr(begin, end - begin) : line;
        begin = end + 1;
    }
    constexpr std::size_t kLong = 400;
    return line.substr(0, kLong);
}

} // namespace

Result<OnnxGraph> OnnxGraph::begin(const fs::path& folder)
{
    if (const Status written = writeFileAtomically(folder / kScript, kCode); !written) {
        return written.error();
    }
    const std::string python = pythonCommand();
    const std::string script = (folder / kScript).string();
    const std::string log = (folder / kLog).string();
    // -B: no __pycache__ is left beside the code.
    std::array<char*, 4> words{const_cast<char*>(python.c_str()), const_cast<char*>("-B"),
                               const_cast<char*>(script.c_str()), nullptr};
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    sigset_t none{};
    ::sigemptyset(&none); // this process may wait for signals that the other shall die of
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    pid_t process = -1;
    const int failed = ::posix_spawnp(&process, python.c_str(), &files, &attributes, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) {
        return Error{"python", python + " cannot be started: " + std::generic_category().message(failed) + kAdvice};
    }
    return OnnxGraph(folder, process);
}

OnnxGraph::OnnxGraph(OnnxGraph&& other) noexcept
    : m_folder(std::move(other.m_folder)), m_process(std::exchange(other.m_process, -1))
{
}

OnnxGraph::~OnnxGraph()
{
    if (m_process > 0) {
        ::kill(-m_process, SIGKILL);
        ::waitpid(m_process, nullptr, 0);
    }
}

std::optional<Status> OnnxGraph::ended()
{
    int result = 0;
    if (m_process <= 0 || ::waitpid(m_process, &result, WNOHANG) != m_process) {
        return std::nullopt;
    }
    m_process = -1;
    const std::string said = lastLine(m_folder / kLog);
    std::error_code ignored;
    fs::remove(m_folder / kLog, ignored);
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0) {
        const auto readme = readFile(m_folder / "README.md");
        return writeFileAtomically(m_folder / "README.md", (readme ? *readme : std::string()) + kReadme);
    }
    if (WIFEXITED(result) && WEXITSTATUS(result) == kNoPackages) {
        return Status(Error{"python", said + kAdvice});
    }
    return Status(
        Error{"python", "PyTorch made no ONNX graph of the network: " + (said.empty() ? "it was ended" : said)});
}

} // namespace residua::engine
