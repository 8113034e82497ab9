// HVX intrinsics on a machine that has no HVX: what hexagon_types.h has of them.
// hexmage simulated: it is here because op sources include it for every target.
#ifndef HVX_HEXAGON_PROTOS_H
#define HVX_HEXAGON_PROTOS_H

#include "hexagon_types.h"

#endif
