# A SoC that hexmage does not know. docs/catalog.md has what else there is to say, and how to say how sure it is.

soc "@soc@" {
  arch      = "@arch@" # its Hexagon
  soc_model = @model@ # QNN's number of it, which is not Android's soc_id
  vtcm_mb   = @vtcm@ # 0: not known
}
