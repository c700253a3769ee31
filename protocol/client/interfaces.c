/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server's network interfaces and which of them the next channel goes to (facts A9). */
#include "protocol/client/internal.h"

#include <string.h>

#define CAPABILITY_RSS 1u
#define CAPABILITY_RDMA 2u
#define REQUERY_INTERVAL_NS UINT64_C(600000000000) /* SMB_INTERFACE_POLL_INTERVAL */
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

/** Take over the list of an answer; false: it is none. */
static bool read_interfaces(struct client_session *session, const struct smb2_message *message)
{
	struct smb2_network_interface list[CLIENT_INTERFACES_MAX];
	uint32_t count = CLIENT_INTERFACES_MAX;

	if (message->header.status != STATUS_SUCCESS || message->kind != SMB2_BODY_IOCTL_RSP ||
	    smb2_interfaces_decode(message->body.ioctl_rsp.output, list, &count) != SMB_WIRE_OK)
		return false;
	memset(session->interfaces, 0, sizeof(session->interfaces));
	session->interface_count = count;
	for (uint32_t i = 0; i < count; i++) {
		session->interfaces[i].info = list[i];
		if (!list[i].link_speed_bps)
			session->interfaces[i].info.link_speed_bps = SPEED_UNKNOWN_BPS;
	}
	return true;
}

void client_interfaces_answer(struct smb_client *client, const struct smb2_message *message)
{
	struct client_session *session = &client->session;

	if (read_interfaces(session, message) && session->interface_count)
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

void client_channel_goes_to(struct smb_client *client, uint32_t i, uint32_t interface)
{
	client_channel_at(client, i)->interface = interface;
	client_channel_at(client, i)->server_index = client->session.interfaces[interface].info.index;
}

/* ------------------------------------------------------------------------------------------ while mounted (6.0+) */

void client_requery_start(struct smb_client *client)
{
	if (client->policy.channel_dynamic != SMB_CHANNELS_REQUERY || client_channels_wanted(client) < 2)
		return;
	client->requery_ns = client->now_ns + REQUERY_INTERVAL_NS;
	client->timers_changed = true;
}

void client_requery_now(struct smb_client *client)
{
	if (client->requery_ns == NEVER)
		return;
	client->requery_ns = client->now_ns;
	client_requery_timer(client);
}

void client_requery_timer(struct smb_client *client)
{
	struct smb_credits *credits;
	uint32_t channel;
	uint32_t slot;

	if (client->now_ns < client->requery_ns)
		return;
	client->requery_ns = client->now_ns + REQUERY_INTERVAL_NS;
	client->timers_changed = true;
	channel = client_pick_channel(client);
	if (channel == NONE || client->mount_op != NONE || !client_has_request_room(client))
		return; /* next time */
	credits = &client_channel_at(client, channel)->credits;
	if (smb_credits_take(credits, &client->policy, SMB_CREDIT_ORDINARY, 1) != SMB_CREDIT_TAKEN)
		return;
	slot = client_request_take(client, PURPOSE_REQUERY, NONE);
	client_request_send(client, slot, channel, 0);
}

static uint32_t find_interface(const struct client_session *session, const struct smb2_network_interface *wanted)
{
	for (uint32_t i = 0; i < session->interface_count; i++) {
		const struct smb2_network_interface *info = &session->interfaces[i].info;

		if (info->index == wanted->index && info->is_ipv6 == wanted->is_ipv6 &&
		    !memcmp(info->address, wanted->address, sizeof(info->address)))
			return i;
	}
	return NONE;
}

/** Which interface of the new list the channel is on; the first channel stays wherever it was. */
static void follow_interface(struct smb_client *client, uint32_t i, const struct client_session *before)
{
	struct client_channel *channel = client_channel_at(client, i);
	uint32_t now = NONE;

	if (channel->interface < before->interface_count)
		now = find_interface(&client->session, &before->interfaces[channel->interface].info);
	if (now == NONE && i)
		client_channel_drop(client, i, SMB_OP_DISCONNECTED, STATUS_SUCCESS);
	if (now == NONE)
		return;
	channel->interface = now;
	channel->server_index = i ? client->session.interfaces[now].info.index : 0;
	client->session.interfaces[now].channels++;
	client->session.interfaces[now].round++;
}

static bool is_over(const struct client_channel *channel)
{
	return channel->state == CHANNEL_UNUSED || channel->state == CHANNEL_DOWN;
}

void client_requery_answer(struct smb_client *client, const struct smb2_message *message)
{
	const struct client_session before = client->session;
	uint32_t wanted = client_channels_wanted(client);

	if (client->mount_op != NONE || !read_interfaces(&client->session, message))
		return;
	if (!client->session.interface_count) {
		client->session = before; /* a server that says nothing takes nothing away */
		return;
	}
	for (uint32_t i = 0; i < client->channels_used; i++) {
		if (!is_over(client_channel_at(client, i)))
			follow_interface(client, i, &before);
	}
	for (uint32_t i = 1; i < wanted && client_has_output_room(client); i++) {
		uint32_t interface = is_over(client_channel_at(client, i)) ? client_next_interface(client) : NONE;

		if (interface == NONE)
			continue;
		client_channel_goes_to(client, i, interface);
		client_channel_step(client, i, CHANNEL_OPEN);
	}
}
