/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the page looks: one column on a phone, panels beside each other on a desk, light or dark as the reader has it. */
#include "reports/page.h"

static const char light[] = ":root{color-scheme:light dark;--paper:" REPORT_PAPER ";--ink:" REPORT_INK
			    ";--muted:" REPORT_MUTED ";--grid:" REPORT_GRID ";--panel:" REPORT_PANEL
			    ";--accent:" REPORT_BLUE ";--good:#0a7a55;--bad:#b3261e;--bad-back:#fdecea}\n";

static const char dark[] = "@media (prefers-color-scheme:dark){:root{--paper:#14181f;--ink:#e4e8ee;--muted:#9aa4b2;"
			   "--grid:#333a45;--panel:#1d232c;--accent:#4aa8e0;--good:#4fd1a5;--bad:#ff8a80;"
			   "--bad-back:#3a1d1d}\n";

static const char layout[] =
	"*{box-sizing:border-box}\n"
	"html{-webkit-text-size-adjust:100%}\n"
	"body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,'Segoe "
	"UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}\n"
	"main,header,footer{max-width:1180px;margin:0 auto;padding:0 20px}\n"
	"header{padding-top:34px}\n"
	"h1{font-size:clamp(1.5rem,4vw,2.1rem);line-height:1.2;margin:0 0 .35em;font-weight:700;letter-spacing:-.01em;"
	"overflow-wrap:anywhere}\n"
	"h2{font-size:1.3rem;line-height:1.3;margin:2.4em 0 .3em;font-weight:650}\n"
	"h3{font-size:1rem;margin:1.4em 0 .2em;font-weight:650}\n"
	"p{margin:.5em 0;max-width:78ch;overflow-wrap:anywhere}\n"
	".muted{color:var(--muted)}\n"
	".small{font-size:.86rem}\n"
	".lead{font-size:1.08rem}\n"
	"nav{font-size:.9rem;margin:1.1em 0 0;padding:.6em 0;border-block:1px solid var(--grid);display:flex;flex-wrap:"
	"wrap;gap:.2em 1.2em}\n"
	"a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}\n"
	"code,pre{font-family:ui-monospace,'SF Mono','DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:.86em}\n"
	"code{overflow-wrap:anywhere}\n"
	"pre{background:var(--panel);border-radius:8px;padding:14px 16px;overflow:auto;line-height:1.45}\n"
	".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:1.2em 0}\n"
	".tile{background:var(--panel);border-radius:10px;padding:12px 16px}\n"
	".tile b{display:block;font-size:1.5rem;line-height:1.25;font-weight:680;font-variant-numeric:tabular-nums}\n"
	".tile span{color:var(--muted);font-size:.84rem;line-height:1.3;display:block}\n"
	".findings{padding-left:1.2em;margin:.6em 0;max-width:82ch}.findings li{margin:.35em "
	"0;overflow-wrap:anywhere}\n"
	".findings li:first-child{font-weight:600}\n"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.25em 1.2em;margin:1em 0}\n"
	"dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}\n"
	".panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:20px 24px;"
	"margin-top:12px}\n"
	".panels.one{grid-template-columns:minmax(0,640px)}\n"
	"figure{margin:0}\n"
	"svg.plot{display:block;width:100%;height:auto;max-width:640px}\n"
	"svg.plot text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
	"svg.plot tspan{font-family:inherit}\n"
	".scroll{overflow-x:auto;margin:.8em 0}\n"
	"table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}\n"
	"th,td{padding:.38em .8em;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}\n"
	"th{font-weight:600;color:var(--muted);vertical-align:bottom}\n"
	"th:first-child,td:first-child{padding-left:0}\n"
	"td.text,th.text{text-align:left}td.wrap{white-space:normal;min-width:16em;overflow-wrap:anywhere}\n"
	"tbody tr:hover{background:var(--panel)}\n"
	".good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}\n"
	".alarm{background:var(--bad-back);border-left:5px solid var(--bad);border-radius:6px;padding:4px "
	"18px 10px;margin:1.4em 0}\n"
	".alarm h2{margin:.6em 0 .2em;color:var(--bad)}\n"
	"details{margin:1em 0}summary{cursor:pointer;color:var(--accent);font-weight:600}\n"
	"footer{color:var(--muted);font-size:.84rem;padding-top:2.5em;padding-bottom:3em;overflow-wrap:anywhere}\n"
	"@media (max-width:560px){main,header,footer{padding-inline:16px}dl{grid-template-columns:5.4em 1fr;gap:.25em "
	".8em}th,td{padding:.38em .55em}.tiles{grid-template-columns:1fr 1fr}}\n"
	"@media print{details>*{display:block}nav{display:none}}\n";

void report_page_style(GString *html)
{
	g_string_append(html, light);
	g_string_append(html, dark);
	report_dark_rules(html);
	g_string_append(html, "}\n");
	g_string_append(html, layout);
}
