// Takes the place of librados and librbd for a program that asks for two things and changes three, and says what of it is done.
#include <stdio.h>
#include <stddef.h>

int rados_mon_command(void *cluster, const char **command, size_t n, const char *in, size_t in_length,
	char **out, size_t *out_length, char **status, size_t *status_length) {
	printf("done %s\n", command[0]);
	fflush(stdout);
	*out = *status = NULL;
	*out_length = *status_length = 0;
	return 0;
}

int rados_ioctx_get_pool_name(void *io, char *name, unsigned length) { return snprintf(name, length, "pool"); }

int rbd_get_name(void *image, char *name, size_t *length) { return snprintf(name, *length, "image"); }

int rbd_metadata_set(void *image, const char *key, const char *value) {
	printf("done %s\n", key);
	return 0;
}

int rados_remove(void *io, const char *object) {
	printf("done %s\n", object);
	fflush(stdout);
	return 0;
}
