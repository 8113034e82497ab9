# SoCs with an HTP. soc_model is the number QNN knows (Qnn_SocModel_t); soc_ids are what Android says in
# /sys/devices/soc0/soc_id: never the same number. vtcm_mb 0: not published. min_sdk: the first QAIRT SDK said to know it.

soc "SM8350" {
  marketing = "Snapdragon 888"
  arch      = "v68"
  soc_model = 30
  vtcm_mb   = 4
  soc_ids   = [415]
  min_sdk   = "2.14"
  aliases   = ["SM8350P"]
}

soc "SM7325" {
  marketing = "Snapdragon 778G"
  arch      = "v68"
  soc_model = 35
  vtcm_mb   = 2
  soc_ids   = [475]
  note      = "soc_model 35 is SM7325, not SM8350"
}

soc "SM8325" {
  arch      = "v68"
  soc_model = 34
  soc_ids   = [501]
}

soc "SM7350" {
  marketing = "Snapdragon 780G"
  arch      = "v68"
  soc_model = 32
  soc_ids   = [450]
}

soc "QCM6490" {
  marketing = "Dragonwing QCM6490"
  arch      = "v68"
  soc_model = 93
  vtcm_mb   = 2
  soc_ids   = [497, 498]
  min_sdk   = "2.37"
  aliases   = ["QCS6490"]
  note      = "SDKs before 2.37 list it as 35"
}

soc "SA8295" {
  marketing = "Automotive"
  arch      = "v68"
  soc_model = 39
  vtcm_mb   = 8
  min_sdk   = "2.14"
  aliases   = ["SA8295P"]
}

soc "SC8280X" {
  marketing = "Snapdragon 8cx Gen 3"
  arch      = "v68"
  soc_model = 37
}

soc "SM8450" {
  marketing = "Snapdragon 8 Gen 1"
  arch      = "v69"
  soc_model = 36
  vtcm_mb   = 8
  soc_ids   = [457, 482]
  min_sdk   = "2.14"
}

soc "SM8475" {
  marketing = "Snapdragon 8+ Gen 1"
  arch      = "v69"
  soc_model = 42
  vtcm_mb   = 8
  soc_ids   = [530]
  min_sdk   = "2.14"
}

soc "SM7450" {
  marketing = "Snapdragon 7 Gen 1"
  arch      = "v69"
  soc_model = 41
  soc_ids   = [506]
}

soc "SM7475" {
  marketing = "Snapdragon 7+ Gen 2"
  arch      = "v69"
  soc_model = 54
  soc_ids   = [591]
}

soc "SXR2230P" {
  marketing = "Snapdragon XR2 Gen 2"
  arch      = "v69"
  soc_model = 53
  vtcm_mb   = 8
  soc_ids   = [549]
  min_sdk   = "2.37"
}

soc "SM8550" {
  marketing = "Snapdragon 8 Gen 2"
  arch      = "v73"
  soc_model = 43
  vtcm_mb   = 8
  soc_ids   = [519, 536]
  min_sdk   = "2.23"
}

soc "QCS8550" {
  marketing = "Dragonwing QCS8550"
  arch      = "v73"
  soc_model = 66
  vtcm_mb   = 8
  note      = "arch and VTCM taken from SM8550, of the same family"
}

soc "SM8635" {
  marketing = "Snapdragon 8s Gen 3"
  arch      = "v73"
  soc_model = 68
  vtcm_mb   = 8
}

soc "SM7675" {
  marketing = "Snapdragon 7+ Gen 3"
  arch      = "v73"
  soc_model = 70
}

soc "SM6450" {
  marketing = "Snapdragon 6 Gen 1"
  arch      = "v73"
  soc_model = 50
  soc_ids   = [537]
}

soc "SM7635" {
  marketing = "Snapdragon 7s Gen 3"
  arch      = "v73"
  soc_model = 73
}

soc "SM8735" {
  marketing = "Snapdragon 8s Gen 4"
  arch      = "v73"
  soc_model = 85
  note      = "sources disagree: v73 or v79"
}

soc "SC8380XP" {
  marketing = "Snapdragon X Elite"
  arch      = "v73"
  soc_model = 60
}

soc "SA8255" {
  marketing = "Automotive"
  arch      = "v73"
  soc_model = 52
  vtcm_mb   = 8
  min_sdk   = "2.37"
  aliases   = ["SA8775", "SA8650", "SA8630"]
}

soc "QCS9100" {
  marketing = "Dragonwing IQ-9075"
  arch      = "v73"
  soc_model = 77
  vtcm_mb   = 8
  min_sdk   = "2.37"
  aliases   = ["QCS9075"]
}

soc "SSG2115P" {
  marketing = "Snapdragon AR1 Gen 1"
  arch      = "v73"
  soc_model = 46
  vtcm_mb   = 2
  soc_ids   = [554]
  min_sdk   = "2.37"
  aliases   = ["SAR2130P"]
}

soc "SSG2125P" {
  marketing = "Snapdragon AR2 Gen 1"
  arch      = "v73"
  soc_model = 58
  vtcm_mb   = 2
  soc_ids   = [579]
  min_sdk   = "2.37"
  aliases   = ["SAR1130P"]
}

soc "SXR1230P" {
  arch      = "v73"
  soc_model = 45
  vtcm_mb   = 2
  soc_ids   = [525]
  min_sdk   = "2.37"
}

soc "SM8650" {
  marketing = "Snapdragon 8 Gen 3"
  arch      = "v75"
  soc_model = 57
  vtcm_mb   = 8
  soc_ids   = [557]
  min_sdk   = "2.23"
}

soc "SA8620P" {
  marketing = "Automotive"
  arch      = "v75"
  soc_model = 67
  aliases   = ["SA7255", "SA8610", "SA8620"]
}

soc "QCS8300" {
  marketing = "Dragonwing IQ-8275"
  arch      = "v75"
  soc_model = 82
  soc_ids   = [675]
  aliases   = ["QCS8275"]
}

soc "SM8750" {
  marketing = "Snapdragon 8 Elite"
  arch      = "v79"
  soc_model = 69
  vtcm_mb   = 8
  soc_ids   = [618, 639]
  min_sdk   = "2.37"
  aliases   = ["SM8750P"]
}

soc "SXR2330P" {
  arch      = "v79"
  soc_model = 75
  vtcm_mb   = 8
  min_sdk   = "2.37"
}

soc "SM8850" {
  marketing = "Snapdragon 8 Elite Gen 5"
  arch      = "v81"
  soc_model = 87
  vtcm_mb   = 8
  soc_ids   = [660, 661, 722, 723, 743]
  min_sdk   = "2.42"
  aliases   = ["SM8850P", "SM8847", "SM8847P", "SG8450P"]
  note      = "88 is SC8480XP"
}

soc "SM8845" {
  marketing = "Snapdragon 8 Gen 5"
  arch      = "v81"
  soc_model = 97
  vtcm_mb   = 8
  min_sdk   = "2.42"
}

soc "SC8480XP" {
  marketing = "Snapdragon X2 Elite"
  arch      = "v81"
  soc_model = 88
}

soc "SA8797" {
  marketing = "Automotive"
  arch      = "v81"
  soc_model = 72
  vtcm_mb   = 16
  min_sdk   = "2.42"
}

soc "SAR2230P" {
  arch      = "v81"
  soc_model = 95
  vtcm_mb   = 4
  min_sdk   = "2.42"
}

soc "SW6100" {
  marketing = "Wearable"
  arch      = "v81"
  soc_model = 96
  vtcm_mb   = 4
  min_sdk   = "2.42"
}
