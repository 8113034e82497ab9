# In which types the compiler of QAIRT 2.51.0 takes operations, through its ONNX Runtime provider: a graph of one operation in each type, compiled for a SoC of each arch
# (SM8350, SM8450, SM8550, SM8650, SM8750, SM8850, and soc_model 103). a16w8 is 16 bits for activations and 8 for weights, a16a8 the same for two activations, a8 and a16
# activations alone, f16 and f32 floats. Tried were f16 and f32, and: a8 and a16 with w4, w8 and w16, of norms with w8 and w16; of MatMul also a8 and a16 with each other; of the
# rest a8 and a16. What of these is missing is refused (error code 3110; of a Conv, ONNX Runtime's that it was not selected), or ends the compile (1002).

precision "MatMul" {
  ops = ["MatMul"]
  takes = {
    v68 = ["a16a16", "a16a8", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v69 = ["a16a16", "a16a8", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v73 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v75 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v79 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v81 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v85 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0"
}

precision "Conv" {
  ops = ["Conv"]
  takes = {
    v68 = ["a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v69 = ["a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v73 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v75 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v79 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v81 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v85 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0"
}

precision "LayerNormalization" {
  ops = ["LayerNormalization"]
  takes = {
    v68 = ["a16w8", "a8w8", "f16", "f32"]
    v69 = ["a16w8", "a8w8", "f16", "f32"]
    v73 = ["a16w8", "a8w8", "f16", "f32"]
    v75 = ["a16w8", "a8w8", "f16", "f32"]
    v79 = ["a16w8", "a8w8", "f16", "f32"]
    v81 = ["a16w8", "a8w8", "f16", "f32"]
    v85 = ["a16w8", "a8w8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0"
}

precision "RMSNormalization" {
  ops = ["RMSNormalization"]
  takes = {
    v68 = ["a16w16", "a16w8", "a8w8", "f16"]
    v69 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v73 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v75 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v79 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v81 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v85 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0"
}

precision "CumSum" {
  ops = ["CumSum"]
  takes = {
    v68 = ["a16", "a8"]
    v69 = ["a16", "a8", "f16", "f32"]
    v73 = ["a16", "a8", "f16", "f32"]
    v75 = ["a16", "a8", "f16", "f32"]
    v79 = ["a16", "a8", "f16", "f32"]
    v81 = ["a16", "a8", "f16", "f32"]
    v85 = ["a16", "a8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0"
}

precision "units" {
  ops = ["Elu", "Gelu"]
  takes = {
    v68 = ["a16", "a8", "f16"]
    v69 = ["a16", "a8", "f16", "f32"]
    v73 = ["a16", "a8", "f16", "f32"]
    v75 = ["a16", "a8", "f16", "f32"]
    v79 = ["a16", "a8", "f16", "f32"]
    v81 = ["a16", "a8", "f16", "f32"]
    v85 = ["a16", "a8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0"
}

precision "elements" {
  ops = ["Add", "Relu", "Softmax"]
  takes = {
    v68 = ["a16", "a8", "f16", "f32"]
    v69 = ["a16", "a8", "f16", "f32"]
    v73 = ["a16", "a8", "f16", "f32"]
    v75 = ["a16", "a8", "f16", "f32"]
    v79 = ["a16", "a8", "f16", "f32"]
    v81 = ["a16", "a8", "f16", "f32"]
    v85 = ["a16", "a8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0"
}
