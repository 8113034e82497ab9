# The profile of Qualcomm's emulator: the nodes, and roughly which are heavy. Its times are not a device's.

profile "emulator" {
  default = true
  locals {
    qairt     = false
    note      = ""
    marks     = []
    release   = null
    device    = null
    python    = ""
    libraries = []
    runner    = {}
  }

  check "schemes" {
    description   = "each scheme runs without QAIRT"
    condition     = length(setintersection(local.schemes, ["qairt_a16w8", "qairt_a8w8"])) == 0
    error_message = "qairt_a16w8 and qairt_a8w8 need qairt-quantizer: use --profile device."
  }
}
