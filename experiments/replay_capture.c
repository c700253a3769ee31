/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/replay_capture.h"

#include "experiments/value.h"
#include "model/host.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_PORT 445
#define CONNECTIONS_MAX 16 /* at a time */
#define STEP_SECONDS 1e-3 /* each step of a trace takes a millisecond in its capture */

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

/* What tshark is asked for, in this order. */
enum { FRAME, TIME, FROM, TO, FLAGS, PAYLOAD, COMMENT, FIELDS };
static const char *const fields[FIELDS] = {
	[FRAME] = "frame.number", [TIME] = "frame.time_epoch", [FROM] = "tcp.srcport",	    [TO] = "tcp.dstport",
	[FLAGS] = "tcp.flags",	  [PAYLOAD] = "tcp.payload",   [COMMENT] = "frame.comment",
};

struct connection {
	guint64 port; /* the client's; 0: free */
	GByteArray *stream[2]; /* by enum model_direction: what is not a whole PDU yet */
};

struct reader {
	const struct kit_walk *walk;
	struct smb_monitor *monitor;
	struct connection connection[CONNECTIONS_MAX];
	struct lab_capture_verdict *verdict;
	guint frame;
	bool is_told; /* what the mount has negotiated */
};

/* ---------------------------------------------------------------------------------------------------------- the monitor */

static void violated(void *context, const struct smb_violation *violation)
{
	struct reader *reader = context;
	const struct smb_rule_info *info = smb_rule_info(violation->rule);

	if (reader->verdict->is_broken)
		return;
	reader->verdict->is_broken = true;
	reader->verdict->frame = reader->frame;
	g_strlcpy(reader->verdict->rule, info ? info->name : "?", sizeof(reader->verdict->rule));
	g_strlcpy(reader->verdict->text, violation->text, sizeof(reader->verdict->text));
}

static struct smb_monitor *monitor_new(struct reader *reader)
{
	static const struct smb_monitor_limits limits = {
		.channels = CONNECTIONS_MAX, .requests = 1024, .files = 64, .window = 8192
	};
	const struct smb_monitor_expect nothing_known = { 0 };
	struct smb_monitor *monitor = smb_monitor_init(g_malloc0(smb_monitor_size(&limits)), &limits, &nothing_known);

	smb_monitor_report_to(monitor, violated, reader);
	model_tell_monitor(model_config_of(reader->walk->model), monitor);
	return monitor;
}

/* The step in which a thread of the application begins: the mount is over by then. */
static guint first_start(const struct kit_walk *walk)
{
	guint i = walk->mounting;

	while (i < walk->steps->len) {
		const struct kit_step *step = walk->steps->pdata[i];

		if (step->move.kind == MODEL_MOVE_START && step->move.argument != MODEL_SYSTEM)
			break;
		i++;
	}
	return i;
}

static void tell_mounted(struct reader *reader, double seconds)
{
	const struct kit_walk *walk = reader->walk;
	guint first = first_start(walk);
	struct model_worker *worker;

	if (reader->is_told || first == walk->steps->len || seconds < (first + 1) * STEP_SECONDS)
		return;
	reader->is_told = true;
	worker = model_worker_new(walk->model);
	model_tell_mounted(
		model_config_of(walk->model),
		model_state_client(worker, &g_array_index(walk->states, struct model_state, first - walk->mounting)),
		reader->monitor);
	model_worker_free(worker);
}

/* ------------------------------------------------------------------------------------------------------------ one frame */

static struct connection *connection_of(struct reader *reader, guint64 port)
{
	for (guint i = 0; i < CONNECTIONS_MAX; i++) {
		if (reader->connection[i].port == port)
			return &reader->connection[i];
	}
	return NULL;
}

static uint32_t number_of(const struct reader *reader, const struct connection *connection)
{
	return (uint32_t)(connection - reader->connection);
}

static void open_connection(struct reader *reader, guint64 port)
{
	struct connection *connection = connection_of(reader, 0);

	if (!connection)
		return;
	connection->port = port;
	for (int i = 0; i < 2; i++)
		connection->stream[i] = g_byte_array_new();
	smb_monitor_connected(reader->monitor, number_of(reader, connection), reader->frame);
}

static void close_connection(struct reader *reader, struct connection *connection)
{
	for (int i = 0; i < 2; i++)
		g_byte_array_unref(connection->stream[i]);
	connection->port = 0;
	smb_monitor_closed(reader->monitor, number_of(reader, connection), reader->frame);
}

static void add_payload(GByteArray *stream, const char *hex)
{
	for (; g_ascii_isxdigit(hex[0]) && g_ascii_isxdigit(hex[1]); hex += 2) {
		guint8 byte = (guint8)(g_ascii_xdigit_value(hex[0]) << 4 | g_ascii_xdigit_value(hex[1]));

		g_byte_array_append(stream, &byte, 1);
	}
}

/* All PDUs that are whole by now. */
static void take_pdus(struct reader *reader, struct connection *connection, enum model_direction direction)
{
	GByteArray *stream = connection->stream[direction];
	uint32_t length;

	while (stream->len >= 4 && smb_frame_decode(stream->data, &length) == SMB_WIRE_OK &&
	       stream->len - 4 >= length) {
		const struct smb_pdu pdu = { .bytes = stream->data + 4, .length = length };

		reader->verdict->pdus++;
		if (direction == MODEL_TO_SERVER)
			smb_monitor_sent(reader->monitor, number_of(reader, connection), &pdu, reader->frame);
		else
			smb_monitor_received(reader->monitor, number_of(reader, connection), &pdu, reader->frame);
		g_byte_array_remove_range(stream, 0, 4 + length);
	}
}

static void take_frame(struct reader *reader, char **value)
{
	guint64 flags = g_ascii_strtoull(value[FLAGS], NULL, 0);
	bool is_request = g_ascii_strtoull(value[TO], NULL, 10) == SERVER_PORT;
	guint64 port = g_ascii_strtoull(value[is_request ? FROM : TO], NULL, 10);
	struct connection *connection = connection_of(reader, port);
	enum model_direction direction = is_request ? MODEL_TO_SERVER : MODEL_TO_CLIENT;

	reader->frame = (guint)g_ascii_strtoull(value[FRAME], NULL, 10);
	reader->verdict->frames++;
	if (*value[COMMENT])
		reader->verdict->marked = reader->frame;
	tell_mounted(reader, g_ascii_strtod(value[TIME], NULL));
	if (!is_request && flags & TCP_SYN)
		open_connection(reader, port);
	if (!connection)
		return;
	add_payload(connection->stream[direction], value[PAYLOAD]);
	take_pdus(reader, connection, direction);
	if (flags & (TCP_RST | TCP_FIN))
		close_connection(reader, connection);
}

/* ------------------------------------------------------------------------------------------------------------- the file */

static bool ask_tshark(const char *path, char **out, GError **error)
{
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_autoptr(GSubprocess) process = NULL;
	g_autofree char *err = NULL;
	g_autoptr(GError) why = NULL;

	g_ptr_array_add(argv, (gpointer) "tshark");
	g_ptr_array_add(argv, (gpointer) "-n");
	g_ptr_array_add(argv, (gpointer) "-r");
	g_ptr_array_add(argv, (gpointer)path);
	g_ptr_array_add(argv, (gpointer) "-T");
	g_ptr_array_add(argv, (gpointer) "fields");
	for (guint i = 0; i < FIELDS; i++) {
		g_ptr_array_add(argv, (gpointer) "-e");
		g_ptr_array_add(argv, (gpointer)fields[i]);
	}
	g_ptr_array_add(argv, NULL);
	process = g_subprocess_newv((const char *const *)argv->pdata,
				    G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &why);
	if (process && g_subprocess_communicate_utf8(process, NULL, NULL, out, &err, &why) &&
	    g_subprocess_get_if_exited(process) && g_subprocess_get_exit_status(process) == 0)
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "tshark does not read %s: %s", path,
		    why ? why->message : g_strstrip(err));
	return false;
}

bool lab_replay_capture(const char *path, const struct kit_walk *walk, struct lab_capture_verdict *verdict,
			GError **error)
{
	struct reader reader = { .walk = walk, .verdict = verdict };
	g_autofree char *out = NULL;
	g_auto(GStrv) lines = NULL;

	*verdict = (struct lab_capture_verdict){ 0 };
	if (!ask_tshark(path, &out, error))
		return false;
	reader.monitor = monitor_new(&reader);
	lines = g_strsplit(out, "\n", -1);
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) value = g_strsplit(*line, "\t", FIELDS);

		if (g_strv_length(value) == FIELDS)
			take_frame(&reader, value);
	}
	for (guint i = 0; i < CONNECTIONS_MAX; i++) {
		if (reader.connection[i].port)
			close_connection(&reader, &reader.connection[i]);
	}
	g_free(reader.monitor);
	return true;
}
