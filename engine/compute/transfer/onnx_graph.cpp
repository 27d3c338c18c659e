// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/transfer/onnx_graph.h"

#include "engine/base/machine/machine.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = "export_onnx.py";
constexpr const char* kLog = ".export_onnx.log";
constexpr int kNoPackages = 3; ///< the script's exit status if Python lacks a package

constexpr const char* kCode =
    R"("""Writes model.onnx, which computes what model.py does, and compares it with what Residua recorded.

    python export_onnx.py        needs torch, onnx and onnxscript; compares by onnxruntime where that is there
"""

import json
import math
import sys
import warnings
from pathlib import Path

if len(sys.argv) > 1:  # as Residua starts it: ends with the process of this number, even if that is killed
    import ctypes
    import os
    import signal

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)

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


def outputs_of(path, values):
    """What the graph computes of the values by name."""
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(str(path)).run(None, values)[0]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, values)[0]


def difference(path, values, expected):
    """How far the graph's output is from what is expected, relative to its size."""
    expected = expected.numpy()
    return numpy.abs(outputs_of(path, {name: value.numpy() for name, value in values.items()}) - expected).max() / (1 + numpy.abs(expected).max())


def add_classes(path, folder):
    """Writes the names of the classes into the graph's metadata, as config.json has them."""
    names = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("id2label")
    if names:
        model = onnx.load(str(path), load_external_data=False)
        model.metadata_props.add(key="id2label", value=json.dumps(names, ensure_ascii=False))
        onnx.save(model, str(path))


def main():
    folder = Path(__file__).resolve().parent
    path = folder / "model.onnx"
    recorded = read_safetensors(folder / "recorded.safetensors")
    network = load(folder).eval()
    values = {name: recorded[name] for name in ("input", *getattr(network, "conditions", ()))}
    value = values["input"]
    time = value.shape[1] if value.dtype == torch.int64 else 0

    def per_token(each):
        return time > 0 and each.dim() > 1 and each.shape[1] == time

    # any number of examples, and of tokens
    names = ("batch", "time")
    sizes = tuple(dict(enumerate(names[: 2 if per_token(each) else 1])) for each in values.values())
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            tuple(values.values()),
            str(path),
            input_names=list(values),
            output_names=["output"],
            dynamo=True,
            dynamic_shapes=sizes,
            verbose=False,
        )
    add_classes(path, folder)
    onnx.checker.check_model(str(path))
    worst = difference(path, values, recorded["output"])
    # Other sizes, so that those of the sample are not built into the graph.
    smaller = {name: each[:1, :-1] if per_token(each) and time > 1 else each[:1] for name, each in values.items()}
    larger = {name: torch.cat([each, each[:1]]) for name, each in values.items()}
    for other in (smaller, larger):
        with torch.no_grad():
            found = difference(path, other, network(*other.values()))
        worst = max(worst, found, key=lambda each: (math.isnan(each), each))
    print(f"output: differs by {worst:.2g} of its size, at most {TOLERANCE:g} expected")
    if not worst <= TOLERANCE:  # a number that is none is no agreement
        sys.exit("the graph does not compute what the network computes")


if __name__ == "__main__":
    main()
)";

constexpr const char* kReadme = R"(
## ONNX

`model.onnx` computes what the network computes when it evaluates: its inputs, named as above but for the first, which is
`input`, to `output`. The number of examples (`batch`) and of tokens (`time`) is free within the limits above. `python export_onnx.py` made it of the code here, and compared it with the recorded output.
)";

constexpr const char* kAdvice =
    "; packaging/python.sh installs what it needs, RESIDUA_PYTHON names a Python that has it, "
    "and the export as PyTorch code needs none";

/// Returns the last line of the process's output, for the user.
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
    const FileDescriptor log(::open((folder / kLog).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!log.isOpen()) {
        return systemError(folder / kLog, "cannot be made", errno);
    }
    // -B: leaves no __pycache__ beside the code.
    auto process = ChildProcess::start(
        {.words = {python, "-B", (folder / kScript).string(), std::to_string(::getpid())}, .errors = log.get()});
    if (!process) {
        return Error{"python", python + " " + process.error().message + kAdvice};
    }
    return OnnxGraph(folder, *std::move(process));
}

std::optional<Status> OnnxGraph::ended()
{
    const std::optional<int> result = m_process.ended();
    if (!result) {
        return std::nullopt;
    }
    const std::string said = lastLine(m_folder / kLog);
    std::error_code ignored;
    fs::remove(m_folder / kLog, ignored);
    if (*result == 0) {
        const auto readme = readFile(m_folder / "README.md");
        return writeFileAtomically(m_folder / "README.md", (readme ? *readme : std::string()) + kReadme);
    }
    if (*result == kNoPackages) {
        return Status(Error{"python", said + kAdvice});
    }
    return Status(
        Error{"python", "PyTorch made no ONNX graph of the network: " + (said.empty() ? "it was ended" : said)});
}

} // namespace residua::engine
