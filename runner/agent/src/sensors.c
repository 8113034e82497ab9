/* Files of /proc and /sys that hold one number. */
#include "sample.h"

enum form { NUMBER, PART_OF /* "PART WHOLE", as a percentage */, MEM_AVAILABLE, IS_DISCHARGING };

struct sensor {
  char path[PATH_BYTES];
  enum form form;
};

/* A group is read together. */
static struct group {
  int first, end;
  struct pace pace;
} groups[8];
static int group_count;
static struct sensor sensors[MAX_SENSORS];
static int sensor_count;

/* read returns 0, or why there is no number: a negative errno, or 0 - 22 for a text that holds none. */
static int64_t read(const struct sensor *s, int64_t *n) {
  enum { EINVAL = 22 };
  char text[1024];
  int64_t bytes = file_text(s->path, text, sizeof text), whole;
  if (bytes < 0) return bytes;
  const char *at = text;
  if (s->form == IS_DISCHARGING) {
    *n = equal(text, "Discharging");
    return 0;
  }
  if (s->form == MEM_AVAILABLE) {
    while (*at && !starts_with(at, "MemAvailable:")) at++;
    if (*at) at += length("MemAvailable:");
  }
  if (!(at = number_at(at, n))) return -EINVAL;
  if (s->form == PART_OF) {
    if (!number_at(at, &whole)) return -EINVAL;
    *n = whole > 0 ? *n * 100 / whole : 0;
  }
  return 0;
}

/* add makes a sensor of the file at the path a/b/c if it has a number, and says that it is absent if not. */
static bool add(enum form form, const char *name, int number, const char *unit, const char *label, const char *a, const char *b, const char *c) {
  if (sensor_count == MAX_SENSORS) return false;
  struct sensor *s = &sensors[sensor_count];
  int64_t n;
  if (!path_join(s->path, prefix, a, b, c)) return false;
  s->form = form;
  int64_t error = read(s, &n);
  if (error < 0) {
    absent(name, number, error, s->path + length(prefix));
    return false;
  }
  sensor_count++;
  column(name, number, unit, label);
  return true;
}

static void begin(void) { groups[group_count].first = sensor_count; }

static void end(void) {
  groups[group_count].end = sensor_count;
  if (groups[group_count].first < sensor_count) group_count++;
}

/* names lists a folder, sorted; longer names and those beyond the last place are left out. */
enum { MAX_NAMES = 96, NAME_BYTES = 64 };
static char names[MAX_NAMES][NAME_BYTES];

static bool before(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (unsigned char)*a < (unsigned char)*b;
}

static int list(const char *dir) {
  static _Alignas(8) char entries[8192];
  char path[PATH_BYTES];
  int count = 0, fd = path_join(path, prefix, dir, NULL, NULL) ? sys_open_dir(path) : -1;
  if (fd < 0) return fd;
  for (int64_t n; (n = sys_list(fd, entries, sizeof entries)) > 0;) {
    for (int64_t at = 0; at < n; at += *(uint16_t *)(entries + at + 16)) {
      const char *name = entries + at + 19;
      if (*name == '.' || length(name) >= NAME_BYTES || count == MAX_NAMES) continue;
      int to = count++;
      for (; to && before(name, names[to - 1]); to--) memcpy(names[to], names[to - 1], NAME_BYTES);
      memcpy(names[to], name, length(name) + 1);
    }
  }
  sys_close(fd);
  return count;
}

static void find_clocks(void) {
  begin();
  for (int i = 0; i < MAX_CORES; i++) {
    char digits[24], path[PATH_BYTES];
    if (!path_join(path, prefix, "/sys/devices/system/cpu/cpu", decimal(i, digits), "/")) break;
    int fd = sys_open_dir(path);
    if (fd < 0) break;
    sys_close(fd);
    add(NUMBER, "cpu_clock", i, "kHz", NULL, path + length(prefix), "cpufreq/scaling_cur_freq", NULL);
  }
  end();
}

static void find_gpu(void) {
  static const char gpu[] = "/sys/class/kgsl/kgsl-3d0/";
  begin();
  if (!add(NUMBER, "gpu_busy", -1, "percent", NULL, gpu, "gpu_busy_percentage", NULL)) add(PART_OF, "gpu_busy", -1, "percent", NULL, gpu, "gpubusy", NULL);
  add(NUMBER, "gpu_clock", -1, "Hz", NULL, gpu, "gpuclk", NULL);
  end();
}

/* Clocks of memory, caches, and whatever else scales its own: on some kernels the NPU's bus is among them. */
static void find_buses(void) {
  static const char dcvs[] = "/sys/devices/system/cpu/bus_dcvs/", devfreq[] = "/sys/class/devfreq/";
  begin();
  int n = list(dcvs);
  if (n < 0) absent("bus_clock", -1, n, dcvs);
  for (int i = 0; i < n; i++) {
    char path[PATH_BYTES];
    if (path_join(path, dcvs, names[i], "/", NULL)) add(NUMBER, "bus_clock", i, "kHz", names[i], path, "cur_freq", NULL);
  }
  n = list(devfreq);
  if (n < 0) absent("devfreq", -1, n, devfreq);
  for (int i = 0; i < n && i < 32; i++) {
    char path[PATH_BYTES];
    if (path_join(path, devfreq, names[i], "/", NULL)) add(NUMBER, "devfreq", i, "driver", names[i], path, "cur_freq", NULL);
  }
  end();
}

static void find_zones(void) {
  begin();
  int found = 0;
  for (int i = 0; i < 128; i++) {
    char digits[24], zone[PATH_BYTES], path[PATH_BYTES], type[NAME_BYTES];
    if (!path_join(zone, "/sys/class/thermal/thermal_zone", decimal(i, digits), "/", NULL) || !path_join(path, prefix, zone, "type", NULL)) break;
    if (file_text(path, type, sizeof type) <= 0) continue;
    found++;
    add(NUMBER, "temperature", i, "mC", type, zone, "temp", NULL);
  }
  if (!found) absent("temperature", -1, 0, "/sys/class/thermal/thermal_zone*");
  end();
}

static void find_battery(void) {
  static const char supplies[] = "/sys/class/power_supply/";
  begin();
  int n = list(supplies), found = 0;
  for (int i = 0; i < n && !found; i++) {
    char dir[PATH_BYTES], path[PATH_BYTES], type[32];
    if (!path_join(dir, supplies, names[i], "/", NULL) || !path_join(path, prefix, dir, "type", NULL)) continue;
    if (file_text(path, type, sizeof type) <= 0 || !equal(type, "Battery")) continue;
    found = 1;
    add(NUMBER, "battery_current", -1, "uA", NULL, dir, "current_now", NULL);
    add(NUMBER, "battery_voltage", -1, "uV", NULL, dir, "voltage_now", NULL);
    add(IS_DISCHARGING, "battery_discharging", -1, "bool", NULL, dir, "status", NULL);
  }
  if (!found) absent("battery", -1, n < 0 ? n : 0, supplies);
  end();
}

void sensors_find(void) {
  begin();
  add(MEM_AVAILABLE, "mem_available", -1, "kB", NULL, "/proc/meminfo", NULL, NULL);
  end();
  find_clocks();
  find_gpu();
  find_buses();
  find_zones();
  find_battery();
}

void sensors_read(void) {
  for (struct group *g = groups; g < groups + group_count; g++) {
    int64_t now = sys_now();
    bool due = pace_due(&g->pace, now);
    for (int i = g->first; i < g->end; i++) {
      int64_t n;
      if (due && read(&sensors[i], &n) == 0) value(n);
      else no_value();
    }
    if (due) pace_took(&g->pace, now);
  }
}

void sensors_due(void) {
  for (struct group *g = groups; g < groups + group_count; g++) g->pace.next = 0;
}
