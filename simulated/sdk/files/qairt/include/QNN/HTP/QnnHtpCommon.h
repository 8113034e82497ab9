// Versions of the HTP backend's interface.
// hexmage simulated: the packer fills in the numbers of the release.
#pragma once

#include "../QnnTypes.h"

#define QNN_HTP_CORE_API_VERSION @CORE_API@
#define QNN_HTP_BACKEND_API_VERSION @HTP_API@
#define QNN_HTP_API_VERSION_INIT {{QNN_HTP_CORE_API_VERSION}, {QNN_HTP_BACKEND_API_VERSION}}
