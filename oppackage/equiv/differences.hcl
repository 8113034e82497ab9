# Where hexmage's lines differ from other makefiles' on purpose, and why. The label is the word, with * for anything, that
# one side has ("ours" is hexmage) and the other has not; -I folders are without a slash at the end, roots by their names.

difference "-Iinclude" {
  side   = "ours"
  reason = "headers in the package's own include/ are found; the others' makefiles leave that folder out"
}

difference "-MF" {
  side   = "ours"
  reason = "the dependency file's name is said, since it is read again: an edited header makes its objects anew"
}

difference "-MP" {
  side   = "ours"
  reason = "a header that is deleted is no error the next time"
}

difference "-ffile-prefix-map=*" {
  side   = "ours"
  reason = "where SDKs and sources are is no part of what comes out: two machines make the same bytes"
}

difference "-I$(HEXAGON)/libs/qhl_hvx/inc/*" {
  side    = "ours"
  targets = ["htp_v68", "htp_v69", "htp_x86", "htp_aarch64"]
  reason  = "ops include hvx_internal.h for every target, and cannot be compiled without its folder"
}

difference "-DREFERENCE_OP" {
  side    = "ours"
  targets = ["htp_x86"]
  reason  = "without an emulation of HVX, the host can only compile the reference branch of an op"
}

difference "-mv*" {
  side   = "ours"
  lines  = "link"
  reason = "without the arch, the linker takes the start files of the compiler's default arch"
}

difference "-Wl,-z,max-page-size=16384" {
  side    = "ours"
  targets = ["htp_aarch64"]
  lines   = "link"
  reason  = "phones with pages of 16 KiB load no library that is aligned to less"
}

difference "-fno-finite-math-only" {
  side    = "ours"
  targets = ["htp_x86", "htp_aarch64"]
  reason  = "mllm has it since 2025-11: with -ffast-math alone, code may take infinities and NaNs for impossible"
}

difference "-fno-builtin" {
  side   = "theirs"
  reason = "mllm dropped it in 2025-11, the SDK's own makefiles in 2.16: it only keeps the compiler from optimizing memcpy and the like"
}

difference "-DHVX_OP" {
  side   = "theirs"
  reason = "no source looks at it"
}

difference "input build/*/ops/v75_asm/*" {
  side    = "theirs"
  targets = ["htp_v79"]
  lines   = "link"
  reason  = "a slip of the pen in makefiles since 2.37: v79 links the assembly of v75"
}
