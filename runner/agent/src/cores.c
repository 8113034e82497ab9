/* The processor's cores: how long each was busy. */
#include "sample.h"

static int core_count;
static int64_t busy[MAX_CORES];

/* read_busy reads /proc/stat: the ticks of each core that were not idle, -1 for a core that is off. It returns the highest core. */
static int64_t read_busy(void) {
  static char text[16384];
  char path[PATH_BYTES];
  for (int i = 0; i < MAX_CORES; i++) busy[i] = -1;
  int64_t n = path_join(path, prefix, "/proc/stat", NULL, NULL) ? file_text(path, text, sizeof text) : -1, highest = -1;
  if (n < 0) return n;
  for (const char *at = text; *at; at++) {
    int64_t core;
    if ((at != text && at[-1] != '\n') || !starts_with(at, "cpu")) continue;
    const char *rest = at[3] == ' ' ? NULL : number_at(at + 3, &core);
    if (!rest || core < 0 || core >= MAX_CORES) continue;
    int64_t sum = 0;
    for (int field = 0; field < 8; field++) { /* user nice system idle iowait irq softirq steal */
      int64_t ticks;
      const char *next = number_at(rest, &ticks);
      if (!next) break;
      rest = next;
      if (field != 3 && field != 4) sum += ticks;
    }
    busy[core] = sum;
    if (core > highest) highest = core;
  }
  return highest;
}

void cores_find(void) {
  int64_t highest = read_busy();
  if (highest < 0) {
    absent("cpu", -1, highest, "/proc/stat");
    return;
  }
  char path[PATH_BYTES], text[64]; /* "0-7": some may be off at the moment */
  int64_t first, last;
  if (path_join(path, prefix, "/sys/devices/system/cpu/present", NULL, NULL) && file_text(path, text, sizeof text) > 0) {
    const char *at = number_at(text, &first);
    if (at && *at == '-' && number_at(at + 1, &last) && last > highest && last < MAX_CORES) highest = last;
  }
  core_count = (int)highest + 1;
  for (int i = 0; i < core_count; i++) column("cpu", i, "ticks", NULL);
}

void cores_read(void) {
  if (!core_count) return;
  read_busy();
  for (int i = 0; i < core_count; i++) {
    if (busy[i] < 0) no_value();
    else value(busy[i]);
  }
}
