/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/world/nearest.h"

#include <string.h>

static guint edit_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	g_autofree guint *row = g_new(guint, lb + 1);

	for (size_t j = 0; j <= lb; j++)
		row[j] = (guint)j;
	for (size_t i = 1; i <= la; i++) {
		guint diagonal = row[0];

		row[0] = (guint)i;
		for (size_t j = 1; j <= lb; j++) {
			guint above = row[j];
			guint change = diagonal + (a[i - 1] != b[j - 1]);

			row[j] = MIN(MIN(above, row[j - 1]) + 1, change);
			diagonal = above;
		}
	}
	return row[lb];
}

const char *sim_nearest(const char *word, const char *const *names, guint count)
{
	const char *nearest = NULL;
	guint best = (guint)strlen(word) / 2 + 1;

	if (strlen(word) > 64)
		return NULL;
	for (guint i = 0; i < count; i++) {
		guint distance = edit_distance(word, names[i]);

		if (distance < best) {
			best = distance;
			nearest = names[i];
		}
	}
	return nearest;
}
