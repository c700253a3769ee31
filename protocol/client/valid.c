/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/state.h"

bool smb_client_is_valid(const struct smb_client *client)
{
	return smb_requests_is_valid(&client->requests, client_request_arrays(client));
}
