/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/keys_faults.h"

#include "experiments/value.h"

#include <string.h>

static bool refuse(GError **error, const char *text, const char *why)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s': %s", text, why);
	return false;
}

/** The items of a list without the blanks around them; none for "unset" and "none". */
static char **items_of(const char *text)
{
	char **items;

	if (!strcmp(text, "unset") || !strcmp(text, "none"))
		return g_new0(char *, 1);
	items = g_strsplit_set(text, ";,", -1);
	for (char **item = items; *item; item++)
		g_strstrip(*item);
	return items;
}

bool lab_set_nic_rates(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	g_auto(GStrv) items = items_of(text);
	guint count = g_strv_length(items);

	(void)key;
	if (count > SIM_NICS_MAX)
		return refuse(error, text, "that is more than 16 NICs");
	for (guint i = 0; i < count; i++) {
		if (!lab_whole_parse(LAB_RATE, items[i], &draft->point->network.nic_rate_bps[i], error))
			return false;
		if (draft->point->network.nic_rate_bps[i] < 10000)
			return refuse(error, items[i], "a NIC has at least 10Kbit");
	}
	if (count)
		draft->point->network.nics = count;
	return true;
}

bool lab_set_nic_rss(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	g_auto(GStrv) items = items_of(text);
	guint count = g_strv_length(items);

	(void)key;
	if (count > SIM_NICS_MAX)
		return refuse(error, text, "that is more than 16 NICs");
	for (guint i = 0; i < count; i++) {
		bool rss;

		if (!lab_bool_parse(items[i], &rss, error))
			return false;
		draft->point->network.nic_without_rss[i] = !rss;
	}
	return true;
}

/** INDEX@TIME */
static bool fault_parse(const char *item, struct sim_fault *fault, GError **error)
{
	const char *at = strchr(item, '@');
	g_autofree char *index = at ? g_strndup(item, (gsize)(at - item)) : NULL;
	uint64_t number;

	if (!at)
		return refuse(error, item, "a fault is INDEX@TIME, as in 1@2s");
	if (!lab_whole_parse(LAB_COUNT, index, &number, error))
		return false;
	if (number >= SIM_NICS_MAX)
		return refuse(error, item, "channels and NICs are numbered 0 to 15");
	fault->index = (uint32_t)number;
	return lab_whole_parse(LAB_TIME, at + 1, &fault->when_ns, error);
}

bool lab_set_faults(struct lab_draft *draft, const struct lab_key *key, const char *text, GError **error)
{
	enum sim_fault_kind kind = !strcmp(key->name, "cut")	    ? SIM_FAULT_CUT
				   : !strcmp(key->name, "nic_down") ? SIM_FAULT_NIC_DOWN
								    : SIM_FAULT_NIC_UP;
	g_auto(GStrv) items = items_of(text);
	struct sim_point *point = draft->point;

	for (char **item = items; *item; item++) {
		struct sim_fault fault = { .kind = kind };

		if (!fault_parse(*item, &fault, error))
			return false;
		if (point->fault_count == SIM_FAULTS_MAX)
			return refuse(error, text, "that is more than 32 faults");
		point->faults[point->fault_count++] = fault;
	}
	return true;
}

bool lab_faults_check(const struct sim_point *point, GError **error)
{
	for (uint32_t i = 0; i < point->fault_count; i++) {
		const struct sim_fault *fault = &point->faults[i];

		if (fault->kind == SIM_FAULT_CUT || fault->index < point->network.nics)
			continue;
		g_set_error(error, LAB_ERROR, LAB_ERROR_IMPOSSIBLE, "a fault names NIC %u, but there are only %u",
			    fault->index, point->network.nics);
		return false;
	}
	return true;
}
