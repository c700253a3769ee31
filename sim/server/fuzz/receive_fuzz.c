/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A client that sends anything: the input is cut into PDUs, each with two bytes of length in front; the first bit of
 * the length picks the connection. The state must stay valid after each. */

#include "sim/server/server.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct smb_server_limits limits = { .connections = 2,
						 .sessions = 2,
						 .trees = 2,
						 .nodes = 16,
						 .handles = 4,
						 .requests = 4,
						 .outputs = 64,
						 .window = 256 };

static struct smb_server *start(void *block)
{
	struct smb_server_config config = {
		.profile = { .name = "fuzz",
			     .dialect_min = SMB2_DIALECT_202,
			     .dialect_max = SMB2_DIALECT_311,
			     .max_transact = 1 << 20,
			     .max_read = 1 << 20,
			     .max_write = 1 << 20,
			     .capabilities = 0x4f,
			     .channels_max = 2,
			     .credits_max = 256,
			     .interim = SMB_INTERIM_AFTER,
			     .interim_after_ns = 10 },
		.share = "s",
		.interface_count = 1,
	};
	struct smb_server *server = smb_server_init(block, &limits, &config);

	smb_server_make_file(server, "d\\f", 1, 100000);
	for (uint32_t i = 0; i < 2; i++)
		smb_server_connected(server, i, 0);
	return server;
}

/* Every second piece of work is left for later, so that requests pile up. */
static void drain(struct smb_server *server, uint64_t now_ns)
{
	static uint8_t buffer[SMB_SERVER_PDU_MAX];
	struct smb_server_output output;

	for (uint32_t works = 0;;) {
		smb_server_next(server, &output, buffer, sizeof(buffer));
		if (output.kind == SMB_SERVER_IDLE)
			break;
		if (output.kind == SMB_SERVER_WORK && works++ % 2 == 0)
			smb_server_work_done(server, output.token, now_ns);
		if (output.kind == SMB_SERVER_DISCONNECT) {
			smb_server_closed(server, output.connection, now_ns);
			smb_server_connected(server, output.connection, now_ns);
		}
	}
	assert(smb_server_is_valid(server));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *block = malloc(smb_server_size(&limits));
	struct smb_server *server = start(block);
	uint64_t now_ns = 1;

	for (; size > 2; now_ns += 7) {
		uint32_t length = (uint32_t)(data[0] & 0x7f) << 8 | data[1];
		uint32_t connection = data[0] >> 7;
		data += 2;
		size -= 2;
		if (length > size)
			length = (uint32_t)size;
		uint8_t *bytes = malloc(length ? length : 1); /* its own block, so that reads past it are seen */
		memcpy(bytes, data, length);
		struct smb_pdu pdu = { .bytes = bytes, .length = length };
		smb_server_receive(server, connection, &pdu, now_ns);
		free(bytes);
		drain(server, now_ns);
		smb_server_wake(server, now_ns);
		drain(server, now_ns);
		data += length;
		size -= length;
	}
	free(block);
	return 0;
}
