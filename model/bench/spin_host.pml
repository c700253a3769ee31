/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The checker's model explored by Spin: Spin searches, the C cores are the same. A step of Spin is one move of the model
 * (model_moves numbers them), and its state is the model's, so both must find as many states.
 */

c_decl {
\#include "model/bench/spin_host.h"
/* Spin takes a call in an expression for a side effect, a name not */
\#define CAN_0 host_can(depth, 0)
\#define CAN_1 host_can(depth, 1)
\#define CAN_2 host_can(depth, 2)
\#define CAN_3 host_can(depth, 3)
\#define CAN_4 host_can(depth, 4)
\#define CAN_5 host_can(depth, 5)
\#define CAN_6 host_can(depth, 6)
\#define CAN_7 host_can(depth, 7)
\#define CAN_8 host_can(depth, 8)
\#define CAN_9 host_can(depth, 9)
\#define CAN_10 host_can(depth, 10)
\#define CAN_11 host_can(depth, 11)
\#define CAN_12 host_can(depth, 12)
\#define CAN_13 host_can(depth, 13)
\#define CAN_14 host_can(depth, 14)
\#define CAN_15 host_can(depth, 15)
\#define CAN_16 host_can(depth, 16)
\#define CAN_17 host_can(depth, 17)
\#define CAN_18 host_can(depth, 18)
\#define CAN_19 host_can(depth, 19)
\#define CAN_20 host_can(depth, 20)
\#define CAN_21 host_can(depth, 21)
\#define CAN_22 host_can(depth, 22)
\#define CAN_23 host_can(depth, 23)
}

c_track "&host_state" "sizeof(struct model_state)" "Matched"

active proctype system()
{
end:
	do
	:: d_step { c_expr { CAN_0 } -> c_code { host_do(depth, 0); } }
	:: d_step { c_expr { CAN_1 } -> c_code { host_do(depth, 1); } }
	:: d_step { c_expr { CAN_2 } -> c_code { host_do(depth, 2); } }
	:: d_step { c_expr { CAN_3 } -> c_code { host_do(depth, 3); } }
	:: d_step { c_expr { CAN_4 } -> c_code { host_do(depth, 4); } }
	:: d_step { c_expr { CAN_5 } -> c_code { host_do(depth, 5); } }
	:: d_step { c_expr { CAN_6 } -> c_code { host_do(depth, 6); } }
	:: d_step { c_expr { CAN_7 } -> c_code { host_do(depth, 7); } }
	:: d_step { c_expr { CAN_8 } -> c_code { host_do(depth, 8); } }
	:: d_step { c_expr { CAN_9 } -> c_code { host_do(depth, 9); } }
	:: d_step { c_expr { CAN_10 } -> c_code { host_do(depth, 10); } }
	:: d_step { c_expr { CAN_11 } -> c_code { host_do(depth, 11); } }
	:: d_step { c_expr { CAN_12 } -> c_code { host_do(depth, 12); } }
	:: d_step { c_expr { CAN_13 } -> c_code { host_do(depth, 13); } }
	:: d_step { c_expr { CAN_14 } -> c_code { host_do(depth, 14); } }
	:: d_step { c_expr { CAN_15 } -> c_code { host_do(depth, 15); } }
	:: d_step { c_expr { CAN_16 } -> c_code { host_do(depth, 16); } }
	:: d_step { c_expr { CAN_17 } -> c_code { host_do(depth, 17); } }
	:: d_step { c_expr { CAN_18 } -> c_code { host_do(depth, 18); } }
	:: d_step { c_expr { CAN_19 } -> c_code { host_do(depth, 19); } }
	:: d_step { c_expr { CAN_20 } -> c_code { host_do(depth, 20); } }
	:: d_step { c_expr { CAN_21 } -> c_code { host_do(depth, 21); } }
	:: d_step { c_expr { CAN_22 } -> c_code { host_do(depth, 22); } }
	:: d_step { c_expr { CAN_23 } -> c_code { host_do(depth, 23); } }
	od
}
