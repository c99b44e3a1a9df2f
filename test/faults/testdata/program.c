#include <stdio.h>
#include <stddef.h>

int rados_mon_command(void *, const char **, size_t, const char *, size_t, char **, size_t *, char **, size_t *);
int rados_remove(void *, const char *);

static void command(const char *text) {
	char *out, *status;
	size_t out_length, status_length;
	printf("answer %d\n", rados_mon_command(NULL, &text, 1, NULL, 0, &out, &out_length, &status, &status_length));
	fflush(stdout);
}

int main(void) {
	command("{\"detail\":\"detail\",\"format\":\"json\",\"prefix\":\"osd pool ls\"}");
	command("{\"format\":\"json\",\"pool\":\"ls\",\"prefix\":\"osd pool create\"}");
	printf("answer %d\n", rados_remove(NULL, "object"));
	return 0;
}
