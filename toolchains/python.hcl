# Python for the vendor's converters and quantizers: their programs need exactly 3.10, with its shared library, and refuse to run outside
# of a virtual environment.

toolchain "python" {
  description = "Python 3.10, for the SDK's converters"
  page        = "https://www.python.org/downloads"
  default     = "3.10"

  verify {
    layout = ["bin/python3.10"]
    run "bin/python3.10" {
      args  = ["--version"]
      match = "^Python 3\\.10\\."
    }
  }

  release "3.10" {
    source "installed" {
      program "bin/python3.10" {
        names = ["python3.10"]
      }
    }
    source "manual" {
      steps = "install Python 3.10 (Ubuntu 22.04: `apt-get install python3.10 libpython3.10 python3.10-venv`), or take release 3.10.15, which is downloaded"
    }
  }

  # A build that runs on any Linux, with libpython3.10.so.1.0, which qnn-context-binary-generator and qnn-net-run load.
  release "3.10.15" {
    source "archive" {
      urls         = ["https://github.com/astral-sh/python-build-standalone/releases/download/20241016/cpython-3.10.15%2B20241016-x86_64-unknown-linux-gnu-install_only.tar.gz"]
      strip_prefix = "python"
    }
  }
}
