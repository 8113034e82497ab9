# Python: for Qualcomm's converters and quantizers, whose programs need exactly 3.10, with its shared library, and refuse to run outside of a virtual
# environment; and, from 3.11 on, for environments (sources of kind python), which want bin/python3 and its library below the root.

toolchain "python" {
  description   = "Python: 3.10 for the SDK's converters, later ones for environments of packages"
  download_page = "https://www.python.org/downloads"
  default       = "3.10"

  release "3.10" {
    verify {
      layout = ["bin/python3.10"]
      run "bin/python3.10" {
        args  = ["--version"]
        match = "^Python 3\\.10\\."
      }
    }
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
    verify {
      layout = ["bin/python3.10"]
      run "bin/python3.10" {
        args  = ["--version"]
        match = "^Python 3\\.10\\."
      }
    }
    source "archive" {
      urls         = ["https://github.com/astral-sh/python-build-standalone/releases/download/20241016/cpython-3.10.15%2B20241016-x86_64-unknown-linux-gnu-install_only.tar.gz"]
      strip_prefix = "python"
    }
  }

  release "3.11" {
    verify {
      layout = ["bin/python3"]
      run "bin/python3" {
        args  = ["-B", "-c", "import sys, json, ctypes, zlib; print('Python', sys.version)"]
        match = "^Python 3\\.11\\."
      }
    }
    source "installed" {
      program "bin/python3" {
        names = ["python3.11"]
        venv  = true
      }
    }
    source "manual" {
      steps = "install Python 3.11 (`apt-get install python3.11`, `uv python install 3.11`), or take python = \"3.13\", which is downloaded where it is not installed"
    }
  }

  release "3.12" {
    verify {
      layout = ["bin/python3"]
      run "bin/python3" {
        args  = ["-B", "-c", "import sys, json, ctypes, zlib; print('Python', sys.version)"]
        match = "^Python 3\\.12\\."
      }
    }
    source "installed" {
      program "bin/python3" {
        names = ["python3.12"]
        venv  = true
      }
    }
    source "manual" {
      steps = "install Python 3.12 (`apt-get install python3.12`, `uv python install 3.12`), or take python = \"3.13\", which is downloaded where it is not installed"
    }
  }

  release "3.13" {
    verify {
      layout = ["bin/python3"]
      run "bin/python3" {
        args  = ["-B", "-c", "import sys, json, ctypes, zlib; print('Python', sys.version)"]
        match = "^Python 3\\.13\\."
      }
    }
    source "installed" {
      program "bin/python3" {
        names = ["python3.13"]
        venv  = true
      }
    }
    source "maven" {
      coordinates  = "org.bytedeco:cpython:3.13.5-1.5.12:linux-x86_64@jar"
      strip_prefix = "org/bytedeco/cpython/linux-x86_64"
      only         = ["bin/python3.13", "*.so*", "lib/*-*/**", "lib/python3.13/*", "lib/python3.13/[!st]*/**", "lib/python3.13/{sqlite3,sysconfig,tomllib}/**"] # all but its tests and packages of its own
      wrap "bin/python3" {
        program   = "bin/python3.13"
        libraries = ["."]
      }
    }
  }

  release "3.14" {
    verify {
      layout = ["bin/python3"]
      run "bin/python3" {
        args  = ["-B", "-c", "import sys, json, ctypes, zlib; print('Python', sys.version)"]
        match = "^Python 3\\.14\\."
      }
    }
    source "installed" {
      program "bin/python3" {
        names = ["python3.14"]
        venv  = true
      }
    }
    source "manual" {
      steps = "install Python 3.14 (`apt-get install python3.14`, `uv python install 3.14`), or take python = \"3.13\", which is downloaded where it is not installed"
    }
  }
}
