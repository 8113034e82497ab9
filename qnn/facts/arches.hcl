# Hexagon archs. Features of an arch's HTP, independent of the SDK (executorch's feature matrix; QNN's documentation of weight
# sharing):
#   quantized        graphs of integers
#   fp16             graphs in half precision       fp16_partial  some operations of them
#   lpbq             4-bit weights with block scales, 16-bit activations
#   weight_sharing   graphs of a context share weights; compiled ahead of time, for one VTCM size and SoC
#   matmul_16x16     matmul with a 16-bit second input        layer_norm_16x16  layer_norm with a 16-bit second input
#   multi_core       a graph on several cores       extended_udma, for moving data without the vector units
#
# since is the first version of the Hexagon compilers ("tools"), the distribution's clang ("llvm") or Qualcomm's SDK ("qairt")
# that supports an arch. seen is the oldest version that was seen to support it, if later than since. The archs of a release
# follow from since, unless the release's own block lists them.

fact "arch" "since.tools" {
  confidence = "documented"
  source     = "Qualcomm 80-N3040-23: tools releases"
}

fact "arch" "since.llvm" {
  confidence = "observed"
  source     = "the distribution's packages, tried; llvm-project#120773, #120983, #164922"
}

fact "arch" "since.qairt" {
  confidence = "inferred"
  source     = "executorch: devices and versions"
}

fact "arch" "features" {
  confidence = "observed"
  source     = "executorch: feature matrix"
}

# Largest context: the compiler rejects a larger graph with "limit is 2097152 KB". This was seen for v68 and, without a SoC,
# twice more. On v81, 1.81 GB loaded and 3.6 GB did not, according to a model card (qwen3_5_4b_HNPU).
fact "arch" "context_mb" {
  confidence = "inferred"
  source     = "executorch#17782 saw the limit for v68; qualcomm/ai-hub-models#274, #22 without the SoC"
}

# Largest sum of contexts and buffers that a DSP process can map: the default of llama.cpp, about 3.2 GB.
fact "arch" "process_mb" {
  confidence = "inferred"
  source     = "llama.cpp#22487: what its backend takes a session to map"
}

arch "v60" {
  htp = false
}

arch "v62" {
  htp = false
}

arch "v65" {
  htp = false
}

arch "v66" {
  htp  = false
  note = "no HTP: QNN's DSP backend only"
}

arch "v67" {
  htp = false
}

arch "v68" {
  features   = ["quantized"]
  context_mb = 2048
  since      = { tools = "8.4", llvm = "14", qairt = "2.13" }
  fact "since.qairt" {
    confidence = "observed"
    source     = "contents of 2.13.0.230725"
  }
  fact "context_mb" {
    confidence = "observed"
    source     = "executorch#17782, for SA8295: limit is 2097152 KB"
  }
}

arch "v69" {
  features   = ["fp16_partial", "quantized"]
  context_mb = 2048
  since      = { tools = "8.5", llvm = "14", qairt = "2.13" }
  fact "since.qairt" {
    confidence = "observed"
    source     = "contents of 2.13.0.230725"
  }
}

arch "v71" {
  htp   = false
  since = { llvm = "16" }
}

arch "v73" {
  features   = ["fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "quantized", "weight_sharing"]
  context_mb = 2048
  process_mb = 3052
  since      = { tools = "8.6", llvm = "16", qairt = "2.13" }
  fact "since.qairt" {
    confidence = "observed"
    source     = "contents of 2.13.0.230725"
  }
}

arch "v75" {
  features   = ["fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "quantized", "weight_sharing"]
  context_mb = 2048
  process_mb = 3052
  since      = { tools = "8.7", llvm = "20", qairt = "2.16" }
  fact "since.qairt" {
    confidence = "observed"
    source     = "XiaoMi/StableDiffusionOnDevice#14, libraries of 2.16.0.231029"
  }
}

arch "v79" {
  features   = ["fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "quantized", "weight_sharing"]
  context_mb = 2048
  process_mb = 3052
  since      = { tools = "8.8", llvm = "20", qairt = "2.30" }
  seen       = { qairt = "2.37.0" }
  fact "seen.qairt" {
    confidence = "observed"
    source     = "llm.npu reproduction report"
  }
  fact "since.qairt" {
    confidence = "inferred"
    source     = "executorch#7550: should be available starting from 2.30.0"
  }
}

arch "v81" {
  features   = ["extended_udma", "fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "multi_core", "quantized", "weight_sharing"]
  context_mb = 2048
  process_mb = 3052
  since      = { tools = "19.0", llvm = "22", qairt = "2.39" }
  fact "since.qairt" {
    confidence = "inferred"
    source     = "local-dream ships the libraries of 2.39, and nobody has seen v81 in an older one; onnxruntime#26341"
  }
}

arch "v85" {
  since = { tools = "21.0", qairt = "2.51" }
  note  = "SoCs with it are known only from the compiler of QAIRT 2.51"
  fact "since.tools" {
    confidence = "inferred"
    source     = "makefiles that pair them; Qualcomm's table is cut off there"
  }
  fact "since.qairt" {
    confidence = "observed"
    source     = "what the compiler of 2.51 writes into a context; GenieX#1254: not yet in July 2026"
  }
}
