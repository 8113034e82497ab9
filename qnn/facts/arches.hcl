# Hexagon archs. What an arch's HTP can do, whatever the SDK (executorch's feature matrix; QNN's documentation of weight sharing):
#   quantized        graphs of integers
#   fp16             graphs in half precision       fp16_partial  some operations of them
#   lpbq             weights of 4 bits with scales for blocks, activations of 16 bits
#   weight_sharing   several graphs of a context with one copy of their weights; compiled ahead of time, one VTCM size and SoC
#   matmul_16x16     matmul whose second input has 16 bits        layer_norm_16x16  the same for layer_norm
#   multi_core       a graph on several cores       extended_udma, for moving data without the vector units
#
# since says from which version on the Hexagon compilers ("tools"), the distribution's clang ("llvm") and Qualcomm's SDK ("qairt") know an arch;
# seen is the oldest version in which somebody has seen it, where that is a later one. Which archs a release has follows from that; where
# a release's own block says what is in it, that counts.

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

# What a context may take: the compiler refuses a graph of more with "limit is 2097152 KB", seen for v68 and, without the SoC, twice more. Of v81 somebody
# says that 3.6 GB did not load and 1.81 GB did (a model card, qwen3_5_4b_HNPU).
fact "arch" "context_mb" {
  confidence = "inferred"
  source     = "executorch#17782 saw the limit for v68; qualcomm/ai-hub-models#274, #22 without the SoC"
}

# What a process of the DSP can map, all contexts and buffers together: the default of llama.cpp, about 3.2 GB.
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
    source     = "what is in 2.13.0.230725"
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
    source     = "what is in 2.13.0.230725"
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
    source     = "what is in 2.13.0.230725"
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
  seen       = { qairt = "2.37.0" } # llm.npu reproduction report
  fact "since.qairt" {
    confidence = "documented"
    source     = "an engineer of Qualcomm, executorch#7550"
  }
}

arch "v81" {
  features   = ["extended_udma", "fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "multi_core", "quantized", "weight_sharing"]
  context_mb = 2048
  process_mb = 3052
  since      = { tools = "19.0", llvm = "22", qairt = "2.42" }
  seen       = { qairt = "2.42.0" } # op packages that rwkv-qualcomm built with it
}

arch "v85" {
  since = { tools = "21.0", qairt = "2.51" }
  note  = "SoCs with it are known by what the compiler of QAIRT 2.51 says of them only"
  fact "since.tools" {
    confidence = "inferred"
    source     = "makefiles that pair them; Qualcomm's table is cut off there"
  }
  fact "since.qairt" {
    confidence = "observed"
    source     = "what the compiler of 2.51 writes into a context; GenieX#1254: not yet in July 2026"
  }
}
