# ONNX Runtime for Android, and Qualcomm's execution provider for it, a library of its own. Both are under MIT's licence; Qualcomm's libraries that the provider loads
# are QAIRT's. They are AARs, whose libraries for arm64 lie where Android's own layout has them. Module onnx-device also takes a folder with such libraries.
#
# The provider's page says what goes with what: 2.5.0 and newer with ONNX Runtime 1.26 and newer. Nobody has fetched them where hexmage is developed.

toolchain "ort_android" {
  description   = "ONNX Runtime for Android"
  licence       = "MIT"
  download_page = "https://onnxruntime.ai/docs/install/#install-on-android"
  default       = "1.27.0"

  verify {
    layout = ["libonnxruntime.so"]
    elf "libonnxruntime.so" {
      machine    = 183
      not_needed = ["libc.so.6", "libstdc++.so.6", "ld-linux-*"] # of Linux on the same processor
    }
  }

  release "1.27.0" {
    source "maven" {
      coordinates  = "com.microsoft.onnxruntime:onnxruntime-android:1.27.0"
      strip_prefix = "jni/arm64-v8a"
      only         = ["*.so"]
    }
  }
}

toolchain "ort_qnn_android" {
  description   = "ONNX Runtime's QNN execution provider for Android, a plug-in"
  licence       = "MIT"
  download_page = "https://github.com/onnxruntime/onnxruntime-qnn"
  default       = "2.6.0"

  verify {
    layout = ["libonnxruntime_providers_qnn.so"]
    elf "libonnxruntime_providers_qnn.so" {
      machine    = 183
      not_needed = ["libc.so.6", "libstdc++.so.6", "ld-linux-*"]
    }
  }

  release "2.6.0" {
    source "maven" {
      coordinates  = "com.qualcomm.qti:onnxruntime-android-qnn:2.6.0"
      strip_prefix = "jni/arm64-v8a"
      only         = ["*.so"]
    }
  }
}
