/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Another client, which breaks the rules: it connects, says NEGOTIATE, sends one PDU that no good client sends, and is
 * gone. What the server makes of that PDU is judged; the client under test must not notice any of it. All of a visit is
 * one event of the server.
 */

#include "model/stranger.h"

#include "protocol/wire/message.h"

#include <string.h>

#define NOW_NS 1
#define CREDITS_ASKED 8
#define ID_FAR 1000 /* beyond any window of a model */

/* What came back. */
struct visit {
	struct smb_server *server;
	uint32_t connection;
	uint32_t window; /* MessageIds that the server follows at most */
	struct model_fault_found *found;
	uint8_t *pdu; /* SMB_SERVER_PDU_MAX */
	uint64_t next_id;
	uint32_t credits;
	bool is_cut;
	/* Of the last PDU. */
	uint32_t answers;
	uint32_t granted; /* sum */
	uint32_t status[2]; /* of the first answers */
};

static void broken(struct visit *visit, const char *rule, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void broken(struct visit *visit, const char *rule, const char *format, ...)
{
	va_list arguments;

	g_strlcpy(visit->found->rule, rule, sizeof(visit->found->rule));
	va_start(arguments, format);
	g_vsnprintf(visit->found->text, sizeof(visit->found->text), format, arguments);
	va_end(arguments);
}

static void note_answers(struct visit *visit, const struct smb_pdu *pdu)
{
	uint32_t position = 0, next = 0;

	do {
		struct smb2_header header;

		if (smb2_header_decode(pdu->bytes + position, pdu->length - position, &header, &next) != SMB_WIRE_OK)
			return;
		if (visit->answers < G_N_ELEMENTS(visit->status))
			visit->status[visit->answers] = header.status;
		visit->answers++;
		visit->granted += header.credits;
		position += next;
	} while (next && position < pdu->length);
}

static void send(struct visit *visit, const struct smb2_message *members, uint32_t count)
{
	struct smb_server_output output;
	struct smb_chain_writer writer;
	uint8_t bytes[1024];
	struct smb_pdu pdu;

	smb_chain_begin(&writer, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < count; i++) {
		if (smb_chain_append(&writer, &members[i]) != SMB_WIRE_OK)
			g_assert_not_reached();
	}
	pdu = smb_chain_finish(&writer);
	visit->answers = 0;
	visit->granted = 0;
	visit->next_id += count;
	smb_server_receive(visit->server, visit->connection, &pdu, NOW_NS);
	for (;;) {
		smb_server_next(visit->server, &output, visit->pdu, SMB_SERVER_PDU_MAX);
		if (output.kind == SMB_SERVER_IDLE)
			break;
		if (output.kind == SMB_SERVER_DISCONNECT)
			visit->is_cut = true;
		else if (output.kind == SMB_SERVER_SEND)
			note_answers(visit, &output.pdu);
	}
	visit->credits += visit->granted - count;
}

static struct smb2_message request(uint16_t command, enum smb2_body_kind kind, uint64_t message_id)
{
	return (struct smb2_message){
		.header = { .command = command,
			    .credit_charge = message_id ? 1 : 0,
			    .credits = CREDITS_ASKED,
			    .message_id = message_id },
		.kind = kind,
	};
}

static void negotiate(struct visit *visit)
{
	struct smb2_message message = request(SMB2_NEGOTIATE, SMB2_BODY_NEGOTIATE_REQ, 0);

	message.body.negotiate_req = (struct smb2_negotiate_req){
		.security_mode = 1,
		.capabilities = SMB2_GLOBAL_CAP_LARGE_MTU,
		.client_guid = { 's', 't', 'r', 'a', 'n', 'g', 'e' },
		.dialect_count = 1,
		.dialects = { SMB2_DIALECT_210 },
	};
	visit->credits = 1;
	send(visit, &message, 1);
}

static void echo(struct visit *visit)
{
	struct smb2_message message = request(SMB2_ECHO, SMB2_BODY_EMPTY, visit->next_id);

	send(visit, &message, 1);
}

/* ------------------------------------------------------------------------------------------------- what strangers do */

/* Each member of a chain needs a session of its own right (MS-SMB2 3.3.5.2.9). */
static void create_behind_echo(struct visit *visit)
{
	static const uint8_t name[] = { 's', 0 };
	struct smb2_message members[2];

	if (visit->credits < 2)
		echo(visit); /* NEGOTIATE alone may bring one credit */
	members[0] = request(SMB2_ECHO, SMB2_BODY_EMPTY, visit->next_id);
	members[1] = request(SMB2_CREATE, SMB2_BODY_CREATE_REQ, visit->next_id + 1);

	members[1].body.create_req = (struct smb2_create_req){
		.desired_access = 0x80,
		.create_disposition = 3, /* FILE_OPEN_IF */
		.name = { name, sizeof(name) },
	};
	send(visit, members, G_N_ELEMENTS(members));
	if (visit->is_cut || visit->answers != 2)
		broken(visit, "cut", "a chain of two requests, credits for %u: %u answers", visit->credits,
		       visit->answers);
	else if (visit->status[1] != STATUS_USER_SESSION_DELETED)
		broken(visit, "C26",
		       "the server executes CREATE (status %#x) for who has no session, behind ECHO in a chain",
		       visit->status[1]);
}

static void id_not_granted(struct visit *visit)
{
	struct smb2_message message = request(SMB2_ECHO, SMB2_BODY_EMPTY, ID_FAR);

	send(visit, &message, 1);
	if (!visit->is_cut)
		broken(visit, "C1", "the server answers a MessageId that it never granted");
}

static void charge_not_granted(struct visit *visit)
{
	struct smb2_message message = request(SMB2_ECHO, SMB2_BODY_EMPTY, visit->next_id);

	message.header.credit_charge = ID_FAR;
	send(visit, &message, 1);
	if (!visit->is_cut)
		broken(visit, "C6", "the server serves a CreditCharge of credits that it never granted");
}

static void asks_for_all(struct visit *visit)
{
	struct smb2_message message = request(SMB2_ECHO, SMB2_BODY_EMPTY, visit->next_id);

	message.header.credits = UINT16_MAX;
	send(visit, &message, 1);
	if (visit->is_cut || visit->answers != 1 || visit->granted > visit->window)
		broken(visit, "C11", "%u credits are granted to who asks for all, of %u ids", visit->granted,
		       visit->window);
}

static const struct {
	const char *tells;
	void (*call)(struct visit *visit);
} strangers[] = {
	{ "a chain of ECHO and CREATE, without a session", create_behind_echo },
	{ "a MessageId that it was not granted", id_not_granted },
	{ "a CreditCharge that it was not granted", charge_not_granted },
	{ "a CreditRequest of 65535", asks_for_all },
};
_Static_assert(G_N_ELEMENTS(strangers) == MODEL_STRANGERS, "as many as there are moves for");

const char *model_stranger_tell(uint32_t stranger)
{
	return stranger < MODEL_STRANGERS ? strangers[stranger].tells : "nothing";
}

bool model_stranger_visit(const struct model_config *config, struct smb_server *server, uint32_t stranger,
			  struct model_fault_found *found)
{
	g_autofree uint8_t *pdu = g_malloc(SMB_SERVER_PDU_MAX);
	struct visit visit = { .server = server,
			       .connection = config->client_limits.channels,
			       .window = config->server_limits.window,
			       .found = found,
			       .pdu = pdu };

	g_assert(stranger < MODEL_STRANGERS);
	*found = (struct model_fault_found){ 0 };
	smb_server_connected(server, visit.connection, NOW_NS);
	negotiate(&visit);
	strangers[stranger].call(&visit);
	smb_server_closed(server, visit.connection, NOW_NS);
	return !*found->rule;
}
