/* What sample is made of. A group of readings is one pace: one that takes long is repeated less often, so that measuring does not become
   what is measured. A value that is not known at a tick is "-". */
#pragma once
#include "agent.h"

enum {
  VERSION = 1,
  MAX_CORES = 32,
  MAX_SENSORS = 224,  /* with the cores: what a line of TEXT_BYTES surely holds, at 20 digits each */
  MAX_MEMBERS = 256,
  COST_LIMIT = 50,    /* a group takes at most one part in so many of the time */
};

struct pace {
  int64_t next; /* not before */
  int64_t cost; /* of the last reading, in ns; 0: there was none */
};
bool pace_due(const struct pace *p, int64_t now);
void pace_took(struct pace *p, int64_t started);

/* Columns of the header, and what is missing of them. */
void column(const char *name, int number, const char *unit, const char *label); /* number < 0: none */
void absent(const char *name, int number, int64_t error, const char *path);
extern struct text out;
void value(int64_t n);
void no_value(void);

/* prefix is put before /proc and /sys: empty, or a folder of files that a test has made. */
extern const char *prefix;

/* sensors.c */
void sensors_find(void);
void sensors_read(void);
/* sensors_due has all be read the next time, also what took long before. */
void sensors_due(void);

/* cores.c */
void cores_find(void);
void cores_read(void);

/* processes.c: a process, its descendants, its process group and session */
void processes_find(void);
/* processes_read prints the values; root 0 is not known yet. False: none is left. */
bool processes_read(int64_t root);
