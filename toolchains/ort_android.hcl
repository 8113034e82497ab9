# ONNX Runtime for Android, and Qualcomm's execution provider for it, a library of its own. Both are under MIT's license; Qualcomm's libraries that the provider loads
# are QAIRT's. They are AARs, whose libraries for arm64 lie where Android's own layout has them. Module onnx-device also takes a folder with such libraries.
#
# The provider's page says what goes with what: 2.5.0 and newer with ONNX Runtime 1.26 and newer. hexmage's developers have not fetched the AARs: sizes and
# digests are those that other projects publish.

toolchain "ort_android" {
  description   = "ONNX Runtime for Android"
  license       = "MIT"
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
      size         = 44532227
      sha256       = "077dec5e2d821234c7dc0aba584bec8f999854b546c754cab93a90741c56fbeb"
    }
    fact "digest" {
      confidence = "observed"
      source     = "several unrelated projects that pin it, such as Telosnex/fonnx"
    }
  }
}

toolchain "ort_qnn_android" {
  description   = "ONNX Runtime's QNN execution provider for Android, a plug-in"
  license       = "MIT"
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
      size         = 1595551
      sha256       = "169add91932e27196e0ab704f53fe8cd517af3ecee0d4a73fbf14513ab4551a6"
    }
    fact "digest" {
      confidence = "inferred"
      source     = "one project's report of a run on SM8650, whose digest of onnxruntime-android 1.27.0 is that of the others"
    }
  }
}
