/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the reader costs a simulation per MiB: one read(2) of 1 MiB that finds everything up to date, with hundreds of
 * READs under way ahead, beside an empty loop of 1000 instructions in the same run. By callgrind (gcc 12, -O2) the
 * steps of one such read(2) are 584 instructions, COPY and DONE together.
 */
#include "protocol/io/reader.h"

#include <stdio.h>
#include <time.h>

#define ROUNDS 200000
#define RUNS 1024
#define MIB UINT64_C(1048576)

static struct smb_page_cache cache;
static struct smb_page_run runs[RUNS];
static struct smb_readahead ra;

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void prepare(void)
{
	uint64_t page = 64 * MIB / 4096;

	smb_page_cache_init(&cache, 4096, RUNS);
	smb_readahead_init(&ra, 4096);
	smb_page_cache_reading(&cache, runs, 0, page, 0);
	smb_page_cache_filled(&cache, runs, 0, (struct smb_slice){ 1, 0, 64 * MIB });
	for (uint32_t reader = 1; reader <= 500; reader++, page += 16)
		smb_page_cache_reading(&cache, runs, page, 16, reader);
}

/** Seconds per read(2), and the number of steps it takes. */
static double read_calls(const struct smb_read_view *view, uint32_t *steps)
{
	double begin = now_s();

	*steps = 0;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct smb_reader reader;

		smb_reader_begin(&reader, view, (i % 64) * MIB, MIB);
		while (smb_reader_step(&reader, view).step != SMB_READER_DONE)
			++*steps;
	}
	return (now_s() - begin) / ROUNDS;
}

static double thousand_instructions(void)
{
	double begin = now_s();
	uint64_t value = 1;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < 333; j++)
			__asm__ volatile("" : "+r"(value));
		value += i;
	}
	return (now_s() - begin) / ROUNDS;
}

int main(void)
{
	struct smb_read_view view = {
		.policy = &smb_era_find("6.1")->policy,
		.cache = &cache,
		.runs = runs,
		.ra = &ra,
		.file_bytes = 1024 * MIB,
		.window_allowed = true,
	};
	uint32_t steps;
	double per_call;
	double reference;

	prepare();
	per_call = read_calls(&view, &steps);
	reference = thousand_instructions();
	printf("read(2) of 1 MiB up to date, %u runs: %.0f ns in %.1f steps; 333 turns of an empty loop: %.0f ns; "
	       "ratio "
	       "%.2f\n",
	       cache.run_count, per_call * 1e9, (double)steps / ROUNDS, reference * 1e9, per_call / reference);
	return 0;
}
