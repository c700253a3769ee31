/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/tests/systems.h"

#include "protocol/wire/smb2.h"

#include <stdio.h>
#include <string.h>

static struct smb_server_profile profile_of(uint16_t credits_max)
{
	return (struct smb_server_profile){
		.name = "test",
		.dialect_min = SMB2_DIALECT_202,
		.dialect_max = SMB2_DIALECT_311,
		.max_transact = 8 << 20,
		.max_read = 8 << 20,
		.max_write = 8 << 20,
		.capabilities = SMB2_GLOBAL_CAP_LEASING | SMB2_GLOBAL_CAP_LARGE_MTU | SMB2_GLOBAL_CAP_MULTI_CHANNEL,
		.channels_max = 4,
		.credits_max = credits_max,
	};
}

static void mount(struct model_config *config, const char *options)
{
	struct smb_mount_report report;

	if (smb_mount_options_parse(options, &config->client.policy, &config->client.mount, &report) != SMB_MOUNT_OK)
		g_error("%s: %s", options, report.message);
}

void system_two_readers(struct model_config *config, uint32_t channels, uint16_t credits_max)
{
	char options[64];

	*config = (struct model_config){
		.client = { .policy = smb_era_find("6.12")->policy,
			    .page_bytes = 4096,
			    .server = "server",
			    .share = "share" },
		.server = { .profile = profile_of(credits_max),
			    .share = "share",
			    .interface_count = 1,
			    .interfaces = { { .speed_bps = 1000000000, .rss = true } } },
		.files = 1,
		.file = { { .name = "f", .bytes = 131072 } },
		.threads = 2,
		.thread = { { .steps = 3,
			      .step = { { .kind = MODEL_STEP_OPEN },
					{ .kind = MODEL_STEP_READ, .length = 65536 },
					{ .kind = MODEL_STEP_CLOSE } } },
			    { .steps = 1, .step = { { .kind = MODEL_STEP_READ, .offset = 65536, .length = 65536 } } } },
		.unmounts = true,
		.freedom = { .any_order = true },
	};
	snprintf(options, sizeof(options), "vers=3.1.1,rsize=65536%s%u",
		 channels > 1 ? ",multichannel,max_channels=" : ",max_channels=", channels);
	mount(config, options);
	model_config_set_limits(config, channels);
}

/* sim/server/profiles/samba-4.17.ini as far as the model goes */
static struct smb_server_profile samba_4_17(uint16_t credits_max)
{
	struct smb_server_profile profile = profile_of(credits_max);

	strcpy(profile.name, "samba-4.17");
	profile.capabilities |= SMB2_GLOBAL_CAP_DFS | SMB2_GLOBAL_CAP_ENCRYPTION;
	profile.channels_max = 32;
	profile.aio = 1;
	profile.storage_parallel = 100;
	return profile;
}

static struct model_step sh(const char *text)
{
	const struct smb_ops_shell shell = { .mount_point = "/mnt" };
	struct model_step step = { .kind = MODEL_STEP_COMMAND };
	char message[SMB_OPS_MESSAGE_MAX];

	if (!smb_ops_parse(text, &shell, &step.command, NULL, message))
		g_error("%s: %s", text, message);
	return step;
}

void system_compound(struct model_config *config)
{
	const struct model_step read = { .kind = MODEL_STEP_READ, .length = 131072 };
	const struct model_step read_on = { .kind = MODEL_STEP_READ, .offset = 65536, .length = 65536 };

	system_two_readers(config, 1, 12);
	memcpy(config->client.client_guid, "smblab", 6);
	memcpy(config->server.server_guid, "server", 6);
	config->server.profile = samba_4_17(12);
	config->files = 2;
	strcpy(config->file[1].name, "g");
	config->threads = 3;
	config->thread[0].step[0].direct = true;
	config->thread[0].step[1] = read;
	config->thread[1] = (struct model_thread){ .steps = 2, .step = { sh("stat /mnt/g"), sh("rm /mnt/g") } };
	config->thread[2] = (struct model_thread){ .steps = 1, .step = { read_on } };
	config->unmounts = false;
	config->starts_mounted = true;
	config->freedom = (struct model_freedom){
		.any_order = true,
		.grants = 3,
		.grant = { 0, 1, 4 },
		.split = true,
		.spread = true,
	};
	mount(config, "vers=3.1.1,rsize=65536");
	model_config_set_limits(config, 1);
}

bool system_find(const char *name, struct model_config *config)
{
	unsigned int channels, credits;
	char end;

	if (!strcmp(name, "compound"))
		system_compound(config);
	else if (sscanf(name, "%u-channels-%u%c", &channels, &credits, &end) == 2)
		system_two_readers(config, channels, (uint16_t)credits);
	else
		return false;
	return true;
}
