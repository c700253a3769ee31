/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/coverage/cells.h"

#include "protocol/client/tables.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_MAX 64
#define COLUMNS_MAX 16

static atomic_bool taken[SMB_TABLES][ROWS_MAX][COLUMNS_MAX];

void smb_coverage_cell(unsigned table, unsigned row, unsigned column)
{
	if (table >= SMB_TABLES || row >= ROWS_MAX || column >= COLUMNS_MAX)
		abort();
	atomic_store_explicit(&taken[table][row][column], true, memory_order_relaxed);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("SMBLAB_CELLS");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	for (unsigned table = 0; table < SMB_TABLES; table++) {
		for (unsigned cell = 0; cell < ROWS_MAX * COLUMNS_MAX; cell++) {
			if (taken[table][cell / COLUMNS_MAX][cell % COLUMNS_MAX])
				fprintf(file, "%u %u %u\n", table, cell / COLUMNS_MAX, cell % COLUMNS_MAX);
		}
	}
	fclose(file);
}
