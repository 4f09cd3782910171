/// How the page of a profile looks.
#pragma once

namespace treadle::cli {

inline constexpr char kProfileStyle[] = R"(:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1d2329; --faint: #66707a; --line: #d9dee3; --raised: #f4f6f8;
  --bar: #cfe3f8; --waste: #ffd9cc; --accent: #1b6fc2; --alarm: #b3371b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181c; --text: #dfe5ea; --faint: #8d98a3; --line: #313940; --raised: #1d2329;
    --bar: #1f4469; --waste: #6b2f1f; --accent: #6fb1f2; --alarm: #ff9d82;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 90rem; background: var(--page); color: var(--text);
  font: 15px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem; overflow-wrap: anywhere; }
h3 { font-size: .95rem; margin: 1.25rem 0 .35rem; color: var(--faint); font-weight: 600; overflow-wrap: anywhere; }
p { margin: 0 0 .75rem; color: var(--faint); }
code, .source { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: .6rem; margin: .75rem 0; }
.tile { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; }
.tile span, .tile small { display: block; color: var(--faint); font-size: .8rem; }
.tile strong { font-size: 1.1rem; font-weight: 600; }
table { border-collapse: collapse; }
.bars { width: 100%; max-width: 48rem; margin: .75rem 0; }
.bars th { text-align: left; font-weight: 400; padding: .1rem .8rem .1rem 0; white-space: nowrap; }
.bars td:nth-child(2) { width: 100%; }
.bars td:nth-child(3) { text-align: right; padding-left: .8rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
.bars td span { display: block; height: .8rem; min-width: 1px; background: var(--accent); border-radius: 2px; }
.bars tr:not(:first-child) td span { opacity: .45; }
a { color: var(--accent); }
.kernels { width: 100%; }
.kernels th, .kernels td { text-align: right; padding: .3rem .7rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
.kernels th { color: var(--faint); font-size: .8rem; font-weight: 600; background: var(--raised); }
.kernels th:first-child, .kernels td:first-child, .kernels th:nth-child(3), .kernels td:nth-child(3) { text-align: left; }
.kernels tr + tr td { border-top: 1px solid var(--line); }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
.lines { width: 100%; }
.lines th { position: sticky; top: 0; background: var(--raised); color: var(--faint); font-size: .8rem; font-weight: 600; text-align: right;
  padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
.lines th.source { text-align: left; }
.lines td { text-align: right; padding: 0 .6rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
.lines td.source { text-align: left; width: 100%; padding-left: .2rem; }
.lines td.source code { white-space: pre; }
.lines td.number { border-left: 1px solid var(--line); color: var(--faint); font-size: .8rem; }
.lines tr:not(.other):not(.sum):hover td { background: var(--raised); }
.lines td > span { display: block; padding: 0 .3rem; border-radius: 3px;
  background: linear-gradient(to left, var(--bar) var(--share), transparent var(--share)); }
.lines td.waste > span { background: linear-gradient(to left, var(--waste) var(--share), transparent var(--share)); }
.lines td b { color: var(--alarm); font-weight: 600; }
.lines .other code { opacity: .65; }
.lines .sum td { border-top: 1px solid var(--line); padding-top: .25rem; padding-bottom: .25rem; color: var(--faint); }
.lines .sum td > span { background: none; }
)";

}  // namespace treadle::cli
