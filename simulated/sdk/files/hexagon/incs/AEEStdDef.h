// Basic types of the DSP's interface code.
// hexmage simulated: ops include nothing of it; it marks the place.
#ifndef AEESTDDEF_H
#define AEESTDDEF_H

#include <stdint.h>

#endif
