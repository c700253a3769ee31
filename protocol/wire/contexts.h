/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_CONTEXTS_H
#define SMB_WIRE_CONTEXTS_H

/**
 * Negotiate and create contexts that Linux clients and the servers they meet exchange: builders that write the data
 * into the caller's buffer (which must outlive the message), and readers that answer BAD_VALUE when the data is not
 * what the context's type or name promises.
 */

#include "protocol/wire/message.h"

#define SMB2_PREAUTH_SHA512 0x0001u
#define SMB2_PREAUTH_SALT_SIZE 32u
#define SMB2_PREAUTH_CONTEXT_SIZE (6u + SMB2_PREAUTH_SALT_SIZE)

#define SMB2_CIPHER_AES128_CCM 0x0001u
#define SMB2_CIPHER_AES128_GCM 0x0002u
#define SMB2_CIPHER_AES256_CCM 0x0003u
#define SMB2_CIPHER_AES256_GCM 0x0004u
#define SMB2_SIGNING_HMAC_SHA256 0x0000u
#define SMB2_SIGNING_AES_CMAC 0x0001u
#define SMB2_SIGNING_AES_GMAC 0x0002u

#define SMB2_ALGORITHMS_MAX 8u
#define SMB2_ALGORITHMS_SIZE(count) (2u + 2u * (count))

/** SHA-512 and a salt of 32 bytes (MS-SMB2 2.2.3.1.1). */
struct smb2_context smb2_preauth_context(const uint8_t salt[SMB2_PREAUTH_SALT_SIZE],
					 uint8_t data[SMB2_PREAUTH_CONTEXT_SIZE]);
/** The salt; BAD_VALUE unless SHA-512 is among the hashes. */
enum smb_wire_verdict smb2_preauth_read(const struct smb2_context *context, struct smb_blob *salt);

/** Ciphers or signing algorithms, most wanted first (MS-SMB2 2.2.3.1.2, 2.2.3.1.7). */
struct smb2_algorithms {
	uint16_t count; /* 1 to SMB2_ALGORITHMS_MAX */
	uint16_t ids[SMB2_ALGORITHMS_MAX];
};

/** `type` is SMB2_ENCRYPTION_CAPABILITIES or SMB2_SIGNING_CAPABILITIES; `data` has SMB2_ALGORITHMS_SIZE(count). */
struct smb2_context smb2_algorithms_context(uint16_t type, const struct smb2_algorithms *algorithms, uint8_t *data);
/** TOO_MANY when the list is longer than `algorithms` can hold. */
enum smb_wire_verdict smb2_algorithms_read(const struct smb2_context *context, struct smb2_algorithms *algorithms);

/** The server's name as the client dialled it, UTF-16LE without terminator (MS-SMB2 2.2.3.1.4). */
struct smb2_context smb2_netname_context(struct smb_blob name);
/** The offer of POSIX extensions that cifs adds since 4.18 (cifs 6.1, build_posix_ctxt). */
struct smb2_context smb2_posix_context(void);

/** The first negotiate context of this type, or the first create context of this four-letter name; NULL when none. */
const struct smb2_context *smb2_negotiate_context_find(const struct smb2_context *contexts, uint16_t count,
						       uint16_t type);
const struct smb2_context *smb2_create_context_find(const struct smb2_context *contexts, uint16_t count,
						    const char name[4]);

/** A create context without data: "MxAc" and "QFid" in requests. `name` is a string literal of four letters. */
struct smb2_context smb2_query_context(const char *name);

/** "RqLs" (MS-SMB2 2.2.13.2.8, 2.2.13.2.10); the parent key and the epoch exist in version 2, from dialect 3.0 on. */
struct smb2_lease {
	bool is_v2;
	uint8_t key[16];
	uint32_t state; /* SMB2_LEASE_* */
	uint32_t flags;
	uint8_t parent_key[16];
	uint16_t epoch;
};

#define SMB2_LEASE_READ_CACHING 0x01u
#define SMB2_LEASE_HANDLE_CACHING 0x02u
#define SMB2_LEASE_WRITE_CACHING 0x04u
#define SMB2_OPLOCK_LEVEL_II 0x01u /* MS-SMB2 2.2.13 */
#define SMB2_OPLOCK_LEVEL_EXCLUSIVE 0x08u
#define SMB2_OPLOCK_LEVEL_BATCH 0x09u
#define SMB2_OPLOCK_LEVEL_LEASE 0xffu
#define SMB2_LEASE_V1_SIZE 32u
#define SMB2_LEASE_V2_SIZE 52u

struct smb2_context smb2_lease_context(const struct smb2_lease *lease, uint8_t data[SMB2_LEASE_V2_SIZE]);
enum smb_wire_verdict smb2_lease_read(const struct smb2_context *context, struct smb2_lease *lease);

/** "DH2Q" of a request (MS-SMB2 2.2.13.2.11). */
struct smb2_durable_v2 {
	uint32_t timeout_ms;
	uint32_t flags; /* 2 = persistent */
	uint8_t create_guid[16];
};

#define SMB2_DURABLE_V2_SIZE 32u

struct smb2_context smb2_durable_v2_context(const struct smb2_durable_v2 *durable, uint8_t data[SMB2_DURABLE_V2_SIZE]);
enum smb_wire_verdict smb2_durable_v2_read(const struct smb2_context *context, struct smb2_durable_v2 *durable);

/** "MxAc" of a response (MS-SMB2 2.2.14.2.5). */
#define SMB2_MAXIMAL_ACCESS_SIZE 8u
struct smb2_context smb2_maximal_access_context(uint32_t access, uint8_t data[SMB2_MAXIMAL_ACCESS_SIZE]);
/** BAD_VALUE also when the server could not tell (QueryStatus is not success). */
enum smb_wire_verdict smb2_maximal_access_read(const struct smb2_context *context, uint32_t *access);

/** "QFid" of a response (MS-SMB2 2.2.14.2.9): the file's number on its volume. */
#define SMB2_DISK_ID_SIZE 32u
struct smb2_context smb2_disk_id_context(uint64_t file, uint64_t volume, uint8_t data[SMB2_DISK_ID_SIZE]);
enum smb_wire_verdict smb2_disk_id_read(const struct smb2_context *context, uint64_t *file, uint64_t *volume);

#endif
