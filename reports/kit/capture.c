/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* trace.pcapng: the trace as a capture on the client's machine shows it. */

#include "protocol/wire/buffer.h"
#include "reports/kit/kit.h"
#include "reports/kit/pcapng.h"

#include <string.h>

#define STEP_US 1000 /* each step takes a millisecond, so the time in a capture tells the step */

/** One TCP connection; a channel that reconnects gets a new one. */
struct connection {
	guint16 port;
	guint32 sent[2]; /* by enum model_direction: bytes of the stream, the SYN included */
	guint32 arrived[2]; /* of them, those the other side has */
};

struct capture {
	const struct kit_walk *walk;
	GByteArray *out;
	struct connection connections[MODEL_CHANNELS_MAX];
	GHashTable *acknowledged; /* struct kit_pdu * of the server -> what it had received when it sent it */
	guint opened;
	guint frames; /* of this step */
	int step;
};

static void add_frame(struct capture *capture, const struct kit_segment *segment, const char *comment)
{
	g_autoptr(GByteArray) frame = kit_segment_frame(segment);

	kit_pcapng_frame(capture->out, (guint64)(capture->step + 1) * STEP_US + capture->frames++, frame, comment);
}

static void add_bare(struct capture *capture, uint32_t channel, enum model_direction direction, guint8 flags)
{
	struct connection *connection = &capture->connections[channel];
	struct kit_segment segment = {
		.to_server = direction == MODEL_TO_SERVER,
		.client_port = connection->port,
		.sequence = connection->sent[direction],
		.acknowledged = flags & KIT_TCP_ACK ? connection->arrived[!direction] : 0,
		.flags = flags,
	};

	add_frame(capture, &segment, NULL);
	if (flags & (KIT_TCP_SYN | KIT_TCP_FIN))
		connection->sent[direction]++;
}

static void connect(struct capture *capture, uint32_t channel)
{
	struct connection *connection = &capture->connections[channel];

	*connection = (struct connection){ .port = (guint16)(40000 + capture->opened++) };
	add_bare(capture, channel, MODEL_TO_SERVER, KIT_TCP_SYN);
	connection->arrived[MODEL_TO_SERVER] = 1;
	add_bare(capture, channel, MODEL_TO_CLIENT, KIT_TCP_SYN | KIT_TCP_ACK);
	connection->arrived[MODEL_TO_CLIENT] = 1;
	add_bare(capture, channel, MODEL_TO_SERVER, KIT_TCP_ACK);
}

static GByteArray *stream_of(const struct kit_pdu *pdu)
{
	GByteArray *stream = g_byte_array_new();
	guint length = pdu->length + pdu->payload.length;

	g_byte_array_set_size(stream, 4 + length);
	smb_frame_encode(length, stream->data);
	memcpy(stream->data + 4, pdu->bytes, pdu->length);
	for (uint32_t i = 0; i < pdu->payload.length; i++)
		stream->data[4 + pdu->length + i] = smb_source_byte(pdu->payload.source, pdu->payload.offset + i);
	return stream;
}

static char *comment_of(const struct kit_walk *walk, const struct kit_pdu *pdu)
{
	if (pdu != walk->offending)
		return NULL;
	return g_strdup_printf("%s is broken: %s. Instead: %s", walk->found.rule, walk->found.text,
			       kit_instead_of(walk));
}

static void add_pdu(struct capture *capture, const struct kit_pdu *pdu)
{
	struct connection *connection = &capture->connections[pdu->channel];
	g_autofree char *comment = comment_of(capture->walk, pdu);
	g_autoptr(GByteArray) stream = stream_of(pdu);
	guint32 acknowledged = connection->arrived[MODEL_TO_CLIENT];

	if (pdu->direction == MODEL_TO_CLIENT)
		acknowledged = GPOINTER_TO_UINT(g_hash_table_lookup(capture->acknowledged, pdu));
	for (guint at = 0, length; at < stream->len; at += length) {
		bool is_last = stream->len - at <= KIT_SEGMENT_MAX;

		length = is_last ? stream->len - at : KIT_SEGMENT_MAX;
		add_frame(capture,
			  &(struct kit_segment){
				  .to_server = pdu->direction == MODEL_TO_SERVER,
				  .client_port = connection->port,
				  .sequence = connection->sent[pdu->direction],
				  .acknowledged = acknowledged,
				  .flags = KIT_TCP_ACK | (is_last ? KIT_TCP_PSH : 0),
				  .data = stream->data + at,
				  .length = length,
			  },
			  is_last ? comment : NULL);
		connection->sent[pdu->direction] += length;
	}
	if (pdu->direction == MODEL_TO_CLIENT)
		connection->arrived[MODEL_TO_CLIENT] = connection->sent[MODEL_TO_CLIENT];
}

/* What the client sends is seen as it is sent, what the server sends as it arrives. */
static void see_pdu(struct capture *capture, const struct kit_event *event)
{
	const struct kit_pdu *pdu = event->pdu;
	struct connection *connection = &capture->connections[event->channel];
	bool is_sent = event->kind == KIT_SENT;

	if (is_sent == (pdu->direction == MODEL_TO_SERVER))
		add_pdu(capture, pdu);
	else if (is_sent)
		g_hash_table_insert(capture->acknowledged, (gpointer)pdu,
				    GUINT_TO_POINTER(connection->arrived[MODEL_TO_SERVER]));
	else
		connection->arrived[MODEL_TO_SERVER] += 4 + pdu->length + pdu->payload.length;
}

static void see(struct capture *capture, const struct kit_event *event)
{
	if (event->step != capture->step)
		capture->frames = 0;
	capture->step = event->step;
	switch (event->kind) {
	case KIT_CONNECTED:
		connect(capture, event->channel);
		break;
	case KIT_SENT:
	case KIT_ARRIVED:
		see_pdu(capture, event);
		break;
	case KIT_CUT:
		add_bare(capture, event->channel, MODEL_TO_CLIENT, KIT_TCP_RST | KIT_TCP_ACK);
		break;
	case KIT_CLOSED:
		add_bare(capture, event->channel, MODEL_TO_SERVER, KIT_TCP_FIN | KIT_TCP_ACK);
		break;
	}
}

/* Responses that are on their way when the trace ends belong to it, too. */
static void see_the_rest(struct capture *capture)
{
	const struct kit_walk *walk = capture->walk;

	capture->step = (int)walk->steps->len;
	capture->frames = 0;
	for (guint i = 0; i < walk->pdus->len; i++) {
		const struct kit_pdu *pdu = walk->pdus->pdata[i];

		if (pdu->direction == MODEL_TO_CLIENT && pdu->arrived == KIT_UNDER_WAY)
			add_pdu(capture, pdu);
	}
}

static char *about(const struct kit_walk *walk)
{
	return g_strdup_printf(
		"Counterexample of smblab check, as seen by the client. Each step takes 1 ms%s; packets from "
		"%.3f s on were under way when it ended. %s: %s",
		walk->mounting ? ", the mount before the trace included" : "",
		(double)(walk->steps->len + 1) * STEP_US / 1e6, walk->found.rule, walk->found.text);
}

GByteArray *kit_capture(const struct kit_walk *walk, const struct kit_origin *origin)
{
	g_autofree char *program = g_strconcat("smblab ", origin->program, NULL);
	g_autofree char *comment = about(walk);
	struct capture capture = {
		.walk = walk,
		.out = g_byte_array_new(),
		.acknowledged = g_hash_table_new(NULL, NULL),
		.step = -1,
	};

	kit_pcapng_begin(capture.out, program, comment);
	for (guint i = 0; i < walk->events->len; i++)
		see(&capture, &g_array_index(walk->events, struct kit_event, i));
	see_the_rest(&capture);
	g_hash_table_unref(capture.acknowledged);
	return capture.out;
}
