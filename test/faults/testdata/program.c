#include <stdio.h>
#include <stddef.h>

int rados_mon_command(void *, const char **, size_t, const char *, size_t, char **, size_t *, char **, size_t *);
int rados_remove(void *, const char *);
int rbd_metadata_set(void *, const char *, const char *);

static void command(const char *text) {
	char *out, *status;
	size_t out_length, status_length;
	printf("answer %d\n", rados_mon_command(NULL, &text, 1, NULL, 0, &out, &out_length, &status, &status_length));
	fflush(stdout);
}

int main(int argc, char **argv) {
	if (argc > 1) {
		printf("answer %d\n", rbd_metadata_set(NULL, argv[1], "value"));
		return 0;
	}
	command("{\"detail\":\"detail\",\"format\":\"json\",\"prefix\":\"osd pool ls\"}");
	command("{\"format\":\"json\",\"pool\":\"ls\",\"prefix\":\"osd pool create\"}");
	printf("answer %d\n", rados_remove(NULL, "object"));
	return 0;
}
