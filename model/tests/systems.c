/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/tests/systems.h"

#include "protocol/wire/smb2.h"

#include <criterion/criterion.h>
#include <stdio.h>

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

void system_two_readers(struct model_config *config, uint32_t channels, uint16_t credits_max)
{
	struct smb_mount_report report;
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
	cr_assert_eq(smb_mount_options_parse(options, &config->client.policy, &config->client.mount, &report),
		     SMB_MOUNT_OK, "%s", report.message);
	model_config_set_limits(config, channels);
}
