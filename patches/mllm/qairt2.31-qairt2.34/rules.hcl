# QAIRT dropped the get_ prefix of the tensor's quantization getters somewhere after 2.31.0.250130 and no later than
# 2.34.0.250424. No changelog says where, so the headers are asked, not the version.

rename "interface_scale" {
  description = "op sources written for QAIRT up to 2.31 ask a tensor for get_interface_scale(); newer headers declare interface_scale()"
  from        = "get_interface_scale"
  to          = "interface_scale"
  receiver    = "Tensor"

  when {
    header   = "HTP/core/tensor.h"
    lacks    = "get_interface_scale"
    declares = "interface_scale"
  }

  files = ["src/**/*.cpp", "**/LLaMAPackage/src/**/*.cpp"]

  # mllm has 8 calls in IRoPE and one each in RMSNorm and RoPE. The bounds leave room for people who work on these ops.
  expect {
    min = 1
    max = 40

    file "**/ops/IRoPE.cpp" {
      max = 24
    }
    file "**/ops/{RMSNorm,RoPE}.cpp" {
      max = 8
    }
  }
}

rename "interface_offset" {
  description = "the same for the zero point, which packages beside LLaMAPackage use"
  from        = "get_interface_offset"
  to          = "interface_offset"
  receiver    = "Tensor"

  when {
    header   = "HTP/core/tensor.h"
    lacks    = "get_interface_offset"
    declares = "interface_offset"
  }

  files = ["src/**/*.cpp", "**/LLaMAPackage/src/**/*.cpp"]

  expect {
    min = 0
    max = 40
  }
}
