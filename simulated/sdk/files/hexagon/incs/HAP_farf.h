// Messages of the DSP's log.
// hexmage simulated: they go nowhere; arguments are still evaluated.
#ifndef HAP_FARF_H
#define HAP_FARF_H

static inline void open_farf(const char *format, ...) { (void)format; }
#define FARF(level, ...) open_farf(__VA_ARGS__)

#endif
