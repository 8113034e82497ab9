# The Android NDK: AArch64 compiler and headers for what runs on the phone's CPU.

fact "ndk" "version" {
  confidence = "documented"
  source     = "Google: repository2-3.xml"
}

fact "ndk" "digest" {
  confidence = "documented"
  source     = "Google: repository2-3.xml"
}

toolchain "ndk" {
  description   = "Android NDK"
  download_page = "https://developer.android.com/ndk/downloads"
  default       = "r28b"

  env "ANDROID_NDK_ROOT" {
    value = "${root}"
  }
  env "ANDROID_NDK_HOME" {
    value = "${root}"
  }
  env "ANDROID_NDK_PATH" {
    value = "${root}"
  }

  verify {
    layout = [
      "source.properties",
      "build/cmake/android.toolchain.cmake",
      "toolchains/llvm/prebuilt/linux-x86_64/bin/clang++",
      "toolchains/llvm/prebuilt/linux-x86_64/sysroot/usr/include",
    ]
    identity = true
    elf "toolchains/llvm/prebuilt/linux-x86_64/sysroot/usr/lib/aarch64-linux-android/libc++_shared.so" {
      machine = 183
    }
    elf "toolchains/llvm/prebuilt/linux-x86_64/lib/clang/*/lib/linux/aarch64/libomp.so" {
      machine = 183
    }
  }

  source "archive" {
    urls         = ["https://dl.google.com/android/repository/android-ndk-${version}-linux.zip"]
    strip_prefix = "android-ndk-${version}"
    case_matters = true # Linux has headers such as xt_MARK.h and xt_mark.h
  }
  source "installed" {
    env   = ["ANDROID_NDK_ROOT", "ANDROID_NDK_HOME", "ANDROID_NDK_PATH", "ANDROID_NDK", "ANDROID_NDK_LATEST_HOME"]
    paths = ["~/Android/Sdk/ndk/${revision}", "/opt/ndk/android-ndk-${version}", "/opt/android-ndk-${version}"]
  }

  release "r25c" {
    revision = "25.2.9519653"
    source "archive" {
      size = 531118193
      sha1 = "53af80a1cce9144025b81c78c8cd556bff42bd0e"
    }
  }

  release "r26c" { # what sdk.yaml of QAIRT 2.25 names
    revision = "26.2.11394342"
    source "archive" {
      size = 668556021
      sha1 = "7faebe2ebd3590518f326c82992603170f07c96e"
    }
  }

  release "r26d" {
    revision = "26.3.11579264"
    source "archive" {
      sha1   = "fcdad75a765a46a9cf6560353f480db251d14765"
      sha256 = "eefeafe7ccf177de7cc57158da585e7af119bb7504a63604ad719e4b2a328b54"
    }
  }

  release "r27c" {
    revision = "27.2.12479018"
    source "archive" {
      size   = 663987688
      sha1   = "090e8083a715fdb1a3e402d0763c388abb03fb4e"
      sha256 = "59c2f6dc96743b5daf5d1626684640b20a6bd2b1d85b13156b90333741bad5cc"
    }
  }

  release "r27d" {
    revision = "27.3.13750724"
    source "archive" {
      sha1 = "22105e410cf29afcf163760cc95522b9fb981121"
    }
  }

  # From r28 on libraries are linked for pages of 16 KB.
  release "r28b" {
    revision = "28.1.13356709"
    source "archive" {
      sha1 = "f574d3165405bd59ffc5edaadac02689075a729f"
    }
    source "embedded" {}
  }

  release "r28c" {
    revision = "28.2.13676358"
    source "archive" {
      sha1 = "a7b54a5de87fecd125a17d54f73c446199e72a64"
    }
  }

  release "r29" {
    revision = "29.0.14206865"
    source "archive" {
      size = 783549481
      sha1 = "87e2bb7e9be5d6a1c6cdf5ec40dd4e0c6d07c30b"
    }
  }

  release "r30" {
    revision = "30.0.16248370"
    source "archive" {
      size = 738633529
      sha1 = "5107f898313790e449e87eee2183d9a20602dee9"
    }
  }
}
