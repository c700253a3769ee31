/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What counts as credit and compound code. */

#include "reports/coverage/coverage.h"

#include <string.h>

static const struct {
	const char *path;
	const char *why;
} focus[] = {
	{ "protocol/flow/credits.c", "what the client has of each class, waits for and asks for" },
	{ "protocol/flow/window.c", "which MessageIds a charge takes and gives back" },
	{ "protocol/flow/requests.c", "what is under way, found by MessageId" },
	{ "protocol/flow/channels.c", "which channel's credits are used" },
	{ "protocol/client/send.c", "from the wish to send to credits, slot and MessageIds" },
	{ "protocol/client/receive.c", "what an answer grants, and whose it is" },
	{ "protocol/client/command.c", "chains of shell commands: credits, members, answers" },
	{ "protocol/client/cancel.c", "credits and handles of what nobody waits for any more, or was not sent" },
	{ "protocol/client/unasked.c", "break acknowledgements and echoes, which have credits of their own" },
	{ "protocol/client/lost.c", "READs that are paid for once more" },
	{ "protocol/wire/chain.c", "compound chains as bytes" },
	{ "sim/server/window.c", "the sequence window as the server enforces it" },
	{ "sim/server/chain.c", "admission by the window, and chains member by member" },
	{ "sim/server/requests.c", "grants, interim responses, and which answer carries which" },
};

const char *coverage_focus(const char *path)
{
	for (guint i = 0; i < G_N_ELEMENTS(focus); i++) {
		if (!strcmp(focus[i].path, path))
			return focus[i].why;
	}
	return NULL;
}

guint coverage_focus_paths(const char *const **paths)
{
	static const char *all[G_N_ELEMENTS(focus)];

	for (guint i = 0; i < G_N_ELEMENTS(focus); i++)
		all[i] = focus[i].path;
	*paths = all;
	return G_N_ELEMENTS(focus);
}
