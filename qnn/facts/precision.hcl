# Types of operations that the compiler of QAIRT 2.51.0 accepts through ONNX Runtime's QNN provider. Each test compiled a graph of
# one operation in one type, for a SoC of each arch (SM8350, SM8450, SM8550, SM8650, SM8750, SM8850, SM8975). a16w8 means 16-bit
# activations with 8-bit weights, and a16a8 means two activations. a8 and a16 are for activations only; f16 and f32 are floats.
#
# Tested types: f16 and f32; a8 and a16 with w4, w8 and w16, for norms only w8 and w16; for MatMul also a8 with a16; for other
# operations a8 and a16. The compiler rejects other types (error code 3110, or 1002 at the end of the compile). For a Conv, ONNX
# Runtime reports that the provider did not select it. 8-bit weights of norms are unsigned, 16-bit ones are signed, because the
# compiler rejects unsigned 16-bit weights with zero point 0. v68 has no floats here: the compiler accepts them, but no SoC runs them.

precision "MatMul" {
  ops = ["MatMul"]
  takes = {
    v68 = ["a16a16", "a16a8", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8"]
    v69 = ["a16a16", "a16a8", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v73 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v75 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v79 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v81 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
    v85 = ["a16a16", "a16a8", "a16w16", "a16w4", "a16w8", "a8a8", "a8w4", "a8w8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0; v68 without floats: onnxruntime-qnn#708"
}

precision "Conv" {
  ops = ["Conv"]
  takes = {
    v68 = ["a16w4", "a16w8", "a8w4", "a8w8"]
    v69 = ["a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v73 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v75 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v79 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v81 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
    v85 = ["a16w16", "a16w4", "a16w8", "a8w4", "a8w8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0; v68 without floats: onnxruntime-qnn#708"
}

precision "LayerNormalization" {
  ops = ["LayerNormalization"]
  takes = {
    v68 = ["a16w8", "a8w8"]
    v69 = ["a16w8", "a8w8", "f16", "f32"]
    v73 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v75 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v79 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v81 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v85 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0; v68 without floats: onnxruntime-qnn#708"
}

precision "RMSNormalization" {
  ops = ["RMSNormalization"]
  takes = {
    v68 = ["a16w16", "a16w8", "a8w8"]
    v69 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v73 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v75 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v79 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v81 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
    v85 = ["a16w16", "a16w8", "a8w8", "f16", "f32"]
  }
  confidence = "observed"
  source     = "the compiler of QAIRT 2.51.0; v68 without floats: onnxruntime-qnn#708"
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
  source     = "the compiler of QAIRT 2.51.0; v68 without floats: onnxruntime-qnn#708"
}

precision "units" {
  ops = ["Elu", "Gelu"]
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
  source     = "the compiler of QAIRT 2.51.0; v68 without floats: onnxruntime-qnn#708"
}

precision "elements" {
  ops = ["Add", "Relu", "Softmax"]
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
  source     = "the compiler of QAIRT 2.51.0; v68 without floats: onnxruntime-qnn#708"
}
