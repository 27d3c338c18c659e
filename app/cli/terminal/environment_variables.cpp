// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/terminal_text.h"

#include "engine/base/api/environment.h"

namespace residua::cli {

namespace {

EnvironmentVariable cacheVariable(const engine::CacheLimit& limit, const std::string& content, const std::string& none)
{
    return {limit.variable, "MiB that the user's cache of " + content + " may hold (default " +
                                std::to_string(limit.mebibytes) + "; 0: " + none + ")"};
}

} // namespace

std::span<const EnvironmentVariable> environmentVariables()
{
    static const EnvironmentVariable kVariables[] = {
        {"RESIDUA_CPU_ISA", "the instructions that kernels on the CPU use at most: baseline, avx2 or avx512 (default: "
                            "the best that the processor has)"},
        {"RESIDUA_CUDA_FORMS", "rows: GPU kernels leave out their forms on tensor cores (default: both are used)"},
        {"RESIDUA_CUDA_GRAPH", "file of the library that records steps on a GPU as graphs (default: found beside the "
                               "program); 0: steps are not recorded"},
        cacheVariable(engine::kDigestCache, "the hashes of data files", "none is kept, and large files are read again"),
        {"RESIDUA_ENGINE",
         "file of the program that trains and computes, or a command line that ends in it, such as \"ssh gpu1 "
         "residua-engine --stdio\" where both machines see the same folders (default: found beside the "
         "program)"},
        cacheVariable(engine::kFitCache, "fitted low-rank factors", "none is kept"),
        {"RESIDUA_FOREIGN_LIBRARY_PATH", "LD_LIBRARY_PATH for other programs that are started; set by the launcher of "
                                         "the package"},
        {engine::kGreetingLimitVariable,
         "seconds that the engine's process, on another machine too, may take for its first answer, in which a "
         "passphrase is typed (default " +
             std::to_string(engine::kGreetingLimitSeconds) + "; 0: no limit)"},
        {"RESIDUA_KEEP_MEMORY", "0: memory of tensors on the CPU is given back at once, and not kept for the next"},
        {"RESIDUA_RANKS",
         "file of the library through which ranks exchange gradients (default: found beside the program)"},
        {"RESIDUA_KERNELS", "file of the library of GPU kernels (default: found beside the program)"},
        {"RESIDUA_MUJOCO", "file of the library that runs models of MuJoCo (default: found beside the program)"},
        {"RESIDUA_PARQUET", "file of the library that reads Parquet (default: found beside the program)"},
        {engine::kPlaceLimit.variable,
         "of residua-engine at a place with a folder: MiB of sent files that it keeps for "
         "the next run (default " +
             std::to_string(engine::kPlaceLimit.mebibytes) + ")"},
        {"RESIDUA_PYTHON", "the Python, with PyTorch, onnx and onnxscript, that export --to onnx starts"},
        {"RESIDUA_SENTENCEPIECE", "file of the library that reads SentencePiece models (default: found beside the "
                                  "program)"},
        {"RESIDUA_TOKENISER_TRAINER", "file of the program that learns tokenisers (default: found beside the program)"},
        cacheVariable(engine::kTokenCache, "tokenised texts", "none is kept"),
    };
    return kVariables;
}

} // namespace residua::cli
