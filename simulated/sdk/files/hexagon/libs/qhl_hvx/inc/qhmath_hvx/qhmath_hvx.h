// The vector math library.
// hexmage simulated: sources include it and call nothing of it.
#ifndef QHMATH_HVX_H
#define QHMATH_HVX_H

#include <hexagon_types.h>
#include <stdint.h>

#endif
