/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/message.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const verdict_names[] = {
	[SMB_WIRE_OK] = "ok",
	[SMB_WIRE_END] = "end of chain",
	[SMB_WIRE_NO_SPACE] = "no space",
	[SMB_WIRE_TRUNCATED] = "truncated",
	[SMB_WIRE_BAD_PROTOCOL_ID] = "bad ProtocolId",
	[SMB_WIRE_BAD_STRUCTURE_SIZE] = "bad StructureSize",
	[SMB_WIRE_BAD_OFFSET] = "bad offset",
	[SMB_WIRE_BAD_NEXT_COMMAND] = "bad NextCommand",
	[SMB_WIRE_BAD_VALUE] = "bad value",
	[SMB_WIRE_TOO_MANY] = "too many elements",
	[SMB_WIRE_UNKNOWN_COMMAND] = "unknown command",
	[SMB_WIRE_BAD_PAYLOAD] = "bad payload",
};

const char *smb_wire_verdict_name(enum smb_wire_verdict verdict)
{
	return (unsigned int)verdict < LENGTH(verdict_names) ? verdict_names[verdict] : "unknown verdict";
}

static const char *const command_names[] = {
	[SMB2_NEGOTIATE] = "NEGOTIATE",
	[SMB2_SESSION_SETUP] = "SESSION_SETUP",
	[SMB2_LOGOFF] = "LOGOFF",
	[SMB2_TREE_CONNECT] = "TREE_CONNECT",
	[SMB2_TREE_DISCONNECT] = "TREE_DISCONNECT",
	[SMB2_CREATE] = "CREATE",
	[SMB2_CLOSE] = "CLOSE",
	[SMB2_FLUSH] = "FLUSH",
	[SMB2_READ] = "READ",
	[SMB2_WRITE] = "WRITE",
	[SMB2_LOCK] = "LOCK",
	[SMB2_IOCTL] = "IOCTL",
	[SMB2_CANCEL] = "CANCEL",
	[SMB2_ECHO] = "ECHO",
	[SMB2_QUERY_DIRECTORY] = "QUERY_DIRECTORY",
	[SMB2_CHANGE_NOTIFY] = "CHANGE_NOTIFY",
	[SMB2_QUERY_INFO] = "QUERY_INFO",
	[SMB2_SET_INFO] = "SET_INFO",
	[SMB2_OPLOCK_BREAK] = "OPLOCK_BREAK",
};

const char *smb2_command_name(uint16_t command)
{
	return command < LENGTH(command_names) ? command_names[command] : "UNKNOWN";
}
