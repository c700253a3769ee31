/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/commands.h"
#include "experiments/version.h"
#include "sim/world/nearest.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	const char *tells;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "simulate every point of a config; write results and report", lab_command_run },
	{ "compare", "predicted against measured, fitted and held-out rows apart", lab_command_compare },
	{ "calibrate", "fit parameters to some measured rows, judge them by the others", lab_command_calibrate },
	{ "report", "write the results and the report of a run again", lab_command_report },
	{ "merge", "join the shards of a run", lab_command_merge },
	{ "bill", "the round-trip bill of shell commands, chain by chain", lab_command_bill },
	{ "check", "every interleaving of a small system, judged by the rules", lab_command_check },
	{ "replay", "a counterexample of check again, step by step", lab_command_replay },
	{ "list", "what exists: eras, policies, presets, profiles, rules, keys, ...", lab_command_list },
};

static void help(FILE *stream)
{
	fprintf(stream,
		"Usage:\n  smblab COMMAND [OPTION...]\n\nPredicts and checks the performance of SMB3 clients.\n\n"
		"Commands (smblab COMMAND --help explains each, with an example):\n");
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].tells);
	fprintf(stream, "  --version  program version and git revision\n\nExample:\n  smblab run quick.ini\n");
}

static int unknown(const char *word)
{
	const char *names[G_N_ELEMENTS(commands)];
	const char *nearest;

	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		names[i] = commands[i].name;
	nearest = sim_nearest(word, names, G_N_ELEMENTS(names));
	fprintf(stderr, "smblab: no command '%s'%s%s (smblab --help lists them)\n", word, nearest ? "; nearest: " : "",
		nearest ? nearest : "");
	return 2;
}

/* A result that could not be written is no result, whatever the command thinks. */
static int told(int exit_code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return exit_code;
	fprintf(stderr, "smblab: cannot write to standard output: %s\n", g_strerror(errno));
	return 3;
}

int main(int argc, char **argv)
{
	g_autofree char *name = NULL;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	if (argc < 2) {
		help(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return told(0);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("smblab %s (git %s, model %.12s)\n", lab_version(), lab_git_revision(), lab_model_hash());
		return told(0);
	}
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
		if (strcmp(commands[i].name, argv[1]) != 0)
			continue;
		name = g_strconcat("smblab ", argv[1], NULL);
		g_set_prgname(name);
		argv[1] = name;
		return told(commands[i].run(argc - 1, argv + 1));
	}
	return unknown(argv[1]);
}
