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
    "[Ss]pecified provider 'QNNExecutionProvider'? is not in available provider names?",
  ]
  cause    = "This ONNX Runtime was built without QNN. In Python, the package onnxruntime hides the provider of onnxruntime-qnn if both are installed."
  remedy   = "In Python, run `pip uninstall onnxruntime`, then `pip install onnxruntime-qnn`. In C++, link a build with --use_qnn, or the package that has QNN (Microsoft.ML.OnnxRuntime.QNN, onnxruntime-android-qnn)."
  source   = "microsoft/onnxruntime-inference-examples#397, microsoft/Olive#1901, microsoft/onnxruntime#22617"
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
  patterns = ["Failed to run \\['(?P<program>[^']+)'.* with returncode [0-9]+", "command failed: (?:[^ ]*/)?(?P<program>(?:qnn|qairt|snpe|genie)-[a-z-]+)"]
  rank     = "consequence"
  cause    = "{program} failed in a process of its own."
  remedy   = "Look for the first error in that program's own output, or run its command line alone."
  source   = "microsoft/Olive#1913; alibaba/MNN#4437"
  examples = [
    "[ERROR] [utils.py:73:run_subprocess] Failed to run ['/w/venv/bin/python', '/w/pass_runner.py'] with returncode 1!",
    "[Retry 3/3] command failed: /home/rock/qnn-2.42.0.251225/bin/x86_64-linux-clang/qnn-context-binary-generator --model libgraph33.so --binary_file graph33",
  ]
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

failure "ort-setup" {
  where    = ["tool", "device"]
  patterns = ["QNN Setup ?(?:QNN)?(?:Backend)? ?[Ff]ailed", "InitializeBackend Failed to initialize backend"]
  rank     = "symptom"
  cause    = "ONNX Runtime loaded QNN's library and could not start it. Its nodes run on the CPU, or the session fails."
  remedy   = "Look for QNN's own line with <E> above it: raise the session's log level to verbose if there is none. Then check that libQnnHtp, stub and skel are of one release and of the device's arch."
  source   = "microsoft/onnxruntime#20124, #21157"
  explains = ["context-create"]
  examples = [
    "[E:onnxruntime:, qnn_execution_provider.cc:499 GetCapability] QNN SetupBackend failed qnn_backend_manager.cc:288 InitializeBackend Failed to initialize backend",
    "[E:onnxruntime:, qnn_execution_provider.cc:591 GetCapability] QNN SetupBackend failed qnn_backend_manager.cc:334 InitializeBackend Failed to initialize backend",
    "qnn_backend_manager.cc:334 InitializeBackend Failed to initialize backend",
  ]
}

failure "ort-context-info" {
  where    = ["tool", "device"]
  patterns = ["LoadCachedQnnContextFromBuffer Failed to get context binary info"]
  cause    = "The QNN system library cannot read the context in the model: the context is from a newer QAIRT release, or the file is truncated."
  remedy   = "Run with the ONNX Runtime release that wrote the _ctx.onnx, or write it again with the release that is installed. `hexmage inspect` names a context's release."
  source   = "microsoft/onnxruntime-inference-examples#497"
  explains = ["context-create"]
  examples = ["[E:onnxruntime:, onnx_ctx_model_helper.cc:162 onnxruntime::qnn::LoadQnnCtxFromOnnxGraph] Failed to load from EpContext model. qnn_backend_manager.cc:636 onnxruntime::qnn::QnnBackendManager::LoadCachedQnnContextFromBuffer Failed to get context binary info."]
}

failure "ort-node-on-cpu" {
  where    = ["tool", "device"]
  patterns = [
    "backendValidateOpConfig[(][)] failed for node `(?P<node>[^`]+)` of type `(?P<op>[A-Za-z0-9_]+)`",
    "Unsupported nodes in QNN EP: [{] name: (?P<node>[^,]+), type: (?P<op>[A-Za-z0-9_]+)",
  ]
  severity = "warning"
  cause    = "QNN does not take the node {node} ({op}) with these types and shapes, so ONNX Runtime runs it on the CPU."
  remedy   = "Quantize the node's inputs and outputs with the same width (QDQ, 8 or 16 bits), fix dynamic shapes, or leave it on the CPU. Set session.disable_cpu_ep_fallback = 1 to make it an error."
  source   = "microsoft/onnxruntime#22532, #22821"
  examples = [
    "2024-10-22 10:41:29.7229840 [W:onnxruntime:, qnn_model_wrapper.cc:244 onnxruntime::qnn::QnnModelWrapper::CreateQnnNode] QNN.backendValidateOpConfig() failed for node `/distilbert/embeddings/word_embeddings/Gather` of type `Gather` with error code 3110",
    "QNN.backendValidateOpConfig() failed for node `LeakyRelu__26` of type `Prelu` with error code 3110",
    "QNN.backendValidateOpConfig() failed for node `/distilbert/embeddings/word_embeddings/Gather_output_0_DequantizeLinear` of type `Dequantize` with error code 3110",
    "Unsupported nodes in QNN EP: { name: LeakyRelu__26, type: LeakyRelu }{ name: LeakyRelu__27, type: LeakyRelu }",
  ]
}

failure "ort-cpu-fallback-disabled" {
  where    = ["tool", "device"]
  patterns = ["graph nodes that are assigned to the default CPU EP, but fallback to CPU EP has been explicitly disabled"]
  cause    = "The session may not use the CPU (session.disable_cpu_ep_fallback), and some nodes are not for QNN."
  remedy   = "Set the log level to verbose and look for the nodes that QNN refuses. Quantize or rewrite them, or remove session.disable_cpu_ep_fallback."
  source   = "microsoft/onnxruntime#16016; krrishnarraj/clpeak#197"
  examples = ["int4_weight_prefill_s512 : [unsupported] This session contains graph nodes that are assigned to the default CPU EP, but fallback to CPU EP has been explicitly disabled by the user."]
}

failure "ort-graph-handle" {
  where    = ["tool", "device"]
  patterns = ["QNN graph execute error[.] Error code: 6001"]
  cause    = "QNN does not know the graph any more (6001). The execution provider built a graph that QNN did not accept whole."
  remedy   = "Compile the model to a context binary and run that, or update onnxruntime-qnn. If the context binary runs, report the model to onnxruntime-qnn."
  source   = "microsoft/onnxruntime#25335"
  explains = ["graph-execute", "ort-node-failed"]
  examples = ["Non-zero status code returned while running QNN_7121639547656727701_5 node. Name:'QNNExecutionProvider_QNN_7121639547656727701_5_5' Status Message: QNN graph execute error. Error code: 6001"]
}

failure "ort-node-failed" {
  where    = ["tool", "device"]
  patterns = ["Non-zero status code returned while running (?P<op>[A-Za-z0-9_]+) node"]
  rank     = "consequence"
  cause    = "ONNX Runtime stopped at the node {op}."
  remedy   = "Read the text after `Status Message`: it says why. For a node QNN_…, look for QNN's lines with <E> above it."
  source   = "microsoft/onnxruntime-genai#1535; microsoft/Olive#2210"
  examples = ["[E:onnxruntime:onnxruntime-genai, sequential_executor.cc:572 onnxruntime::ExecuteKernel] Non-zero status code returned while running DmlFusedNode_0_0 node. Name:'DmlFusedNode_0_0'"]
}

failure "ort-allocation" {
  where    = ["tool", "device"]
  patterns = ["Failed to allocate memory for requested buffer of size (?P<bytes>[0-9]+)"]
  cause    = "ONNX Runtime got no {bytes} bytes more: the machine's memory is full. Quantizing an LLM keeps activations of all calibration samples."
  remedy   = "Use fewer or shorter calibration samples, a machine with more memory or swap, or a smaller model."
  source   = "microsoft/Olive#2210"
  explains = ["ort-node-failed"]
  examples = ["[E:onnxruntime:, sequential_executor.cc:572 onnxruntime::ExecuteKernel] Non-zero status code returned while running Mul node. Name:'/model/layers.14/mlp/act_fn/Mul' Status Message: bfc_arena.cc:359 onnxruntime::BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 159383552"]
}

failure "ort-ep-missing" {
  where    = ["tool", "device"]
  patterns = ["Could not find an implementation for EPContext"]
  cause    = "The model is compiled for QNN (EPContext), and the session has no QNN execution provider."
  remedy   = "Add QNNExecutionProvider to the session's providers, from a build or package that has it (onnxruntime-qnn). On Windows ML, let it register the provider first."
  explains = ["ort-op-missing"]
  source   = "microsoft/foundry-dev-tools#204"
  examples = ["[error] Failed loading model Phi-4-mini-reasoning-3.8b-qnn. Could not find an implementation for EPContext(1) node with name 'QNNExecutionProvider_QNN_part0_16507318232818193198_9_0'"]
}

failure "ort-preprocess" {
  where    = ["tool"]
  patterns = ["ONNX Runtime Model Optimization Failed! Consider rerun with option `--skip_optimization'"]
  rank     = "symptom"
  cause    = "ONNX Runtime could not load the model before quantization: its optimizer writes models of more than 2 GB only with external data, and does not know all custom ops."
  remedy   = "Read the error in the traceback below it. If it is the model's size or an op, pass skip_optimization = True to quant_pre_process."
  source   = "microsoft/Olive#1725"
  examples = ["2025-04-03 02:52:47,067 onnxruntime.quantization.shape_inference [ERROR] - ONNX Runtime Model Optimization Failed! Consider rerun with option `--skip_optimization'"]
}

failure "ort-version-wanted" {
  where    = ["tool"]
  patterns = ["(?P<what>[a-z ]+) is only supported in onnxruntime >= ?(?P<want>[0-9.]+[0-9])"]
  cause    = "The package needs ONNX Runtime {want} or newer for {what}."
  remedy   = "Install onnxruntime-qnn {want} or newer in the environment that runs this step."
  source   = "microsoft/Olive#1905"
  examples = ["ValueError: weight sharing is only supported in onnxruntime >= 1.22.0"]
}

failure "protobuf-2gb" {
  where    = ["tool"]
  patterns = ["exceed(?:s|ed)? maximum protobuf size of 2GB", "model is larger than the 2GiB limit imposed by the protobuf library"]
  cause    = "An ONNX file cannot hold more than 2 GB, and the model's weights are in the file."
  remedy   = "Save the weights as external data: onnx.save(model, path, save_as_external_data=True). For torch.onnx.export, give a file path, not a buffer."
  source   = "microsoft/Olive#1595, onnx/onnx#4394, pytorch/pytorch#93937, pytorch/pytorch#132205, microsoft/onnxruntime#7840, ccoreilly/wav2vec2-service#2"
  examples = [
    "ValueError: Message onnx.ModelProto exceeds maximum protobuf size of 2GB: 2729203422",
    "ValueError: Message onnx.ModelProto exceeds maximum protobuf size of 2GB: 2215159045",
    "[libprotobuf ERROR /opt/pytorch/pytorch/third_party/protobuf/src/google/protobuf/message_lite.cc:457] onnx_torch.ModelProto exceeded maximum protobuf size of 2GB: 4649393993",
    "RuntimeError: The serialized model is larger than the 2GiB limit imposed by the protobuf library. Therefore the output file must be a file path, so that the ONNX external data can be written to the same directory.",
    "RuntimeError: Exporting model exceed maximum protobuf size of 2GB. Please call torch.onnx.export with use_external_data_format=True.",
    "Message onnx.ModelProto exceeds maximum protobuf size of 2GB: 3850777240",
  ]
}

failure "onnx-unreadable" {
  where    = ["tool", "device"]
  patterns = ["Failed to load model because protobuf parsing failed"]
  cause    = "The file is not an ONNX model: it is truncated, a Git LFS pointer, or of another kind (a QNN library or context)."
  remedy   = "Look at the file with `hexmage inspect FILE`. Download it again, or pass it by the option for its kind: a program built without QNN takes a QNN model for an ONNX file."
  source   = "k2-fsa/sherpa-onnx#3019"
  explains = ["terminate-called"]
  examples = ["Ort::Exception: Failed to load model because protobuf parsing failed."]
}

failure "ort-op-missing" {
  where    = ["tool", "device", "logcat"]
  patterns = ["Could not find an implementation for (?P<op>[A-Za-z0-9_.]+)[(](?P<version>[0-9]+)[)]"]
  rank     = "symptom"
  cause    = "This build of ONNX Runtime has no kernel for {op} (operator set {version}) with the types that the model gives it: the types are not supported, or a reduced build left the op out."
  remedy   = "Update ONNX Runtime, take the full package instead of a reduced or mobile one, or export the model with other types (quantize weights to uint8 in QDQ form instead of {op} on int8)."
  source   = "Telosnex/fonnx#20"
  examples = ["Error code - ORT_NOT_IMPLEMENTED - message: Could not find an implementation for ConvInteger(10) node with name '/model/encoder/conv1/Conv_quant'"]
}

failure "ep-not-available" {
  where    = ["tool", "device"]
  patterns = ["requires the '(?P<ep>[A-Za-z0-9]+)' execution provider, which is not"]
  cause    = "The model needs {ep}, and this machine's runtime has not registered it."
  remedy   = "Let the runtime download and register {ep} (Windows 11 24H2 or newer, with the NPU's current driver), or choose the model's CPU or GPU variant."
  source   = "microsoft/foundry-local#937"
  explains = ["windows-ep-download"]
  examples = ["Cannot load model 'qwen2.5-7b-instruct-qnn-npu:2': it requires the 'QNNExecutionProvider' execution provider, which is not\navailable. Available EPs: [CPUExecutionProvider]."]
}
