// The build id of this simulation release. The packer replaces the text between the @ signs.
// hexmage simulated: written for the hexmage project, contains nothing of the vendor's SDK.
#pragma once

#define QNN_SDK_BUILD_ID "@BUILD_ID@"
