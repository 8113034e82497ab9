# QAIRT's own tools (converters, quantizer, context generator) and SNPE's.

failure "converter-op" {
  where    = ["tool"]
  patterns = ["No translation registered for op type onnx_(?P<op>[A-Za-z0-9_]+)"]
  cause    = "The converter does not know the op {op}."
  remedy   = "Rewrite the graph with other ops (Einsum: MatMul and Transpose), quantize statically (DynamicQuantizeLinear), or take a newer SDK. A custom op needs its op package's config: --op_package_config FILE.xml."
  source   = "microsoft/onnxruntime#25334; MollySophia/rwkv-qualcomm#14"
  explains = ["converter-node", "key-error"]
  examples = [
    "2023-03-29 14:57:01 - 238 - ERROR - Node Einsum_22: 'No translation registered for op type onnx_einsum. Op domain: '",
    "KeyError: 'No translation registered for op type onnx_wkv7. Op domain: rwkv'",
  ]
}

failure "converter-dynamic-shape" {
  where    = ["tool"]
  patterns = ["Missing command line inputs for dynamic inputs (?P<inputs>\\[[^\\]]*\\])"]
  cause    = "The inputs {inputs} have dynamic shapes, and the converter needs fixed ones."
  remedy   = "Give each input its dimensions: --source_model_input_shape NAME 1,128 (older tools: --input_dim, -d). Or fix them in the model: python -m onnxruntime.tools.make_dynamic_shape_fixed."
  source   = "qualcomm/ai-hub-models#270"
  explains = ["key-error"]
  examples = ["RuntimeError: Missing command line inputs for dynamic inputs ['input_ids', 'attention_mask'] in the model."]
}

failure "converter-onnx-new" {
  where    = ["tool"]
  patterns = ["module 'onnx' has no attribute 'version'"]
  cause    = "The converter uses onnx.version, which the Python package onnx no longer has since 1.20."
  remedy   = "Install onnx 1.19 or older in the converter's environment."
  source   = "qualcomm/qai-appbuilder"
  examples = ["AttributeError: module 'onnx' has no attribute 'version'"]
}

failure "onnx-mapping" {
  where    = ["tool"]
  patterns = ["module 'onnx' has no attribute 'mapping'", "No module named 'onnx[.]mapping'"]
  cause    = "The tool uses onnx.mapping, which the Python package onnx no longer has since 1.19."
  remedy   = "Install onnx 1.18 or older in the tool's environment, or a newer release of the tool."
  source   = "onnx/onnx#7257"
  explains = ["module-missing"]
  examples = ["AttributeError: module 'onnx' has no attribute 'mapping'", "ModuleNotFoundError: No module named 'onnx.mapping'"]
}

failure "converter-setuptools" {
  where    = ["tool"]
  patterns = ["No module named '(?P<module>pkg_resources|pandas)'"]
  cause    = "The Python environment of the converter lacks {module}. Newer releases of setuptools no longer have pkg_resources."
  remedy   = "Install {module} in that environment. For pkg_resources, install an older setuptools."
  source   = "qualcomm/qai-appbuilder"
  explains = ["module-missing"]
  examples = ["ModuleNotFoundError: No module named 'pkg_resources'"]
}

failure "envsetup-unbound" {
  where    = ["tool"]
  patterns = ["(?P<name>PYTHONPATH|LD_LIBRARY_PATH): unbound variable"]
  cause    = "The SDK's envsetup.sh reads {name}, which is not set, and the shell treats that as an error (set -u)."
  remedy   = "Use `hexmage env` instead of the script, or export PYTHONPATH and LD_LIBRARY_PATH as empty variables first."
  source   = "qualcomm/qai-appbuilder"
  examples = ["bin/envsetup.sh: line 51: PYTHONPATH: unbound variable"]
}

failure "quantizer-float-fallback" {
  where    = ["tool"]
  patterns = ["fallbackToFloat: Use float fallback flag when user specify encodings"]
  cause    = "--float_fallback leaves tensors without encodings in floats, and the model has no encodings at all."
  remedy   = "Calibrate with --input_list instead, or convert with --quantization_overrides first."
  source   = "public report on qairt-quantizer 2.48"
  examples = ["[ ERROR ] fallbackToFloat: Use float fallback flag when user specify encodings"]
}

failure "quantizer-bias" {
  where    = ["tool"]
  patterns = ["preprocessPerChannel: No bias info for op"]
  cause    = "Quantization per channel wants a bias at each convolution, and one has none."
  remedy   = "Add a bias of zeros to it, or quantize per tensor."
  source   = "public report on qairt-quantizer"
  examples = ["[ ERROR ] preprocessPerChannel: No bias info for op Conv_12"]
}

failure "dlc-newer" {
  where    = ["tool", "device"]
  patterns = ["Failed to create dlc handle with code 1002", "Failed to deserialize the network", "Dlc container is bad.*missing mandatory record"]
  cause    = "The tool cannot read the DLC: a newer SDK wrote it, or the file is truncated."
  remedy   = "Use one SDK release for conversion, quantization and run. `hexmage inspect FILE.dlc` names the release that wrote the file."
  source   = "qualcomm/qidk#74"
  examples = [
    "[ ERROR ] Failed to create dlc handle with code 1002 for file model.dlc",
    "[ ERROR ] Failed to deserialize the network",
    "error_code=311; error_message=Dlc container is bad. missing mandatory record: model",
  ]
}

failure "converter-temp-full" {
  where    = ["tool"]
  patterns = ["Failed to copy external data to the disk"]
  cause    = "The converter's temporary folder is full: it writes the model's weights there once more."
  remedy   = "Set QAIRT_TMP_DIR to a folder with more free space than the model's size."
  source   = "public report on qairt-converter 2.40"
  explains = ["disk-full"]
  examples = ["RuntimeError: Failed to copy external data to the disk\nOSError: [Errno 28] No space left on device"]
}

failure "graphs-config-name" {
  where    = ["tool"]
  patterns = ["unable to find graphName: ?(?P<graph>[^ ]+) in provided graphsConfigInfo"]
  cause    = "The back end's configuration has no entry for the graph {graph}, so graph_names does not name the model's graphs."
  remedy   = "Write {graph} into graph_names. A graph has the name of the model's file without its extension."
  source   = "qualcomm/qai-appbuilder"
  examples = ["[ ERROR ] unable to find graphName:qwen3_ar1 in provided graphsConfigInfo object"]
}

failure "soc-model-name" {
  where    = ["tool"]
  patterns = ["SOC model (?P<soc>[A-Za-z0-9_]+) is not supported"]
  cause    = "This release's converter does not know the SoC {soc} by that name."
  remedy   = "Leave --target_soc_model out and name the SoC when the context is made, or take a newer SDK. `hexmage show {soc}` names releases."
  source   = "public report on qairt-converter 2.40"
  examples = ["ERROR - SOC model SA8797P is not supported"]
}

failure "quantizer-16bit-weights" {
  where    = ["tool"]
  patterns = ["8 bit activations with 16 bit weights are not supported"]
  cause    = "Since 2.39 the quantizer gives dynamic operands of MatMul 16 bits, and one meets activations of 8 bits."
  remedy   = "Pass --disable_dynamic_16_bit_weights, or use activations of 16 bits."
  source   = "public report on qairt-quantizer 2.40"
  examples = ["[ ERROR ] mixedPrecisionForWeights: 8 bit activations with 16 bit weights are not supported"]
}

failure "op-types" {
  where    = ["tool", "device"]
  patterns = ["None of the combinations match the provided case"]
  cause    = "The target's Hexagon arch has no such op for these data types, for example LayerNorm of 16 bits on v68."
  remedy   = "Choose one of the combinations that the lines around it list, for the op's inputs and outputs."
  source   = "public report on qnn-context-binary-generator 2.40"
  explains = ["op-validation", "graph-finalize"]
  examples = ["[ ERROR ] None of the combinations match the provided case"]
}

failure "soc-without-fp16" {
  where    = ["tool", "device"]
  patterns = ["The SocModel doesn't support FP16"]
  cause    = "The graph has floats, and the target's NPU does not compute them: Hexagon v68 has no fp16, and v69 has it for some ops only."
  remedy   = "Quantize the whole graph, inputs and outputs too, or choose a target with v73 or newer."
  source   = "public report on qnn-context-binary-generator; ExecuTorch's wiki, features by Hexagon arch"
  examples = ["[ ERROR ] The SocModel doesn't support FP16 for graph"]
}

failure "config-ignored" {
  where    = ["tool", "device"]
  patterns = ["Unknown Key ?= ?(?P<key>[^ ]+)"]
  severity = "warning"
  cause    = "The config file's key {key} is unknown or in the wrong section. The tool goes on and applies none of the file."
  remedy   = "Put the HTP's keys into a file of their own, and name it in the first file: backend_extensions with shared_library_path and config_file_path."
  source   = "vinc-lin/llm-deploy"
  examples = ["[WARNING] Unknown Key = graphs/0/O passed in config"]
}

failure "tool-arguments" {
  where    = ["tool"]
  patterns = ["Invalid Argument Consumption", "Unused Arguments: (?:--?[a-z_]+)"]
  cause    = "The tool does not know an argument: flags change from release to release."
  remedy   = "Ask this release's tool with --help, and use the flags that it lists."
  source   = "public report on qnn-context-binary-generator"
  examples = ["[ ERROR ] Invalid Argument Consumption", "Unused Arguments: --config_file"]
}

failure "serialize-memory" {
  where    = ["tool"]
  patterns = ["error during serialize: memory usage too large"]
  cause    = "The context is larger than the 2 GB that one graph may allocate."
  remedy   = "Split the model into more shards, or quantize its weights to fewer bits."
  source   = "qualcomm/ai-hub-models#274"
  explains = ["graph-finalize"]
  examples = ["[ ERROR ] error during serialize: memory usage too large"]
}

failure "snpe-backend-validate" {
  where    = ["device", "tool"]
  patterns = ["No backend could validate Op=(?P<op>[^ ]+)"]
  cause    = "The chosen runtime does not run the op {op} for its types: it is in floats, or the arch (v66) is too old."
  remedy   = "Quantize the model, or choose another runtime (--use_gpu, or none for the CPU)."
  source   = "qualcomm/qidk#36"
  explains = ["op-validation"]
  examples = ["error_code=1002; No backend could validate Op=LayerNorm_3 Type=LayerNorm error code=3110"]
}

failure "dlc-no-cache" {
  where    = ["device", "logcat"]
  patterns = ["No cache record in the DLC matches the target device [(](?P<record>[A-Za-z0-9_]+)[)]"]
  severity = "warning"
  cause    = "The DLC has no compiled cache for this device ({record}), so the phone compiles the graph at each start, which takes minutes."
  remedy   = "Prepare it ahead on the host for this SoC: snpe-dlc-graph-prepare --htp_socs, with the SoC's name in small letters (such as sm7325)."
  source   = "qualcomm/qidk#49"
  explains = ["dlc-no-accelerated-init"]
  examples = ["I SNPE-DebugLog : [USER_INFO:HTP_CACHE] No cache record in the DLC matches the target device (HTP_V68_SM7325_2MB). Creating a new record"]
}

failure "dlc-no-accelerated-init" {
  where    = ["device", "logcat"]
  patterns = ["HTP_CACHE\\] Cannot perform accelerated init"]
  severity = "warning"
  rank     = "consequence"
  cause    = "SNPE compiles the graph on the device."
  remedy   = "Read the line above: it says why the DLC's cache was not taken."
  source   = "qualcomm/qidk#49"
  examples = ["W SNPE-DebugLog : [USER_WARN:HTP_CACHE] Cannot perform accelerated init"]
}

failure "dlc-missing" {
  where    = ["tool", "device"]
  patterns = ["DLC file (?P<file>[^ ]+) doesn't exist"]
  cause    = "{file} does not exist: the step before wrote its DLC under another name, or failed."
  remedy   = "Look at the output path of the converter or quantizer, and at its exit code."
  source   = "qualcomm/qidk#52"
  examples = ["[ERROR] DLC file model_quantized.dlc doesn't exist!"]
}

failure "profile-viewer-reader" {
  where    = ["tool"]
  patterns = ["^Error printing stats[.]"]
  cause    = "qnn-profile-viewer got a log that its reader does not fit."
  remedy   = "Pass the reader for the log's level: libQnnHtpProfilingReader.so, for optrace libQnnHtpOptraceProfilingReader.so."
  source   = "qualcomm/qai-appbuilder"
  examples = ["Error printing stats."]
}

failure "genie-extensions" {
  where    = ["device", "tool"]
  patterns = ["Unable to load backend extensions interface config"]
  cause    = "Genie did not find the file that `extensions` of its configuration names."
  remedy   = "Write the path of htp_backend_ext_config.json as it is on the device, relative to the folder in which Genie starts."
  source   = "qualcomm/ai-hub-models#191"
  explains = ["genie-dialog"]
  examples = ["[ERROR] Unable to load backend extensions interface config."]
}

failure "genie-context-size" {
  where    = ["device", "tool"]
  patterns = ["Context [Ss]ize was exceeded"]
  cause    = "Prompt and answer are longer than the context that the model was compiled for."
  remedy   = "Set max-num-tokens, shorten the prompt, use the model's chat template (without it, the answer may have no end), or compile with a larger context_len."
  source   = "vinc-lin/llm-deploy"
  examples = ["[ERROR] Context Size was exceeded."]
}

failure "context-serialize" {
  where    = ["tool"]
  patterns = ["Failed to get (?:context binary size|serialized binary)", "Context binary size calculation failed", "Could not get the required binary size", "Can't determine the size of graph binary", "Graph (?P<graph>[^ ]*) ?was not finalized[.] Cannot create binary", "<E> Get context binary info failed", "Fail to get context binary"]
  rank     = "symptom"
  cause    = "The compiled graph could not be written as a context binary: it was not prepared, or it is larger than a context may be."
  remedy   = "Look for the first error above it, at \"finalize\" or \"graph prepare\". If there is none, split the model into more parts, or use fewer bits."
  source   = "pytorch/executorch#7946, #1430"
  explains = ["context-malformed", "context-create"]
  examples = [
    "[ERROR] [Qnn ExecuTorch]: QnnDsp <E> Context binary size calculation failed\n[ERROR] [Qnn ExecuTorch]: QnnDsp <E> Failed to get serialized binary\n[ERROR] [Qnn ExecuTorch]: QnnDsp <E> Failed to get context binary size with err 0x7532\n[ERROR] [Qnn ExecuTorch]: Can't determine the size of graph binary to be saved to cache. Error 30002\nE 00:01:45.674883 executorch:QnnManager.cpp:484] Fail to get context binary.",
    "QnnDsp <E> Failed to get context binary size with err 0x138b",
    "     0.0ms [ ERROR ] QnnDsp <E> Graph model was not finalized. Cannot create binary",
    " 23631.2ms [ ERROR ] Could not get the required binary size.",
    "     0.0ms [ ERROR ] QnnDsp <E> Get context binary info failed",
    "     0.0ms [ ERROR ] QnnDsp <E> Failed to get serialized binary",
    "[ERROR] [Qnn ExecuTorch]: Can't determine the size of graph binary to be saved to cache. Error 30002",
    "E 00:01:45.674883 executorch:QnnManager.cpp:484] Fail to get context binary.",
  ]
}

failure "graph-memory" {
  where    = ["device", "logcat"]
  patterns = ["Failed to initialize graph memory", "Failed to initialize graph with id [0-9]+ .*err (?P<error>[0-9]+)", "Context create from binary failed for deviceId"]
  rank     = "symptom"
  cause    = "The context was read, and the DSP has no memory for its graphs or weights."
  remedy   = "Look at the lines with <E> before it. Free other contexts, split the model into more parts, or shorten its context length."
  source   = "pytorch/executorch#4517"
  explains = ["plain-1002", "context-create"]
  examples = [
    "[ERROR] [Qnn ExecuTorch]:  <E> Failed to initialize graph memory",
    "[ERROR] [Qnn ExecuTorch]:  <E> Failed to initialize graph with id 256 context 2 deviceId 0 coreId 0 pdId 0 with err 1002",
    "[ERROR] [Qnn ExecuTorch]:  <E> Context create from binary failed for deviceId 0 coreId 0 pdId 0 err 1002",
  ]
}

failure "op-datatypes-differ" {
  where    = ["tool", "device"]
  patterns = ["Tensor (?P<a>[0-9]+) and (?P<b>[0-9]+) have mismatching datatypes[.] (?P<have>0x[0-9a-f]+) != (?P<want>0x[0-9a-f]+)"]
  cause    = "An op's input and output have different data types ({have} and {want}), where QNN wants one: a quantized tensor beside a float one (0x408 is unsigned 8 bits quantized, 0x232 is float32)."
  remedy   = "Quantize both sides of the op alike, or leave the op and its neighbors in floats."
  source   = "pytorch/executorch#1182"
  explains = ["op-validation", "op-refused"]
  examples = ["[ERROR]Tensor 0 and 0 have mismatching datatypes. 0x408 != 0x232.\n[ERROR]Op specific validation failed."]
}

failure "op-refused" {
  where    = ["tool", "device"]
  patterns = ["validateNativeOps master op validator (?P<op>[^ :]+)", "Failed to validate op (?P<op>[^ ]+) with error", "Failed QNN validation for (?P<op>[^ ]+) with error", "Qnn Backend op validation failed with error: (?P<op>[0-9]+)"]
  rank     = "symptom"
  cause    = "QNN does not take the op {op} as it is used: its data types, shape or parameters are not in the back end's list."
  remedy   = "Look at the line before it, which names the parameter. Change the op's types or shape; a partitioner leaves it on the CPU, so that nothing else is to be done if the run goes on."
  source   = "pytorch/executorch#1182; powerserve-project/PowerServe#14; UbiquitousLearning/mllm#211"
  explains = ["op-validation"]
  examples = [
    "[ERROR]QnnDsp <E> validateNativeOps master op validator aten_select_copy_int_36:qti.aisw:StridedSlice failed 3110",
    "[ERROR]QnnDsp <E> Failed to validate op aten_linear_default_47 with error 0xc26",
    "Failed QNN validation for /layers.0/attn/core/Transpose with error",
    "[WARNING][Qnn ExecuTorch] Qnn Backend op validation failed with error: 3110",
  ]
}

failure "qnn-open" {
  where    = ["device", "logcat"]
  patterns = ["qnn_open failed, (?P<code>0x(?:ffffffff|800004[0-9a-f]{2}))", "DspTransport failed, ?cannot open session", "Error from rpc transport[.] transportStatus", "Failed to retrieve skel build id: err: (?P<code>1003)"]
  rank     = "symptom"
  cause    = "libQnnHtp.so could not open its skel on the DSP."
  remedy   = "Look at adsprpc's lines in logcat (on Linux, fastrpc's in the journal). Push stub and skel of one SDK and of the device's arch, set ADSP_LIBRARY_PATH to their folder, and reboot if it worked before."
  source   = "pytorch/executorch#7492; UbiquitousLearning/mllm#272"
  explains = ["skel-step", "transport-4000", "platform-info", "device-create", "skel-mismatch", "context-create"]
  examples = [
    "[ERROR] [Qnn ExecuTorch]:  <E> DspTransport.openSession qnn_open failed, 0x80000416\n[ERROR] [Qnn ExecuTorch]:  <E> IDspTransport: Unknown rpc status 0x00000016",
    "     0.0ms [ ERROR ] QnnDsp <E> DspTransport.openSession qnn_open failed, 0xffffffff, prio 100\n     0.0ms [ ERROR ] QnnDsp <E> DspTransport failed,cannot open session, error 0xffffffff\n     0.0ms [ ERROR ] QnnDsp <E> Error from rpc transport. transportStatus = -1\n     0.0ms [ ERROR ] QnnDsp <E> Failed to retrieve skel build id: err: 1003\n     0.0ms [ ERROR ] QnnDsp <E> Error in verify skel version\n     0.0ms [ ERROR ] QnnDsp <E> Failed to create transport for device, error: 4000",
    "     0.0ms [ ERROR ] QnnDsp <E> DspTransport failed,cannot open session, error 0xffffffff",
    "     0.0ms [ ERROR ] QnnDsp <E> Error from rpc transport. transportStatus = -1",
    "     0.0ms [ ERROR ] QnnDsp <E> Failed to retrieve skel build id: err: 1003",
  ]
}

failure "htp-start" {
  where    = ["device", "logcat"]
  patterns = ["Htp startup on load failed", "Provider initialization failed, unable to detect platform info", "Failed to get HTP platform info"]
  rank     = "consequence"
  cause    = "libQnnHtp.so could not start: it does not know the SoC, or did not reach the DSP."
  remedy   = "Look at the first line with <E> above it."
  source   = "argmaxinc/WhisperKitAndroid#58"
  explains = ["tflite-delegate"]
  examples = [
    "QnnDsp                  com.whispertflite                    E   <E> Htp startup on load failed",
    "QnnDsp                  com.whispertflite                    E   <E> Provider initialization failed, unable to detect platform info",
    "tflite                  com.whispertflite                    E  Failed to get HTP platform info. Error 1100",
  ]
}

failure "converter-crash" {
  where    = ["tool"]
  patterns = ["Encountered Error: map::at"]
  cause    = "The converter looked for an encoding or tensor that the model does not have: the encodings file names other tensors, or is of a kind that this release of QAIRT does not write (block-wise in a .cpp)."
  remedy   = "Use qairt-converter (DLC) in the place of qnn-onnx-converter for block-wise encodings, with a release of QAIRT that the recipe names, and export model and encodings together."
  source   = "qualcomm/aimet#4091"
  explains = ["genie-config"]
  examples = ["2026-04-14 08:33:16,216 - 273 - ERROR - Encountered Error: map::at:  key not found"]
}

failure "hub-tool" {
  where    = ["tool"]
  patterns = ["QAIRT (?P<tool>converter|quantizer|context binary generator) failed with exit code (?P<code>[0-9]+)", "^(?:\\[[A-Z]+\\] )?Internal compiler error[.]?$"]
  rank     = "symptom"
  cause    = "A tool of QAIRT failed in a job of Qualcomm AI Hub."
  remedy   = "Open the job's page and look in its log for the first ERROR above the line. Compile with another --qairt_version, or run the command of the log on a machine of your own."
  source   = "qualcomm/ai-hub-models#231, #223, #312"
  examples = ["QAIRT converter failed with exit code 1", "QAIRT quantizer failed with exit code 1", "Internal compiler error"]
}

failure "mnn-op" {
  where    = ["tool", "device"]
  patterns = ["MNN_QNN: Not registered type (?P<type>[0-9]+), (?P<node>[^ ]+)"]
  cause    = "MNN's QNN back end has no op of type {type} ({node})."
  remedy   = "Update MNN, export a model without that op (another attention kind), or keep that part on the CPU."
  source   = "alibaba/MNN#4475"
  examples = ["MNN_QNN: Not registered type 305, /layers.0/self_attn/FusedLinearAttention."]
}

failure "snpe-validator" {
  where    = ["device"]
  patterns = ["PF_VALIDATOR: ERROR: -[0-9]+ ?[.] Error while executing the sum function", "(?:SNPE|QNN) is NOT supported for runtime [A-Z]+ on the device", "PF_VALIDATOR: ERROR: Please use testsig if using unsigned images"]
  cause    = "The validator's code could not run on the DSP: its skel is not found, or the image wants a signed domain."
  remedy   = "Set ADSP_LIBRARY_PATH to the folder with the skels of the DSP's arch. If it stays so, install a test signature for this device (elfsigner of the Hexagon SDK), or run as a user who may open an unsigned domain."
  source   = "hisrg/SNPE#1; quic/sample-apps-for-robotics-platforms#59"
  explains = ["platform-validator-sum"]
  examples = [
    "PF_VALIDATOR: ERROR: -2 . Error while executing the sum function.\nPF_VALIDATOR: ERROR: Please use testsig if using unsigned images.\nUnit Test on the runtime DSP: Failed.",
    "SNPE is NOT supported for runtime DSP on the device.",
    "PF_VALIDATOR: ERROR: Please use testsig if using unsigned images.",
  ]
}

failure "qnn-function-pointers" {
  where    = ["device", "tool"]
  patterns = ["Error initializing QNN Function Pointers"]
  rank     = "consequence"
  cause    = "The program found no interface in the QNN library that it can use."
  remedy   = "Look at the line before it. Use QNN libraries of the release that the program was built with."
  source   = "qualcomm/qai-appbuilder#8"
  examples = ["    46.9ms [^main][19668][ ERROR ] Error initializing QNN Function Pointers"]
}

failure "hub-time-limit" {
  where    = ["tool", "device"]
  patterns = ["The process ended because it exceeded the maximum execution time"]
  cause    = "The job's time limit ended the program on the device: it was too slow, or waited for something that did not come. The stack after the line tells where."
  remedy   = "Look at the stack: ioctl in libcdsprpc.so is a DSP that does not answer. Try fewer iterations, a smaller model, another device or another QAIRT release."
  source   = "qualcomm/ai-hub-models#174"
  examples = ["The process ended because it exceeded the maximum execution time. The following is the suspected stack trace."]
}

failure "hub-checkpoint" {
  where    = ["tool"]
  patterns = ["No checkpoint is available for this model in (?P<precision>[a-z0-9_]+) precision"]
  cause    = "AI Hub Models has no quantized checkpoint of this model in {precision}."
  remedy   = "Choose a precision that the message lists, or make a checkpoint first (the model's quantize.py, with a GPU) and pass its folder with --checkpoint."
  source   = "qualcomm/ai-hub-models#316"
  examples = ["ValueError: No checkpoint is available for this model in w4a16 precision. If you would like to continue with this precision, please generate a local quantized checkpoint."]
}
