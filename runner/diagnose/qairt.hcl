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
  remedy   = "The lines around it list the combinations that exist: choose one of these for the op's inputs and outputs."
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
  remedy   = "The line above says why the DLC's cache was not taken."
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
