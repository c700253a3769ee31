/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/tests/samples_build.h"

/* SPNEGO with the NTLMSSP mechanism only, and the three NTLMSSP messages without names (MS-NLMP 2.2.1). */
static const uint8_t spnego[] = { 0x60, 0x1c, 0x06, 0x06, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x02,
				  0xa0, 0x12, 0x30, 0x10, 0xa0, 0x0e, 0x30, 0x0c, 0x06, 0x0a,
				  0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0a };
static const uint8_t ntlm_negotiate[32] = { 'N', 'T', 'L', 'M', 'S', 'S', 'P', 0, 1, 0, 0, 0, 0x05, 0x02, 0, 0 };
static const uint8_t ntlm_challenge[48] = { 'N', 'T', 'L', 'M', 'S',  'S',  'P', 0, 2, 0, 0, 0, 0, 0, 0, 0,
					    48,	 0,   0,   0,	0x05, 0x02, 0,	 0, 1, 2, 3, 4, 5, 6, 7, 8 };
static const uint8_t ntlm_authenticate[64] = { 'N', 'T', 'L', 'M', 'S', 'S', 'P', 0, 3,	 0, 0, 0, 0,	0,   0, 0,
					       64,  0,	 0,   0,   0,	0,   0,	  0, 64, 0, 0, 0, 0,	0,   0, 0,
					       64,  0,	 0,   0,   0,	0,   0,	  0, 64, 0, 0, 0, 0,	0,   0, 0,
					       64,  0,	 0,   0,   0,	0,   0,	  0, 64, 0, 0, 0, 0x05, 0x02 };

static void negotiate(unsigned int connection, const char *name, const uint16_t *dialects, uint16_t count)
{
	struct smb2_message *message = request(name, SMB2_NEGOTIATE, SMB2_BODY_NEGOTIATE_REQ);
	struct smb2_negotiate_req *req = &message->body.negotiate_req;
	recent(0)->connection = connection;
	message->header.session_id = 0;
	message->header.tree_id = 0;
	req->security_mode = 1;
	req->capabilities = SMB2_GLOBAL_CAP_LARGE_MTU | SMB2_GLOBAL_CAP_MULTI_CHANNEL;
	memcpy(req->client_guid, "0123456789abcdef", 16);
	req->dialect_count = count;
	memcpy(req->dialects, dialects, count * sizeof(*dialects));

	message = response(name, SMB2_BODY_NEGOTIATE_RSP);
	message->header.session_id = 0;
	message->header.tree_id = 0;
	message->body.negotiate_rsp = (struct smb2_negotiate_rsp){
		.security_mode = 1,
		.dialect = dialects[count - 1],
		.server_guid = "fedcba987654321",
		.capabilities = SMB2_GLOBAL_CAP_LARGE_MTU,
		.max_transact_size = 8 << 20,
		.max_read_size = 4 << 20,
		.max_write_size = 2 << 20,
		.system_time = TIMES.creation_time,
		.server_start_time = TIMES.creation_time - 1,
		.token = BLOB(spnego),
	};
}

static struct smb2_context algorithms(uint16_t type, struct smb2_algorithms list)
{
	return smb2_algorithms_context(type, &list, take(SMB2_ALGORITHMS_SIZE(list.count)));
}

static void negotiate_311(unsigned int connection, const char *name, const uint16_t *dialects, uint16_t count)
{
	static const uint8_t salt[SMB2_PREAUTH_SALT_SIZE] = "a salt that is 32 bytes in size";
	negotiate(connection, name, dialects, count);
	struct smb2_negotiate_req *req = &recent(1)->message.body.negotiate_req;
	req->contexts[req->context_count++] = smb2_preauth_context(salt, take(SMB2_PREAUTH_CONTEXT_SIZE));
	req->contexts[req->context_count++] = algorithms(
		SMB2_ENCRYPTION_CAPABILITIES,
		(struct smb2_algorithms){ 3,
					  { SMB2_CIPHER_AES128_GCM, SMB2_CIPHER_AES256_GCM, SMB2_CIPHER_AES128_CCM } });
	req->contexts[req->context_count++] = algorithms(SMB2_SIGNING_CAPABILITIES,
							 (struct smb2_algorithms){ 1, { SMB2_SIGNING_AES_GMAC } });
	req->contexts[req->context_count++] = smb2_netname_context(utf16("server"));
	req->contexts[req->context_count++] = smb2_posix_context();

	struct smb2_negotiate_rsp *rsp = &recent(0)->message.body.negotiate_rsp;
	rsp->contexts[rsp->context_count++] = smb2_preauth_context(salt, take(SMB2_PREAUTH_CONTEXT_SIZE));
	rsp->contexts[rsp->context_count++] = algorithms(SMB2_ENCRYPTION_CAPABILITIES,
							 (struct smb2_algorithms){ 1, { SMB2_CIPHER_AES128_GCM } });
	rsp->contexts[rsp->context_count++] = algorithms(SMB2_SIGNING_CAPABILITIES,
							 (struct smb2_algorithms){ 1, { SMB2_SIGNING_AES_GMAC } });
}

void add_negotiate(void)
{
	static const uint16_t dialects[] = { SMB2_DIALECT_202, SMB2_DIALECT_210, SMB2_DIALECT_300, SMB2_DIALECT_302,
					     SMB2_DIALECT_311 };
	negotiate(1, "NEGOTIATE 2.0.2", dialects, 1);
	negotiate(2, "NEGOTIATE 2.1", dialects, 2);
	negotiate(3, "NEGOTIATE 3.0", dialects + 1, 2);
	negotiate(4, "NEGOTIATE 3.0.2", dialects + 1, 3);
	negotiate_311(5, "NEGOTIATE 3.1.1 among others", dialects + 1, 4);
	negotiate_311(0, "NEGOTIATE 3.1.1 alone", dialects + 4, 1);
}

void add_session_setup(void)
{
	struct smb2_message *message = request("SESSION_SETUP", SMB2_SESSION_SETUP, SMB2_BODY_SESSION_SETUP_REQ);
	message->body.session_setup_req = (struct smb2_session_setup_req){
		.security_mode = 1,
		.capabilities = 1,
		.previous_session_id = 0x99,
		.token = BLOB(ntlm_negotiate),
	};
	message = response("SESSION_SETUP wants more", SMB2_BODY_SESSION_SETUP_RSP);
	message->header.status = STATUS_MORE_PROCESSING_REQUIRED;
	message->body.session_setup_rsp.token = BLOB(ntlm_challenge);
	message = request("SESSION_SETUP that binds", SMB2_SESSION_SETUP, SMB2_BODY_SESSION_SETUP_REQ);
	message->header.channel_sequence = 3;
	message->body.session_setup_req = (struct smb2_session_setup_req){
		.flags = SMB2_SESSION_FLAG_BINDING,
		.security_mode = 1,
		.token = BLOB(ntlm_authenticate),
	};
	message = response("SESSION_SETUP done", SMB2_BODY_SESSION_SETUP_RSP);
	memcpy(message->header.signature, "signaturesignatu", 16);
	message->header.flags |= SMB2_FLAGS_SIGNED;
	message->body.session_setup_rsp.session_flags = 1;
}

void add_tree(void)
{
	struct smb2_message *message = request("TREE_CONNECT", SMB2_TREE_CONNECT, SMB2_BODY_TREE_CONNECT_REQ);
	message->body.tree_connect_req.path = utf16("\\\\server\\share");
	message = response("TREE_CONNECT", SMB2_BODY_TREE_CONNECT_RSP);
	message->body.tree_connect_rsp = (struct smb2_tree_connect_rsp){
		.share_type = 1,
		.share_flags = 0x30,
		.capabilities = 0x10,
		.maximal_access = 0x1f01ff,
	};
	message = request("TREE_CONNECT to nowhere", SMB2_TREE_CONNECT, SMB2_BODY_TREE_CONNECT_REQ);
	message->body.tree_connect_req.path = utf16("\\\\server\\nowhere");
	error("BAD_NETWORK_NAME", STATUS_BAD_NETWORK_NAME);
}
