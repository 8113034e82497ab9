/* The processes of a command: memory and time. */
#include "sample.h"

static int64_t members[MAX_MEMBERS];
static int member_count;
static struct pace scan_pace, pss_pace, dmabuf_pace;

static bool process_path(char to[PATH_BYTES], int64_t pid, const char *name) {
  char digits[24], dir[PATH_BYTES];
  return path_join(dir, prefix, "/proc/", decimal(pid, digits), "/") && path_join(to, dir, name, NULL, NULL);
}

static int64_t process_text(int64_t pid, const char *name, char *to, size_t bytes) {
  char path[PATH_BYTES];
  return process_path(path, pid, name) ? file_text(path, to, bytes) : -1;
}

struct stat_line {
  char state;
  int64_t parent, group, session, threads, ticks;
};

/* read_stat reads /proc/PID/stat; the name of the program in it may hold anything. */
static bool read_stat(int64_t pid, struct stat_line *s) {
  char text[1024];
  int64_t n = process_text(pid, "stat", text, sizeof text);
  if (n <= 0) return false;
  while (n && text[n - 1] != ')') n--;
  const char *at = text + n;
  while (*at == ' ') at++;
  if (!*at) return false;
  s->state = *at++;
  s->ticks = 0;
  for (int field = 4; field <= 20; field++) {
    int64_t v;
    at = number_at(at, &v);
    if (!at) return false;
    if (field == 4) s->parent = v;
    if (field == 5) s->group = v;
    if (field == 6) s->session = v;
    if (field >= 14 && field <= 17) s->ticks += v; /* its own, and its children's that are over */
    if (field == 20) s->threads = v;
  }
  return true;
}

static bool is_member(int64_t pid) {
  for (int i = 0; i < member_count; i++) {
    if (members[i] == pid) return true;
  }
  return false;
}

/* scan looks for members among all processes. */
static void scan(int64_t root) {
  enum { MAX_PROCESSES = 8192 };
  static struct {
    int pid, parent;
  } others[MAX_PROCESSES];
  static _Alignas(8) char entries[16384];
  member_count = 0;
  int other_count = 0;
  char path[PATH_BYTES];
  if (!path_join(path, prefix, "/proc", NULL, NULL)) return;
  int fd = sys_open_dir(path);
  if (fd < 0) return;
  for (int64_t n; (n = sys_list(fd, entries, sizeof entries)) > 0;) {
    for (int64_t at = 0; at < n; at += *(uint16_t *)(entries + at + 16)) {
      int64_t pid;
      struct stat_line s;
      const char *name = entries + at + 19, *end = number_at(name, &pid);
      if (!end || *end || !read_stat(pid, &s)) continue;
      if (pid == root || s.group == root || s.session == root) {
        if (member_count < MAX_MEMBERS) members[member_count++] = pid;
      } else if (other_count < MAX_PROCESSES) {
        others[other_count].pid = (int)pid;
        others[other_count++].parent = (int)s.parent;
      }
    }
  }
  sys_close(fd);
  for (bool more = true; more;) { /* children that lead sessions of their own */
    more = false;
    for (int i = 0; i < other_count; i++) {
      if (others[i].pid && member_count < MAX_MEMBERS && is_member(others[i].parent)) {
        members[member_count++] = others[i].pid;
        others[i].pid = 0;
        more = true;
      }
    }
  }
}

void processes_find(void) {
  column("rss", -1, "kB", NULL);
  column("pss", -1, "kB", NULL);
  column("process_cpu", -1, "ticks", NULL);
  column("dmabuf", -1, "kB", NULL);
  column("processes", -1, "count", NULL);
  column("threads", -1, "count", NULL);
}

/* field returns the number on the line that begins with the name: 0 when what follows is no number, -1 when there is no such line. */
static int64_t field(const char *text, const char *name) {
  for (const char *at = text; *at; at++) {
    int64_t n;
    if ((at == text || at[-1] == '\n') && starts_with(at, name)) return number_at(at + length(name), &n) ? n : 0;
  }
  return -1;
}

static int64_t pss_of(int64_t pid) {
  char text[2048];
  return process_text(pid, "smaps_rollup", text, sizeof text) > 0 ? field(text, "Pss:") : -1;
}

static int64_t rss_of(int64_t pid) {
  char text[256];
  int64_t pages;
  if (process_text(pid, "statm", text, sizeof text) <= 0) return -1;
  const char *at = number_at(text, &pages);
  return at && number_at(at, &pages) ? pages * (machine.page_bytes / 1024) : -1;
}

/* Buffers that the processor shares with the NPU, the GPU and the camera are not in a process's RSS. Those that the members hold open are
   counted, each once: seen are the inodes. */
enum { MAX_BUFFERS = 1024 };
static int64_t seen[MAX_BUFFERS];
static int seen_count;

static int64_t dmabufs_of(int64_t pid) {
  static _Alignas(8) char entries[8192];
  char path[PATH_BYTES];
  int fd = process_path(path, pid, "fdinfo/") ? sys_open_dir(path) : -1;
  if (fd < 0) return -1;
  int64_t sum = 0;
  for (int64_t n; (n = sys_list(fd, entries, sizeof entries)) > 0;) {
    for (int64_t at = 0; at < n; at += *(uint16_t *)(entries + at + 16)) {
      char text[512], file[PATH_BYTES];
      const char *name = entries + at + 19;
      if (*name == '.' || !path_join(file, path, name, NULL, NULL) || file_text(file, text, sizeof text) <= 0) continue;
      int64_t bytes = field(text, "size:"), inode = field(text, "ino:");
      if (bytes <= 0 || field(text, "exp_name:") < 0) continue;
      bool known = false;
      for (int i = 0; i < seen_count && inode > 0; i++) known = known || seen[i] == inode;
      if (known) continue;
      if (inode > 0 && seen_count < MAX_BUFFERS) seen[seen_count++] = inode;
      sum += bytes;
    }
  }
  sys_close(fd);
  return sum;
}

static void value_or_none(int64_t n) {
  if (n < 0) no_value();
  else value(n);
}

/* living drops the members that are gone, and sums up what the others have used. */
static struct stat_line living(void) {
  struct stat_line all = {0};
  int left = 0;
  for (int i = 0; i < member_count; i++) {
    struct stat_line s;
    if (!read_stat(members[i], &s) || s.state == 'Z' || s.state == 'X') continue;
    members[left++] = members[i];
    all.ticks += s.ticks;
    all.threads += s.threads;
  }
  member_count = left;
  return all;
}

bool processes_read(int64_t root) {
  struct stat_line all = {0};
  if (root > 0) {
    int64_t now = sys_now();
    bool scanned = pace_due(&scan_pace, now);
    if (scanned) {
      scan(root);
      pace_took(&scan_pace, now);
    }
    all = living();
    if (!member_count && !scanned) {
      scan(root);
      all = living();
    }
  }
  if (!member_count) {
    for (int i = 0; i < 6; i++) no_value();
    return root <= 0;
  }
  int64_t rss = -1, pss = -1, dmabuf = -1, now = sys_now();
  for (int i = 0; i < member_count; i++) {
    int64_t kb = rss_of(members[i]);
    if (kb >= 0) rss = (rss < 0 ? 0 : rss) + kb;
  }
  if (pace_due(&pss_pace, now)) {
    for (int i = 0; i < member_count; i++) {
      int64_t kb = pss_of(members[i]);
      if (kb >= 0) pss = (pss < 0 ? 0 : pss) + kb;
    }
    pace_took(&pss_pace, now);
  }
  now = sys_now();
  if (pace_due(&dmabuf_pace, now)) {
    seen_count = 0;
    for (int i = 0; i < member_count; i++) {
      int64_t bytes = dmabufs_of(members[i]);
      if (bytes >= 0) dmabuf = (dmabuf < 0 ? 0 : dmabuf) + bytes;
    }
    pace_took(&dmabuf_pace, now);
  }
  value_or_none(rss);
  value_or_none(pss);
  value(all.ticks);
  value_or_none(dmabuf < 0 ? dmabuf : dmabuf / 1024);
  value(member_count);
  value(all.threads);
  return true;
}
