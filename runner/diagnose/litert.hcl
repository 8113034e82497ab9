# LiteRT and LiteRT-LM with Qualcomm's dispatch library.

failure "litert-dispatch-version" {
  where    = ["device"]
  patterns = ["Failed to initialize Dispatch API"]
  cause    = "The runner and libLiteRtDispatch_Qualcomm.so are of different commits, so the dispatch library's interface has another version."
  remedy   = "Build the runner and the dispatch library from the same commit, or take both from one release of LiteRT."
  source   = "google-ai-edge/LiteRT#6059"
  explains = ["litert-no-dispatch"]
  examples = ["ERROR: [dispatch_delegate.cc:114] Failed to initialize Dispatch API: ERROR: [litert/runtime/dispatch/dispatch_delegate.cc:179]\nERROR: [dispatch_delegate.cc:129] Failed to create a dispatch delegate kernel: No usable Dispatch runtime found"]
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
  patterns = ["No usable Dispatch runtime found"]
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
