/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/tables.h"

#include "protocol/client/internal.h"

#include <assert.h>

static const char *const states[CHANNEL_STATES] = {
	[CHANNEL_UNUSED] = "unused",
	[CHANNEL_CONNECTING] = "connecting",
	[CHANNEL_CONNECTED] = "connected",
	[CHANNEL_NEGOTIATING] = "negotiating",
	[CHANNEL_SESSION_FIRST] = "first SESSION_SETUP",
	[CHANNEL_SESSION_FINAL] = "final SESSION_SETUP",
	[CHANNEL_READY] = "ready",
	[CHANNEL_DOWN] = "down",
};

static const char *const events[CHANNEL_EVENTS] = {
	[CHANNEL_OPEN] = "is opened",
	[CHANNEL_UP] = "is up",
	[CHANNEL_UP_EARLY] = "is up while another makes the session",
	[CHANNEL_NEGOTIATED] = "has negotiated",
	[CHANNEL_MORE] = "is asked for more",
	[CHANNEL_LOGGED_ON] = "is logged on",
	[CHANNEL_REFUSED] = "is refused",
	[CHANNEL_LOST] = "is lost",
	[CHANNEL_SHUT] = "is shut",
};

static const char *const purposes[PURPOSES] = {
	[PURPOSE_NEGOTIATE] = "NEGOTIATE",
	[PURPOSE_SESSION_FIRST] = "first SESSION_SETUP",
	[PURPOSE_SESSION_FINAL] = "final SESSION_SETUP",
	[PURPOSE_TREE_IPC] = "TREE_CONNECT IPC$",
	[PURPOSE_TREE_SHARE] = "TREE_CONNECT share",
	[PURPOSE_UNIX_QUERY] = "SMB1 Unix query",
	[PURPOSE_UNIX_SET] = "SMB1 Unix set",
	[PURPOSE_VALIDATE_IPC] = "VALIDATE_NEGOTIATE on IPC$",
	[PURPOSE_VALIDATE_SHARE] = "VALIDATE_NEGOTIATE on the share",
	[PURPOSE_REFERRAL] = "DFS referral",
	[PURPOSE_ROOT_OPEN] = "CREATE of the root",
	[PURPOSE_INTERFACES] = "interfaces",
	[PURPOSE_FS_ATTRIBUTE] = "file system attributes",
	[PURPOSE_FS_DEVICE] = "file system device",
	[PURPOSE_FS_VOLUME] = "file system volume",
	[PURPOSE_FS_SECTOR] = "file system sectors",
	[PURPOSE_HANDLE_CLOSE] = "CLOSE of the root",
	[PURPOSE_STAT_OPEN] = "CREATE to look",
	[PURPOSE_STAT_INFO] = "QUERY_INFO to look",
	[PURPOSE_STAT_CLOSE] = "CLOSE after a look",
	[PURPOSE_OPEN] = "CREATE of a file",
	[PURPOSE_FILE_NUMBER] = "file number",
	[PURPOSE_CLOSE] = "CLOSE of a file",
	[PURPOSE_TREE_DISCONNECT] = "TREE_DISCONNECT",
	[PURPOSE_LOGOFF] = "LOGOFF",
	[PURPOSE_READ_WINDOW] = "READ of a window",
	[PURPOSE_READ_PAGE] = "READ of a page",
	[PURPOSE_READ_DIRECT] = "READ past the cache",
	[PURPOSE_WRITE_BACK] = "WRITE of dirty pages",
	[PURPOSE_WRITE_THROUGH] = "WRITE through a page",
	[PURPOSE_WRITE_DIRECT] = "WRITE past the cache",
	[PURPOSE_FLUSH] = "FLUSH",
	[PURPOSE_REQUERY] = "interfaces again",
	[PURPOSE_REOPEN_DURABLE] = "durable CREATE again",
	[PURPOSE_REOPEN] = "CREATE again",
	[PURPOSE_ECHO] = "ECHO",
	[PURPOSE_LEASE_BREAK] = "lease break acknowledgement",
	[PURPOSE_OPLOCK_BREAK] = "oplock break acknowledgement",
	[PURPOSE_CANCELLED] = "what a signal left behind",
	[PURPOSE_LATE_CLOSE] = "late CLOSE",
	[PURPOSE_COMMAND] = "member of a command's chain",
};

static const char *const fates[SMB_FATES] = {
	[SMB_FATE_SENT] = "is sent",
	[SMB_FATE_ANSWERED] = "is answered",
	[SMB_FATE_LOST] = "is lost",
};

struct smb_table_info smb_table_info(enum smb_table table)
{
	static const struct smb_table_info infos[SMB_TABLES] = {
		[SMB_TABLE_CHANNELS] = { "the life of a channel", CHANNEL_STATES, CHANNEL_EVENTS },
		[SMB_TABLE_REQUESTS] = { "what becomes of requests", PURPOSES, SMB_FATES },
	};

	assert(table < SMB_TABLES);
	return infos[table];
}

const char *smb_table_row(enum smb_table table, uint32_t row)
{
	assert(row < smb_table_info(table).rows);
	return table == SMB_TABLE_CHANNELS ? states[row] : purposes[row];
}

const char *smb_table_column(enum smb_table table, uint32_t column)
{
	assert(column < smb_table_info(table).columns);
	return table == SMB_TABLE_CHANNELS ? events[column] : fates[column];
}

bool smb_table_has(enum smb_table table, uint32_t row, uint32_t column)
{
	assert(row < smb_table_info(table).rows && column < smb_table_info(table).columns);
	if (table == SMB_TABLE_CHANNELS)
		return client_channel_has_transition((enum channel_state)row, (enum channel_event)column);
	/* a request becomes one that nobody waits for after it was sent */
	return row != PURPOSE_CANCELLED || column != SMB_FATE_SENT;
}
