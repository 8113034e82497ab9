# uv chooses and installs the packages of environments of Python's. It is one static program, in a wheel.

toolchain "uv" {
  description   = "uv, which chooses and installs Python packages"
  download_page = "https://docs.astral.sh/uv"
  default       = "0.13.9"

  release "0.13.9" {
    verify {
      layout = ["bin/uv"]
      run "bin/uv" {
        args  = ["--version"]
        match = "^uv 0\\.13\\.9"
      }
    }
    source "pypi" {
      project = "uv"
      tags    = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64"
      link "bin/uv" {
        to = "../uv-0.13.9.data/scripts/uv"
      }
    }
  }
}
