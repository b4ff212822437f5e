#!/usr/bin/env bash
# Makes the pictures of the report again, from a fit of the simulated cohort. Needs
# bin/d3p, chromium and pdftoppm. The noise differs from run to run, and so do the
# pictures' numbers.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin/d3p fit --epsilon 1 --quiet --out "$work/run" datasets/cohort.csv >"$work/fit.txt"
report=$work/run/release/privacy.html
browser=(chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files --virtual-time-budget=3000)

# shot WIDTH HEIGHT OUT: a picture of $work/page.html in a window of that size
shot() { "${browser[@]}" --window-size="$1,$2" --screenshot="$PWD/docs/images/$3" "file://$work/page.html" 2>/dev/null; }

# frame WIDTH HEIGHT ANCHOR: the report in a frame of that size, at a section of it
frame() {
    echo "<style>body{margin:0;background:#ddd;text-align:center}iframe{border:0}</style>
<iframe src=\"file://$report#$3\" width=$1 height=$2 scrolling=no></iframe>" >"$work/page.html"
}
frame 1200 1460 "" && shot 1200 1460 report-1200.png
frame 400 1560 "" && shot 500 1560 report-400.png # chromium opens no window below 500 pixels
frame 1200 1100 s7 && shot 1200 1100 report-result.png

"${browser[@]}" --no-pdf-header-footer --print-to-pdf="$work/report.pdf" "file://$report" 2>/dev/null
pdftoppm -r 60 -f 1 -l 3 -png "$work/report.pdf" "$work/page"
echo "<style>body{margin:0;background:gray;font-size:0}img+img{margin-left:8px}</style>" >"$work/page.html"
for page in "$work"/page-*.png; do echo "<img src=\"$page\">"; done | tr -d '\n' >>"$work/page.html"
shot 1504 702 report-print.png
