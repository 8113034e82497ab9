# ONNX Runtime with QNN, and what is built on it: Olive, Windows ML, Foundry Local.

failure "ort-graph-aborted" {
  where    = ["device", "tool"]
  patterns = ["QNN graph execute error[.] Error code: 6031"]
  cause    = "QNN aborted the graph (6031). The graph has an op that the NPU does not run, and ONNX Runtime gave it to QNN all the same. DynamicQuantizeLinear is the usual one."
  remedy   = "Quantize the model statically, with calibration data (QDQ), or keep the op on the CPU. With session.disable_cpu_ep_fallback = 1 the session names nodes that QNN refuses."
  source   = "microsoft/onnxruntime#25334"
  explains = ["graph-execute"]
  examples = ["[E:onnxruntime:, sequential_executor.cc:572 ExecuteKernel] Non-zero status code returned while running QNN_950012250679_52 node. Status Message: QNN graph execute error. Error code: 6031"]
}

failure "ort-execute-general" {
  where    = ["device", "tool"]
  patterns = ["QNN graph execute error[.] Error code: 1100"]
  cause    = "QNN ended the graph with its general error, 1100, which gives no reason. Programs that create and destroy sessions over and over get it after some hundred runs."
  remedy   = "Create one session and reuse it for all runs. If each run needs its own, load a context binary that was compiled ahead of time, and close the session before the next one starts."
  source   = "microsoft/onnxruntime#21832, #22645"
  explains = ["graph-execute"]
  examples = ["ExecuteKernel: Non-zero status code returned while running QNN_138253_0 node. Status Message: QNN graph execute error. Error code: 1100"]
}

failure "ort-layout-not-taken" {
  where    = ["device", "tool"]
  patterns = ["Node '(?P<node>[^']*)' OpType:(?P<op>[A-Za-z]+) .*inserted using the NHWC format as requested by QNNExecutionProvider, but was not selected"]
  cause    = "The QNN execution provider asked for {op} in another layout and then did not take the node {node}. The target's Hexagon arch lacks the type (floats on v68), or the weights are quantized along an axis that QNN does not support."
  remedy   = "Update ONNX Runtime, quantize the model to 8 or 16 bits, or exclude the node from QNN so that the CPU runs it."
  source   = "microsoft/onnxruntime#21848, #21048, #21016"
  examples = ["[ONNXRuntimeError] : 1 : FAIL : Node 'Conv_token_42' OpType:Conv with domain:com.ms.internal.nhwc was inserted using the NHWC format as requested by QNNExecutionProvider, but was not selected by that EP."]
}

failure "ort-without-qnn" {
  where    = ["device", "tool"]
  patterns = [
    "QNN execution provider is not supported in this build",
    "execution providers \\[[^\\]]*QNNExecutionProvider[^\\]]*\\] cannot be found",
    "[Ss]pecified provider 'QNNExecutionProvider' is not in available provider names",
  ]
  cause    = "This ONNX Runtime was built without QNN. In Python, the package onnxruntime hides the provider of onnxruntime-qnn if both are installed."
  remedy   = "Python: `pip uninstall onnxruntime`, then `pip install onnxruntime-qnn`. C++: link a build with --use_qnn, or the package that has QNN (Microsoft.ML.OnnxRuntime.QNN, onnxruntime-android-qnn)."
  source   = "microsoft/onnxruntime-inference-examples#397, microsoft/Olive#1901"
  explains = ["terminate-called"]
  examples = [
    "terminate called after throwing an instance of 'Ort::Exception'\n  what():  QNN execution provider is not supported in this build.",
    "ValueError: None of the execution providers ['QNNExecutionProvider'] cannot be found in the target system but at least one is required to run the workflow.",
    "UserWarning: Specified provider 'QNNExecutionProvider' is not in available provider names.",
  ]
}

failure "ort-plugin-old" {
  where    = ["device", "tool"]
  patterns = ["OrtEp has invalid ort_version_supported=0"]
  cause    = "The plug-in onnxruntime-qnn is older than this ONNX Runtime: since 1.27 it refuses plug-ins that do not name the version of its interface."
  remedy   = "Install onnxruntime-qnn 2.4 or newer, or ONNX Runtime 1.26."
  source   = "onnxruntime/onnxruntime-qnn#492, #564"
  examples = ["Error creating execution provider: [ONNXRuntimeError] : 1 : FAIL : ep_plugin_provider_interfaces.cc:82 onnxruntime::SanityCheckOrtEp OrtEp has invalid ort_version_supported=0 (expected at least 22)."]
}

failure "ort-file-mapping" {
  where    = ["device", "tool"]
  patterns = ["LoadCachedQnnContextFromBuffer.* Failed to create context from binary[.] Error code: 1002"]
  also     = ["qnn_windows_file_mapper|Created file mapping"]
  cause    = "The NPU driver could not map the weights from the context's file (1002). QNN 2.48 on Windows maps them by default, and some drivers refuse that."
  remedy   = "Set the provider option disable_file_mapped_weights=1, or update the NPU driver."
  source   = "microsoft/foundry-local#1124"
  explains = ["context-create"]
  examples = ["[I:onnxruntime:, qnn_windows_file_mapper.cc] Created file mapping with handle (0x2a4) for context bin:v1/context_3_ctx_qnn.bin\n[E:onnxruntime:, qnn_backend_manager.cc:1138 LoadCachedQnnContextFromBuffer] Failed to create context from binary. Error code: 1002"]
}

failure "ort-nothing-compiled" {
  where    = ["tool"]
  patterns = ["Unable to compile any nodes[.] ONNX Runtime will not generate a compiled model"]
  cause    = "No node went to QNN. The Python environment that compiles has no onnxruntime-qnn (or has onnxruntime beside it), or the model is compiled already: it consists of EPContext nodes."
  remedy   = "Check onnxruntime.get_available_providers() in that environment, and install onnxruntime-qnn alone. Give the compiler the quantized model, not a context."
  source   = "microsoft/Olive#1913, #1962"
  explains = ["subprocess-failed"]
  examples = ["[W:onnxruntime:, graph_partitioner.cc:813 CreateEpContextModel] Unable to compile any nodes. ONNX Runtime will not generate a compiled model. Either the session EPs do not support compilation or the model is already compiled."]
}

failure "subprocess-failed" {
  where    = ["tool"]
  patterns = ["Failed to run \\['(?P<program>[^']+)'.* with returncode [0-9]+"]
  rank     = "consequence"
  cause    = "{program} failed in a process of its own."
  remedy   = "Look for the first error in that program's output, below."
  source   = "microsoft/Olive#1913"
  examples = ["[ERROR] [utils.py:73:run_subprocess] Failed to run ['/w/venv/bin/python', '/w/pass_runner.py'] with returncode 1!"]
}

failure "ort-ir-version" {
  where    = ["device", "tool"]
  patterns = ["Unsupported model IR version: (?P<model>[0-9]+), max supported IR version: (?P<max>[0-9]+)"]
  cause    = "The model has IR version {model}, and this ONNX Runtime reads up to {max}: it is older than the exporter's package onnx."
  remedy   = "Update ONNX Runtime, or set model.ir_version = {max} in Python and save the model again."
  source   = "microsoft/onnxruntime#25784, microsoft/Olive#2103"
  examples = ["Load model from C:\\Models\\context_ctx.onnx failed:model.cc:182 onnxruntime::Model::Model Unsupported model IR version: 11, max supported IR version: 10"]
}

failure "windows-ep-download" {
  where    = ["device", "tool"]
  patterns = [
    "Failed to download or register the following EPs: (?P<ep>[A-Za-z, ]*QNN[A-Za-z, ]*)",
    "Provider (?P<ep>QNNExecutionProvider) download and ensuring ready attempt: Failure",
  ]
  cause    = "Windows could not download or register {ep}, so nothing runs on the NPU."
  remedy   = "Check network and proxy, install pending Windows updates and the current NPU driver, then try again: Windows ML gets the execution provider through Windows Update."
  source   = "microsoft/foundry-local#393"
  examples = [
    "[INF] Failed to download or register the following EPs: QNNExecutionProvider. Will try installing again later.",
    "[INF] Provider QNNExecutionProvider download and ensuring ready attempt: Failure",
  ]
}
