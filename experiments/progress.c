/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/progress.h"

#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH 30

char *lab_progress_text(const struct lab_progress *progress, double elapsed_s)
{
	char bar[BAR_WIDTH + 1] = { 0 };
	guint full = progress->total ? progress->done * BAR_WIDTH / progress->total : BAR_WIDTH;
	double left = progress->done ? elapsed_s / progress->done * (progress->total - progress->done) : 0;
	g_autofree char *tail = progress->done ? g_strdup_printf(", %d:%02d left", (int)left / 60, (int)left % 60)
					       : g_strdup("");

	for (guint i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < full ? '=' : ' ';
	return g_strdup_printf("[%s] %u/%u %ss%s", bar, progress->done, progress->total, progress->what, tail);
}

static void show(struct lab_progress *progress)
{
	double elapsed_s = (double)(g_get_monotonic_time() - progress->began_us) / 1e6;
	g_autofree char *text = NULL;
	guint tenths = progress->total ? progress->done * 10 / progress->total : 10;

	if (progress->terminal) {
		text = lab_progress_text(progress, elapsed_s);
		fprintf(stderr, "\r%s\033[K", text);
	} else if (tenths > progress->tenths_told) {
		progress->tenths_told = tenths;
		fprintf(stderr, "%u of %u %ss, %.0f s\n", progress->done, progress->total, progress->what, elapsed_s);
	}
}

void lab_progress_begin(struct lab_progress *progress, const char *what, guint total)
{
	*progress = (struct lab_progress){ .what = what, .total = total, .terminal = isatty(STDERR_FILENO) };
	progress->began_us = g_get_monotonic_time();
	if (total)
		show(progress);
}

void lab_progress_step(struct lab_progress *progress)
{
	progress->done++;
	show(progress);
}

void lab_progress_end(struct lab_progress *progress)
{
	if (progress->terminal && progress->total)
		fputs("\n", stderr);
}
