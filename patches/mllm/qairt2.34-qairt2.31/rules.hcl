# The way back: sources that follow QAIRT 2.34 and later, built with an SDK from before the getters lost their get_ prefix.

rename "get_interface_scale" {
  description = "op sources written for QAIRT 2.34 and later ask a tensor for interface_scale(); older headers declare get_interface_scale()"
  from        = "interface_scale"
  to          = "get_interface_scale"
  receiver    = "Tensor"

  when {
    header   = "HTP/core/tensor.h"
    lacks    = "interface_scale"
    declares = "get_interface_scale"
  }

  files = ["src/**/*.cpp", "**/LLaMAPackage/src/**/*.cpp"]

  # Sources from before October 2024 ask for neither; those with IRoPE do.
  expect {
    max = 40

    file "**/ops/IRoPE.cpp" {
      min = 1
      max = 24
    }
  }
}

rename "get_interface_offset" {
  description = "the same for the zero point, which packages beside LLaMAPackage use"
  from        = "interface_offset"
  to          = "get_interface_offset"
  receiver    = "Tensor"

  when {
    header   = "HTP/core/tensor.h"
    lacks    = "interface_offset"
    declares = "get_interface_offset"
  }

  files = ["src/**/*.cpp", "**/LLaMAPackage/src/**/*.cpp"]

  expect {
    min = 0
    max = 40
  }
}
