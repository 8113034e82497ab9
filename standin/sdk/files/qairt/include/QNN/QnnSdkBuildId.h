// The build id of this stand-in release. The packer replaces the text between the @ signs.
// hexmage open stand-in: written for the hexmage project, contains nothing of the vendor's SDK.
#pragma once

#define QNN_SDK_BUILD_ID "@BUILD_ID@"
