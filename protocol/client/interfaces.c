/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server's network interfaces and which of them the next channel goes to (facts A9). */
#include "protocol/client/state.h"

#include <string.h>

#define CAPABILITY_RSS 1u
#define CAPABILITY_RDMA 2u
#define SPEED_UNKNOWN_BPS UINT64_C(1000000000) /* cifs takes 1 Gbit/s when the server says 0 */

uint32_t client_channels_wanted(const struct smb_client *client)
{
	uint32_t wanted = client->mount.max_channels;

	if (!client->mount.multichannel || client->session.dialect < SMB2_DIALECT_300 ||
	    !(client->session.capabilities & SMB2_GLOBAL_CAP_MULTI_CHANNEL))
		return 1;
	return wanted < client->limits.channels ? wanted : client->limits.channels;
}

/** RSS first, then speed; equal ones stay in the server's order (cifs 6.1, iface_cmp). */
static bool is_better(const struct smb2_network_interface *a, const struct smb2_network_interface *b)
{
	uint32_t rss_a = a->capability & CAPABILITY_RSS;
	uint32_t rss_b = b->capability & CAPABILITY_RSS;

	if (rss_a != rss_b)
		return rss_a > rss_b;
	return a->link_speed_bps > b->link_speed_bps;
}

void client_interfaces_answer(struct smb_client *client, const struct smb2_message *message)
{
	struct smb2_network_interface list[CLIENT_INTERFACES_MAX];
	struct client_session *session = &client->session;
	uint32_t count = CLIENT_INTERFACES_MAX;

	if (message->kind != SMB2_BODY_IOCTL_RSP ||
	    smb2_interfaces_decode(message->body.ioctl_rsp.output, list, &count) != SMB_WIRE_OK)
		return;
	memset(session->interfaces, 0, sizeof(session->interfaces));
	session->interface_count = count;
	for (uint32_t i = 0; i < count; i++) {
		session->interfaces[i].info = list[i];
		if (!list[i].link_speed_bps)
			session->interfaces[i].info.link_speed_bps = SPEED_UNKNOWN_BPS;
	}
	if (count)
		session->interfaces[0].channels = session->interfaces[0].round = 1; /* the first channel's */
}

/** A TCP channel cannot use an interface that is there for RDMA; one without RSS takes a single channel. */
static bool takes_channel(const struct client_interface *interface)
{
	if (interface->info.capability & CAPABILITY_RDMA)
		return false;
	return !interface->channels || interface->info.capability & CAPABILITY_RSS;
}

static uint64_t slowest_speed(const struct client_session *session)
{
	uint64_t slowest = UINT64_MAX;

	for (uint32_t i = 0; i < session->interface_count; i++) {
		if (session->interfaces[i].info.link_speed_bps < slowest)
			slowest = session->interfaces[i].info.link_speed_bps;
	}
	return slowest;
}

static uint32_t best_interface(const struct client_session *session, bool weighted)
{
	uint64_t slowest = slowest_speed(session);
	uint32_t best = NONE;

	for (uint32_t i = 0; i < session->interface_count; i++) {
		const struct client_interface *interface = &session->interfaces[i];

		if (!takes_channel(interface))
			continue;
		if (weighted && interface->round >= interface->info.link_speed_bps / slowest)
			continue;
		if (best == NONE || is_better(&interface->info, &session->interfaces[best].info))
			best = i;
	}
	return best;
}

uint32_t client_next_interface(struct smb_client *client)
{
	struct client_session *session = &client->session;
	bool weighted = client->policy.interface_weighting;
	uint32_t best = best_interface(session, weighted);

	if (best == NONE && weighted) {
		/* Every interface has had its share: a new round. */
		for (uint32_t i = 0; i < session->interface_count; i++)
			session->interfaces[i].round = 0;
		best = best_interface(session, true);
	}
	if (best == NONE)
		return NONE;
	session->interfaces[best].channels++;
	session->interfaces[best].round++;
	return best;
}
