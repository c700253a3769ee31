/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the rule monitor is told about client and files. */

#include "model/host.h"
#include "model/internal.h"

static uint64_t source_of_file(uint32_t file)
{
	return 1 + file;
}

static uint32_t max_credits(const struct model_config *config)
{
	uint32_t asked = config->client.mount.max_credits;

	return asked ? asked : config->client.policy.max_credits_default;
}

void model_tell_monitor(const struct model_config *config, struct smb_monitor *monitor)
{
	struct smb_monitor_expect expect = { .idle_credits = max_credits(config),
					     .grants_vary = model_may_starve(config) };

	smb_monitor_set_expect(monitor, &expect);
	for (uint32_t i = 0; i < config->files; i++) {
		g_autofree char *name = g_strdelimit(g_strdup(config->file[i].name), "/", '\\');

		if (!config->file[i].is_directory)
			smb_monitor_file(monitor, name, source_of_file(i), config->file[i].bytes);
	}
}

void model_tell_mounted(const struct model_config *config, const struct smb_client *client, struct smb_monitor *monitor)
{
	const struct smb_mount_options *mount = &config->client.mount;
	/* A signal leaves a READ behind that nobody waits for; its page is then read again, which PDUs alone cannot tell
	 * from one that is read twice. */
	bool reads_ahead = mount->cache != SMB_CACHE_NONE && !model_threads_go_direct(config);
	bool is_cached = reads_ahead && !config->faults[MODEL_FAULT_CANCEL];
	struct smb_monitor_expect expect;
	struct smb_client_info info;

	smb_client_look(client, &info);
	expect = (struct smb_monitor_expect){
		.max_credits = max_credits(config),
		.idle_credits = max_credits(config),
		.rsize = info.rsize,
		.readahead_bytes = reads_ahead ? (uint64_t)info.ra_pages * config->client.page_bytes : 0,
		.page_bytes = is_cached ? config->client.page_bytes : 0,
		.grants_vary = model_may_starve(config),
	};
	smb_monitor_set_expect(monitor, &expect);
}
