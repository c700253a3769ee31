/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/profile.h"

#include "protocol/wire/smb2.h"

#include <string.h>

static bool dialect_is_known(uint16_t dialect)
{
	return dialect == SMB2_DIALECT_202 || dialect == SMB2_DIALECT_210 || dialect == SMB2_DIALECT_300 ||
	       dialect == SMB2_DIALECT_302 || dialect == SMB2_DIALECT_311;
}

static bool cost_is_good(double cost)
{
	return cost >= 0 && cost < 1e15; /* false for NaN, too */
}

bool smb_server_profile_is_valid(const struct smb_server_profile *profile)
{
	return memchr(profile->name, 0, sizeof(profile->name)) && dialect_is_known(profile->dialect_min) &&
	       dialect_is_known(profile->dialect_max) && profile->dialect_min <= profile->dialect_max &&
	       profile->smb1_max_mpx <= UINT16_MAX && profile->smb1_unix <= 1 && profile->smb1_unix_large_write <= 1 &&
	       profile->aio <= 1 && (!profile->smb1_max_mpx || profile->smb1_max_buffer >= 1024) &&
	       profile->max_transact >= SMB2_CREDIT_UNIT && profile->max_read >= SMB2_CREDIT_UNIT &&
	       profile->max_write >= SMB2_CREDIT_UNIT && profile->channels_max >= 1 && profile->credits_max >= 1 &&
	       profile->credits_max <= UINT16_MAX && profile->credits_initial_extra < profile->credits_max &&
	       profile->interim <= SMB_INTERIM_AFTER && cost_is_good(profile->request_cpu_ns) &&
	       cost_is_good(profile->receive_cpu_ns_per_byte) && cost_is_good(profile->send_cpu_ns_per_byte) &&
	       cost_is_good(profile->read_cpu_ns_per_byte) && cost_is_good(profile->write_cpu_ns_per_byte) &&
	       cost_is_good(profile->storage_bytes_per_s);
}
