# LiteRT and LiteRT-LM with Qualcomm's dispatch library.

failure "litert-dispatch-start" {
  where    = ["device"]
  patterns = ["Failed to initialize Dispatch API"]
  rank     = "symptom"
  cause    = "LiteRT could not start its dispatch library: the library or one that it needs does not load, or it is of another commit than the runner."
  remedy   = "Look for a line with dlopen or Qnn above it. Without one, check that libLiteRtDispatch_Qualcomm.so and QNN's libraries are in the folder that the program names, and take runner and dispatch library from one release."
  source   = "google-ai-edge/LiteRT#6059; google-ai-edge/LiteRT-LM#1466, #3168"
  explains = ["litert-no-dispatch", "litert-accelerator"]
  examples = [
    "ERROR: [dispatch_delegate.cc:114] Failed to initialize Dispatch API: ERROR: [litert/runtime/dispatch/dispatch_delegate.cc:179]\nERROR: [dispatch_delegate.cc:129] Failed to create a dispatch delegate kernel: No usable Dispatch runtime found",
    "NPU accelerator could not be loaded: kLiteRtStatusErrorInvalidArgument\nFailed to initialize Dispatch API",
  ]
}

failure "qnn-library-too-old" {
  where    = ["device"]
  patterns = ["Qnn (?P<lib>[A-Za-z]*) library version (?P<have>[0-9.]+[0-9]) is mismatched[.] The minimum supported version is (?P<want>[0-9.]+[0-9])"]
  cause    = "libQnn{lib}.so has version {have} and is too old: the dispatch library wants {want} or newer."
  remedy   = "Push libQnn{lib}.so and the other QNN libraries of the QAIRT release that the dispatch library was built with, and put their folder first in LD_LIBRARY_PATH."
  source   = "google-ai-edge/LiteRT-LM#2226"
  explains = ["litert-no-dispatch", "litert-qnn-manager"]
  examples = ["E litert  : [qnn_manager.cc:349] Qnn System library version 1.8.0 is mismatched. The minimum supported version is 1.11.0. Please make sure you have the correct library version."]
}

failure "litert-qnn-manager" {
  where    = ["device"]
  patterns = ["Failed to set up QNN manager"]
  rank     = "symptom"
  cause    = "LiteRT's dispatch library could not start QNN."
  remedy   = "Look for the first error above it: usually a library of QNN is missing, or is of another release."
  source   = "google-ai-edge/LiteRT-LM#2226"
  explains = ["litert-no-dispatch"]
  examples = ["E litert  : [dispatch_api.cc:139] Failed to set up QNN manager"]
}

failure "litert-no-dispatch" {
  where    = ["device"]
  patterns = ["No usable Dispatch runtime"]
  rank     = "consequence"
  cause    = "LiteRT found no dispatch library that works, so the NPU is not used."
  remedy   = "Look for the first error above it. Without one: libLiteRtDispatch_Qualcomm.so is not in the folder that the runner was given."
  source   = "google-ai-edge/LiteRT#6059"
  examples = ["E litert  : [dispatch_delegate.cc:131] Failed to create a dispatch delegate kernel: No usable Dispatch runtime found"]
}

failure "context-binary-version" {
  where    = ["device", "tool"]
  patterns = ["Unsupported context binary version"]
  cause    = "The context was compiled with another QAIRT release than the one whose libraries load it."
  remedy   = "Push the libraries of the release that compiled the context, or compile the context again with the release that is on the device. `hexmage inspect FILE` names the release of a context."
  source   = "google-ai-edge/LiteRT#6889"
  explains = ["context-create"]
  examples = ["E litert  : Failed to create context from context binary: Unsupported context binary version."]
}

failure "litert-dispatch-library" {
  where    = ["device", "logcat"]
  patterns = ["No dispatch library found in (?P<folder>[^ ,]+)"]
  cause    = "LiteRT looked for libLiteRtDispatch_Qualcomm.so in {folder} and did not find it there. In an app, libraries stay inside the APK unless legacy packaging is on."
  remedy   = "Push the library into that folder, or pass the folder that has it. In an app set android.packaging.jniLibs.useLegacyPackaging = true and give nativeLibraryDir."
  source   = "google-ai-edge/LiteRT-LM#2020; google-ai-edge/LiteRT#5592"
  explains = ["litert-dispatch-start", "litert-no-dispatch", "litert-accelerator"]
  examples = ["E litert  : [litert_dispatch.cc:109] No dispatch library found in /data/user/0/com.example.fastvlm/files\nE litert  : [dispatch_delegate.cc:115] Failed to initialize Dispatch API: ERROR: [third_party/odml/litert/litert/runtime/dispatch/dispatch_delegate.cc:176]"]
}

failure "litert-accelerator" {
  where    = ["device", "logcat"]
  patterns = ["(?P<kind>NPU|GPU) accelerator could not be loaded(?: and registered)?: (?P<status>kLiteRtStatus[A-Za-z]+)"]
  severity = "warning"
  cause    = "LiteRT has no {kind} accelerator in this process ({status}): its library was not found, or the program named no folder for it."
  remedy   = "Pass the folder of the dispatch library (and of the accelerator's library). If the model runs on another processor, leave it."
  source   = "google-ai-edge/LiteRT-LM#1377"
  examples = ["WARNING: [auto_registration.cc:67] NPU accelerator could not be loaded and registered: kLiteRtStatusErrorInvalidArgument."]
}

failure "litert-apply-plugin" {
  where    = ["tool"]
  patterns = ["Skipping failed compilation for (?P<target>[A-Za-z0-9_]+)[.] Error: apply_plugin failed"]
  cause    = "LiteRT's compiler plugin could not compile the model for {target}. The file that the line names has its log."
  remedy   = "Open that file and look for the first error: often a library of the plugin is missing on this machine (libc++.so.1, the QAIRT SDK)."
  source   = "google-ai-edge/LiteRT#4854"
  examples = [
    "Skipping failed compilation for Qualcomm_SA8255. Error: apply_plugin failed to apply plugin. See /tmp/tmpxuci28um for details.",
    "Skipping failed compilation for MediaTek_MT6853_ANDROID_15. Error: apply_plugin failed to apply plugin. See /tmp/tmpsu0xzt6q for details.",
  ]
}

failure "litert-engine" {
  where    = ["device", "logcat"]
  patterns = ["(?i)Failed to create engine"]
  rank     = "consequence"
  cause    = "LiteRT-LM could not load the model on the chosen processor."
  remedy   = "Look for the first error above it. Without one, try Backend.CPU: if that works, the model file is not for this device's NPU or GPU."
  source   = "google-ai-edge/gallery#557"
  examples = ["INTERNAL: Failed to create engine"]
}

failure "tflite-nothing-delegated" {
  where    = ["device", "logcat"]
  patterns = ["QnnDelegate delegate: 0 nodes delegated", "Though EXTERNAL delegate is explicitly applied, the model graph will not be executed by the delegate"]
  cause    = "The QNN delegate took no node of the model, so all of it runs on the CPU."
  remedy   = "Choose the backend that fits the model: backend_type:htp for quantized models, gpu for floats. Then look at the delegate's log (log_level:verbose) for the reason."
  source   = "tensorflow/tensorflow#83344"
  examples = [
    "INFO: TfLiteQnnDelegate delegate: 0 nodes delegated out of 31 nodes with 0 partitions.",
    "INFO: Though EXTERNAL delegate is explicitly applied, the model graph will not be executed by the delegate.",
  ]
}

failure "tflite-delegate" {
  where    = ["device", "logcat"]
  patterns = ["Failed to apply (?P<name>[A-Za-z]* ?)delegate", "Error applying delegate", "Restored original execution plan after delegate application failure"]
  rank     = "consequence"
  cause    = "The delegate could not take the model. TensorFlow Lite goes on with the CPU, or the program ends."
  remedy   = "Look for the delegate's own error above it. Without one, the delegate does not take the model's operations or dynamic shapes: choose another delegate, or convert the model with fixed shapes."
  source   = "argmaxinc/WhisperKitAndroid#58, mlperf/mobile_app#116, MichaelMcCulloch/WhisperVoiceKeyboard#12"
  examples = [
    "tflite  : Restored original execution plan after delegate application failure.",
    "Failed to apply delegate",
    "java.lang.IllegalArgumentException: Internal error: Error applying delegate:",
  ]
}

failure "nnapi-driver" {
  where    = ["device", "logcat"]
  patterns = ["NN API returned error (?P<code>ANEURALNETWORKS_[A-Z_]+)", "on (?P<code>qti-[a-z]+) failed because the PreparedModel object is dead", "The model cannot run using current set of target devices"]
  cause    = "The phone's NNAPI driver failed or does not take the model. NNAPI is deprecated since Android 15, and these drivers get no more updates."
  remedy   = "Use the QNN delegate or the QNN execution provider in the place of NNAPI, or run the model on the CPU or GPU."
  source   = "tensorflow/tensorflow#56457; microsoft/onnxruntime#12793"
  explains = ["nnapi-op"]
  examples = [
    "E/tflite: NN API returned error ANEURALNETWORKS_DEAD_OBJECT at line 4662 while completing NNAPI compilation.",
    "E/VersionedInterfaces: prepareModel_1_3 on qti-dsp failed because the PreparedModel object is dead",
    "The model cannot run using current set of target devices, [Name: [qti-default], Type [4]], [Name: [qti-dsp], Type [4]], [Name: [qti-gpu], Type [3]], [Name: [qti-hta], Type [4]]",
  ]
}

failure "nnapi-op" {
  where    = ["device", "logcat"]
  patterns = ["-unnhal: [{](?P<op>[A-Z0-9_]+), (?P<type>[A-Z0-9_]+)[}] is not supported"]
  severity = "warning"
  cause    = "The NNAPI driver has no {op} for {type}, so another driver or the CPU runs it."
  remedy   = "Leave it if the speed is right. Otherwise use the QNN delegate, which knows more ops."
  source   = "tensorflow/tensorflow#43541"
  examples = ["2020-09-24 20:54:57.028 12125-12127/? E/hta-unnhal: {CONVOLUTION_2D, TENSOR_QUANT8} is not supported."]
}

failure "litert-part-missing" {
  where    = ["device", "logcat"]
  patterns = ["NOT_FOUND: (?P<part>TF_LITE_[A-Z_]+) not found in the model"]
  cause    = "The model file has no part {part}, which the chosen back end needs: models for the NPU have parts that those for CPU and GPU lack, and the reverse."
  remedy   = "Choose the back end that the file was made for (CPU or GPU for a plain .litertlm), or download the file that names this device's SoC."
  source   = "jegly/Box#25"
  explains = ["litert-engine"]
  examples = ["Failed to create engine: NOT_FOUND: TF_LITE_AUX not found in the model."]
}
