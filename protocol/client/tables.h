/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_TABLES_H
#define SMB_CLIENT_TABLES_H

/**
 * The tables that drive the client, for those who tell how much of them a run has used: the life of a channel by state
 * and event, and what each kind of request may come to.
 *
 * A program that defines SMB_CELL_TAKEN(table, row, column) when it compiles the client is told of each cell that is
 * taken (model/coverage); else nothing is left of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SMB_CELL_TAKEN
#define SMB_CELL_TAKEN(table, row, column) ((void)0)
#endif

enum smb_table {
	SMB_TABLE_CHANNELS, /* state, event */
	SMB_TABLE_REQUESTS, /* what it is for, enum smb_table_fate */
	SMB_TABLES,
};

enum smb_table_fate { SMB_FATE_SENT, SMB_FATE_ANSWERED, SMB_FATE_LOST, SMB_FATES };

struct smb_table_info {
	const char *name; /* what the table is about, in words */
	uint32_t rows;
	uint32_t columns;
};

struct smb_table_info smb_table_info(enum smb_table table);
/** The words of both ends of a cell. */
const char *smb_table_row(enum smb_table table, uint32_t row);
const char *smb_table_column(enum smb_table table, uint32_t column);
/** False: there is nothing in that cell; an event that the state has no answer to, for instance. */
bool smb_table_has(enum smb_table table, uint32_t row, uint32_t column);

#endif
