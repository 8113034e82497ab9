# QAIRT (QNN): headers and libraries for op packages, the context compiler, the runtime.
#
# The pages with the downloads have no digests. Qualcomm's Yocto layer meta-qcom pins those of four releases, and others have
# published what they got; `hexmage lock` pins the rest on first use. Both hosts serve the same file; they refuse HEAD requests
# and programs that do not look like a browser, and break HTTP/2 streams.

fact "release" "version" {
  confidence = "observed"
  source     = "the release itself, or scripts, issues and lists of SDKs that name it"
}

fact "release" "build_id" {
  confidence = "observed"
  source     = "libraries of the release, and contexts that it made"
}

fact "release" "arches" {
  confidence = "observed"
  source     = "what is in the release"
}

fact "release" "core_api" {
  confidence = "observed"
  source     = "published copies of its headers, and contexts that it made"
}

fact "release" "htp_api" {
  confidence = "observed"
  source     = "published copies of its headers, and contexts that it made"
}

fact "release" "system_api" {
  confidence = "observed"
  source     = "published copies of its headers, and its libraries"
}

fact "release" "context_blob" {
  confidence = "observed"
  source     = "contexts that it made"
}

fact "release" "tools_version" {
  confidence = "observed"
  source     = "what people have found in the SDK"
}

fact "release" "revision" {
  confidence = "documented"
  source     = "the release's own files"
}

fact "release" "digest" {
  confidence = "observed"
  source     = "third parties that publish what they got"
}

fact "qairt" "digest" {
  confidence = "documented"
  source     = "Qualcomm: meta-qcom, recipes-ml/qairt"
}

toolchain "qairt" {
  description   = "Qualcomm AI Runtime SDK (QNN)"
  download_page = "https://softwarecenter.qualcomm.com/catalog/item/Qualcomm_AI_Runtime_Community"
  license       = "free of charge, no account; downloading accepts the license on that page"
  default       = "2.41.0.251128"

  # What bin/envsetup.sh sets, and QAIRT_SDK_ROOT, which makefiles and newer documents use.
  env "QNN_SDK_ROOT" {
    value = "${root}"
    when  = "include/QNN"
  }
  env "QAIRT_SDK_ROOT" {
    value = "${root}"
  }
  env "SNPE_ROOT" {
    value = "${root}"
    when  = "include/SNPE"
  }
  env "HEXAGON_TOOLS_DIR" {
    value = "${root}/bin/x86_64-linux-clang"
    when  = "bin/x86_64-linux-clang/hexagon-*"
  }
  env "PATH" {
    value   = "${root}/bin/x86_64-linux-clang"
    prepend = true
  }
  env "LD_LIBRARY_PATH" {
    value   = "${root}/lib/x86_64-linux-clang"
    prepend = true
  }
  env "PYTHONPATH" {
    value   = "${root}/benchmarks/QNN/:${root}/lib/python/"
    prepend = true
  }

  # A phone needs these to run a context on its HTP: backend, system, and for its arch the stub on the CPU's side and the skel on the Hexagon's. If the phone
  # compiles graphs or loads op packages, it also needs libQnnHtpPrepare.so.
  push_set "htp_runtime" {
    for_each = "arch"
    files = {
      "libQnnHtp.so"            = "lib/aarch64-android/libQnnHtp.so"
      "libQnnSystem.so"         = "lib/aarch64-android/libQnnSystem.so"
      "libQnnHtpV{arch}Stub.so" = "lib/aarch64-android/libQnnHtpV{arch}Stub.so"
      "libQnnHtpV{arch}Skel.so" = "lib/hexagon-v{arch}/unsigned/libQnnHtpV{arch}Skel.so"
    }
  }

  verify {
    layout = [
      "sdk.yaml",
      "bin/envsetup.sh",
      "include/QNN/QnnTypes.h",
      "include/QNN/QnnSdkBuildId.h",
      "include/QNN/HTP/core/tensor.h",
      "lib/aarch64-android/libQnnHtp.so",
      "lib/aarch64-android/libQnnHtpPrepare.so",
      "lib/aarch64-android/libQnnSystem.so",
      "lib/aarch64-android/libQnnHtpV{arch}Stub.so",
      "lib/hexagon-v{arch}/unsigned/libQnnHtpV{arch}Skel.so",
      "lib/x86_64-linux-clang/libQnnHtp.so",
    ]
    # Another SDK that was unpacked into this one.
    absent   = ["*/sdk.yaml", "qairt/*/sdk.yaml"]
    identity = true
    elf "lib/aarch64-android/*.so" {
      machine    = 183
      not_needed = ["libc.so.6", "libstdc++.so.6", "ld-linux-*"] # of the folders for other Linux systems on the same processor
    }
    elf "lib/aarch64-android/libQnn*.so" {
      machine = 183
      soname  = true
    }
    elf "lib/x86_64-linux-clang/*.so" {
      machine = 62
    }
    elf "lib/hexagon-v*/unsigned/*.so" {
      machine = 164
    }
    elf "lib/hexagon-v*/unsigned/libQnnHtpV*.so" {
      machine = 164
      flags   = "folder"
      soname  = true
    }
    build_id {
      files = [
        "include/QNN/QnnSdkBuildId.h",
        "lib/aarch64-android/lib{Qnn,Genie}*.so",
        "lib/hexagon-v*/unsigned/libQnn*.so",
        "lib/x86_64-linux-clang/lib{Qnn,Genie,HtpPrepare}*.so",
      ]
    }
  }

  # The address answers GET but not HEAD, only to browsers, and drops HTTP/2 streams.
  source "archive" {
    urls = [
      "https://softwarecenter.qualcomm.com/api/download/software/sdks/Qualcomm_AI_Runtime_Community/All/${version}/v${version}.zip",
      "https://apigwx-aws.qualcomm.com/qsc/public/v1/api/download/software/sdks/Qualcomm_AI_Runtime_Community/All/${version}/v${version}.zip",
    ]
    strip_prefix = "qairt/${version}"
    user_agent   = "Mozilla/5.0"
  }
  # The same archive through Qualcomm's client, which needs an account: for a toolchain block with source = "qsc".
  source "qsc" {
    product      = "Qualcomm_AI_Runtime_Community"
    strip_prefix = "qairt/${version}"
  }
  source "installed" {
    env   = ["QAIRT_SDK_ROOT", "QNN_SDK_ROOT"]
    paths = ["/opt/qcom/aistack/qairt/${version}", "~/qairt/${version}"]
  }

  # Full versions that are known to have been published; there may be others. Version numbers of interfaces are those of the SDK's
  # headers, as far as somebody has published them. Arches stand where somebody has listed what is in a release; for the others the archs'
  # records say it. 2.51.40 is only known from the version of a Python package, and is not here. A ".40" is an additional build of a release,
  # and need not be its newest: 2.49.1.260821 is newer than 2.49.40.260810.

  release "2.13.0.230725" {
    arches       = ["v68", "v69", "v73"]
    core_api     = "2.7.2"
    htp_api      = "5.13.0"
    context_blob = "3.0.0"
    note         = "under the older name of the SDK, QNN; not known to be at the addresses of the newer ones"
  }

  release "2.20.0.240223" {
    core_api = "2.14.0"
    htp_api  = "5.20.0"
    fact "htp_api" {
      confidence = "inferred"
      source     = "the rule that its minor version is the SDK's"
    }
  }

  release "2.22.6.240515" {
    core_api     = "2.15.0"
    htp_api      = "5.22.0"
    context_blob = "3.1.1"
  }

  release "2.25.0.240728" {
    build_id     = "v2.25.0.240728104910_97711"
    arches       = ["v68", "v69", "v73", "v75"]
    core_api     = "2.18.0"
    htp_api      = "5.25.0"
    context_blob = "3.2.0"
  }

  release "2.25.5.240807" {
    core_api     = "2.18.0"
    htp_api      = "5.25.0"
    context_blob = "3.2.0"
    fact "core_api" {
      confidence = "inferred"
      source     = "those of 2.25.0"
    }
    fact "htp_api" {
      confidence = "inferred"
      source     = "those of 2.25.0"
    }
    fact "context_blob" {
      confidence = "inferred"
      source     = "those of 2.25.0"
    }
  }

  release "2.26.0.240828" {}

  release "2.28.0.241029" {
    htp_api = "5.27.0" # not 5.28
    fact "htp_api" {
      confidence = "documented"
      source     = "Qualcomm 80-63442-10: API version history"
    }
  }

  release "2.28.2.241116" {}

  release "2.29.0.241129" {}

  release "2.31.0.250130" {
    source "embedded" {}
  }

  release "2.32.0.250228" {
    build_id = "v2.32.0.250228225014_116386"
    fact "version" {
      confidence = "observed"
      source     = "ai-hub-models#193, with its address"
    }
  }

  release "2.33.0.250327" {
    # 5.32, an exception from the rule
    core_api     = "2.24.0"
    htp_api      = "5.32.0"
    context_blob = "3.2.2"
  }

  release "2.34.0.250424" {
    build_id     = "v2.34.0.250424201103_119471"
    core_api     = "2.25.0"
    htp_api      = "5.34.0"
    context_blob = "3.2.3"
  }

  release "2.35.0.250530" {}

  release "2.36.0.250627" {}

  release "2.36.1.250708" {
    core_api     = "2.27.0"
    htp_api      = "5.36.0"
    context_blob = "3.2.3"
    system_api   = "1.4.0"
  }

  release "2.37.0.250724" {
    build_id     = "v2.37.0.250724175447_124859"
    core_api     = "2.27.0"
    htp_api      = "5.37.0"
    context_blob = "3.3.3"
    source "embedded" {}
  }

  release "2.37.1.250807" {}

  release "2.38.0.250901" {}

  release "2.39.0.250926" {
    htp_api = "5.39.0"
  }

  release "2.40.0.251030" {
    build_id     = "v2.40.0.251030114326_189385"
    core_api     = "2.30.0"
    htp_api      = "5.40.0"
    context_blob = "3.3.3"
  }

  release "2.40.1.251119" {
    note = "withdrawn by Qualcomm; it had been for accounts only"
    source "qpm" {
      product = "Qualcomm_AI_Runtime_SDK"
    }
    fact "version" {
      confidence = "documented"
      source     = "Qualcomm: ai-hub-apps, SuperResolution, which wants it for SM8850"
    }
  }

  release "2.41.0.251128" {
    source "embedded" {}
    source "archive" {
      sha256 = "c6306f7d70457e4d8736416bb406d8670f5186fb648dd6808db24e9b2176c28d"
    }
  }

  release "2.42.0.251225" {
    # 5.41, an exception from the rule
    build_id = "v2.42.0.251225135753_193295"
    core_api = "2.32.0"
    htp_api  = "5.41.0"
    source "embedded" {}
    source "archive" {
      size   = 1543955191
      sha256 = "1a744ed72a813fc9dd4a29e31b1685f784786102fd45414d74915bb3351ae321"
    }
    fact "digest" {
      confidence = "observed"
      source     = "qairt-sdk-archive"
    }
  }

  release "2.43.0.260128" {
    source "archive" {
      sha256 = "e3fce35419310bf80aa2947442a4b39366d80237c4bd72946b77832f71b75223"
    }
  }

  release "2.44.0.260225" {
    note = "changed the binary interface of libQnnSystem.so by mistake"
    source "archive" {
      size   = 1560450667
      sha256 = "52a5b0cc051eb2896848c9fd46e704612b1dc06e7d2f5d0d9a79fd8bcdd344bb"
    }
    fact "digest" {
      confidence = "observed"
      source     = "qairt-sdk-archive"
    }
  }

  release "2.45.0.260326" {
    build_id = "v2.45.0.260326154327"
  }

  release "2.45.40.260406" {}

  release "2.46.0.260424" {
    core_api = "2.35.0"
    htp_api  = "5.46.0"
  }

  release "2.47.0.260601" {
    build_id     = "v2.47.0.260601114230"
    core_api     = "2.36.0"
    htp_api      = "5.47.0"
    context_blob = "3.3.4"
    system_api   = "1.11.0"
    source "archive" {
      sha256 = "d3497e110eae82c35a9152a93c0a18bbede402aaf9faa7a97c8079eb0f522b01"
    }
    fact "build_id" {
      confidence = "observed"
      source     = "onnxruntime-qnn 2.3.0, and contexts that it made"
    }
  }

  release "2.47.1.260610" {
    build_id = "v2.47.1.260610072528"
    note     = "known from installed copies; not known to be at the addresses of the others"
    fact "build_id" {
      confidence = "observed"
      source     = "models that its converter made"
    }
  }

  release "2.48.0.260626" {
    build_id = "v2.48.0.260626120635"
    fact "build_id" {
      confidence = "observed"
      source     = "qnnruntime 2.48.0.2"
    }
  }

  release "2.48.40.260702" {
    build_id     = "v2.48.40.260702151143"
    core_api     = "2.37.0"
    htp_api      = "5.48.0"
    context_blob = "4.0.4"
    system_api   = "1.12.0"
    source "archive" {
      size   = 2387723706
      sha256 = "72bf9fbb177e65d05483b5cfc1e10a2864307fb031bcd7b9943b9c32693757b8"
    }
    fact "build_id" {
      confidence = "observed"
      source     = "onnxruntime-qnn 2.4.0, and contexts that it made"
    }
    fact "digest" {
      confidence = "observed"
      source     = "qairt-sdk-archive"
    }
  }

  release "2.49.0.260730" {
    build_id = "v2.49.0.260730134355"
    source "archive" {
      size   = 2414977444
      sha256 = "32de9b5b2b069aeb93ba090071e777ff464349b3296358c4d3b35040dccbd159"
    }
    fact "digest" {
      confidence = "observed"
      source     = "two unrelated projects that pin it"
    }
  }

  release "2.49.40.260810" {
    build_id     = "v2.49.40.260810104044"
    core_api     = "2.38.0"
    htp_api      = "5.49.0"
    context_blob = "4.0.4"
    system_api   = "1.13.0"
    fact "build_id" {
      confidence = "observed"
      source     = "onnxruntime-qnn 2.5.0, and contexts that it made"
    }
  }

  release "2.49.1.260821" {
    note = "newer than 2.49.40.260810, despite its number; not known to be at the addresses of the others"
    fact "version" {
      confidence = "observed"
      source     = "open-genie-server: QAIRT Version Issues, with the build id of its sdk.yaml"
    }
  }

  release "2.50.0.260828" {
    build_id = "v2.50.0.260828221209"
    source "archive" {
      size   = 2601473189
      sha256 = "a346ea0e2c8631b46d57261a4969994cd9cc34124a8355bbc7b08b2c8bd859a5"
    }
  }

  release "2.50.40.260831" {
    build_id     = "v2.50.40.260831140417"
    core_api     = "2.39.0"
    htp_api      = "5.50.0"
    context_blob = "4.0.5"
    system_api   = "1.14.0"
    note         = "known from Qualcomm's Python packages; not known to be at the addresses of the others"
    fact "build_id" {
      confidence = "observed"
      source     = "onnxruntime-qnn 2.6.0, and contexts that it made"
    }
  }

  release "2.51.0.260929" {
    build_id     = "v2.51.0.260929181845"
    core_api     = "2.40.0"
    htp_api      = "5.51.0"
    context_blob = "4.0.6"
    system_api   = "1.15.0"
    source "archive" {
      size   = 2971497940
      sha256 = "9b4ca798902f02a2543857f5de4d233830c044d19701b92fc66a12fdc292211f"
    }
    fact "build_id" {
      confidence = "observed"
      source     = "onnxruntime-qnn 2.7.0, and contexts that it made"
    }
    fact "digest" {
      confidence = "inferred"
      source     = "one project that pins it"
    }
  }
}

# Python and packages for the tools of QAIRT that are Python programs: on Linux for x86 they run under 3.12 from QAIRT 2.47 on, for ONNX, and under 3.10 alone
# before. onnx 1.20 and setuptools 81 removed what they import. These versions converted models with 2.48.40 (vinc-lin/llm-deploy); pandas is what 2.40 wanted.
toolchain "qairt_python" {
  description   = "Python packages of QAIRT's converter and quantizer, an environment of Python's"
  download_page = "https://docs.qualcomm.com/bundle/publicresource/topics/80-63442-10/linux_setup.html"
  default       = "2.48"

  release "2.48" {
    source "python" {
      python        = "3.12"
      exclude_newer = "2026-11-20"
      requirements  = ["onnx==1.19.0", "numpy==1.26.4", "pandas==2.2.3", "pyyaml==6.0.3", "packaging==26.3", "setuptools==80.9.0"]
    }
  }
}

# Libraries of this machine that QAIRT's programs for x86 load: without them the loader ends them, or an import of theirs fails.
toolchain "qairt_host" {
  description   = "libc++, libunwind and libatomic for QAIRT's programs on x86"
  download_page = "https://libcxx.llvm.org"
  default       = "14"

  verify {
    layout = ["usr/lib/x86_64-linux-gnu/libc++.so.1", "usr/lib/x86_64-linux-gnu/libunwind.so.1", "usr/lib/x86_64-linux-gnu/libatomic.so.1"]
  }

  release "14" {
    source "deb" {
      packages = ["libc++1-14", "libc++abi1-14", "libunwind-14", "libatomic1"]
    }
  }
}
