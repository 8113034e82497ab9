/* sample: a header that says what is read, then a line of numbers for each tick, until standard input ends or the process is gone. */
#include "sample.h"

struct text out;
const char *prefix = "";

bool pace_due(const struct pace *p, int64_t now) { return now >= p->next; }

void pace_took(struct pace *p, int64_t started) {
  int64_t cost = sys_now() - started;
  int64_t usual = p->cost > 0 && p->cost < cost ? p->cost : cost; /* one that was held up once is not slow */
  p->cost = cost;
  p->next = started + COST_LIMIT * usual;
}

static void named(const char *what, const char *name, int number) {
  text_add(&out, what);
  text_add(&out, name);
  if (number >= 0) text_number(&out, number);
  text_add(&out, " ");
}

static void line_end(void) {
  text_add(&out, "\n");
  if (!text_write(&out, 1)) sys_exit(1); /* nobody reads */
}

void column(const char *name, int number, const char *unit, const char *label) {
  named("column ", name, number);
  text_add(&out, unit);
  if (label) {
    text_add(&out, " ");
    text_printable(&out, label, 64);
  }
  line_end();
}

void absent(const char *name, int number, int64_t error, const char *path) {
  named("absent ", name, number);
  text_number(&out, -error);
  text_add(&out, " ");
  text_printable(&out, path, PATH_BYTES);
  line_end();
}

void value(int64_t n) {
  text_add(&out, " ");
  text_number(&out, n);
}

void no_value(void) { text_add(&out, " -"); }

struct arguments {
  int64_t interval_ms, pid;
  const char *pid_file;
};

static bool parse(int argc, char **argv, struct arguments *a) {
  for (int i = 0; i + 1 < argc; i += 2) {
    const char *v = argv[i + 1], *end = v + length(v);
    if (equal(argv[i], "--pid-file")) a->pid_file = v;
    else if (equal(argv[i], "--root")) prefix = v;
    else if (equal(argv[i], "--pid") && number_at(v, &a->pid) == end && a->pid > 0) continue;
    else if (equal(argv[i], "--interval-ms") && number_at(v, &a->interval_ms) == end && a->interval_ms >= 10 && a->interval_ms <= 60000) continue;
    else return complain("sample cannot take", argv[i], 0), false;
  }
  return argc % 2 == 0 || (complain("sample wants a value after", argv[argc - 1], 0), false);
}

/* known finds the process once its file names it; a file that is being written ends in no line end yet. */
static bool known(struct arguments *a) {
  char text[32];
  if (a->pid > 0 || !a->pid_file) return true;
  int fd = sys_open(a->pid_file);
  if (fd < 0) return false;
  int64_t n = sys_read(fd, text, sizeof text - 1), pid;
  sys_close(fd);
  if (n <= 0) return false;
  text[n] = 0;
  const char *end = number_at(text, &pid);
  if (!end || *end != '\n' || pid <= 0) return false;
  a->pid = pid;
  return true;
}

/* wait returns false when standard input has ended; true at the time, or before it when the process has become known. */
static bool wait(struct arguments *a, int64_t until) {
  enum { LOOK_NS = 5000000 };
  bool was_known = known(a);
  for (int64_t now; (now = sys_now()) < until;) {
    int64_t left = until - now;
    char input[256];
    if (sys_wait_input(was_known || left < LOOK_NS ? left : LOOK_NS) && sys_read(0, input, sizeof input) <= 0) return false;
    if (!was_known && known(a)) return true;
  }
  return true;
}

int sample(int argc, char **argv) {
  struct arguments a = {.interval_ms = 100};
  if (!parse(argc, argv, &a)) return EXIT_USAGE;
  text_add(&out, "hexmage-samples ");
  text_number(&out, VERSION);
  line_end();
  named("", "interval_ms", -1);
  text_number(&out, a.interval_ms);
  line_end();
  named("", "clock_ticks", -1);
  text_number(&out, machine.clock_ticks);
  line_end();
  bool follows = a.pid > 0 || a.pid_file;
  if (follows) processes_find();
  cores_find();
  sensors_find();
  text_add(&out, "begin");
  line_end();
  const char *why = "closed";
  const int64_t step = a.interval_ms * 1000000;
  for (int64_t next = sys_now();;) {
    text_number(&out, sys_now());
    bool living = !follows || processes_read(known(&a) ? a.pid : 0);
    cores_read();
    sensors_read();
    line_end();
    if (!living) {
      why = "gone";
      break;
    }
    int64_t now = sys_now();
    do next += step;
    while (next <= now);
    bool was_known = !follows || a.pid > 0;
    if (!wait(&a, next)) break;
    if (!was_known && a.pid > 0) { /* its own time begins */
      next = sys_now();
      sensors_due();
    }
  }
  named("end ", why, -1);
  text_number(&out, sys_cpu_time());
  line_end();
  return 0;
}
