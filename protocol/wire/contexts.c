/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/contexts.h"

#include "protocol/wire/buffer.h"

#include <assert.h>

#define NAME_SIZE 4

static struct smb2_context create_context(const char *name, const uint8_t *data, uint32_t length)
{
	return (struct smb2_context){ .name = { (const uint8_t *)name, NAME_SIZE }, .data = { data, length } };
}

struct smb2_context smb2_preauth_context(const uint8_t salt[SMB2_PREAUTH_SALT_SIZE],
					 uint8_t data[SMB2_PREAUTH_CONTEXT_SIZE])
{
	smb_put16(data, 1);
	smb_put16(data + 2, SMB2_PREAUTH_SALT_SIZE);
	smb_put16(data + 4, SMB2_PREAUTH_SHA512);
	memcpy(data + 6, salt, SMB2_PREAUTH_SALT_SIZE);
	return (struct smb2_context){
		.type = SMB2_PREAUTH_INTEGRITY_CAPABILITIES,
		.data = { data, SMB2_PREAUTH_CONTEXT_SIZE },
	};
}

enum smb_wire_verdict smb2_preauth_read(const struct smb2_context *context, struct smb_blob *salt)
{
	const struct smb_blob *data = &context->data;
	if (context->type != SMB2_PREAUTH_INTEGRITY_CAPABILITIES || data->length < 4)
		return SMB_WIRE_BAD_VALUE;
	uint32_t hashes = smb_get16(data->data);
	uint32_t salt_length = smb_get16(data->data + 2);
	if (4 + 2 * hashes + salt_length > data->length)
		return SMB_WIRE_TRUNCATED;
	for (uint32_t i = 0; i < hashes; i++) {
		if (smb_get16(data->data + 4 + 2 * i) != SMB2_PREAUTH_SHA512)
			continue;
		*salt = (struct smb_blob){ data->data + 4 + 2 * hashes, salt_length };
		return SMB_WIRE_OK;
	}
	return SMB_WIRE_BAD_VALUE;
}

struct smb2_context smb2_algorithms_context(uint16_t type, const struct smb2_algorithms *algorithms, uint8_t *data)
{
	assert(algorithms->count && algorithms->count <= SMB2_ALGORITHMS_MAX);
	smb_put16(data, algorithms->count);
	for (uint16_t i = 0; i < algorithms->count; i++)
		smb_put16(data + SMB2_ALGORITHMS_SIZE(i), algorithms->ids[i]);
	return (struct smb2_context){ .type = type, .data = { data, SMB2_ALGORITHMS_SIZE(algorithms->count) } };
}

enum smb_wire_verdict smb2_algorithms_read(const struct smb2_context *context, struct smb2_algorithms *algorithms)
{
	const struct smb_blob *data = &context->data;
	if (data->length < SMB2_ALGORITHMS_SIZE(1))
		return SMB_WIRE_BAD_VALUE;
	algorithms->count = smb_get16(data->data);
	if (!algorithms->count)
		return SMB_WIRE_BAD_VALUE;
	if (SMB2_ALGORITHMS_SIZE((uint32_t)algorithms->count) > data->length)
		return SMB_WIRE_TRUNCATED;
	if (algorithms->count > SMB2_ALGORITHMS_MAX)
		return SMB_WIRE_TOO_MANY;
	for (uint16_t i = 0; i < algorithms->count; i++)
		algorithms->ids[i] = smb_get16(data->data + SMB2_ALGORITHMS_SIZE(i));
	return SMB_WIRE_OK;
}

struct smb2_context smb2_netname_context(struct smb_blob name)
{
	return (struct smb2_context){ .type = SMB2_NETNAME_NEGOTIATE_CONTEXT_ID, .data = name };
}

struct smb2_context smb2_posix_context(void)
{
	static const uint8_t id[16] = { 0x93, 0xad, 0x25, 0x50, 0x9c, 0xb4, 0x11, 0xe7,
					0xb4, 0x23, 0x83, 0xde, 0x96, 0x8b, 0xcd, 0x7c };
	return (struct smb2_context){ .type = SMB2_POSIX_EXTENSIONS_AVAILABLE, .data = { id, sizeof(id) } };
}

const struct smb2_context *smb2_negotiate_context_find(const struct smb2_context *contexts, uint16_t count,
						       uint16_t type)
{
	for (uint16_t i = 0; i < count; i++) {
		if (contexts[i].type == type)
			return &contexts[i];
	}
	return NULL;
}

const struct smb2_context *smb2_create_context_find(const struct smb2_context *contexts, uint16_t count,
						    const char name[4])
{
	for (uint16_t i = 0; i < count; i++) {
		if (contexts[i].name.length == NAME_SIZE && !memcmp(contexts[i].name.data, name, NAME_SIZE))
			return &contexts[i];
	}
	return NULL;
}

struct smb2_context smb2_query_context(const char *name)
{
	return create_context(name, NULL, 0);
}

struct smb2_context smb2_lease_context(const struct smb2_lease *lease, uint8_t data[SMB2_LEASE_V2_SIZE])
{
	memset(data, 0, SMB2_LEASE_V2_SIZE);
	memcpy(data, lease->key, sizeof(lease->key));
	smb_put32(data + 16, lease->state);
	smb_put32(data + 20, lease->flags);
	if (!lease->is_v2)
		return create_context("RqLs", data, SMB2_LEASE_V1_SIZE);
	memcpy(data + 32, lease->parent_key, sizeof(lease->parent_key));
	smb_put16(data + 48, lease->epoch);
	return create_context("RqLs", data, SMB2_LEASE_V2_SIZE);
}

enum smb_wire_verdict smb2_lease_read(const struct smb2_context *context, struct smb2_lease *lease)
{
	const struct smb_blob *data = &context->data;
	if (data->length != SMB2_LEASE_V1_SIZE && data->length != SMB2_LEASE_V2_SIZE)
		return SMB_WIRE_BAD_VALUE;
	*lease = (struct smb2_lease){
		.is_v2 = data->length == SMB2_LEASE_V2_SIZE,
		.state = smb_get32(data->data + 16),
		.flags = smb_get32(data->data + 20),
	};
	memcpy(lease->key, data->data, sizeof(lease->key));
	if (lease->is_v2) {
		memcpy(lease->parent_key, data->data + 32, sizeof(lease->parent_key));
		lease->epoch = smb_get16(data->data + 48);
	}
	return SMB_WIRE_OK;
}

struct smb2_context smb2_durable_v2_context(const struct smb2_durable_v2 *durable, uint8_t data[SMB2_DURABLE_V2_SIZE])
{
	smb_put32(data, durable->timeout_ms);
	smb_put32(data + 4, durable->flags);
	smb_put64(data + 8, 0);
	memcpy(data + 16, durable->create_guid, sizeof(durable->create_guid));
	return create_context("DH2Q", data, SMB2_DURABLE_V2_SIZE);
}

enum smb_wire_verdict smb2_durable_v2_read(const struct smb2_context *context, struct smb2_durable_v2 *durable)
{
	const struct smb_blob *data = &context->data;
	if (data->length != SMB2_DURABLE_V2_SIZE)
		return SMB_WIRE_BAD_VALUE;
	durable->timeout_ms = smb_get32(data->data);
	durable->flags = smb_get32(data->data + 4);
	memcpy(durable->create_guid, data->data + 16, sizeof(durable->create_guid));
	return SMB_WIRE_OK;
}

struct smb2_context smb2_maximal_access_context(uint32_t access, uint8_t data[SMB2_MAXIMAL_ACCESS_SIZE])
{
	smb_put32(data, STATUS_SUCCESS);
	smb_put32(data + 4, access);
	return create_context("MxAc", data, SMB2_MAXIMAL_ACCESS_SIZE);
}

enum smb_wire_verdict smb2_maximal_access_read(const struct smb2_context *context, uint32_t *access)
{
	const struct smb_blob *data = &context->data;
	if (data->length != SMB2_MAXIMAL_ACCESS_SIZE || smb_get32(data->data) != STATUS_SUCCESS)
		return SMB_WIRE_BAD_VALUE;
	*access = smb_get32(data->data + 4);
	return SMB_WIRE_OK;
}

struct smb2_context smb2_disk_id_context(uint64_t file, uint64_t volume, uint8_t data[SMB2_DISK_ID_SIZE])
{
	memset(data, 0, SMB2_DISK_ID_SIZE);
	smb_put64(data, file);
	smb_put64(data + 8, volume);
	return create_context("QFid", data, SMB2_DISK_ID_SIZE);
}

enum smb_wire_verdict smb2_disk_id_read(const struct smb2_context *context, uint64_t *file, uint64_t *volume)
{
	const struct smb_blob *data = &context->data;
	if (data->length != SMB2_DISK_ID_SIZE)
		return SMB_WIRE_BAD_VALUE;
	*file = smb_get64(data->data);
	*volume = smb_get64(data->data + 8);
	return SMB_WIRE_OK;
}
