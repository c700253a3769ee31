/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block, and the functions that hosts call. */
#include "protocol/client/smb1.h"
#include "protocol/client/write.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const struct smb_client_limits smb_client_limits_simulation = {
	.channels = SMB_CHANNELS_MAX,
	.requests = 2048, /* two windows of 32 MiB in READs of 64 KiB are 1024 */
	.ops = 32,
	.files = 16,
	.page_runs = 1100,
	.dirty_runs = 1100,
	.writes = 1024,
	.outputs = 64,
	.names = 3072, /* three listings of 1000 names */
	.command_files = 32,
};

#define REQUESTS_MIN 8 /* a chain, the reserve, and one per channel that is being set up */
#define DIRTY_RUNS_MIN 16
#define LIMIT_MAX 1048576

static size_t commands_size(const struct smb_client_limits *limits)
{
	struct smb_ops_limits commands = { limits->names, limits->command_files };

	return limits->names ? smb_ops_size(&commands) : 0;
}

static bool limits_are_valid(const struct smb_client_limits *limits)
{
	return limits->channels >= 1 && limits->channels <= SMB_CHANNELS_MAX && limits->requests >= REQUESTS_MIN &&
	       limits->requests <= LIMIT_MAX && limits->ops >= 1 && limits->ops <= LIMIT_MAX && limits->files >= 1 &&
	       limits->files <= LIMIT_MAX && limits->page_runs >= 4 && limits->page_runs <= LIMIT_MAX &&
	       limits->dirty_runs <= LIMIT_MAX && limits->writes <= LIMIT_MAX &&
	       (!limits->dirty_runs || (limits->dirty_runs >= DIRTY_RUNS_MIN && limits->writes)) &&
	       limits->outputs >= 2 * CLIENT_OUTPUT_RESERVE && limits->outputs <= LIMIT_MAX &&
	       (!limits->names || commands_size(limits));
}

static size_t reserve(size_t *at, size_t count, size_t size)
{
	size_t start = *at;

	*at += (count * size + 7) & ~(size_t)7;
	return start;
}

static struct client_layout layout_of(const struct smb_client_limits *limits)
{
	size_t at = (sizeof(struct smb_client) + 7) & ~(size_t)7;
	struct client_layout layout;

	layout.channels = reserve(&at, limits->channels, sizeof(struct client_channel));
	layout.requests = reserve(&at, limits->requests, sizeof(struct smb_request));
	layout.buckets = reserve(&at, smb_requests_buckets(limits->requests), sizeof(uint32_t));
	layout.ops = reserve(&at, (size_t)limits->ops + 2, sizeof(struct client_op));
	layout.files = reserve(&at, limits->files, sizeof(struct client_file));
	layout.runs = reserve(&at, (size_t)limits->files * limits->page_runs, sizeof(struct smb_page_run));
	layout.dirty_runs = reserve(&at, (size_t)limits->files * limits->dirty_runs, sizeof(struct smb_dirty_run));
	layout.writes = reserve(&at, (size_t)limits->files * limits->writes, sizeof(struct smb_dirty_write));
	layout.outputs = reserve(&at, limits->outputs, sizeof(struct client_output));
	layout.commands = reserve(&at, 1, commands_size(limits));
	layout.size = at;
	return layout;
}

size_t smb_client_size(const struct smb_client_limits *limits)
{
	return limits_are_valid(limits) ? layout_of(limits).size : 0;
}

static bool name_is_valid(const char *name, size_t size)
{
	size_t length = 0;

	if (!name)
		return false;
	for (; name[length]; length++) {
		if (length + 1 >= size || (unsigned char)name[length] > 0x7e || (unsigned char)name[length] < 0x20)
			return false;
	}
	return length > 0;
}

static bool config_is_valid(const struct smb_client_config *config)
{
	uint32_t page = config->page_bytes;
	uint16_t dialects[SMB2_DIALECTS_MAX];

	return page >= 4096 && page <= 65536 && !(page & (page - 1)) && smb_policy_is_valid(&config->policy) &&
	       smb_mount_options_is_valid(&config->mount) && smb_mount_dialects(config->mount.vers, dialects) &&
	       name_is_valid(config->server, CLIENT_HOST_MAX) && name_is_valid(config->share, CLIENT_HOST_MAX);
}

struct smb_client *smb_client_init(void *block, const struct smb_client_limits *limits,
				   const struct smb_client_config *config)
{
	struct smb_client *client = block;

	if (!limits_are_valid(limits) || !config_is_valid(config))
		return NULL;
	memset(block, 0, smb_client_size(limits));
	client->limits = *limits;
	client->at = layout_of(limits);
	client->policy = config->policy;
	client->mount = config->mount;
	client->page_bytes = config->page_bytes;
	memcpy(client->client_guid, config->client_guid, sizeof(client->client_guid));
	snprintf(client->server, sizeof(client->server), "%s", config->server);
	snprintf(client->share, sizeof(client->share), "%s", config->share);
	client->copy_is_free = config->copy_is_free;
	client->sends_block = config->sends_block;
	client->dirty_limits = config->dirty_limits;
	if (!client->dirty_limits.limit_bytes)
		client->dirty_limits = smb_dirty_limits_for_memory(SMB_CLIENT_MEMORY_DEFAULT);
	client->mount_op = client->command_op = NONE;
	client->command_wake_ns = NEVER;
	client->runnable = client->for_room = client->for_session = client->closes = (struct client_list){ NONE, NONE };
	client->lost_head = client->lost_tail = NONE;
	client->lost_give_up_ns = client->work_retry_ns = NEVER;
	client->wake_ns = NEVER;
	client->requery_ns = NEVER;
	smb_requests_init(&client->requests, client_request_arrays(client), limits->requests);
	for (uint32_t i = 0; i < limits->channels; i++) {
		struct client_channel *channel = client_channel_at(client, i);

		smb_credits_start(&channel->credits, 0);
		channel->waiters = (struct client_list){ NONE, NONE };
		channel->next_echo_ns = NEVER;
		channel->retry_ns = NEVER;
	}
	return client;
}

size_t smb_client_block_size(const struct smb_client *client)
{
	return client->at.size;
}

/* ---------------------------------------------------------------------------------------------------- operations */

static bool open_is_allowed(const struct smb_client *client, const struct smb_op *op)
{
	bool writes = op->access != SMB_OPEN_READ;

	if (op->access > SMB_OPEN_READ_WRITE || (writes && !client->limits.dirty_runs) ||
	    (!writes && (op->create || op->truncate)))
		return false;
	return client->session.mounted && client->mount_op == NONE && name_is_valid(op->name, SMB_NAME_MAX);
}

static bool file_is_open(const struct smb_client *client, uint32_t file)
{
	return client->session.mounted && client->mount_op == NONE && file < client->limits.files &&
	       client_file_at(client, file)->state == FILE_OPEN;
}

static uint32_t ops_under_way(const struct smb_client *client)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < client->limits.ops; i++)
		count += client_op_at(client, i)->wait != OP_FREE;
	return count;
}

static bool is_allowed(const struct smb_client *client, const struct smb_op *op)
{
	switch (op->kind) {
	case SMB_OP_MOUNT:
		return !client->session.mounted && client->mount_op == NONE;
	case SMB_OP_UNMOUNT:
		return client->session.mounted && !ops_under_way(client);
	case SMB_OP_OPEN:
		return open_is_allowed(client, op);
	case SMB_OP_READ:
		return file_is_open(client, op->file) && client_file_at(client, op->file)->access != SMB_OPEN_WRITE;
	case SMB_OP_WRITE:
		return file_is_open(client, op->file) && client_file_is_writable(client, op->file) &&
		       op->length <= (uint64_t)INT64_MAX - op->offset && op->offset <= INT64_MAX;
	case SMB_OP_FSYNC:
	case SMB_OP_CLOSE:
		return file_is_open(client, op->file);
	case SMB_OP_COMMAND:
		return client->session.mounted && client->mount_op == NONE && op->command && !client_is_smb1(client) &&
		       (op->command->kind != SMB_OPS_UMOUNT || !ops_under_way(client));
	}
	return false;
}

static uint32_t free_file(const struct smb_client *client)
{
	for (uint32_t i = 0; i < client->limits.files; i++) {
		if (client_file_at(client, i)->state == FILE_FREE)
			return i;
	}
	return NONE;
}

/** A file slot with a lease key of its own (cifs: a random GUID per inode). */
static void begin_open(struct smb_client *client, struct client_op *slot, const struct smb_op *op, uint32_t i)
{
	struct client_file *file = client_file_at(client, i);

	*file = (struct client_file){
		.state = FILE_OPENING,
		.access = op->access,
		.direct = op->direct,
		.dirty_since_ns = NEVER,
	};
	memcpy(file->lease_key, client->client_guid, sizeof(file->lease_key));
	client->leases++;
	for (uint32_t n = 0; n < 4; n++)
		file->lease_key[12 + n] ^= (uint8_t)(client->leases >> (8 * n));
	memcpy(file->name, slot->name, sizeof(file->name));
	slot->file = i;
}

static bool names_a_file(enum smb_op_kind kind)
{
	return kind == SMB_OP_READ || kind == SMB_OP_WRITE || kind == SMB_OP_FSYNC || kind == SMB_OP_CLOSE;
}

uint32_t smb_client_submit(struct smb_client *client, const struct smb_op *op, uint64_t now_ns)
{
	uint32_t file = op->kind == SMB_OP_OPEN ? free_file(client) : 0;
	struct client_op *slot;
	uint32_t i = 0;

	client->now_ns = now_ns;
	while (i < client->limits.ops && client_op_at(client, i)->wait != OP_FREE)
		i++;
	if (i == client->limits.ops || file == NONE || !is_allowed(client, op))
		return SMB_OP_NONE;
	slot = client_op_at(client, i);
	*slot = (struct client_op){
		.kind = op->kind,
		.wait = OP_RUNNABLE,
		.channel = NONE,
		.wrote_on = NONE,
		.file = names_a_file(op->kind) ? op->file : NONE,
		.offset = op->offset,
		.length = op->length,
		.random_hint = op->random_hint,
		.access = op->access,
		.create = op->create,
		.truncate = op->truncate,
		.without_flush = op->without_flush,
		.session_count = client->session.count,
	};
	if (op->kind == SMB_OP_OPEN) {
		snprintf(slot->name, sizeof(slot->name), "%s", op->name);
		begin_open(client, slot, op, file);
	} else if (op->kind == SMB_OP_READ) {
		client_read_begin(client, slot);
	} else if (op->kind == SMB_OP_WRITE) {
		client_write_begin(client, slot, op->source, op->source_offset);
	} else if (op->kind == SMB_OP_FSYNC) {
		client_file_at(client, op->file)->users++;
	} else if (op->kind == SMB_OP_CLOSE) {
		client_file_at(client, op->file)->state = FILE_CLOSING;
	} else if (op->kind == SMB_OP_COMMAND) {
		if (client_command_begin(client, i, op->command))
			return i;
		slot->wait = OP_FREE;
		return SMB_OP_NONE;
	} else {
		client->mount_op = i;
	}
	client_list_append(client, &client->runnable, i);
	return i;
}

/* --------------------------------------------------------------------------------------------------------- input */

void smb_client_channel(struct smb_client *client, uint32_t channel, enum smb_channel_event event, uint64_t now_ns)
{
	static const enum channel_event events[] = {
		[SMB_CHANNEL_FAILED] = CHANNEL_LOST,
		[SMB_CHANNEL_CLOSED] = CHANNEL_LOST,
	};

	assert(channel < client->limits.channels);
	client->now_ns = now_ns;
	if (event == SMB_CHANNEL_CONNECTED)
		client_reconnect_connected(client, channel);
	else if (event == SMB_CHANNEL_WRITABLE)
		client_socket_takes_more(client, channel);
	else
		client_channel_step(client, channel, events[event]);
}

void smb_client_copied(struct smb_client *client, uint32_t op, uint64_t now_ns)
{
	assert(op < client->limits.ops && client_op_at(client, op)->wait == OP_COPY);
	client->now_ns = now_ns;
	client_op_wake(client, client_op_at(client, op));
}

void smb_client_wake(struct smb_client *client, uint64_t now_ns)
{
	client->now_ns = now_ns;
	if (now_ns >= client->wake_ns) {
		client->wake_ns = NEVER;
		client->timers_changed = true;
	}
	client_timers_run(client);
}

/* -------------------------------------------------------------------------------------------------------- output */

static void fill_done(struct smb_client *client, struct smb_client_output *output)
{
	struct client_op *op = client_op_at(client, output->op);

	output->verdict = op->verdict;
	output->status = op->status;
	output->file = op->kind == SMB_OP_OPEN && op->verdict == SMB_OP_OK ? op->file : NONE;
	output->bytes = op->bytes;
	output->error = op->error;
	op->wait = OP_FREE;
}

void smb_client_next(struct smb_client *client, struct smb_client_output *output, uint8_t *buffer, uint32_t size)
{
	const struct client_output *next;

	assert(size >= SMB_CLIENT_PDU_MAX);
	if (!client->outputs_count)
		client_pump(client);
	*output = (struct smb_client_output){ .kind = SMB_CLIENT_IDLE, .channel = NONE, .op = NONE };
	if (!client->outputs_count)
		return;
	next = &client_outputs(client)[client->outputs_head];
	client->outputs_head = client->outputs_head + 1 < client->limits.outputs ? client->outputs_head + 1 : 0;
	client->outputs_count--;
	output->kind = next->kind;
	output->channel = next->channel;
	output->op = next->op;
	switch (next->kind) {
	case SMB_CLIENT_SEND:
		output->message_id = next->message_id;
		output->pdu = client_encode_request(client, next->request, buffer, size);
		break;
	case SMB_CLIENT_OPEN_CHANNEL:
		output->interface = next->interface;
		output->server_index = client_channel_at(client, next->channel)->server_index;
		break;
	case SMB_CLIENT_COPY:
		output->data = next->data;
		output->offset = next->offset;
		output->direct = client_op_at(client, next->op)->uncached;
		break;
	case SMB_CLIENT_DONE:
		fill_done(client, output);
		break;
	case SMB_CLIENT_WAKE:
		output->when_ns = next->offset;
		break;
	case SMB_CLIENT_CLOSE_CHANNEL:
	case SMB_CLIENT_IDLE:
		break;
	}
}

/* ---------------------------------------------------------------------------------------------------- looking in */

void smb_client_look(const struct smb_client *client, struct smb_client_info *info)
{
	const struct client_session *session = &client->session;

	*info = (struct smb_client_info){
		.in_flight_read_bytes = client->read_bytes_in_flight,
		.in_flight_write_bytes = client->write_bytes_in_flight,
		.waiting_for_credits = client->waiting_for_credits,
		.dialect = session->dialect,
		.rsize = session->rsize,
		.wsize = session->wsize,
		.max_read = session->max_read,
		.ra_pages = session->ra_pages,
		.reconnects = client->reconnects,
	};
	for (uint32_t i = 0; i < client->limits.files; i++)
		info->dirty_bytes += client_file_at(client, i)->dirty.unsent_bytes;
	for (uint32_t i = 0; i < client->limits.channels; i++) {
		const struct client_channel *channel = client_channel_at(client, i);

		if (channel->state != CHANNEL_UNUSED && channel->state != CHANNEL_DOWN)
			info->channels++;
		info->in_flight += channel->credits.in_flight;
	}
}

void smb_client_look_channel(const struct smb_client *client, uint32_t channel, struct smb_channel_info *info)
{
	const struct client_channel *at = client_channel_at(client, channel);

	assert(channel < client->limits.channels);
	*info = (struct smb_channel_info){
		.usable = at->state == CHANNEL_READY,
		.credits = (uint32_t)at->credits.ordinary,
		.credits_echo = (uint32_t)at->credits.echo,
		.credits_oplock = at->credits.oplock > 0 ? (uint32_t)at->credits.oplock : 0,
		.in_flight = at->credits.in_flight,
		.next_message_id = at->window.next,
	};
}

bool smb_client_has_handle(const struct smb_client *client, struct smb2_file_id id)
{
	for (uint32_t i = 0; i < client->limits.files; i++) {
		const struct client_file *file = client_file_at(client, i);

		if ((file->state == FILE_OPEN || file->state == FILE_CLOSING) && !file->is_invalid &&
		    file->id.persistent == id.persistent && file->id.volatile_id == id.volatile_id)
			return true;
	}
	return false;
}
