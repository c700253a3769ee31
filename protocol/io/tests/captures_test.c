/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/host.h"
#include "protocol/io/tests/table.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What real kernels sent for `dd bs=1M` beside what the reader sends: every offset and length, in order, of the first
 * 30 READs of each capture, and the number of READs in all.
 */

#define MIB UINT64_C(1048576)

static struct host_file file;

/** Fills in sizes as the kernel mounted them and the number of READs; false when the table has no such variant. */
static bool load_variant(const char *table_name, const char *variant, struct host_setup *setup, uint32_t *reads)
{
	FILE *table = table_open(table_name, ".tsv");
	char line[TABLE_LINE_MAX];
	char *fields[TABLE_FIELDS_MAX];
	bool found = false;

	while (!found && table_next_row(table, line, sizeof(line), fields)) {
		if (strcmp(fields[1], "r") || strcmp(fields[2], variant))
			continue;
		setup->rsize = table_mount_value(fields[5], "rsize");
		setup->rasize = table_mount_value(fields[5], "rasize");
		setup->max_read = strstr(fields[3], "vers=2.0") ? 65536 : 8388608;
		*reads = (uint32_t)strtoul(fields[7], NULL, 10);
		found = true;
	}
	fclose(table);
	return found;
}

/** Compares the READs of `file` with the first ones of the capture; returns how many rows it compared. */
static uint32_t compare_first(const char *table_name, const char *variant)
{
	FILE *table = table_open(table_name, "-first30.tsv");
	char line[TABLE_LINE_MAX];
	char *fields[TABLE_FIELDS_MAX];
	uint32_t rows = 0;

	while (table_next_row(table, line, sizeof(line), fields)) {
		if (strcmp(fields[1], "r") || strcmp(fields[2], variant))
			continue;
		cr_assert_lt(rows, file.read_count, "%s %s", table_name, variant);
		cr_expect_eq(file.reads[rows].offset, strtoull(fields[6], NULL, 10),
			     "%s %s READ %u: offset %lu, not %s", table_name, variant, rows, file.reads[rows].offset,
			     fields[6]);
		cr_expect_eq(file.reads[rows].length, strtoul(fields[7], NULL, 10), "%s %s READ %u: length %u, not %s",
			     table_name, variant, rows, file.reads[rows].length, fields[7]);
		rows++;
	}
	fclose(table);
	return rows;
}

struct capture {
	const char *table;
	const char *era;
	uint32_t page_bytes;
	uint64_t file_bytes;
	const char *variants[24];
};

static void compare_capture(const struct capture *capture)
{
	for (int i = 0; capture->variants[i]; i++) {
		struct host_setup setup = {
			.policy = &smb_era_find(capture->era)->policy,
			.page_bytes = capture->page_bytes,
			.file_bytes = capture->file_bytes,
		};
		uint32_t reads = 0;

		cr_assert(load_variant(capture->table, capture->variants[i], &setup, &reads), "%s",
			  capture->variants[i]);
		host_open(&file, &setup);
		host_read_through(&file, 0, capture->file_bytes, MIB);
		cr_expect_eq(file.copied, capture->file_bytes);
		cr_expect_eq(file.read_count, reads, "%s %s: %u READs, not %u", capture->table, capture->variants[i],
			     file.read_count, reads);
		cr_expect_eq(compare_first(capture->table, capture->variants[i]), reads < 30 ? reads : 30);
	}
}

Test(captures, reads_of_6_1_are_the_kernels)
{
	static const struct capture capture = {
		.table = "io-6.1",
		.era = "6.1",
		.page_bytes = 4096,
		.file_bytes = 64 * MIB,
		.variants = { "default", "ra1M", "ra4M", "ra8M", "ra16M", "ra32M", "rsize64K", "rsize1024K",
			      "rsize4096K", "rsize1M-ra16M", "v2.0", "v2.1", "v3.0" },
	};

	compare_capture(&capture);
}

Test(captures, reads_of_6_1_at_80_ms_are_the_kernels)
{
	static const struct capture capture = {
		.table = "io-6.1-rtt80-400mbit",
		.era = "6.1",
		.page_bytes = 4096,
		.file_bytes = 96 * MIB,
		.variants = { "default", "ra1M", "ra4M", "ra8M", "ra16M" },
	};

	compare_capture(&capture);
}

Test(captures, reads_of_6_12_are_the_kernels)
{
	static const struct capture capture = {
		.table = "io-6.12",
		.era = "6.12",
		.page_bytes = 4096,
		.file_bytes = 64 * MIB,
		.variants = { "default", "ra1M", "ra4M", "ra16M", "rsize64K", "rsize1024K", "rsize4096K",
			      "rsize1M-ra16M", "v2.0", "v3.0" },
	};

	compare_capture(&capture);
}

/* Without those of vers=1.0 (no SMB1 reader here) and cache=none (no page cache). */
Test(captures, reads_with_64k_pages_are_the_kernels)
{
	static const struct capture capture = {
		.table = "page-6.1-ppc64el-64k",
		.era = "6.1",
		.page_bytes = 65536,
		.file_bytes = 32 * MIB,
		.variants = { "v2.0",	    "v2.1",	  "v3.0",      "v3.1.1",     "vdefault",  "v3",
			      "ra1M",	    "v2.0-ra1M",  "ra16M",     "v2.0-ra16M", "rsize4K",	  "rsize16K",
			      "rsize32K",   "rsize60K",	  "rsize64K",  "rsize65K",   "rsize100K", "rsize128K",
			      "rsize1000K", "rsize1024K", "rsize4096K" },
	};

	compare_capture(&capture);
}

Test(captures, reads_with_16k_pages_are_the_kernels)
{
	static const struct capture capture = {
		.table = "page-6.12-arm64-16k",
		.era = "6.12",
		.page_bytes = 16384,
		.file_bytes = 32 * MIB,
		.variants = { "v2.0", "v2.1", "v3.0", "v3.1.1", "ra1M", "ra16M", "rsize4K", "rsize16K", "rsize32K",
			      "rsize60K", "rsize64K", "rsize65K", "rsize100K", "rsize1000K" },
	};

	compare_capture(&capture);
}
