toolchain "sdk" {
  description   = "a large archive, which the benchmark makes"
  download_page = "https://example.com"
  default       = "1"

  release "1" {
    verify {
      layout = ["1"]
    }
    source "archive" {
      urls = ["https://sdk.invalid/sdk.zip"] # HEXMAGE_MIRRORS leads to the file
    }
  }
}
