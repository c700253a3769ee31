/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_PROFILE_H
#define SIM_SERVER_PROFILE_H

/**
 * What a kind of server does, as data: limits, credit rules, service, costs. The files sim/server/profiles/NAME.ini
 * hold the values with the source of each; sim/world reads them.
 */

#include <stdbool.h>
#include <stdint.h>

/** When READ, WRITE and other slow requests are answered with STATUS_PENDING first (MS-SMB2 3.3.4.2). */
enum smb_interim_policy {
	SMB_INTERIM_NEVER,
	SMB_INTERIM_ALWAYS,
	SMB_INTERIM_AFTER, /* when the work takes longer than interim_after_ns (Samba: 500 us) */
};

struct smb_server_profile {
	char name[32];
	/* limits */
	uint16_t dialect_min; /* enum smb2_dialect */
	uint16_t dialect_max;
	uint32_t max_transact; /* bytes */
	uint32_t max_read; /* bytes; 65536 is used with dialect 2.0.2 and without large MTU */
	uint32_t max_write; /* bytes */
	uint32_t capabilities; /* SMB2_GLOBAL_CAP_* offered */
	uint32_t channels_max; /* connections per session */
	uint32_t async_credits; /* async requests per connection before STATUS_INSUFFICIENT_RESOURCES; 0 = no limit */
	/* SMB1 */
	uint32_t smb1_max_mpx; /* requests outstanding per connection; 0 = SMB1 is not spoken */
	uint32_t smb1_max_buffer; /* bytes */
	uint32_t smb1_unix; /* 1: the Unix extensions are offered, with READs of more than 64 KiB */
	uint32_t smb1_unix_large_write; /* 1: and with WRITEs of more than 128 KiB */
	/* credits */
	uint32_t credits_max; /* widest window: Samba `smb2 max credits`, 8192 */
	uint32_t credits_initial_extra; /* NEGOTIATE grants 1 + this */
	uint32_t credits_per_reply_max; /* most one reply grants beyond its charge; 0 = no limit */
	/* service */
	enum smb_interim_policy interim;
	uint64_t interim_after_ns;
	uint32_t threads; /* 0 = one process serves all channels of a client; n = pool of n threads */
	uint32_t
		aio; /* 1: storage threads read and write; 0: the thread that serves the request does, and nothing else then */
	uint32_t storage_parallel; /* requests the storage serves at once; 0 = no limit */
	/* costs, on the server's cores */
	double request_cpu_ns; /* per request: receive, check, dispatch, answer */
	double receive_cpu_ns_per_byte;
	double send_cpu_ns_per_byte;
	double read_cpu_ns_per_byte; /* storage worker: page cache to buffer */
	double write_cpu_ns_per_byte;
	/* storage, beside the cores */
	uint64_t storage_latency_ns; /* per READ or WRITE, before its first byte */
	double storage_bytes_per_s; /* 0 = no limit; shared by all requests */
};

bool smb_server_profile_is_valid(const struct smb_server_profile *profile);

#endif
