/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/tests/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define CAPTURES SMB_SOURCE_DIR "/experiments/measured/captures/"

static int split(char *line, char **fields)
{
	int count = 0;
	char *field;

	line[strcspn(line, "\n")] = '\0';
	while (count < TABLE_FIELDS_MAX && (field = strsep(&line, "\t")))
		fields[count++] = field;
	return count;
}

bool table_next_row(FILE *table, char *line, size_t size, char **fields)
{
	while (fgets(line, (int)size, table)) {
		if (line[0] == '#' || !strncmp(line, "kernel\t", 7))
			continue;
		cr_assert_geq(split(line, fields), 12);
		return true;
	}
	return false;
}

FILE *table_open(const char *name, const char *suffix)
{
	char path[512];
	FILE *table;

	snprintf(path, sizeof(path), CAPTURES "%s%s", name, suffix);
	table = fopen(path, "r");
	cr_assert_not_null(table, "%s", path);
	return table;
}

uint32_t table_mount_value(const char *mounted, const char *name)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), "%s=", name);
	for (at = strstr(mounted, key); at; at = strstr(at + 1, key)) {
		if (at == mounted || at[-1] == ',')
			return (uint32_t)strtoul(at + strlen(key), NULL, 10);
	}
	return 0;
}
