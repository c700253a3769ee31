/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/check_kit.h"

#include "experiments/commands.h"
#include "experiments/version.h"
#include "reports/kit/graph.h"
#include "reports/kit/kit.h"

#include <stdio.h>

char *lab_kit_directory(const char *config_path)
{
	g_autofree char *base = g_path_get_basename(config_path);
	g_autofree char *name = g_strconcat("check-", base, NULL);

	return lab_default_directory(name, "");
}

static bool fill_origin(const char *config_path, char **sets, struct kit_origin *origin, GError **error)
{
	g_autoptr(GError) why = NULL;

	*origin = (struct kit_origin){
		.program = g_strdup_printf("%s (git %s)", lab_version(), lab_git_revision()),
		.model = lab_check_identity(),
		.config = g_strdup(config_path),
		.sets = g_strdupv(sets),
	};
	if (g_file_get_contents(config_path, &origin->text, NULL, &why))
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "cannot read %s again: %s", config_path, why->message);
	kit_origin_clear(origin);
	return false;
}

bool lab_kit_write(const char *directory, const char *config_path, char **sets, struct model *model,
		   const struct model_result *result, GError **error)
{
	struct kit_origin origin;
	struct kit_walk *walk;
	struct model *plain;
	g_autofree char *note = NULL;
	bool is_written;
	guint bad;

	if (!fill_origin(config_path, sets, &origin, error))
		return false;
	plain = model_without_symmetry(model);
	walk = kit_walk_new(plain, result->trace, &bad, error);
	is_written = walk && kit_write(directory, walk, &origin, &note, error);
	if (is_written)
		fprintf(stderr, "counterexample kit: %s%s%s%s\n", directory, note ? " (" : "", note ? note : "",
			note ? ")" : "");
	kit_walk_free(walk);
	model_free(plain);
	kit_origin_clear(&origin);
	return is_written;
}

bool lab_graph_write(const char *path, struct model *model, GError **error)
{
	GString *dot = kit_graph_whole(model, error);
	bool is_written = dot && kit_graph_write(dot, path, error);

	if (dot)
		g_string_free(dot, TRUE);
	return is_written;
}
