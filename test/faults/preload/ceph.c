// Stands between a program and librados and librbd when it is preloaded, notes each call that changes
// something in Ceph, and has a fault happen at one of them. CEPH_FAULTS is a folder: "writes" gets a line
// for each, and "plan" has the number of one, from 1, its fault, the fault's number, and at each how manieth write after
// that one it happens again, 0 for none; see ceph.go.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

struct plan {
	long at;
	char fault[16];
	int number, each;
};

static int in_folder(const char *name, int flags) {
	char path[4096];
	const char *folder = getenv("CEPH_FAULTS");
	if (!folder || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
		return -1;
	return open(path, flags | O_CLOEXEC);
}

// note adds a write to the others, of earlier processes too, and returns its number.
static long note(const char *what) {
	char part[4096];
	long number = 1;
	ssize_t n;
	int writes = in_folder("writes", O_RDWR | O_APPEND);
	if (writes < 0)
		return -1;
	flock(writes, LOCK_EX);
	while ((n = read(writes, part, sizeof part)) > 0)
		for (ssize_t i = 0; i < n; i++)
			number += part[i] == '\n';
	if (dprintf(writes, "%s\n", what) < 0)
		number = -1;
	close(writes);
	return number;
}

static bool planned(const struct plan *p, const char *fault) { return !strcmp(p->fault, fault); }

static bool falls(const struct plan *p, long number) {
	return number == p->at || (p->each > 0 && number > p->at && (number - p->at) % p->each == 0);
}

// before returns what the call is answered without being made, or 0.
static int before(const char *what, struct plan *p) {
	char text[64] = "";
	long number = note(what);
	int file = in_folder("plan", O_RDONLY);
	memset(p, 0, sizeof *p);
	if (file >= 0) {
		if (read(file, text, sizeof text - 1) < 0 || sscanf(text, "%ld %15s %d %d", &p->at, p->fault, &p->number, &p->each) != 4 || !falls(p, number))
			memset(p, 0, sizeof *p);
		close(file);
	}
	if (planned(p, "before"))
		kill(getpid(), SIGKILL);
	if (planned(p, "hangs") || planned(p, "late")) {
		struct timespec left = {.tv_sec = p->number};
		while (nanosleep(&left, &left) && errno == EINTR)
			;
	}
	if (planned(p, "hangs"))
		return -ETIMEDOUT;
	return planned(p, "refused") ? -p->number : 0;
}

static int after(const struct plan *p, int result) {
	if (planned(p, "after"))
		kill(getpid(), SIGKILL);
	return planned(p, "lost") && result >= 0 ? -ETIMEDOUT : result;
}

static void *next(const char *name) {
	void *found = dlsym(RTLD_NEXT, name);
	if (!found)
		abort();
	return found;
}

// changes says whether a command does more than ask, by the last word of its prefix.
static bool changes(const char *command) {
	static const char *const asks[] = {"dump", "ls", "list", "get", "get-key", "info", "stat", "status", "metadata", "version", "versions", "df", "health", "getpath", "quorum_status"};
	static const char mark[] = "\"prefix\":\"";
	const char *prefix = strstr(command, mark);
	if (!prefix)
		return true;
	prefix += sizeof mark - 1;
	const char *end = strchr(prefix, '"'), *word = end;
	while (word && word > prefix && word[-1] != ' ')
		word--;
	for (size_t i = 0; word && i < sizeof asks / sizeof *asks; i++)
		if (strlen(asks[i]) == (size_t)(end - word) && !strncmp(word, asks[i], end - word))
			return false;
	return true;
}

#define COMMAND(name) \
	int name(void *cluster, const char **command, size_t n, const char *in, size_t in_length, \
		char **out, size_t *out_length, char **status, size_t *status_length) { \
		int (*pass)(void *, const char **, size_t, const char *, size_t, char **, size_t *, char **, size_t *) = next(#name); \
		struct plan p = {0}; \
		bool counts = n > 0 && changes(command[0]); \
		int refused = counts ? before(command[0], &p) : 0; \
		if (refused) { \
			*out = *status = NULL; \
			*out_length = *status_length = 0; \
			return refused; \
		} \
		return after(&p, pass(cluster, command, n, in, in_length, out, out_length, status, status_length)); \
	}

COMMAND(rados_mon_command)
COMMAND(rados_mgr_command)

// A name that no OSD takes only asks for rights.
static bool is_object(const char *name) { return strlen(name) <= 2048; }

static int in_pool(const char *what, void *io, const char *name, struct plan *p) {
	int (*name_of)(void *, char *, unsigned) = next("rados_ioctx_get_pool_name");
	char pool[256], text[2600];
	snprintf(text, sizeof text, "%s %s/%s", what, name_of(io, pool, sizeof pool) < 0 ? "?" : pool, name);
	return before(text, p);
}

static int on_object(const char *what, void *io, const char *name, struct plan *p) {
	if (!is_object(name))
		return memset(p, 0, sizeof *p), 0;
	return in_pool(what, io, name, p);
}

int rados_write_op_operate2(void *operation, void *io, const char *object, struct timespec *at, int flags) {
	int (*pass)(void *, void *, const char *, struct timespec *, int) = next("rados_write_op_operate2");
	struct plan p;
	int refused = on_object("change object", io, object, &p);
	return refused ? refused : after(&p, pass(operation, io, object, at, flags));
}

int rados_remove(void *io, const char *object) {
	int (*pass)(void *, const char *) = next("rados_remove");
	struct plan p;
	int refused = on_object("remove object", io, object, &p);
	return refused ? refused : after(&p, pass(io, object));
}

int rados_write_full(void *io, const char *object, const char *content, size_t length) {
	int (*pass)(void *, const char *, const char *, size_t) = next("rados_write_full");
	struct plan p;
	int refused = on_object("write object", io, object, &p);
	return refused ? refused : after(&p, pass(io, object, content, length));
}

// on_image names the image, and the key or the snapshot.
static int on_image(const char *what, void *image, const char *of, struct plan *p) {
	int (*name_of)(void *, char *, size_t *) = next("rbd_get_name");
	char name[256], text[2600];
	size_t length = sizeof name;
	snprintf(text, sizeof text, "%s %s %s", what, name_of(image, name, &length) < 0 ? "?" : name, of);
	return before(text, p);
}

#define RBD(name, where) \
	int rbd_##name(void *place, const char *of, long c, long d) { \
		int (*pass)(void *, const char *, long, long) = next("rbd_" #name); \
		struct plan p; \
		int refused = where("rbd " #name, place, of, &p); \
		return refused ? refused : after(&p, pass(place, of, c, d)); \
	}

RBD(trash_move, in_pool)
RBD(trash_remove, in_pool)
RBD(group_snap_remove, in_pool)
RBD(group_image_remove_by_id, in_pool)
RBD(group_remove, in_pool)
RBD(snap_remove, on_image)
RBD(snap_unprotect, on_image)
RBD(metadata_set, on_image)
