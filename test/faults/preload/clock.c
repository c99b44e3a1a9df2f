// Has the clock of a program be wrong by as many seconds as "clock" in the folder CEPH_FAULTS has. Programs read the
// clock in the kernel's vDSO, Go without any library in between, so it is the functions there that are replaced: in
// this process's own copy of their page. Clocks that only count on are as they were.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the jump that is written into the vDSO is one of x86_64"
#endif

static const volatile int64_t *wrong_by;

static long kernel(long number, long a, long b) {
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return result;
}

static long at_clock(clockid_t clock, struct timespec *now) {
	long result = kernel(SYS_clock_gettime, clock, (long)now);
	if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += *wrong_by;
	return result;
}

static long at_day(struct timeval *now, void *zone) {
	long result = kernel(SYS_gettimeofday, (long)now, (long)zone);
	if (result == 0 && now)
		now->tv_sec += *wrong_by;
	return result;
}

static time_t at_time(time_t *into) {
	time_t now = kernel(SYS_time, 0, 0) + *wrong_by;
	if (into)
		*into = now;
	return now;
}

static void replace(char *function, void *by) {
	unsigned char jump[13] = {0x49, 0xbb, [10] = 0x41, 0xff, 0xe3}; // movabs by, %r11; jmp *%r11
	memcpy(jump + 2, &by, sizeof by);
	memcpy(function, jump, sizeof jump);
}

__attribute__((constructor)) static void replace_clocks(void) {
	static const struct {
		const char *name;
		void *by;
	} clocks[] = {{"__vdso_clock_gettime", at_clock}, {"__vdso_gettimeofday", at_day}, {"__vdso_time", at_time}};
	char path[4096];
	const char *folder = getenv("CEPH_FAULTS");
	char *image = (char *)getauxval(AT_SYSINFO_EHDR);
	if (!folder || !image || snprintf(path, sizeof path, "%s/clock", folder) >= (int)sizeof path)
		return;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	void *content = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *wrong_by, PROT_READ, MAP_SHARED, file, 0);
	if (content == MAP_FAILED) {
		perror(path);
		abort();
	}
	close(file);
	wrong_by = content;

	// The kernel does not let a part of it be another mapping. Its sections are listed at its end.
	const Elf64_Ehdr *header = (Elf64_Ehdr *)image;
	if (mprotect(image, header->e_shoff + header->e_shnum * header->e_shentsize, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		perror("writing into the vDSO");
		abort();
	}
	const Elf64_Shdr *sections = (Elf64_Shdr *)(image + header->e_shoff);
	for (int s = 0; s < header->e_shnum; s++) {
		if (sections[s].sh_type != SHT_DYNSYM)
			continue;
		const Elf64_Sym *symbols = (Elf64_Sym *)(image + sections[s].sh_offset);
		const char *names = image + sections[sections[s].sh_link].sh_offset;
		for (size_t i = 0; i < sections[s].sh_size / sizeof *symbols; i++)
			for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++)
				if (!strcmp(names + symbols[i].st_name, clocks[c].name))
					replace(image + symbols[i].st_value, clocks[c].by);
	}
}
