/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_COVERAGE_CELLS_H
#define MODEL_COVERAGE_CELLS_H

/**
 * What smblab-coverage counts beside branches: cells of the client's tables (protocol/client/tables.h). Included before
 * anything else when the client is compiled for it.
 *
 * At its end the program adds lines "table row column" to the file that the environment names in SMBLAB_CELLS, one for each
 * cell that was taken.
 */

void smb_coverage_cell(unsigned table, unsigned row, unsigned column);

#define SMB_CELL_TAKEN(table, row, column) smb_coverage_cell(table, row, column)

#endif
