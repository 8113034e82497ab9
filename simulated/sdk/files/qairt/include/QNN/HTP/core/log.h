// Messages of ops.
// hexmage simulated: they cost nothing and go nowhere; arguments are still evaluated.
#pragma once

static inline void debuglog(const char *format, ...) { (void)format; }
static inline void errlog(const char *format, ...) { (void)format; }
