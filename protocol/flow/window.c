/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/flow/window.h"

bool smb_window_give_back(struct smb_window *window, uint64_t first, uint16_t charge)
{
	if (window->next < first || window->next - first != (charge ? charge : 1u))
		return false;
	window->next = first;
	return true;
}
