# Hexagon archs. What an arch's HTP can do, whatever the SDK (executorch's feature matrix; QNN's documentation of weight sharing):
#   quantized        graphs of integers
#   fp16             graphs in half precision       fp16_partial  some operations of them
#   lpbq             weights of 4 bits with scales for blocks, activations of 16 bits
#   weight_sharing   several graphs of a context with one copy of their weights; compiled ahead of time, one VTCM size and SoC
#   matmul_16x16     matmul whose second input has 16 bits        layer_norm_16x16  the same for layer_norm
#   multi_core       a graph on several cores       extended_udma, for moving data without the vector units

arch "v66" {
  note = "no HTP: QNN's DSP backend only"
}

arch "v68" {
  features = ["quantized"]
}

arch "v69" {
  features = ["fp16_partial", "quantized"]
}

arch "v73" {
  features = ["fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "quantized", "weight_sharing"]
}

arch "v75" {
  features = ["fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "quantized", "weight_sharing"]
}

arch "v79" {
  features = ["fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "quantized", "weight_sharing"]
}

arch "v81" {
  features = ["extended_udma", "fp16", "layer_norm_16x16", "lpbq", "matmul_16x16", "multi_core", "quantized", "weight_sharing"]
}

arch "v85" {
  note = "makefiles name it; no SoC with it is known here, and QNN's headers do not have it yet"
}
