# qnn-net-run, as qnn-profile-viewer shows its profile.

metric "inferences_per_s" {
  pattern = "NetRun IPS[^:]*: ?{number} inf/s"
  unit    = "inferences/s"
}

metric "netrun_time_us" {
  pattern = "^\\s*NetRun: ?{time}"
  unit    = "us"
}

metric "accelerator_compute_time_us" {
  pattern = "Accelerator \\(execute excluding wait\\) time\\)?: ?{time}"
  unit    = "us"
}

metric "qnn_accelerator_time_us" {
  pattern = "QNN accelerator \\(execute\\) time\\)?: ?{time}"
  unit    = "us"
}

metric "accelerator_cycles" {
  pattern = "Accelerator \\(execute\\) time \\(cycles\\)\\)?: ?([0-9]+) cycles"
  unit    = "cycles"
}

metric "accelerator_time_us" {
  pattern = "Accelerator \\(execute\\) time\\)?: ?{time}"
  unit    = "us"
}

metric "rpc_time_us" {
  pattern = "RPC \\(execute\\) time\\)?: ?{time}"
  unit    = "us"
}

metric "qnn_time_us" {
  pattern = "QNN \\(execute\\) time\\)?: ?{time}"
  unit    = "us"
}

metric "hvx_threads" {
  pattern = "Number of HVX threads used\\)?: ?([0-9]+)"
  unit    = "count"
}
